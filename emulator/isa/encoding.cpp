#include "emulator/isa/encoding.hpp"

#include "emulator/isa/table.hpp"
#include "emulator/isa/validate.hpp"

namespace gdr {
namespace {

/// Fields by number; `fields` below gives each its place and meaning.
enum Field : std::size_t {
  vlen,
  pred_used,
  pred_value,
  pred_mask,
  mul_op,
  alu_op,
  move_op,
  pe_number,
  mul_dst,
  mul_a,
  mul_width,
  mul_t,
  mul_b,
  alu_b,
  alu_dst,
  alu_a,
  alu_width,
  alu_t,
  mask_flag,
  mask_number,
  move_pe,
  move_bm,
  mul_imm_high,
  alu_imm_high,
  mul_imm,
  alu_imm,
  range_first,
  range_last,
  field_count
};

constexpr std::array<EncodingField, field_count> fields{{
    {"vlen", 0, 0, 2, "elements less one"},
    {"pred", 0, 2, 1, "1: the instruction is predicated"},
    {"pred.value", 0, 3, 1, "write where the mask has this value"},
    {"pred.mask", 0, 4, 3, "mask register of the predicate"},
    {"mul.op", 0, 7, 6, "opcode of the multiplier slot, 0 if empty"},
    {"alu.op", 0, 13, 6, "opcode of the adder and integer slot, 0 if empty"},
    {"move.op", 0, 19, 6, "opcode of the transfer slot, 0 if empty"},
    {"move.pe_number", 0, 25, 16, "bput: number of the PE"},
    {"mul.dst", 1, 0, 22, "operand"},
    {"mul.a", 1, 22, 22, "operand"},
    {"mul.width", 1, 44, 1, "of the result: 0 short, 1 long"},
    {"mul.t", 1, 45, 2, "T as second destination: 0 no, 1 whole, 2 upper, 3 lower half"},
    {"mul.b", 2, 0, 22, "operand"},
    {"alu.b", 2, 22, 22, "operand"},
    {"alu.dst", 3, 0, 22, "operand"},
    {"alu.a", 3, 22, 22, "operand"},
    {"alu.width", 3, 44, 1, "of the result: 0 short, 1 long"},
    {"alu.t", 3, 45, 2, "T as second destination: 0 no, 1 whole, 2 upper, 3 lower half"},
    {"alu.flag", 3, 47, 2, "mask set from: 0 nothing, 1 negative, 2 zero, 3 carry"},
    {"alu.mask", 3, 49, 3, "mask register that is set"},
    {"move.pe", 4, 0, 22, "operand on the PE's side"},
    {"move.bm", 4, 22, 22, "operand in the broadcast memory"},
    {"mul.imm[71:64]", 4, 44, 8, "upper bits of the multiplier slot's immediate"},
    {"alu.imm[71:64]", 4, 52, 8, "upper bits of the adder slot's immediate"},
    {"mul.imm[63:0]", 5, 0, 64, "immediate of the multiplier slot"},
    {"alu.imm[63:0]", 6, 0, 64, "immediate of the adder slot"},
    {"t.first", 7, 0, 16, "first address of the declared T range"},
    {"t.last", 7, 16, 16, "last address of the declared T range, 0 if none was declared"},
}};

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

void put(EncodedInstruction& word, Field field, std::uint64_t value) noexcept {
  const EncodingField& f = fields[field];
  word[f.word] |= (value << f.low_bit) & mask_of(f);
}

std::uint64_t get(const EncodedInstruction& word, Field field) noexcept {
  const EncodingField& f = fields[field];
  return (word[f.word] & mask_of(f)) >> f.low_bit;
}

/// Operand field: address [21:6], vector [5], width [4], space [3:0]; all zero if there is none.
std::uint64_t encode_operand(const Operand& x) noexcept {
  if (!x.used()) return 0;
  return (std::uint64_t{x.address} << 6) | (std::uint64_t{x.vector} << 5) |
         (static_cast<std::uint64_t>(x.width) << 4) | static_cast<std::uint64_t>(x.space);
}

Operand decode_operand(const EncodedInstruction& word, Field field) noexcept {
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
  EncodedInstruction& w = word;
  w[fields[range_first].word] &= ~(mask_of(fields[range_first]) | mask_of(fields[range_last]));
  put(w, range_first, x.range_first);
  put(w, range_last, x.range_last);
}

struct SlotFields {
  Field op, dst, a, b, width, t, imm, imm_high;
};
constexpr SlotFields mul_fields{mul_op,    mul_dst, mul_a,   mul_b,
                                mul_width, mul_t,   mul_imm, mul_imm_high};
constexpr SlotFields alu_fields{alu_op,    alu_dst, alu_a,   alu_b,
                                alu_width, alu_t,   alu_imm, alu_imm_high};

void encode_slot(EncodedInstruction& word, const Arithmetic& slot, const SlotFields& f) noexcept {
  if (!slot.used()) return;
  put(word, f.op, static_cast<std::uint64_t>(slot.op));
  put(word, f.dst, encode_operand(slot.dst));
  put(word, f.a, encode_operand(slot.a));
  put(word, f.b, encode_operand(slot.b));
  put(word, f.width, static_cast<std::uint64_t>(slot.width));
  put(word, f.t, static_cast<std::uint64_t>(slot.t));
  put(word, f.imm, static_cast<std::uint64_t>(slot.immediate.bits));
  put(word, f.imm_high, static_cast<std::uint64_t>(slot.immediate.bits >> 64));
  for (const Operand* x : {&slot.dst, &slot.a, &slot.b}) put_range(word, *x);
}

Arithmetic decode_slot(const EncodedInstruction& word, const SlotFields& f) noexcept {
  Arithmetic slot;
  slot.op = static_cast<Op>(get(word, f.op));
  if (!slot.used()) return slot;
  slot.dst = decode_operand(word, f.dst);
  slot.a = decode_operand(word, f.a);
  slot.b = decode_operand(word, f.b);
  slot.width = static_cast<Width>(get(word, f.width));
  slot.t = static_cast<TTarget>(get(word, f.t));
  slot.immediate.bits = (u128{get(word, f.imm_high)} << 64) | get(word, f.imm);
  return slot;
}

}  // namespace

std::span<const EncodingField> encoding_fields() noexcept { return fields; }

EncodedInstruction encode(const Instruction& i) noexcept {
  EncodedInstruction word{};
  put(word, vlen, static_cast<std::uint64_t>(i.vlen) - 1);
  if (i.predicate.used) {
    put(word, pred_used, 1);
    put(word, pred_value, i.predicate.value);
    put(word, pred_mask, i.predicate.mask);
  }
  encode_slot(word, i.mul, mul_fields);
  encode_slot(word, i.alu, alu_fields);
  put(word, mask_flag, static_cast<std::uint64_t>(i.alu.mask.flag));
  put(word, mask_number, i.alu.mask.mask);
  if (i.move.used()) {
    put(word, move_op, static_cast<std::uint64_t>(i.move.op));
    put(word, move_pe, encode_operand(i.move.pe));
    put(word, move_bm, encode_operand(i.move.bm));
    put(word, pe_number, i.move.pe_number);
    put_range(word, i.move.pe);
  }
  return word;
}

std::optional<Instruction> decode(const EncodedInstruction& word, std::string& why) {
  Instruction i;
  i.vlen = static_cast<std::uint8_t>(get(word, vlen) + 1);
  if (get(word, pred_used) != 0) {
    i.predicate = {true, get(word, pred_value) != 0,
                   static_cast<std::uint8_t>(get(word, pred_mask))};
  }
  i.mul = decode_slot(word, mul_fields);
  i.alu = decode_slot(word, alu_fields);
  i.alu.mask = {static_cast<MaskFlag>(get(word, mask_flag)),
                static_cast<std::uint8_t>(get(word, mask_number))};
  i.move.op = static_cast<Op>(get(word, move_op));
  if (i.move.used()) {
    i.move.pe = decode_operand(word, move_pe);
    i.move.bm = decode_operand(word, move_bm);
    i.move.pe_number = static_cast<std::uint16_t>(get(word, pe_number));
  }
  why = validate(i);
  if (why.empty() && encode(i) != word) why = "bits are set that no field in use owns";
  if (!why.empty()) return std::nullopt;
  return i;
}

}  // namespace gdr
