// Type checks between sections: longs pass between sections as 72 bits, but a compiled section
// reads 53 bits of a number.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emulator/engine/native/liveness.hpp"

namespace gdr::native {

/// Within a section the graph records the origin of a long, and unsupported uses are rejected there
/// (MemoryModel, Translator). This class rejects the same uses between sections, or passes of the
/// loop:
/// - a long assembled by integer operations that is used as a number,
/// - a computed long number whose lower half is used as bits,
/// - a constant that one section adds to a long and another one subtracts: that rounds.
class CrossSectionTypes {
 public:
  using Models = std::array<std::unique_ptr<SectionModel>, section_count>;

  /// Sections without a model run on the exact engine.
  CrossSectionTypes(const Program& program, const Geometry& geometry, const Models& models);

  /// Sections that have to run on the exact engine, and the reason.
  struct TypeConflict {
    std::set<unsigned> sections;
    std::string reason;
  };
  /// Checks the longs that a compiled section reads.
  std::optional<TypeConflict> check(Section reader, const SectionModel& model,
                                    const Liveness& demand) const;
  /// Checks the longs that a section on the exact engine reads: those that compiled sections write
  /// need not be exact.
  std::optional<TypeConflict> check(Section reader, const Program& program,
                                    const CellMap& map) const;

 private:
  /// Longs that a section writes, by their upper cells or addresses in the broadcast memory.
  struct Left {
    std::vector<bool> written;                          ///< by cell
    std::set<std::uint32_t> integers, stored_integers;  ///< longs made by integer operations
    std::set<std::uint32_t> numbers;                    ///< computed long numbers
    std::map<std::uint32_t, std::vector<double>>
        added;  ///< constants added to numbers, with their sign
  };

  Left of_model(const SectionModel& model) const;
  Left of_instructions(const Program& program, Section section, const CellMap& map) const;
  bool find_integers(const SectionModel& model, unsigned section);
  bool holds_integers(unsigned reader, NodeOp space, std::uint32_t place) const;
  template <typename Test>
  std::set<unsigned> writers_of(unsigned reader, std::uint32_t cell, Test test) const;
  std::set<unsigned> number_writers_of(unsigned reader, std::uint32_t upper) const;
  std::set<unsigned> added_in(unsigned reader, std::uint32_t upper, double constant) const;
  std::set<unsigned> bits_read(unsigned reader, const Graph& g, Ref r) const;
  std::set<unsigned> constant_subtracted(unsigned reader, const Graph& g, const Node& node) const;

  std::optional<TypeConflict> check_operand(unsigned reader, const Arithmetic& slot,
                                            const Operand& x, std::uint32_t cell) const;

  std::array<Left, section_count> left_;
};

}  // namespace gdr::native
