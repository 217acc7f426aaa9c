// Integers and table lookups.
#include <algorithm>
#include <bit>
#include <cmath>

#include "gdr/error.hpp"
#include "kernels/compiler/lower/builder.hpp"
#include "kernels/compiler/lower/math.hpp"

namespace gdr::kc {
/// An integer as a number: added to the low bits of 1.5 * 2^60, which is then subtracted.
Ref Builder::number_of(const Ref& integer, Width width) {
  const Ref magic = immediate(1.5 * 1152921504606846976.0);
  Ref wide = magic;
  if (magic.width == Width::Short) {
    wide.width = Width::Long;
    wide.bits = magic.bits << Short::bit_count;
  }
  const Ref shifted = emit(Op::Iadd, Width::Long, wide, integer);
  return emit(Op::Fsub, width, shifted, magic);
}

/// An element of a table: the index goes to T, and local memory is read at T.
Ref Builder::table_lookup(const Node& node) {
  const auto found = std::ranges::find(loop_.tables, node.variable, &MachineTable::variable);
  const auto table = static_cast<std::int32_t>(found - loop_.tables.begin());
  if (found == loop_.tables.end()) {
    const GraphVariable& v = graph_.variable(node.variable);
    const unsigned padded = std::max(2U, std::bit_ceil(v.table_size));
    const unsigned shorts = padded * shorts_in(width_for(v.type));
    loop_.tables.push_back({.variable = node.variable,
                            .width = width_for(v.type),
                            .size = v.table_size,
                            .padded = padded,
                            .address = (loop_.local_end() + shorts - 1) / shorts * shorts});
  }
  const MachineTable t = loop_.tables[index(table)];  // the index may add tables
  const std::uint64_t base = t.address / shorts_in(t.width);
  // These operations are never shared: T serves one reader at a time.
  MachineOp move{.width = Width::Long, .where = node.where};
  const Ref element = integer(node.a);
  if (element.kind == Ref::Kind::Immediate) {
    const Ref known = bits((static_cast<std::uint64_t>(element.bits) & (t.padded - 1)) | base);
    move.op = Op::Ior;
    move.in = {known, known};
  } else if (base == 0) {
    move.op = Op::Iand;
    move.in = {element, bits(t.padded - 1)};
  } else {
    move.op = Op::Ior;
    move.in = {emit(Op::Iand, Width::Short, element, bits(t.padded - 1)), bits(base)};
  }
  const Ref at = append_op(move);
  loop_.value(at.value).in_t = true;
  return append_op(
      {.op = Op::Upass, .width = t.width, .in = {at, {}}, .table = table, .where = node.where});
}

Ref Builder::integer(NodeId id) {
  std::optional<Ref>& known = integers_[index(id)];
  if (!known) known = make_integer(graph_.node(id));
  return *known;
}

Ref Builder::make_integer(const Node& node) {
  where_ = node.where;
  switch (node.fn) {
    case Fn::Input:
      return input(node.variable);
    case Fn::Lookup:
      return table_lookup(node);
    case Fn::Abs: {
      const Ref a = integer(node.a);
      return emit(Op::Imax, Width::Short, a, emit(Op::Isub, Width::Short, bits(0), a));
    }
    case Fn::Constant:
      return bits(static_cast<std::uint64_t>(node.integer) & Short::mask);
    case Fn::Add:
    case Fn::Sub: {
      const Ref a = integer(node.a);
      return emit(node.fn == Fn::Add ? Op::Iadd : Op::Isub, Width::Short, a, integer(node.b));
    }
    case Fn::Neg:
      return emit(Op::Isub, Width::Short, bits(0), integer(node.a));
    case Fn::Min:
    case Fn::Max: {
      const Ref a = integer(node.a);
      return emit(node.fn == Fn::Min ? Op::Imin : Op::Imax, Width::Short, a, integer(node.b));
    }
    case Fn::Select: {
      const Condition c = condition(node.a);
      const Ref yes = integer(node.b), no = integer(node.c);
      return select(c, yes, false, no, false, Width::Short);
    }
    case Fn::Integer: {
      const Term& x = term(node.a);
      return truncated_int(plain(x, width_of(x.ref)));
    }
    case Fn::Quotient:
      return int_quotient(integer(node.a), graph_.node(node.b).integer);
    default:
      break;
  }
  throw Error(ErrorCategory::Internal, "this operation is not possible on integers");
}

/// n, or -n where all bits of `sign` are set.
Ref Builder::with_sign(const Ref& n, const Ref& sign) {
  return emit(Op::Isub, Width::Short, emit(Op::Ixor, Width::Short, n, sign), sign);
}

/// The integer of a number, rounded towards zero. 1/2 - 2^-26 less than the absolute value of a
/// short is nearest to it, and exact in a long.
Ref Builder::truncated_int(const Ref& x) {
  if (width_of(x) == Width::Long) return nearest_int(truncated(x, Width::Long));
  const Ref sign = emit(Op::Iasr, Width::Short, x, bits(35));
  const Ref less = emit(Op::Fsub, Width::Long, absolute(x), immediate(0.5 - 0x1p-26));
  return with_sign(nearest_int(less), sign);
}

/// n / divisor, rounded towards zero. The quotient of |n| is the integer nearest to
/// |n| / divisor + (1 / divisor - 1) / 2, which is at least 1 / (2 divisor) away from a half.
Ref Builder::int_quotient(const Ref& n, std::int64_t divisor) {
  const auto d = static_cast<std::uint64_t>(divisor);
  const Ref sign = emit(Op::Iasr, Width::Short, n, bits(35));
  if (std::has_single_bit(d)) {
    // Negative numbers are rounded up.
    const Ref offset = emit(Op::Iand, Width::Short, sign, bits(d - 1));
    return emit(Op::Iasr, Width::Short, emit(Op::Iadd, Width::Short, n, offset),
                bits(static_cast<std::uint64_t>(std::countr_zero(d))));
  }
  const double inverse = 1 / static_cast<double>(divisor);
  const Ref magnitude = absolute(number_of(n, Width::Long));
  const Ref ratio = product(magnitude, immediate(inverse), Width::Long);
  return with_sign(nearest_int(emit(Op::Fadd, Width::Long, ratio, immediate((inverse - 1) / 2))),
                   sign);
}

}  // namespace gdr::kc
