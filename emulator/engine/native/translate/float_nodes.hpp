// Nodes of the steps of functions in floats.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "emulator/engine/native/translate/graph.hpp"
#include "emulator/engine/native/translate/target.hpp"

namespace gdr::native {

/// Adding it to a number below 2^22 rounds that to an integer, which is then in the last bits.
constexpr float float_ones = 0x1.8p23F;
constexpr unsigned float_exponent_shift = 23;

/// The first float of a number in two parts.
inline double head_of(double x) { return static_cast<float>(x); }

/// Creates nodes on floats.
class FloatNodes {
 public:
  /// `mode`: precision of the reciprocals.
  FloatNodes(Graph& g, FloatMode mode) : g_(g), estimates_alone_(mode == FloatMode::Fast) {}

  Ref number(double x) { return g_.number(x); }
  Ref op(NodeOp o, Ref a, Ref b = no_ref) { return g_.op(o, Kind::Number, a, b); }
  Ref add(Ref a, Ref b) { return op(NodeOp::Add, a, b); }
  Ref sub(Ref a, Ref b) { return op(NodeOp::Sub, a, b); }
  Ref mul(Ref a, Ref b) { return op(NodeOp::Mul, a, b); }
  /// The extremum of a number and a constant; NaN where the number is.
  Ref at_most(Ref x, double limit) { return op(NodeOp::Min, number(limit), x); }
  Ref at_least(Ref x, double limit) { return op(NodeOp::Max, number(limit), x); }
  Ref fma(Ref a, Ref b, Ref c, std::uint8_t sign = fma_plain) {
    return g_.add({NodeOp::Fma, Kind::Number, sign, a, b, c, 0});
  }
  /// c - a * b, and a * b - c, rounded once: exact where the terms cancel.
  Ref minus_product(Ref c, Ref a, Ref b) { return fma(a, b, c, fma_negate_product | fma_once); }
  Ref rounding_of(Ref a, Ref b, Ref product) {
    return fma(a, b, product, fma_negate_addend | fma_once);
  }
  /// Bits of a lane.
  Ref bits(std::uint32_t lane) {
    return g_.constant(Kind::Bits, std::uint64_t{lane} << short_shift);
  }
  Ref integer(NodeOp o, Ref a, Ref b) { return g_.op(o, Kind::Bits, a, b); }
  Ref shifted_left(Ref a, unsigned count) { return integer(NodeOp::ShiftLeft, a, bits(count)); }
  /// With a Newton step where reciprocals are the host's estimates alone.
  Ref reciprocal(Ref x) {
    const Ref y = g_.add({NodeOp::Recip, Kind::Number, static_cast<std::uint8_t>(Accuracy::Double),
                          x, no_ref, no_ref, std::bit_cast<std::uint64_t>(1.0)});
    if (!estimates_alone_) return y;
    return fma(fma(x, y, number(1), fma_negate_product), y, y);
  }
  Ref where(Ref mask, Ref yes, Ref no) { return g_.select(mask, yes, no); }
  Ref is_negative(Ref x) { return g_.op(NodeOp::Negative, Kind::Mask, x); }

  /// c[0] + x (c[1] + x (c[2] + ...)), times a power of two.
  Ref polynomial(Ref x, std::span<const double> c, double scale = 1) {
    Ref p = number(c.back() * scale);
    for (std::size_t i = c.size() - 1; i-- > 0;) p = fma(p, x, number(c[i] * scale));
    return p;
  }
  Ref absolute(Ref x) { return op(NodeOp::Max, x, sub(number(0), x)); }
  /// x^2 + 2^-60, which does not underflow, for polynomials near one.
  Ref small_square(Ref x) {
    return g_.add({NodeOp::Fma, Kind::Number, fma_once, x, x, number(0x1p-60), 0});
  }
  /// x (1 + z P(z)).
  Ref odd_polynomial(Ref x, Ref z, std::span<const double> c) {
    return mul(x, fma(z, polynomial(z, c), number(1)));
  }
  /// A number with the sign bit of another one applied.
  Ref with_sign_of(Ref x, Ref magnitude) {
    const Ref sign = integer(NodeOp::And, g_.as_bits(x), bits(0x80000000));
    return g_.as_number(integer(NodeOp::Xor, g_.as_bits(magnitude), sign));
  }

 protected:
  Graph& g_;

 private:
  bool estimates_alone_;
};

}  // namespace gdr::native
