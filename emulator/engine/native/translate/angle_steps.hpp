// Trigonometric functions and their inverses in floats.
#pragma once

#include "emulator/engine/native/translate/float_nodes.hpp"

namespace gdr::native {

/// Functions of angles, and angles, as steps.
class AngleSteps : private FloatNodes {
 public:
  using FloatNodes::FloatNodes;

  Ref sine(Ref x, bool cosine);
  Ref tangent(Ref x);
  Ref arc_tangent(Ref x);
  Ref angle_of_point(Ref x, Ref y);
  Ref arc_sine(Ref x);
  Ref arc_cosine(Ref x);

 private:
  Ref within_turns(Ref turns, Ref value);
  Ref rest_of_turns(Ref x, Ref n, double share);
  Ref turned(double share, Ref x);
  Ref quotient(Ref a, Ref b);
  Ref octant(Ref a, Ref b);
  /// asin |x| up to 1/2; beyond, where pi/2 is that much more than it, 2 asin s with
  /// s^2 = (1 - |x|) / 2.
  struct ArcSine {
    Ref far, angle;
  };
  ArcSine arc_sine_parts(Ref x);
};

}  // namespace gdr::native
