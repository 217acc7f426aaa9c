// What sections leave to one another that is not what it seems in host numbers: longs go from
// section to section as 72 bits, but a compiled one sees 53 bits of a number.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emulator/engine/native/demand.hpp"

namespace gdr::native {

/// Within a section the graph tells how a long came about, and what host numbers cannot follow is
/// refused there (Cells, Translator). Here the same is refused where one section makes the long,
/// or a pass of the loop, and another one uses it:
/// - a long put together by integer operations that is used as a number,
/// - a computed long number whose lower half is used as bits,
/// - a long to which a constant is added here and from which it is taken away there: that rounds.
class Handover {
 public:
  using Models = std::array<std::unique_ptr<SectionModel>, section_count>;

  /// Sections without a model run on the exact engine.
  Handover(const Program& program, const Geometry& geometry, const Models& models);

  /// Sections that have to run exactly, and why.
  struct Spoiled {
    std::set<unsigned> sections;
    std::string reason;
  };
  /// What is wrong with the longs that a compiled section reads.
  std::optional<Spoiled> check(Section reader, const SectionModel& model,
                               const Demand& demand) const;
  /// With those that a section on the exact engine reads: its longs are exact, those that compiled
  /// sections leave to it need not be.
  std::optional<Spoiled> check(Section reader, const Program& program, const CellMap& map) const;

 private:
  /// What a section leaves. Longs are named by their upper cells, those in the broadcast memory by
  /// their addresses.
  struct Left {
    std::vector<bool> written;                           ///< by cell
    std::set<std::uint32_t> integers, put_integers;      ///< longs made by integer operations
    std::set<std::uint32_t> numbers;                     ///< computed long numbers
    std::map<std::uint32_t, std::vector<double>> added;  ///< to numbers: constants, with their sign
  };

  Left of_model(const SectionModel& model) const;
  Left of_instructions(const Program& program, Section section, const CellMap& map) const;
  bool find_integers(const SectionModel& model, unsigned section);
  bool holds_integers(unsigned reader, NodeOp space, std::uint32_t place) const;
  template <typename Test>
  std::set<unsigned> who_left(unsigned reader, std::uint32_t cell, Test test) const;
  std::set<unsigned> who_left_number(unsigned reader, std::uint32_t upper) const;
  std::set<unsigned> who_added(unsigned reader, std::uint32_t upper, double constant) const;
  std::set<unsigned> bits_read(unsigned reader, const Graph& g, Ref r) const;
  std::set<unsigned> constant_taken(unsigned reader, const Graph& g, const Node& node) const;

  std::optional<Spoiled> check_operand(unsigned reader, const Arithmetic& slot, const Operand& x,
                                       std::uint32_t cell) const;

  std::array<Left, section_count> left_;
};

}  // namespace gdr::native
