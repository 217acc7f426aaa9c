// Exponentials, logarithms and powers in floats.
#pragma once

#include "emulator/engine/native/translate/float_nodes.hpp"

namespace gdr::native {

/// Functions that contain powers of two, as steps.
class ExponentialSteps : private FloatNodes {
 public:
  /// `scales`: the host multiplies by powers of two (NodeOp::Scale).
  ExponentialSteps(Graph& g, FloatMode mode, bool scales) : FloatNodes(g, mode), scales_(scales) {}

  Ref exponential(Ref x);
  Ref logarithm(Ref x);
  Ref hyperbolic_tangent(Ref x);
  Ref error_function(Ref x);
  Ref complementary_error_function(Ref x);
  Ref power(Ref x, Ref y);

 private:
  /// An integer n in the last bits of `shifted`, and as a number.
  struct Rounded {
    Ref shifted, n;
  };
  Rounded rounded(Ref x, double factor, int added);
  Ref power_of_two(const Rounded& r);
  Ref rest_of_logarithm(Ref x, Ref n);
  Ref exponential_by_scaling(Ref x);
  /// x = 2^n m with m from 2^-1/2 to 2^1/2.
  struct Parts {
    Ref n, m;
  };
  Parts parts_of(Ref x);
  Ref for_positive(Ref x, Ref value);
  Ref erfc_of_magnitude(Ref x);
  Ref power_of_two(Ref head, Ref tail, Ref y);

  bool scales_;
};

}  // namespace gdr::native
