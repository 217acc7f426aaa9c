// What a section computes, as plain data.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/engine/native/codegen/code.hpp"
#include "emulator/engine/native/program/section_constants.hpp"

namespace gdr::native {

/// Words of the broadcast memory that a section reads.
struct SectionWords {
  WordTable source, uniform;
  LookupTables lookups;  ///< tables, behind the uniform words
  /// Bit set of uniform words that are worth specialising for zero; zeros stand for masked lanes.
  std::uint64_t zero_candidates = 0;
};

/// A section: kernels and what else it stores.
struct SectionContents {
  CellMap map;
  bool loops = false;
  std::vector<Kernel> kernels;
  std::vector<ConstantRoot> constants;
  std::vector<MovedShort> moves;
  std::vector<BmStore> bm_stores;
  std::vector<Table> tables;
  std::vector<std::vector<TableShort>> table_shorts;  ///< shorts of each table, element by element
  SectionWords words;
};

/// Splits the live values of a section. `words` is still empty.
SectionContents contents_of(const SectionModel& model, const Liveness& liveness,
                            std::vector<std::vector<TableShort>> table_shorts, bool loops);

/// Adds the words that the kernels read.
void collect_words(const std::vector<Kernel>& kernels, const std::vector<Table>& tables,
                   SectionWords& words);

/// Source words that are compared with words of targets.
std::vector<LeafKey> compared_words(const std::vector<Kernel>& kernels);

}  // namespace gdr::native
