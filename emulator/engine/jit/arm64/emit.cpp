#include "emulator/engine/jit/arm64/emit.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace gdr::jit::arm64 {
namespace {

using a64::Word;

/// Operations that are one instruction. `typed`: it depends on the type of the lanes.
struct Simple {
  Op op;
  Word word;
  bool typed = true;
};

constexpr Simple unary[] = {{Op::Sqrt, a64::fsqrt},           {Op::RsqrtEstimate, a64::frsqrte},
                            {Op::RecipEstimate, a64::frecpe}, {Op::IntToFloat, a64::scvtf},
                            {Op::IntToDouble, a64::scvtf},    {Op::DoubleToInt, a64::fcvtzs}};
constexpr Simple binary[] = {{Op::Add, a64::fadd},         {Op::Sub, a64::fsub},
                             {Op::Divide, a64::fdiv},      {Op::RsqrtStep, a64::frsqrts},
                             {Op::RecipStep, a64::frecps}, {Op::And, a64::and_, false},
                             {Op::Or, a64::orr, false},    {Op::Xor, a64::eor, false},
                             {Op::IntAdd, a64::add},       {Op::IntSub, a64::sub}};

/// A comparison as an instruction, with exchanged operands, and as its complement.
struct VectorComparison {
  Word word;
  bool exchanged, complemented;
};

VectorComparison comparison_with(Predicate p) {
  switch (p) {
    case Predicate::Equal:
      return {a64::fcmeq, false, false};
    case Predicate::NotEqual:
      return {a64::fcmeq, false, true};
    case Predicate::Less:
      return {a64::fcmgt, true, false};
    case Predicate::LessEqual:
      return {a64::fcmge, true, false};
    case Predicate::NotLess:
      return {a64::fcmgt, true, true};
    default:
      throw std::logic_error("a comparison that is not one instruction");
  }
}

VectorComparison comparison_with(IntPredicate p, bool is_signed) {
  const Word greater = is_signed ? a64::cmgt : a64::cmhi;
  switch (p) {
    case IntPredicate::Equal:
      return {a64::cmeq, false, false};
    case IntPredicate::NotEqual:
      return {a64::cmeq, false, true};
    case IntPredicate::Less:
      return {greater, true, false};
    case IntPredicate::NotLess:
      return {is_signed ? a64::cmge : a64::cmhs, false, false};
    default:
      return {greater, false, false};
  }
}

class Arm64Emitter {
 public:
  explicit Arm64Emitter(const EmitContext& context) : c_(context), a_(context.assembler) {}

  void instruction(const Instruction& i) {
    switch (i.op) {
      case Op::Load:
        return load(i);
      case Op::Store:
        return a_.access(a64::str_q, i.a.number, base(i.to.place), i.to.place.offset);
      case Op::Mul:
        return product(i, a64::fmul, a64::fmul_lane, to(i));
      case Op::Fma:
        return multiply_add(i);
      case Op::Max:
      case Op::Min:
        return extremum(i);
      case Op::AndNot:
        return a_.three(a64::bic, to(i), i.b.number, i.a.number);
      case Op::ShiftLeft:
      case Op::ShiftRight:
      case Op::ShiftArith:
        return shift(i);
      case Op::ShiftLeftBy:
      case Op::ShiftRightBy:
        return shift_by_lanes(i);
      case Op::FloatToInt:
        return float_to_int(i);
      case Op::Truncate:
        return truncate(i);
      case Op::Gather:
        return gather(i);
      case Op::Select:
        return choose(to(i), i.a.number, i.b.number, i.c.number);
      case Op::Compare:
        return compare(i);
      case Op::CompareSigned:
      case Op::CompareUnsigned:
        return compare(
            i, comparison_with(static_cast<IntPredicate>(i.detail), i.op == Op::CompareSigned));
      case Op::Collect: {
        const auto set = static_cast<unsigned>(c_.collected[i.detail]);
        return a_.three(a64::orr, set, set, i.a.number);
      }
      case Op::Append:
        return c_.appends->test(i);
      case Op::Leave:
        return branch_if_any_lane(a_, c_.target, i.a.number, *c_.leave);
      default:
        return plain(i);
    }
  }

 private:
  static constexpr unsigned temporary = Assembler::temporary_vector;

  static unsigned to(const Instruction& i) { return i.to.number; }
  unsigned base(const Place& p) const { return c_.bases[p.base]; }
  Word typed(Word word) const { return c_.target.floats ? word : word | a64::of_doubles; }
  unsigned lane_bits() const { return c_.target.lane_bytes() * 8; }
  void copy(unsigned result, unsigned from) {
    if (result != from) a_.three(a64::orr, result, from, from);
  }

  void plain(const Instruction& i) {
    const bool one = i.b.kind == Location::Kind::None;
    const std::span<const Simple> rows = one ? std::span<const Simple>(unary) : binary;
    const auto row = std::ranges::find(rows, i.op, &Simple::op);
    if (row == rows.end()) throw std::logic_error("an operation that arm64 has not");
    const Word word = row->typed ? typed(row->word) : row->word;
    one ? a_.two(word, to(i), i.a.number) : a_.three(word, to(i), i.a.number, i.b.number);
  }

  void load(const Instruction& i) {
    if (i.a.kind != Location::Kind::Memory) return copy(to(i), i.a.number);
    const Place& p = i.a.place;
    if (!p.broadcast) return a_.access(a64::ldr_q, to(i), base(p), p.offset);
    if (i.to.lane)
      return a_.access(c_.target.floats ? a64::ldr_s : a64::ldr_d, to(i), base(p), p.offset);
    unsigned at = base(p);
    if (p.offset != 0) {
      at = Assembler::address_register;
      a_.add(at, base(p), p.offset);
    }
    a_.two(c_.target.floats ? a64::ld1r_s : a64::ld1r_d, to(i), at);
  }

  /// The result replaces the addend, whose sign is changed first, unless a factor has its register,
  /// or the addend is in another one.
  void multiply_add(const Instruction& i) {
    const unsigned a = i.a.number, b = i.b.number;
    const bool negated = (i.detail & negate_addend) != 0;
    const unsigned sum = negated && (to(i) == a || to(i) == b) ? temporary : to(i);
    if (negated)
      a_.two(typed(a64::fneg), sum, i.c.kind == Location::Kind::Vector ? i.c.number : to(i));
    const bool minus = (i.detail & negate_product) != 0;
    product(i, minus ? a64::fmls : a64::fmla, minus ? a64::fmls_lane : a64::fmla_lane, sum);
    copy(to(i), sum);
  }

  /// The factors a and b, of which one may be a lane.
  void product(const Instruction& i, Word vectors, Word by_lane, unsigned result) {
    const bool turned = i.a.lane, lane = turned || i.b.lane;
    const unsigned a = turned ? i.b.number : i.a.number, b = turned ? i.a.number : i.b.number;
    a_.three(typed(lane ? by_lane : vectors), result, a, b);
  }

  /// result = mask ? yes : no, by the instruction that replaces one of them.
  void choose(unsigned result, unsigned mask, unsigned yes, unsigned no) {
    if (result == no) return a_.three(a64::bit, result, yes, mask);
    if (result == yes) return a_.three(a64::bif, result, no, mask);
    copy(result, mask);
    a_.three(a64::bsl, result, yes, no);
  }

  /// As other hosts do: the second operand where one is not a number, and for zeros.
  void extremum(const Instruction& i) {
    const unsigned a = i.a.number, b = i.b.number;
    const bool max = i.op == Op::Max;
    const bool free = to(i) != a && to(i) != b;
    const unsigned mask = free ? to(i) : temporary;
    a_.three(typed(a64::fcmgt), mask, max ? a : b, max ? b : a);
    choose(to(i), mask, a, b);
  }

  void shift(const Instruction& i) {
    const unsigned bits = lane_bits();
    const bool left = i.op == Op::ShiftLeft, arithmetic = i.op == Op::ShiftArith;
    const unsigned count = std::min<unsigned>(i.detail, bits);
    if (count == 0) return copy(to(i), i.a.number);
    if (count == bits && left) return a_.put(a64::movi_zero | to(i));
    a_.shift(left ? a64::shl : arithmetic ? a64::sshr : a64::ushr, to(i), i.a.number, count, bits);
  }

  /// The instruction reads the last byte of a count, as a signed number, and shifts to the left.
  /// Counts of 64 and more give zero.
  void shift_by_lanes(const Instruction& i) {
    const unsigned x = i.a.number, count = i.b.number;
    constexpr unsigned bits_of_64 = 6;
    const bool left = i.op == Op::ShiftLeftBy;
    // The value may go to the result's register, unless that one still has the count.
    const unsigned value = to(i) == count ? temporary : to(i);
    a_.shift(a64::ushr, temporary, count, bits_of_64, lane_bits());
    a_.two(typed(a64::cmeq_zero), temporary, temporary);
    a_.three(a64::and_, value, temporary, x);
    if (left) return a_.three(typed(a64::ushl), to(i), value, count);
    const unsigned negative = value == temporary ? to(i) : temporary;
    a_.two(typed(a64::neg), negative, count);
    a_.three(typed(a64::ushl), to(i), value, negative);
  }

  /// The least integer where there is no number, as on other hosts, and for less than all integers,
  /// as the instruction does.
  void float_to_int(const Instruction& i) {
    constexpr Word least = 0xcf;  // the upper byte of -2^31
    a_.put(a64::movi_top_byte | (least >> 5) << 16 | (least & 31) << 5 | temporary);
    a_.three(typed(a64::fmaxnm), temporary, temporary, i.a.number);
    a_.two(typed(a64::fcvtzs), to(i), temporary);
  }

  void truncate(const Instruction& i) {
    constexpr Word towards[] = {a64::frintz, a64::frintn, a64::frintm};
    a_.two(typed(towards[i.detail]), to(i), i.a.number);
  }

  void gather(const Instruction& i) {
    constexpr unsigned table = Assembler::address_register, index = Assembler::scratch_register;
    const bool floats = c_.target.floats;
    a_.add(table, base(i.b.place), i.b.place.offset);
    for (unsigned k = 0; k < c_.target.lanes(); ++k) {
      a_.lane(floats ? a64::smov_s : a64::umov_d, index, i.a.number, k, !floats);
      a_.three(floats ? a64::ldr_w_indexed : a64::ldr_x_indexed, index, table, index);
      a_.lane(floats ? a64::ins_s : a64::ins_d, to(i), index, k, !floats);
    }
  }

  void compare(const Instruction& i) {
    const auto predicate = static_cast<Predicate>(i.detail);
    if (predicate != Predicate::Unordered) return compare(i, comparison_with(predicate));
    // Numbers are equal to themselves.
    const unsigned a = i.a.number, b = i.b.number;
    a_.three(typed(a64::fcmeq), temporary, a, a);
    if (a != b) {
      a_.three(typed(a64::fcmeq), to(i), b, b);
      a_.three(a64::and_, temporary, temporary, to(i));
    }
    a_.two(a64::not_, to(i), temporary);
  }
  void compare(const Instruction& i, VectorComparison c) {
    const unsigned a = i.a.number, b = i.b.number;
    a_.three(typed(c.word), to(i), c.exchanged ? b : a, c.exchanged ? a : b);
    if (c.complemented) a_.two(a64::not_, to(i), to(i));
  }

  const EmitContext& c_;
  Assembler& a_;
};

}  // namespace

void emit(const EmitContext& context, std::span<const Instruction> code) {
  Arm64Emitter emitter(context);
  for (const Instruction& i : code) emitter.instruction(i);
}

}  // namespace gdr::jit::arm64
