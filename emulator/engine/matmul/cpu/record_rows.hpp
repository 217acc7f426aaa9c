// Locations of a product's factors in the records of targets.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/engine/matmul/pattern/pattern.hpp"
#include "emulator/port/loaded_program.hpp"

namespace gdr {

/// Location of a row's factors in a record: element and first word.
struct RecordRow {
  std::uint32_t element = 0, word = 0;
};

/// The locations by row, if a block's target words and its factors are the same words; else empty.
std::vector<RecordRow> record_rows(const MatmulPattern& products, const LoadedProgram& loaded,
                                   const Geometry& geometry);

}  // namespace gdr
