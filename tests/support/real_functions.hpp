// Functions that a type of numbers has as its own operations, for evaluate() in other types than
// the host's.
#pragma once

#include <optional>

#include "kernels/compiler/ir/evaluate.hpp"

namespace gdr::test {

/// The function by operations of `Real` and its RealMath::sqrt; nothing for other functions.
template <class Real>
std::optional<Real> by_operations(kc::Fn fn, const Real& x, const Real& y) {
  using Math = kc::RealMath<Real>;
  switch (fn) {
    case kc::Fn::Abs:
      return Math::negative(x) ? -x : x;
    case kc::Fn::Min:
    case kc::Fn::Max:
      return kc::evaluation::extreme(fn == kc::Fn::Min, x, y);
    case kc::Fn::Sqrt:
      return Math::sqrt(x);
    case kc::Fn::Rsqrt:
      return 1 / Math::sqrt(x);
    case kc::Fn::Reciprocal:
      return 1 / x;
    default:
      return std::nullopt;
  }
}

}  // namespace gdr::test
