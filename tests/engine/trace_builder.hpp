// Traces for tests, step by step.
#pragma once

#include <cstdint>

#include "emulator/engine/vector/doubles/codegen/trace.hpp"

namespace gdr::test {

struct TraceBuilder {
  codegen::Level level = codegen::Level::Element;  ///< of all rows and steps
  codegen::Trace trace{.steps = {}, .stores = {}, .elements = 1, .row_bytes = 256};

  codegen::StepId add(const codegen::Step& step) {
    trace.steps.push_back(step);
    return static_cast<codegen::StepId>(trace.steps.size() - 1);
  }
  /// What the row of a number holds.
  codegen::StepId row(std::uint32_t number) {
    codegen::Step s;
    s.kind = codegen::Step::Kind::Row;
    s.level = level;
    s.bits = number * trace.row_bytes;
    return add(s);
  }
  codegen::StepId step(jit::Op op, codegen::StepId a, codegen::StepId b = codegen::no_step,
                       codegen::StepId c = codegen::no_step, int detail = 0) {
    codegen::Step s;
    s.kind = codegen::Step::Kind::Operation;
    s.level = level;
    s.op = op;
    s.detail = static_cast<std::uint8_t>(detail);
    s.in = {a, b, c};
    return add(s);
  }
  void store(std::uint32_t row, codegen::StepId value) {
    trace.stores.push_back({value, row * trace.row_bytes, level});
  }
};

}  // namespace gdr::test
