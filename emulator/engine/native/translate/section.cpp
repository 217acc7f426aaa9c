#include "emulator/engine/native/translate/section.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>

#include "emulator/engine/api/check.hpp"
#include "emulator/engine/native/translate/list_appends.hpp"
#include "emulator/isa/table.hpp"
#include "emulator/isa/validate.hpp"

namespace gdr::native {
namespace {

constexpr std::uint64_t sign_count = Short::bit_count - 1;

/// The two cells of a word; a short has its in `lower`.
struct Pair {
  CellValue upper = 0, lower = 0;
};

/// Pending writes of an operation of one element.
struct Outcome {
  Pair word;
  Ref flag = no_ref;
};

/// Longs with this exponent count in ones: 1.5 * 2^60 and 36 bits of integer, added up as integers,
/// are the number of that sum.
constexpr std::uint64_t exponent_of_ones = 1023 + 60;

/// Can a short integer be added to the bits of the long number whose upper half this is, and the
/// lower one zero, so that the sum is again a number of its exponent?
bool counts_in_ones(std::uint64_t upper) {
  const std::uint64_t fraction = upper & 0xffffff;
  return ((upper >> 24) & 2047) == exponent_of_ones && fraction >= 1 && fraction < 0xffffff;
}

struct IntegerNode {
  Op op;
  NodeOp node;
};
/// Inot: the second operand is all ones.
constexpr IntegerNode integer_nodes[] = {
    {Op::Iadd, NodeOp::IntAdd},      {Op::Isub, NodeOp::IntSub},
    {Op::Iand, NodeOp::And},         {Op::Ior, NodeOp::Or},
    {Op::Ixor, NodeOp::Xor},         {Op::Ishl, NodeOp::ShiftLeft},
    {Op::Ishr, NodeOp::ShiftRight},  {Op::Iasr, NodeOp::ShiftArith},
    {Op::Imax, NodeOp::SignedMax},   {Op::Imin, NodeOp::SignedMin},
    {Op::Umax, NodeOp::UnsignedMax}, {Op::Umin, NodeOp::UnsignedMin},
    {Op::Inot, NodeOp::Xor}};

NodeOp integer_node(Op op) { return std::ranges::find(integer_nodes, op, &IntegerNode::op)->node; }

bool is_extremum(Op op) {
  return op == Op::Imax || op == Op::Imin || op == Op::Umax || op == Op::Umin;
}

bool is_pass(Op op) { return op == Op::Ipass || op == Op::Upass; }

std::string place_of(const Program& program, Section section, std::size_t n) {
  std::string text = "instruction " + std::to_string(n);
  const auto& lines = program.lines[static_cast<unsigned>(section)];
  if (n < lines.size() && lines[n].line != 0) {
    text += ", ";
    if (lines[n].file < program.files.size()) text += program.files[lines[n].file] + ":";
    text += std::to_string(lines[n].line);
  }
  return text;
}

/// Whether the program subtracts shorts from longs or longs from shorts, as it does to find what a
/// long has beyond the short that it was converted to.
bool takes_remainders(const Program& program) {
  const auto is_remainder = [](const Instruction& i) {
    const Arithmetic& slot = i.alu;
    return slot.op == Op::Fsub && slot.a.width != slot.b.width &&
           slot.a.space != Space::Immediate && slot.b.space != Space::Immediate;
  };
  return std::ranges::any_of(program.sections, [&](const std::vector<Instruction>& section) {
    return std::ranges::any_of(section, is_remainder);
  });
}

class Translator {
 public:
  Translator(const Program& program, SectionModel& model)
      : m_(model),
        g_(model.graph),
        c_(model.cells),
        takes_remainders_(takes_remainders(program)),
        zero_(c_.constant(0)),
        lists_(model) {}

  void run(const Instruction& i) {
    const bool appends = stores_through_t(i);
    if (uses_t_address(i) && !appends) check_table_reads(i);
    struct Element {
      Ref enabled;
      Outcome mul, alu;
      Pair moved;
      CellValue address;  ///< lower half of T
    };
    std::array<Element, max_elements> results{};
    for (unsigned k = 0; k < i.vlen; ++k) {
      Element& r = results[k];
      r.enabled = g_.always();
      if (i.predicate.used) {
        const Ref mask = m_.masks[i.predicate.mask * max_elements + k];
        r.enabled = i.predicate.value ? mask : complement(mask);
      }
      if (i.mul.used()) r.mul = compute(i.mul, k);
      if (i.alu.used()) r.alu = compute(i.alu, k);
      if (i.move.op == Op::Bget) r.moved = memory(i.move.bm, k);
      if (i.move.op == Op::Bput) r.moved = read(i.move.pe, {}, k);
      r.address = m_.state[m_.map.t + k * 2 + 1];
    }
    for (unsigned k = 0; k < i.vlen; ++k) {
      const Element& r = results[k];
      if (i.mul.used()) commit(i.mul, r.mul, k, r.enabled);
      if (i.alu.used()) commit(i.alu, r.alu, k, r.enabled);
      if (appends)
        lists_.store({k, i.alu.dst.range_first, i.alu.dst.range_last, c_.bits(r.address),
                      c_.bits(r.alu.word.lower), r.enabled});
      if (i.move.op == Op::Bget) write(i.move.pe, i.move.pe.width, k, r.moved, r.enabled);
      if (i.move.op == Op::Bput) put(i, k, r.moved, r.enabled);
    }
  }

  void finish_lists(Section section) { lists_.finish(section); }

 private:
  /// Whether the only use of T as an address is the destination of a short in the adder's slot.
  static bool stores_through_t(const Instruction& i) {
    const auto is = [](const Operand& x) { return x.space == Space::LocalByT; };
    return is(i.alu.dst) && i.alu.width == Width::Short && i.alu.dst.range_last != 0 &&
           !is(i.alu.a) && !is(i.alu.b) && !is(i.mul.a) && !is(i.mul.b) && !is(i.mul.dst) &&
           !is(i.move.pe);
  }

  /// Throws Unsupported unless all uses of T as an address are operands that are read, in a range.
  static void check_table_reads(const Instruction& i) {
    const auto is = [](const Operand& x) { return x.space == Space::LocalByT; };
    if (is(i.alu.dst) || is(i.mul.dst) || is(i.move.pe))
      throw Unsupported("local memory is written through T, and not to a list");
    for (const Operand* x : {&i.alu.a, &i.alu.b, &i.mul.a, &i.mul.b})
      if (is(*x) && x->range_last == 0)
        throw Unsupported("local memory is read through T, at any address");
  }

  /// The element of a table that T addresses.
  Pair lookup(const Operand& x, unsigned element) {
    const Table table{x.width, x.range_first, x.range_last};
    const auto found = std::ranges::find(m_.tables, table);
    const auto number = static_cast<std::uint32_t>(found - m_.tables.begin());
    if (found == m_.tables.end()) m_.tables.push_back(table);
    const Element at = element_at(g_, c_.bits(m_.state[m_.map.t + element * 2 + 1]), table);
    const auto half = [&](bool lower) { return c_.lookup(at.index, at.behind, number, lower); };
    if (x.width == Width::Short) return {zero_, half(false)};
    return {half(false), half(true)};
  }

  Ref bits_constant(std::uint64_t value) { return g_.constant(Kind::Bits, value << short_shift); }
  Ref ones() { return g_.constant(Kind::Bits, short_mask); }
  Ref bits(NodeOp op, Ref a, Ref b) { return g_.op(op, Kind::Bits, a, b); }
  Ref test(NodeOp op, Ref a, Ref b = no_ref) { return g_.op(op, Kind::Mask, a, b); }
  Ref never() const { return complement(g_.always()); }

  Pair read(const Operand& x, Long immediate, unsigned element) {
    const bool wide = x.width == Width::Long;
    switch (x.space) {
      case Space::None:
        return {zero_, zero_};
      case Space::Immediate: {
        const CellValue low = c_.constant(lower_half(immediate).bits);
        return wide ? Pair{c_.constant(upper_half(immediate).bits), low} : Pair{zero_, low};
      }
      case Space::PeNumber:
      case Space::BlockNumber: {
        const WordType type =
            x.space == Space::PeNumber ? WordType::PeNumber : WordType::BlockNumber;
        return {zero_, c_.value(g_.leaf(NodeOp::Input, {type, 0, 0}))};
      }
      case Space::LocalByT:
        return lookup(x, element);
      default: {
        const std::uint32_t cell = m_.map.cell(x, element);
        return wide ? Pair{m_.state[cell], m_.state[cell + 1]} : Pair{zero_, m_.state[cell]};
      }
    }
  }

  Ref number(const Operand& x, Pair word) {
    return x.width == Width::Long ? c_.long_number(word.upper, word.lower)
                                  : c_.short_number(word.lower);
  }

  Pair number_word(Ref value, Width width) {
    if (width == Width::Short) return {zero_, c_.value(value)};
    if (g_.is_constant(value)) {
      Flags ignored = no_flags;
      const Long word = fcvt(Long{u128{g_[value].bits} << 8}, Width::Long, ignored);
      return {c_.constant(upper_half(word).bits), c_.constant(lower_half(word).bits)};
    }
    return {c_.half(value, false), c_.half(value, true)};
  }

  /// Whether a sum of x + c and another constant, or their difference, takes c back, except for a
  /// small part of it. Sums like x + 0.1 + 0.2 are not meant to round.
  bool takes_back(const Arithmetic& slot, const Node& inner, Ref other) const {
    const auto added = constant_added(g_, inner);
    if (!added || !g_.is_constant(other))
      return (slot.op == Op::Fadd) == (inner.op == NodeOp::Sub && inner.b == other);
    const double c = std::bit_cast<double>(g_[other].bits);
    const double left = slot.op == Op::Fadd ? *added + c : *added - c;
    return !(std::abs(left) > 0x1p-20 * std::abs(*added));
  }

  /// Adding and subtracting a large constant rounds if the intermediate sum is rounded to its
  /// format; host numbers have more bits than a short and fewer than a long.
  Ref unrounded(const Arithmetic& slot, const Operand& x, Ref inner, Ref other) {
    const Node node = g_[inner];
    if (!is_sum(node.op)) return inner;
    if (x.width == Width::Long && (m_.longs_are_doubles || !takes_back(slot, node, other)))
      return inner;
    const auto same = [&](Ref r) {
      const NodeOp op = g_[r].op;
      // Zero rounds nothing: -(-x) is x.
      if (op == NodeOp::Constant)
        return g_.is_constant(other) && std::bit_cast<double>(g_[r].bits) != 0;
      return r == other && (op == NodeOp::Uniform || op == NodeOp::Input);
    };
    if (!same(node.a) && !same(node.b)) return inner;
    if (x.width == Width::Long) {
      throw Unsupported("a long is rounded by adding and subtracting a constant");
    }
    return g_.op(NodeOp::Round, Kind::Number, inner);
  }

  Ref sum(const Arithmetic& slot, Ref a, Ref b) {
    const Ref x = unrounded(slot, slot.a, a, b);
    const Ref y = unrounded(slot, slot.b, b, a);
    return g_.op(slot.op == Op::Fadd ? NodeOp::Add : NodeOp::Sub, Kind::Number, x, y, no_ref,
                 slot.width == Width::Short ? short_result : std::uint8_t{0});
  }

  /// An integer is added to the bits of a number with unit last place. Doubles cannot represent the
  /// sum: it stays symbolic until the number is subtracted or the bits are used.
  bool add_to_constant(const Arithmetic& slot, Pair a, Pair b, Outcome& out) {
    if (slot.op != Op::Iadd || slot.mask.flag != MaskFlag::None) return false;
    const bool first = c_.is_constant(a.upper) && c_.is_constant(a.lower);
    const Pair number = first ? a : b;
    const Pair integer = first ? b : a;
    const Operand& x = first ? slot.b : slot.a;
    if (x.width == Width::Long || c_.is_constant(integer.lower)) return false;
    if (!c_.is_constant(number.upper) || !c_.is_constant(number.lower)) return false;
    const std::uint64_t upper = c_.constant_bits(number.upper);
    if (c_.constant_bits(number.lower) != 0 || !counts_in_ones(upper)) return false;
    const Ref bits = c_.bits(integer.lower);
    out = {{c_.sum(upper, bits, false), c_.sum(upper, bits, true)}, no_ref};
    return true;
  }

  /// The integer of such a sum after its number is subtracted, as a number; else no_ref.
  Ref integer_as_number(const Arithmetic& slot, Pair a, Pair b) {
    if (slot.op != Op::Fsub || slot.a.width != Width::Long) return no_ref;
    const CellValue upper = slot.b.width == Width::Long ? b.upper : b.lower;
    if (!c_.is_constant(upper) || (slot.b.width == Width::Long && !c_.is_zero(b.lower))) {
      return no_ref;
    }
    const std::uint64_t constant = c_.constant_bits(upper);
    const Ref integer = c_.integer_added_to(constant, a.upper, a.lower);
    if (integer == no_ref) return no_ref;
    // The same within a double: added to 1.5 * 2^52, which is subtracted again. (As a fused product
    // with one, which is exact and is not taken for a sum with a constant.)
    constexpr double base = 0x1.8p52;
    const Ref low = bits(NodeOp::ShiftArith, integer, bits_constant(short_shift));
    const Ref sum =
        bits(NodeOp::IntAdd, low, g_.constant(Kind::Bits, std::bit_cast<std::uint64_t>(base)));
    return g_.op(NodeOp::Fma, Kind::Number, g_.as_number(sum), g_.number(1), g_.number(base),
                 fma_negate_addend);
  }

  Outcome compute_number(const Arithmetic& slot, Pair a, Pair b) {
    Ref value = integer_as_number(slot, a, b);
    if (value == no_ref) value = computed(slot, a, b);
    Outcome out{number_word(value, slot.width), no_ref};
    if (slot.mask.flag != MaskFlag::None) {
      const bool negative = slot.mask.flag == MaskFlag::Negative;
      out.flag = test(negative ? NodeOp::Negative : NodeOp::IsZero, value);
    }
    return out;
  }

  Ref computed(const Arithmetic& slot, Pair a, Pair b) {
    const Ref x = number(slot.a, a);
    const Ref y = slot.b.used() ? number(slot.b, b) : no_ref;
    switch (slot.op) {
      case Op::Fadd:
      case Op::Fsub:
        return sum(slot, x, y);
      case Op::Fmul:
      case Op::Dmul:
        return g_.op(NodeOp::Mul, Kind::Number, x, y, no_ref,
                     slot.width == Width::Short ? short_result : std::uint8_t{0});
      case Op::Fmax:
      case Op::Fmin: {
        // The host's instructions return the second operand if one is NaN: constants go first.
        const bool turned = g_.is_constant(y);
        return g_.op(slot.op == Op::Fmax ? NodeOp::Max : NodeOp::Min, Kind::Number, turned ? y : x,
                     turned ? x : y);
      }
      default:
        // A long as a short is rounded only if the program uses the difference: the remainder may
        // be taken in another section, and rounding costs gravity in longs a fifth of its speed.
        if (!takes_remainders_ || slot.width == Width::Long || slot.a.width == Width::Short ||
            g_.is_constant(x))
          return x;
        return g_.op(NodeOp::Round, Kind::Number, x, no_ref, no_ref, short_result);
    }
  }

  /// The flag of an integer result, if the operation sets one.
  Ref flag(MaskFlag wanted, Ref upper, Ref lower, Ref carry) {
    if (wanted == MaskFlag::None) return no_ref;
    if (wanted == MaskFlag::Carry) return carry;
    if (wanted == MaskFlag::Negative) return test(NodeOp::BitsNegative, upper);
    const Ref all = upper == lower ? lower : bits(NodeOp::Or, upper, lower);
    // a - b is zero where a equals b; that spares the subtraction.
    const Node node = g_[all];
    if (node.op == NodeOp::IntSub) return test(NodeOp::BitsEqual, node.a, node.b);
    return test(NodeOp::BitsEqual, all, bits_constant(0));
  }

  /// The flag of a long integer result that sets no carry.
  Ref flag_of(MaskFlag wanted, Pair word) {
    if (wanted == MaskFlag::None) return no_ref;
    return flag(wanted, c_.bits(word.upper), c_.bits(word.lower), never());
  }

  Ref short_carry(const Arithmetic& slot, Ref a, Ref b, Ref result) {
    if (slot.mask.flag != MaskFlag::Carry) return no_ref;
    if (slot.op == Op::Iadd) return complement(test(NodeOp::BitsAtLeast, result, a));
    return slot.op == Op::Isub ? test(NodeOp::BitsAtLeast, a, b) : never();
  }

  Outcome compute_short(const Arithmetic& slot, Pair a, Pair b) {
    const MaskFlag wanted = slot.mask.flag;
    if (is_pass(slot.op)) {
      const bool tests = wanted == MaskFlag::Negative || wanted == MaskFlag::Zero;
      const Ref word = tests ? c_.bits(a.lower) : no_ref;
      return {{zero_, a.lower}, flag(wanted, word, word, never())};
    }
    const Ref x = c_.bits(a.lower);
    const Ref y = slot.op == Op::Inot ? ones() : c_.bits(b.lower);
    const NodeOp op = integer_node(slot.op);
    Ref result = bits(op, x, y);
    if (op == NodeOp::ShiftRight || op == NodeOp::ShiftArith)
      result = bits(NodeOp::And, result, ones());
    return {{zero_, c_.value(result)},
            flag(wanted, result, result, short_carry(slot, x, y, result))};
  }

  /// A short operand of a long operation becomes the lower half, on request with its sign above.
  Pair widened(const Operand& x, Pair word, bool with_sign) {
    if (x.width == Width::Long || !with_sign) return word;
    if (c_.is_constant(word.lower)) {
      const bool negative = (c_.constant_bits(word.lower) >> sign_count) != 0;
      return {c_.constant(negative ? Short::mask : 0), word.lower};
    }
    if (x.space == Space::PeNumber || x.space == Space::BlockNumber) return word;
    const Ref sign = bits(NodeOp::ShiftArith, c_.bits(word.lower), bits_constant(63));
    return {c_.value(bits(NodeOp::And, sign, ones())), word.lower};
  }

  /// Whether a signed operand of a long operation is a short with its sign above.
  bool is_widened(const Operand& x, Pair word) const {
    if (x.width == Width::Short) return true;
    if (!c_.is_constant(word.upper) || !c_.is_constant(word.lower)) return false;
    const bool negative = (c_.constant_bits(word.lower) >> sign_count) != 0;
    return c_.constant_bits(word.upper) == (negative ? Short::mask : 0);
  }

  /// Exponent, sign and leading bits of a computed long number, changed by a constant that leaves
  /// the last 36 bits alone: an absolute value, a power of two.
  Pair moved_number(const Arithmetic& slot, Pair a, Pair b) {
    const bool first = c_.is_half_of_number(a.upper);
    const Pair number = first ? a : b;
    const Pair other = first ? b : a;
    const Ref value = c_.long_number(number.upper, number.lower);
    const bool keeps_low =
        c_.is_constant(other.lower) &&
        c_.constant_bits(other.lower) == (slot.op == Op::Iand ? Short::mask : std::uint64_t{0});
    if (!keeps_low || (slot.op == Op::Isub && !first)) {
      throw Unsupported("the low bits of a long number are used as an integer");
    }
    Ref mask = c_.bits(other.upper);
    if (slot.op == Op::Iand) mask = bits(NodeOp::Or, mask, g_.constant(Kind::Bits, ~short_mask));
    return number_word(g_.as_number(bits(integer_node(slot.op), g_.as_bits(value), mask)),
                       Width::Long);
  }

  /// Whether a number is a sum of squares, and thus never negative.
  bool is_sum_of_squares(Ref r) const {
    const Node& node = g_[r];
    switch (node.op) {
      case NodeOp::Mul:
        return node.a == node.b;
      case NodeOp::Add:
        return is_sum_of_squares(node.a) && is_sum_of_squares(node.b);
      case NodeOp::Round:
        return is_sum_of_squares(node.a);
      default:
        return false;
    }
  }

  /// Kernels pack a number above an integer to find the smallest number, and the integer that
  /// belongs to it: the least long. Numbers that are not negative are ordered like their bits, and
  /// are compared as such, which spares many operations.
  std::optional<Pair> least_number(const Arithmetic& slot, Pair key, Pair other) {
    if (slot.op != Op::Imin || slot.mask.flag != MaskFlag::None) return std::nullopt;
    if (!c_.prefers_number(key.upper) || c_.is_constant(key.upper)) return std::nullopt;
    const Ref x = c_.short_number(key.upper);
    if (!is_sum_of_squares(x)) return std::nullopt;
    const Ref y = c_.short_number(other.upper);
    const Ref difference = g_.op(NodeOp::Sub, Kind::Number, x, y);
    const Ref smaller = test(NodeOp::Negative, difference);
    const Ref first_of_equals =
        g_.both(test(NodeOp::IsZero, difference),
                complement(test(NodeOp::BitsAtLeast, c_.bits(key.lower), c_.bits(other.lower))));
    const Ref taken = complement(g_.both(complement(smaller), complement(first_of_equals)));
    return Pair{c_.value(g_.select(taken, x, y)), c_.select(taken, key.lower, other.lower)};
  }

  /// Of two shorts with their signs above: the extremum of shorts.
  std::optional<Pair> short_extremum(const Arithmetic& slot, Pair a, Pair b) {
    const bool is_signed = slot.op == Op::Imin || slot.op == Op::Imax;
    if (!is_signed || !is_widened(slot.a, a) || !is_widened(slot.b, b)) return std::nullopt;
    const Ref least = bits(integer_node(slot.op), c_.bits(a.lower), c_.bits(b.lower));
    const Ref sign = bits(NodeOp::ShiftArith, least, bits_constant(63));
    return Pair{c_.value(bits(NodeOp::And, sign, ones())), c_.value(least)};
  }

  /// Longs are compared by their upper halves, and where these are equal by the lower ones.
  Outcome extremum(const Arithmetic& slot, Pair a, Pair b) {
    if (const auto least = short_extremum(slot, a, b))
      return {*least, flag_of(slot.mask.flag, *least)};
    if (const auto least = least_number(slot, a, b)) return {*least, no_ref};
    if (const auto least = least_number(slot, b, a)) return {*least, no_ref};
    const bool is_signed = slot.op == Op::Imin || slot.op == Op::Imax;
    const bool least = slot.op == Op::Imin || slot.op == Op::Umin;
    const Ref upper[] = {c_.bits(a.upper), c_.bits(b.upper)};
    const Ref lower[] = {c_.bits(a.lower), c_.bits(b.lower)};
    const auto ordered = [&](Ref half) {
      return is_signed ? bits(NodeOp::Xor, half, bits_constant(std::uint64_t{1} << sign_count))
                       : half;
    };
    const Ref less = complement(test(NodeOp::BitsAtLeast, ordered(upper[0]), ordered(upper[1])));
    const Ref lower_less = complement(test(NodeOp::BitsAtLeast, lower[0], lower[1]));
    const Ref first_is_less =
        g_.select(test(NodeOp::BitsEqual, upper[0], upper[1]), lower_less, less);
    const Ref first = least ? first_is_less : complement(first_is_less);
    const Pair word{c_.select(first, a.upper, b.upper), c_.select(first, a.lower, b.lower)};
    return {word, flag_of(slot.mask.flag, word)};
  }

  /// A long shifted by a constant number of bits.
  Outcome shifted_long(const Arithmetic& slot, Pair a, Pair b) {
    if (!c_.is_constant(b.lower) || !c_.is_zero(b.upper)) {
      throw Unsupported("a long is shifted by a variable number of bits");
    }
    const std::uint64_t count = c_.constant_bits(b.lower);
    if (slot.mask.flag == MaskFlag::Carry) throw Unsupported("the carry of a long is used");
    if (count >= 2 * Short::bit_count) throw Unsupported("a long is shifted by all its bits");
    const bool left = slot.op == Op::Ishl;
    const std::uint64_t within = count % Short::bit_count;
    const bool crosses = count >= Short::bit_count;
    const auto shift = [&](NodeOp op, CellValue half, std::uint64_t by) {
      return bits(NodeOp::And, bits(op, c_.bits(half), bits_constant(by)), ones());
    };
    const NodeOp along = left ? NodeOp::ShiftLeft : NodeOp::ShiftRight;
    const NodeOp back = left ? NodeOp::ShiftRight : NodeOp::ShiftLeft;
    const CellValue from = left ? a.lower : a.upper;  // its bits move towards the other half
    const CellValue to = left ? a.upper : a.lower;
    Pair moved{from, to};
    if (within == 0) {
      if (crosses) moved = {zero_, from};
    } else if (crosses) {
      moved = {zero_, c_.value(shift(along, from, within))};
    } else {
      moved = {c_.value(shift(along, from, within)),
               c_.value(bits(NodeOp::Or, shift(along, to, within),
                             shift(back, from, Short::bit_count - within)))};
    }
    const Pair word = left ? Pair{moved.lower, moved.upper} : moved;
    return {word, flag_of(slot.mask.flag, word)};
  }

  Outcome compute_long(const Arithmetic& slot, Pair a, Pair b) {
    const OpInfo& op = info(slot.op);
    a = widened(slot.a, a, op.signed_operands);
    b = widened(slot.b, b, op.signed_operands && !op.unsigned_count);
    if (Outcome sum; add_to_constant(slot, a, b, sum)) return sum;
    const bool passes = is_pass(slot.op);
    if (passes && slot.mask.flag == MaskFlag::None) return {a, no_ref};
    const bool adds = slot.op == Op::Iadd || slot.op == Op::Isub;
    const bool logical = slot.op == Op::Iand || slot.op == Op::Ior || slot.op == Op::Ixor;
    if (is_extremum(slot.op)) return extremum(slot, a, b);
    if (slot.op == Op::Ishl || slot.op == Op::Ishr) return shifted_long(slot, a, b);
    if (!passes && !adds && !logical && slot.op != Op::Inot) {
      throw Unsupported("integer operation " + std::string(op.mnemonic) + " on longs");
    }
    if ((adds || logical) && slot.mask.flag == MaskFlag::None &&
        (c_.is_half_of_number(a.upper) || c_.is_half_of_number(b.upper))) {
      return {moved_number(slot, a, b), no_ref};
    }
    Ref upper = c_.bits(a.upper);
    Ref lower = c_.bits(a.lower);
    if (adds) {
      const Ref bu = c_.bits(b.upper);
      const Ref bl = c_.bits(b.lower);
      const NodeOp node = integer_node(slot.op);
      if (slot.mask.flag == MaskFlag::Carry) throw Unsupported("the carry of a long is used");
      const Ref low = bits(node, lower, bl);
      const Ref no_carry = slot.op == Op::Iadd ? test(NodeOp::BitsAtLeast, low, lower)
                                               : test(NodeOp::BitsAtLeast, lower, bl);
      const Ref one = g_.select(complement(no_carry), bits_constant(1), bits_constant(0));
      upper = bits(node, bits(node, upper, bu), one);
      lower = low;
    } else if (!passes) {
      const auto operand = [&](CellValue cell) { return logical ? c_.bits(cell) : ones(); };
      upper = bits(integer_node(slot.op), upper, operand(b.upper));
      lower = bits(integer_node(slot.op), lower, operand(b.lower));
      if (slot.op == Op::Ior && slot.mask.flag == MaskFlag::None) {
        // Halves that the other operand leaves alone keep their origin.
        const auto joined = [&](CellValue x, CellValue y, Ref made) {
          return c_.is_zero(x) ? y : c_.is_zero(y) ? x : c_.value(made);
        };
        return {{joined(a.upper, b.upper, upper), joined(a.lower, b.lower, lower)}, no_ref};
      }
    }
    return {passes ? a : Pair{c_.value(upper), c_.value(lower)},
            flag(slot.mask.flag, upper, lower, never())};
  }

  Outcome compute(const Arithmetic& slot, unsigned element) {
    const Pair a = read(slot.a, slot.immediate, element);
    const Pair b = read(slot.b, slot.immediate, element);
    if (info(slot.op).unit != Unit::Integer) return compute_number(slot, a, b);
    return slot.width == Width::Short ? compute_short(slot, a, b) : compute_long(slot, a, b);
  }

  Pair memory(const Operand& x, unsigned element) {
    if (x.space == Space::BmOutput) throw Unsupported("output items are read");
    const NodeOp op = x.space == Space::BmSource ? NodeOp::Source : NodeOp::Uniform;
    const std::uint32_t address = x.at(element);
    const auto touches = [&](const BmStore& p) {
      const std::uint32_t end = p.address + shorts_in(p.width);
      return address < end && p.address < address + shorts_in(x.width);
    };
    if (op == NodeOp::Uniform && std::any_of(m_.bm_stores.begin(), m_.bm_stores.end(), touches)) {
      throw Unsupported(
          "a word that a PE stored to the broadcast memory is read in the same section");
    }
    const CellValue first = c_.memory(op, address);
    if (x.width == Width::Short) return {zero_, first};
    return {first, c_.memory(op, address + 1)};
  }

  void write(const Operand& dst, Width width, unsigned element, Pair word, Ref enabled) {
    const std::uint32_t cell = m_.map.cell(dst, element);
    const auto store = [&](std::uint32_t at, CellValue value) {
      m_.state[at] = c_.select(enabled, value, m_.state[at]);
      m_.written.push_back(at);
    };
    if (width == Width::Short) return store(cell, word.lower);
    store(cell, word.upper);
    store(cell + 1, word.lower);
  }

  void commit(const Arithmetic& slot, const Outcome& out, unsigned element, Ref enabled) {
    if (slot.dst.used() && slot.dst.space != Space::LocalByT)
      write(slot.dst, slot.width, element, out.word, enabled);
    if (slot.t != TTarget::None) {
      const auto half = static_cast<std::uint16_t>(slot.t == TTarget::Lower ? 1 : 0);
      write({Space::T, slot.width, false, half}, slot.width, element, out.word, enabled);
    }
    if (slot.mask.flag != MaskFlag::None) {
      Ref& mask = m_.masks[slot.mask.mask * max_elements + element];
      mask = g_.select(enabled, out.flag, mask);
    }
  }

  void put(const Instruction& i, unsigned element, Pair word, Ref enabled) {
    const Operand& bm = i.move.bm;
    if (bm.space != Space::Bm) throw Unsupported("a word is stored to an item");
    m_.bm_stores.push_back(
        {bm.at(element), bm.width, i.move.pe_number, word.upper, word.lower, enabled});
  }

  SectionModel& m_;
  Graph& g_;
  MemoryModel& c_;
  bool takes_remainders_;
  CellValue zero_;
  ListAppends lists_;
};

}  // namespace

Ref SectionModel::final_value(LeafKey key) {
  switch (key.type) {
    case WordType::Long:
      return cells.long_number(state[key.place], state[key.place + 1]);
    case WordType::Short:
      return cells.short_number(state[key.place]);
    case WordType::Bits:
      return cells.bits(state[key.place]);
    case WordType::Mask:
      return masks[key.place];
    default:
      return graph.leaf(NodeOp::Input, key);
  }
}

void translate(const Program& program, Section section, SectionModel& m) {
  m.elements = program.elements;
  for (std::uint32_t cell = 0; cell < m.map.count; ++cell) m.state.push_back(m.cells.input(cell));
  for (std::uint32_t mask = 0; mask < CellMap::masks; ++mask) {
    m.masks.push_back(m.graph.leaf(NodeOp::Input, {WordType::Mask, mask, 0}));
  }
  Translator translator(program, m);
  const auto& instructions = program.section(section);
  for (std::size_t n = 0; n < instructions.size(); ++n) {
    try {
      const Instruction& i = instructions[n];
      translator.run(i);
      // The items of a run are taken in before the first pass.
      if (section == Section::Body && i.move.op == Op::Bput && !is_fixed_transfer(program, i))
        throw Unsupported("a word is stored to the halves of the broadcast memory");
    } catch (const Unsupported& e) {
      throw Unsupported(place_of(program, section, n) + ": " + e.what());
    }
  }
  std::sort(m.written.begin(), m.written.end());
  m.written.erase(std::unique(m.written.begin(), m.written.end()), m.written.end());
  translator.finish_lists(section);
}

}  // namespace gdr::native
