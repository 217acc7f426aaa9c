#include "emulator/engine/native/translate/lower.hpp"

#include <bit>

#include "emulator/engine/native/translate/compared_functions.hpp"
#include "emulator/engine/native/translate/constant_factors.hpp"
#include "emulator/engine/native/translate/factored_sums.hpp"
#include "emulator/engine/native/translate/float_checks.hpp"
#include "emulator/engine/native/translate/functions.hpp"
#include "emulator/engine/native/translate/idiom.hpp"
#include "emulator/engine/native/translate/integers.hpp"
#include "emulator/engine/native/translate/multiply_adds.hpp"
#include "emulator/engine/native/translate/reciprocals.hpp"
#include "emulator/engine/native/translate/selects.hpp"
#include "emulator/engine/native/translate/short_rounding.hpp"
#include "emulator/engine/native/translate/square_roots.hpp"

namespace gdr::native {

Segment lowered(const Segment& segment, Target target, const KnownInputs& known) {
  const bool floats = target.precision == Precision::Float;
  Segment s = floats ? with_functions(segment, known) : segment;
  s = replace_rsqrt_idioms(with_integers(s, target.precision), target.precision);
  if (!floats) {
    s = round_outputs(s);
  } else {  // a float has fewer bits than a short
    drop_left_stores(s);
    s = without_conversions(cleaned(s));
  }
  if (target.infinities) s = with_infinite_roots(s);
  s = simplified(s);
  s = without_decided_selects(s);
  if (target.square_roots) s = with_square_roots(s);
  s = without_masked_zeros_of_roots(s);
  if (target.isa == Isa::Avx2 || target.isa == Isa::Neon) s = with_masked_terms(s);
  if (target.isa == Isa::Neon && !target.infinities) s = with_factored_sums(s);
  s = fused(s);
  if (!floats) {
    const bool has_roots = uses_roots(s.graph);
    s = with_steps(s, target);
    s.has_roots = has_roots;
    return s;
  }
  check_float_operations(s);
  const bool compares = check_compared_functions(s, !target.gpu);
  s = with_steps(with_function_steps(s, target), target);
  check_float_constants(s);
  s.detects_overflows = compares;
  return s;
}

}  // namespace gdr::native
