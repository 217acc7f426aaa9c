// Longs that a section leaves to others, and how it makes them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "emulator/engine/native/translate/section.hpp"

namespace gdr::native {

/// The sections of a program; null: it runs on the exact engine.
using SectionModels = std::array<std::unique_ptr<SectionModel>, section_count>;

constexpr std::size_t index_of(Section section) { return static_cast<std::size_t>(section); }

/// Whether an operand is a fixed location in the PE.
bool is_fixed_in_pe(const Operand& x);
/// Whether an operation computes bits in the integer unit.
bool makes_integers(const Arithmetic& slot);

/// Longs that a section writes, by their upper cells or addresses in the broadcast memory.
struct WrittenLongs {
  std::vector<bool> cells;                            ///< all written cells
  std::set<std::uint32_t> integers, stored_integers;  ///< longs made by integer operations
  std::set<std::uint32_t> numbers;                    ///< computed long numbers
  /// Constants added to numbers, with their sign.
  std::map<std::uint32_t, std::vector<double>> added;
};

/// Of a compiled section: all but the longs made by integer operations outside of lists, which may
/// depend on those of other sections.
WrittenLongs longs_written_by(const SectionModel& model);

/// Of a section on the exact engine: if it computes long integers at all, every word written by the
/// integer unit or moved may be one.
WrittenLongs longs_written_by(const Program& program, Section section, const CellMap& map);

}  // namespace gdr::native
