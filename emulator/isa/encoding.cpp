#include "emulator/isa/encoding.hpp"

#include "emulator/isa/table.hpp"
#include "emulator/isa/validate.hpp"

namespace gdr {
namespace {

constexpr EncodingField vlen{"vlen", 0, 0, 2, "elements less one"};
constexpr EncodingField pred_used{"pred", 0, 2, 1, "1: the instruction is predicated"};
constexpr EncodingField pred_value{"pred.value", 0, 3, 1, "write where the mask has this value"};
constexpr EncodingField pred_mask{"pred.mask", 0, 4, 3, "mask register of the predicate"};
constexpr EncodingField mul_op{"mul.op", 0, 7, 6, "opcode of the multiplier slot, 0 if empty"};
constexpr EncodingField alu_op{"alu.op", 0, 13, 6,
                               "opcode of the adder and integer slot, 0 if empty"};
constexpr EncodingField move_op{"move.op", 0, 19, 6, "opcode of the transfer slot, 0 if empty"};
constexpr EncodingField pe_number{"move.pe_number", 0, 25, 16, "bput: number of the PE"};
constexpr EncodingField mul_dst{"mul.dst", 1, 0, 22, "operand"};
constexpr EncodingField mul_a{"mul.a", 1, 22, 22, "operand"};
constexpr EncodingField mul_width{"mul.width", 1, 44, 1, "of the result: 0 short, 1 long"};
constexpr EncodingField mul_t{"mul.t", 1, 45, 2,
                              "T as second destination: 0 no, 1 whole, 2 upper, 3 lower half"};
constexpr EncodingField mul_b{"mul.b", 2, 0, 22, "operand"};
constexpr EncodingField alu_b{"alu.b", 2, 22, 22, "operand"};
constexpr EncodingField alu_dst{"alu.dst", 3, 0, 22, "operand"};
constexpr EncodingField alu_a{"alu.a", 3, 22, 22, "operand"};
constexpr EncodingField alu_width{"alu.width", 3, 44, 1, "of the result: 0 short, 1 long"};
constexpr EncodingField alu_t{"alu.t", 3, 45, 2,
                              "T as second destination: 0 no, 1 whole, 2 upper, 3 lower half"};
constexpr EncodingField mask_flag{"alu.flag", 3, 47, 2,
                                  "mask set from: 0 nothing, 1 negative, 2 zero, 3 carry"};
constexpr EncodingField mask_number{"alu.mask", 3, 49, 3, "mask register that is set"};
constexpr EncodingField move_pe{"move.pe", 4, 0, 22, "operand on the PE's side"};
constexpr EncodingField move_bm{"move.bm", 4, 22, 22, "operand in the broadcast memory"};
constexpr EncodingField mul_imm_high{"mul.imm[71:64]", 4, 44, 8,
                                     "upper bits of the multiplier slot's immediate"};
constexpr EncodingField alu_imm_high{"alu.imm[71:64]", 4, 52, 8,
                                     "upper bits of the adder slot's immediate"};
constexpr EncodingField mul_imm{"mul.imm[63:0]", 5, 0, 64, "immediate of the multiplier slot"};
constexpr EncodingField alu_imm{"alu.imm[63:0]", 6, 0, 64, "immediate of the adder slot"};
constexpr EncodingField range_first{"t.first", 7, 0, 16, "first address of the declared T range"};
constexpr EncodingField range_last{"t.last", 7, 16, 16,
                                   "last address of the declared T range, 0 if none was declared"};
constexpr std::array fields{
    vlen,      pred_used,    pred_value,   pred_mask, mul_op,    alu_op,      move_op,
    pe_number, mul_dst,      mul_a,        mul_width, mul_t,     mul_b,       alu_b,
    alu_dst,   alu_a,        alu_width,    alu_t,     mask_flag, mask_number, move_pe,
    move_bm,   mul_imm_high, alu_imm_high, mul_imm,   alu_imm,   range_first, range_last};

constexpr std::uint64_t mask_of(const EncodingField& f) {
  return (f.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << f.bits) - 1) << f.low_bit;
}

constexpr bool fields_are_disjoint() {
  EncodedInstruction seen{};
  for (const EncodingField& f : fields) {
    if (f.low_bit + f.bits > 64 || (seen[f.word] & mask_of(f)) != 0) return false;
    seen[f.word] |= mask_of(f);
  }
  return true;
}
static_assert(fields_are_disjoint(), "every bit of the instruction word belongs to one field");

void put(EncodedInstruction& word, const EncodingField& f, std::uint64_t value) noexcept {
  word[f.word] |= (value << f.low_bit) & mask_of(f);
}

std::uint64_t get(const EncodedInstruction& word, const EncodingField& f) noexcept {
  return (word[f.word] & mask_of(f)) >> f.low_bit;
}

/// Operand field: address [21:6], vector [5], width [4], space [3:0]; all zero if there is none.
std::uint64_t encode_operand(const Operand& x) noexcept {
  if (!x.used()) return 0;
  return (std::uint64_t{x.address} << 6) | (std::uint64_t{x.vector} << 5) |
         (static_cast<std::uint64_t>(x.width) << 4) | static_cast<std::uint64_t>(x.space);
}

Operand decode_operand(const EncodedInstruction& word, const EncodingField& field) noexcept {
  const std::uint64_t bits = get(word, field);
  Operand x;
  if (bits == 0) return x;
  x.space = static_cast<Space>(bits & 15);
  x.width = static_cast<Width>((bits >> 4) & 1);
  x.vector = ((bits >> 5) & 1) != 0;
  x.address = static_cast<std::uint16_t>(bits >> 6);
  if (x.space == Space::LocalByT) {
    x.range_first = static_cast<std::uint16_t>(get(word, range_first));
    x.range_last = static_cast<std::uint16_t>(get(word, range_last));
  }
  return x;
}

void put_range(EncodedInstruction& word, const Operand& x) noexcept {
  if (x.space != Space::LocalByT) return;
  word[range_first.word] &= ~(mask_of(range_first) | mask_of(range_last));
  put(word, range_first, x.range_first);
  put(word, range_last, x.range_last);
}

struct SlotFields {
  const EncodingField &op, &dst, &a, &b, &width, &t, &imm, &imm_high;
};
constexpr SlotFields mul_fields{mul_op,    mul_dst, mul_a,   mul_b,
                                mul_width, mul_t,   mul_imm, mul_imm_high};
constexpr SlotFields alu_fields{alu_op,    alu_dst, alu_a,   alu_b,
                                alu_width, alu_t,   alu_imm, alu_imm_high};

/// Writes values to their fields.
struct Encoder {
  EncodedInstruction& word;

  template <typename T>
  void value(const EncodingField& field, T x) const noexcept {
    put(word, field, static_cast<std::uint64_t>(x));
  }
  void operand(const EncodingField& field, const Operand& x) const noexcept {
    put(word, field, encode_operand(x));
    put_range(word, x);
  }
  void immediate(const SlotFields& f, Long x) const noexcept {
    value(f.imm, x.bits);
    value(f.imm_high, x.bits >> 64);
  }
};

/// Reads values from their fields.
struct Decoder {
  const EncodedInstruction& word;

  template <typename T>
  void value(const EncodingField& field, T& x) const noexcept {
    x = static_cast<T>(get(word, field));
  }
  void operand(const EncodingField& field, Operand& x) const noexcept {
    x = decode_operand(word, field);
  }
  void immediate(const SlotFields& f, Long& x) const noexcept {
    x.bits = (u128{get(word, f.imm_high)} << 64) | get(word, f.imm);
  }
};

template <typename Coder, typename Slot>
void code_slot(const Coder& coder, Slot& slot, const SlotFields& f) noexcept {
  coder.value(f.op, slot.op);
  if (!slot.used()) return;
  coder.operand(f.dst, slot.dst);
  coder.operand(f.a, slot.a);
  coder.operand(f.b, slot.b);
  coder.value(f.width, slot.width);
  coder.value(f.t, slot.t);
  coder.immediate(f, slot.immediate);
}

/// All fields of an instruction except its vector length, in either direction.
template <typename Coder, typename AnyInstruction>
void code(const Coder& coder, AnyInstruction& i) noexcept {
  coder.value(pred_used, i.predicate.used);
  if (i.predicate.used) {
    coder.value(pred_value, i.predicate.value);
    coder.value(pred_mask, i.predicate.mask);
  }
  code_slot(coder, i.mul, mul_fields);
  code_slot(coder, i.alu, alu_fields);
  coder.value(mask_flag, i.alu.mask.flag);
  coder.value(mask_number, i.alu.mask.mask);
  coder.value(move_op, i.move.op);
  if (!i.move.used()) return;
  coder.operand(move_pe, i.move.pe);
  coder.operand(move_bm, i.move.bm);
  coder.value(pe_number, i.move.pe_number);
}

}  // namespace

std::span<const EncodingField> encoding_fields() noexcept { return fields; }

EncodedInstruction encode(const Instruction& i) noexcept {
  EncodedInstruction word{};
  put(word, vlen, static_cast<std::uint64_t>(i.vlen) - 1);
  code(Encoder{word}, i);
  return word;
}

std::optional<Instruction> decode(const EncodedInstruction& word, std::string& why) {
  Instruction i;
  i.vlen = static_cast<std::uint8_t>(get(word, vlen) + 1);
  code(Decoder{word}, i);
  why = validate(i);
  if (why.empty() && encode(i) != word) why = "bits are set that no field in use owns";
  if (!why.empty()) return std::nullopt;
  return i;
}

}  // namespace gdr
