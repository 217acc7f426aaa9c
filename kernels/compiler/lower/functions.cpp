// Integers, table lookups and functions of several operations: a seed from the number's bits, a
// polynomial correction, and Newton steps.
#include <algorithm>
#include <bit>
#include <cmath>

#include "gdr/error.hpp"
#include "kernels/compiler/lower/builder.hpp"
#include "kernels/compiler/lower/math.hpp"
#include "kernels/compiler/lower/math_coefficients.hpp"

namespace gdr::kc {
namespace {

// 1/sqrt(x), as docs/internals/gravity-kernel.md derives it: y0 = magic - (x >> 1) leaves x y0^2
// between 0.75 and 0.84375; the minimax parabola to rho / sqrt of that, (u + a)^2 + b, then one
// Newton step with scaled constants. y is then 2 rho^3 / sqrt(x), with a relative error of 4e-10.
constexpr std::uint64_t rsqrt_magic = 0x5fe400000;
constexpr double rsqrt_a = -1.32769405841827392578125;
constexpr double rsqrt_b = 1.407470285892486572265625;
constexpr double rsqrt_newton = 6.8217227458953857421875;
constexpr double rsqrt_scale = 6.857869399714055;

// 1/x: y0 = magic - x, the bits taken as integers, leaves t = x y0 between 0.7071 and 0.7286 (the
// offset sqrt(2) - 1 of the magic number balances both ends). (c - t) y0 is then within 1.1e-4 of
// a multiple of 1 / x, and a Newton step squares that. c is the sum of the ends of the range.
constexpr std::uint64_t reciprocal_magic = (std::uint64_t{2045} << 24) | 6949350;
constexpr double reciprocal_c = 1.435660183429718017578125;
constexpr double reciprocal_mean = 0.51522254;  // x y1, with a relative error of 1.1e-4
constexpr double reciprocal_bias = 6e-9;        // the mean of the squared error

}  // namespace

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

Term Builder::rsqrt(Term x, Width width) {
  if (x.constant) return Term::of(1 / std::sqrt(x.number));
  if (x.scale < 0) x = with_scale(x, -x.scale, width_of(x.ref));
  const double root = std::sqrt(x.scale);
  const Width half = Width::Short;
  const Ref r = short_of(x.ref);
  const Ref h = emit(Op::Ishr, half, r, bits(1));
  const Ref y0 = emit(Op::Isub, half, bits(rsqrt_magic), h);
  const Ref y0y0 = emit(Op::Fmul, half, y0, y0);
  const Ref t0 = emit(Op::Fmul, half, r, y0y0);
  const Ref u = emit(Op::Fadd, half, t0, immediate(rsqrt_a));
  const Ref uu = emit(Op::Fmul, half, u, u);
  const Ref p = emit(Op::Fadd, half, uu, immediate(rsqrt_b));
  const Ref y1 = emit(Op::Fmul, half, y0, p);
  const Ref y1y1 = emit(Op::Fmul, half, y1, y1);
  const Ref t1 = emit(Op::Fmul, half, r, y1y1);
  const Ref n = emit(Op::Fsub, half, immediate(rsqrt_newton), t1);
  const Ref y2 = emit(Op::Fmul, half, n, y1);
  if (width == Width::Short) return root_term({y2, rsqrt_scale / root}, width);

  // y = k / sqrt(x) (1 + e), with e below 1e-7: (3 k^2 - x y^2) y is 2 k^3 / sqrt(x) (1 - 1.5 e^2).
  // In doubles k is one, and so is the scale, whose rounding would be one of the result.
  const double k = graph_.in_longs ? 1 : rsqrt_scale;
  const Ref y = graph_.in_longs ? emit(Op::Fmul, half, immediate(1 / rsqrt_scale), y2) : y2;
  const Ref yy = emit(Op::Fmul, Width::Long, y, y);
  const Ref t2 = width_of(x.ref) == Width::Long ? emit(Op::Dmul, Width::Long, x.ref, yy)
                                                : emit(Op::Fmul, Width::Long, yy, x.ref);
  const Ref n2 = emit(Op::Fsub, Width::Long, immediate(3 * k * k), t2);
  const Ref twice = emit(Op::Fmul, Width::Long, n2, y);
  if (graph_.in_longs)
    return root_term({emit(Op::Fmul, Width::Long, twice, immediate(0.5)), 1 / root}, width);
  return root_term({twice, 2 * k * k * k / root}, width);
}

Term Builder::reciprocal(Term x, Width width) {
  if (x.constant) return Term::of(1 / x.number);
  const Width half = Width::Short;
  const Ref r = short_of(x.ref);
  const Ref y0 = emit(Op::Isub, half, bits(reciprocal_magic), r);
  const Ref t0 = emit(Op::Fmul, half, r, y0);
  const Ref p = emit(Op::Fsub, half, immediate(reciprocal_c), t0);
  const Ref y1 = emit(Op::Fmul, half, y0, p);
  // y1 = k / x (1 + e): (2 k - x y1) y1 is k^2 / x (1 - e^2).
  constexpr double k = reciprocal_mean;
  const double two_k = nearest_short(2 * k);
  const Ref t1 = emit(Op::Fmul, half, r, y1);
  const Ref n = emit(Op::Fsub, half, immediate(two_k), t1);
  const Ref y2 = emit(Op::Fmul, half, y1, n);
  const double scale = two_k * two_k / 4 * (1 - reciprocal_bias);
  if (width == Width::Short) return root_term({y2, scale / x.scale}, width);

  const double all = graph_.in_longs ? 1 : scale;
  const Ref y = graph_.in_longs ? emit(Op::Fmul, half, immediate(1 / scale), y2) : y2;
  const Ref t2 = emit(Op::Fmul, Width::Long, x.ref, y);
  const Ref n2 = emit(Op::Fsub, Width::Long, immediate(2 * all), t2);
  return root_term({emit(Op::Fmul, Width::Long, n2, y), all * all / x.scale}, width);
}

/// x / sqrt(x), and zero for zero.
Term Builder::square_root(Term x, Width width) {
  if (x.constant) return Term::of(std::sqrt(x.number));
  if (x.scale < 0) x = with_scale(x, -x.scale, width_of(x.ref));
  const MaskId mask = new_mask();
  set_mask(mask, Op::Fsub, x.ref, immediate(0), MaskFlag::Zero, none, true);
  const Term root = rsqrt(x, width);
  value_numbers_.clear();  // values computed under the mask must not be reused
  const Term product = multiply(x, root, width);
  const Ref made = select_constant({mask, false}, product.ref, true, 0, width);
  value_numbers_.clear();
  return {made, product.scale};
}

Term Builder::magnitude(Term x, Width width) {
  if (x.constant) return Term::of(std::abs(x.number));
  const Ref negative = emit(Op::Fsub, width, immediate(0), x.ref);
  return {emit(Op::Fmax, width, x.ref, negative), std::abs(x.scale)};
}

Term Builder::extreme(Op op, Term a, Term b, Width width) {
  if (a.constant && b.constant)
    return Term::of(op == Op::Fmin ? std::fmin(a.number, b.number) : std::fmax(a.number, b.number));
  if (a.constant) std::swap(a, b);
  if (a.scale < 0) a = with_scale(a, -a.scale, width);
  b = with_scale(b, a.scale, width);
  return {emit(op, width, a.ref, b.ref), a.scale};
}

/// e^x, of an argument that is limited to -700..700. In shorts 2^n 2^f with n = round(x log2 e) and
/// f in -1/2..1/2; n is added to the exponent of a polynomial in f.
Term Builder::exponential(Term x, Width width) {
  if (x.constant) return Term::of(std::exp(x.number));
  const Ref given = plain(x, width_of(x.ref));
  const Ref low = emit(Op::Fmax, width_of(given), given, immediate(-700));
  const Ref arg = emit(Op::Fmin, width_of(given), low, immediate(700));
  if (width == Width::Long) return {exponential_of(arg, {}, width)};
  const Ref scaled = product(arg, immediate(M_LOG2E), Width::Long);
  const Ref shifted = emit(Op::Fadd, Width::Short, scaled, immediate(short_ones));
  const Ref whole = emit(Op::Fsub, Width::Short, shifted, immediate(short_ones));
  const Ref f = emit(Op::Fsub, width, scaled, whole);
  // Shorts throughout, for loops with little memory: 2^f = e^(f log 2).
  std::vector<double> c(std::begin(coefficients::exp_short), std::end(coefficients::exp_short));
  double power = 1;
  for (double& k : c) {
    k = nearest_short(k * power);
    power *= M_LN2;
  }
  Ref p = immediate(c.back());
  for (std::size_t i = c.size() - 1; i-- > 0;)
    p = emit(Op::Fadd, width, emit(Op::Fmul, width, f, p), immediate(c[i]));
  return {emit(Op::Iadd, width, p, emit(Op::Ishl, width, shifted, bits(short_fraction_bits)))};
}

}  // namespace gdr::kc
