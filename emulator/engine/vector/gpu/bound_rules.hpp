// Bounds of the numbers of one iteration, from those at its beginning (bounds.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "emulator/engine/vector/gpu/bounds.hpp"
#include "emulator/engine/vector/gpu/step_facts.hpp"

namespace gdr::codegen {

constexpr Bounds zero_bounds{10000, -10000};
/// The number of bits after a double's first one.
constexpr int fraction = 52;
/// Bounds of numbers that are read, and tested.
constexpr Bounds read_bounds{min_read - fraction, size_of_read};
constexpr int unit_of_factor = min_factor - fraction, unit_of_tiny = min_tiny - fraction;

inline Bounds either(Bounds a, Bounds b) {
  return {std::min(a.unit, b.unit), std::max(a.size, b.size)};
}

/// What is assumed of a carried row: its bounds at the beginning of an iteration, and the tests at
/// the end.
struct RowAssumption {
  Bounds in = read_bounds;
  std::uint8_t out_tests = 0;
};

/// Computes bounds step by step, and asks for tests where they do not suffice.
class BoundRules {
 public:
  explicit BoundRules(const StepFacts& facts) : facts_(facts) {}

  /// Bounds of all numbers of an iteration under assumptions.
  void compute(const std::vector<RowAssumption>& rows, const std::vector<CarriedRow>& carried);

  /// Bounds of a step's value, if they matter.
  const std::optional<Bounds>& at(StepId n) const { return at_[n]; }
  /// Tests of the steps: bits of NumberTest.
  const std::vector<std::uint8_t>& tests() const { return tests_; }
  static Bounds tested(Bounds b, std::uint8_t tests);

  /// Factors are tested where a product could be larger than 2^size.
  void set_largest_product(int size) { largest_product_ = size; }
  /// Whether the tests stay as they are.
  void freeze(bool frozen) { frozen_ = frozen; }

 private:
  Bounds bounds(StepId n);
  Bounds computed(StepId n);
  Bounds of_product(StepId a, StepId b);
  void test_unit(StepId n, int wanted);
  void limit_size(StepId n);
  Bounds of_rounded_sum(const Step& s);
  Bounds of_long_sum(const Step& s);
  Bounds of_fma(const Step& s);
  std::optional<Bounds> of_rounding(const Step& outer);
  std::optional<std::pair<StepId, double>> factor_and_constant(const Step& s) const;

  const StepFacts& facts_;
  const std::vector<RowAssumption>* rows_ = nullptr;
  std::vector<std::optional<Bounds>> at_;
  std::vector<std::uint8_t> tests_;
  int largest_product_ = largest_size;
  bool frozen_ = false;
};

}  // namespace gdr::codegen
