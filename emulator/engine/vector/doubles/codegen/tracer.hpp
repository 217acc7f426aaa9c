// Tracing of operations instead of execution.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "emulator/engine/engine.hpp"
#include "emulator/engine/vector/doubles/codegen/trace.hpp"
#include "emulator/engine/vector/doubles/translate.hpp"

namespace gdr::codegen {

/// Kernels that trace their steps for AVX-512 or AVX2; only `trace` may call them.
const DoublesKernels& tracing_kernels(Isa isa) noexcept;

/// Operations translated with `tracing_kernels`, none of which writes to the broadcast memory.
/// `live`: rows that anybody reads behind them (offsets, sorted), others may be left out; null:
/// all. Nothing, where they cannot be done one vector of lanes after the other: where elements of
/// one strip are read one by one.
std::optional<Trace> trace(std::span<const DoublesOp> ops, const DoublesSection& section,
                           const std::vector<std::uint32_t>* live);

}  // namespace gdr::codegen
