// Writing operations down instead of doing them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "emulator/engine/engine.hpp"
#include "emulator/engine/vector/doubles/fused/recording.hpp"
#include "emulator/engine/vector/doubles/translate.hpp"

namespace gdr::fused {

/// Kernels that write down their steps for AVX-512 or AVX2; only `record` may call them.
const DoublesKernels& recording_kernels(Isa isa) noexcept;

/// Operations translated with `recording_kernels`, none of which writes to the broadcast memory.
/// `live`: rows that anybody reads behind them (offsets, sorted), others may be left out; null:
/// all. Nothing, where they cannot be done one vector of lanes after the other: where elements of
/// one strip are read one by one.
std::optional<Recording> record(std::span<const DoublesOp> ops, const DoublesSection& section,
                                const std::vector<std::uint32_t>* live);

}  // namespace gdr::fused
