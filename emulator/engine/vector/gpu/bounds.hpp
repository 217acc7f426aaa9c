// Bounds of a loop's numbers: which steps can overflow or underflow, and the tests that exclude it.
//
// A GPU neither flushes tiny numbers nor raises exception flags. So that its steps are those of a
// host with both (doubles/README.md), no number may become subnormal, infinite or NaN. Numbers that
// are read are tested once; for what follows from them an analysis computes how small and how large
// it can be. Only where that does not suffice, the loop tests numbers, too.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/engine/vector/doubles/codegen/trace.hpp"

namespace gdr::codegen {

constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;

/// A number is 0 or a multiple of 2^unit, and smaller than 2^size; or it may be infinite or NaN, if
/// `size` is above largest_size.
struct Bounds {
  int unit = 0, size = 0;
  bool operator==(const Bounds&) const = default;
};
/// Exponents: doubles from 2^-1022 on are normal; one below 2^largest_size is finite.
constexpr int smallest_unit = -1020, largest_size = 1022;

/// A test of a number as bits of a set; those of rows that do not change are made before the loop.
enum NumberTest : std::uint8_t {
  test_read = 1,    ///< 0, or from 2^min_read to 2^size_of_read: what is read
  test_factor = 2,  ///< 0, or at least 2^min_factor; of what is known to be no subnormal
  test_tiny = 4,    ///< the same for 2^min_tiny
  test_bits = 8,    ///< 0, or from 2^min_tiny to 2^size_tested: arbitrary bits
  test_size = 16,   ///< below 2^size_tested
  /// As test_bits, of a selection between a number and a value that iterations do not change: the
  /// latter is tested before the loop, and counts where it is selected.
  test_selected = 32,
};
constexpr int min_read = -188, size_of_read = 128;
constexpr int min_factor = -200, min_tiny = -700;
constexpr int size_tested = 300;
/// Sums over iterations are tested every `iterations_between_tests` iterations to be below
/// 2^size_of_sum; in between they stay finite.
constexpr int size_of_sum = 720;
constexpr unsigned iterations_between_tests = 8;

/// A row that an iteration reads and overwrites.
struct CarriedRow {
  StepId in = no_step;   ///< the step that reads it
  StepId out = no_step;  ///< value of the row after the iteration
  bool sum = false;      ///< whether it grows from iteration to iteration: to be tested every
                         ///< iterations_between_tests iterations
};

/// Tests of a loop.
struct LoopTests {
  std::vector<std::uint8_t> of_step;  ///< bits of NumberTest
  /// By step: a result of floating-point operations, or tested, and therefore no subnormal.
  std::vector<bool> is_normal;
  /// By step: the same in all iterations, because it depends on rows alone that iterations do not
  /// change.
  std::vector<bool> is_fixed;
  /// False if a number may be subnormal nevertheless, because of a constant.
  bool suffice = true;
};

/// Finds the tests of a traced loop, and sets CarriedRow::sum.
LoopTests loop_tests(const Trace& trace, std::vector<CarriedRow>& carried);

}  // namespace gdr::codegen
