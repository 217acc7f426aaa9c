// A traced loop, prepared for its text: the rows of threads, types of values, tests, and the words
// of a group of sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/engine/vector/doubles/codegen/trace.hpp"
#include "emulator/engine/vector/gpu/accumulator.hpp"
#include "emulator/engine/vector/gpu/bounds.hpp"
#include "emulator/engine/vector/gpu/loop_text.hpp"

namespace gdr::codegen {

/// How a text holds the value of a step: ulong, double or bool.
enum class ValueType : std::uint8_t { Bits, Number, Flag };

/// Vectors "by step" have an entry for every step of the trace.
struct TracedLoop {
  static constexpr std::size_t none = ~std::size_t{0};

  const Step& step(StepId n) const { return trace.steps[n]; }
  bool is_constant(StepId n) const { return step(n).kind == Step::Kind::Constant; }
  static bool is_operation(const Step& s) { return s.kind == Step::Kind::Operation; }
  bool is_read(StepId n) const {
    return step(n).kind == Step::Kind::Row || step(n).kind == Step::Kind::Broadcast;
  }
  /// The operand of a change of sign, or no_step.
  StepId negated_by(const Step& s) const;
  /// Words of a group, which are loaded in pairs.
  std::size_t kept_words() const;

  Trace trace;
  std::vector<ThreadRow> rows;  ///< rows that are read: those that iterations change come first
  std::vector<ThreadRow> result_rows;  ///< rows that are stored besides
  std::vector<CarriedRow> carried;     ///< rows that iterations change, in their order
  std::vector<std::uint32_t> row_of;   ///< number of the row that each step reads
  std::vector<StepId> results;         ///< the values of result_rows
  LoopTests tests;
  std::vector<ValueType> types;  ///< type of each step
  std::vector<Accumulator> accumulators;
  std::vector<std::size_t> accumulator_of;  ///< accumulator whose sum each step is, or none
  std::vector<StepId> kept;                 ///< steps for sources alone that the loop reads
  std::vector<std::uint32_t> slot;          ///< place of each step in `kept`
};

/// Throws UnsupportedLoop.
TracedLoop prepare_loop(Trace trace);

}  // namespace gdr::codegen
