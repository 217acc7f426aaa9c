// Words that pass between sections, whose bits host numbers may not hold.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/engine/native/program/written_longs.hpp"
#include "emulator/engine/native/translate/liveness.hpp"

namespace gdr::native {

/// Sections that have to run on the exact engine, and the reason.
struct TypeConflict {
  unsigned sections = 0;  ///< one bit for each section
  const char* reason = nullptr;

  bool contains(std::size_t section) const noexcept { return ((sections >> section) & 1) != 0; }
};

/// Longs pass between sections as 72 bits, but a compiled section reads 53 bits of a number. Within
/// a section the graph records the origin of a long, and unsupported uses are rejected there
/// (MemoryModel, NumberOperations, LongIntegers). This class rejects the same uses between
/// sections, or iterations of the loop:
/// - a long assembled by integer operations that is used as a number,
/// - a computed long number whose lower half is used as bits,
/// - a constant that one section adds to a long and another one subtracts: that rounds.
class CrossSectionTypes {
 public:
  CrossSectionTypes(const Program& program, const Geometry& geometry, const SectionModels& models);

  /// Checks the longs that a compiled section reads.
  std::optional<TypeConflict> check(Section reader, const SectionModel& model,
                                    const Liveness& liveness) const;
  /// Checks the longs that a section on the exact engine reads: those that compiled sections write
  /// need not be exact.
  std::optional<TypeConflict> check(Section reader, const Program& program,
                                    const CellMap& map) const;

 private:
  /// A bit for each section.
  using Sections = unsigned;

  template <typename Test>
  Sections writers_of(Section reader, std::uint32_t cell, Test test) const;
  Sections number_writers_of(Section reader, std::uint32_t upper) const;
  Sections sections_that_add(Section reader, std::uint32_t upper, double constant) const;
  bool holds_integers(Section reader, NodeOp space, std::uint32_t place) const;
  bool find_integers(const SectionModel& model, Section section);
  std::optional<TypeConflict> check_node(Section reader, const Graph& g, const Node& node) const;
  Sections writers_of_bits(Section reader, const Graph& g, Ref r) const;
  Sections writers_of_subtracted(Section reader, const Graph& g, const Node& node) const;
  std::optional<TypeConflict> check_reads(Section reader, const Instruction& i, const CellMap& map,
                                          const std::vector<bool>& own) const;
  std::optional<TypeConflict> check_operand(Section reader, const Arithmetic& slot,
                                            const Operand& x, std::uint32_t cell) const;

  std::array<WrittenLongs, section_count> written_;  ///< longs of each section
};

}  // namespace gdr::native
