// A trace of all elements of a PE as one of a single element.
#pragma once

#include <optional>
#include <span>

#include "emulator/engine/vector/doubles/codegen/trace.hpp"

namespace gdr::codegen {

/// The steps of one element, if the elements of `together` (trace_elements_together of `ops`) do
/// the same and exchange no words: a thread for each of them needs fewer registers. Rows that all
/// elements read alike, such as words of a j-item that an iteration leaves for the next one, are
/// rows of lanes, which every thread computes. Unlike `trace`, this allows strips whose rows are
/// also accessed one by one, as long as nothing depends on another element's row. Nothing if there
/// is one element, or a step without counterparts.
std::optional<Trace> split_elements(std::span<const DoublesOp> ops, const Trace& together);

}  // namespace gdr::codegen
