// What sections leave to one another that is not what it seems in host numbers: longs go from
// section to section as 72 bits, but a compiled one sees 53 bits of a number.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
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

  /// Throws Unsupported if a section reads something of that kind.
  void check(Section reader, const SectionModel& model, const Demand& demand) const;

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
  bool some_left(unsigned reader, std::uint32_t cell, Test test) const;
  void check_bits(unsigned reader, const Graph& g, Ref r) const;
  void check_sum(unsigned reader, const Graph& g, const Node& node) const;

  std::array<Left, section_count> left_;
};

}  // namespace gdr::native
