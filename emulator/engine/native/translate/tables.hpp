// Tables of parameters: local memory that Start fills with words that are the same in all PEs, and
// that other sections read through T. Kernels that are compiled from text read them so
// (kernels/compiler/lower/integers.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/engine/native/translate/graph.hpp"
#include "emulator/isa/program.hpp"

namespace gdr::native {

struct SectionModel;

/// A range of local memory that a section reads through T: the declared addresses, in elements.
struct Table {
  Width width = Width::Short;
  std::uint32_t first = 0, last = 0;

  /// Number of elements, rounded up to a power of two: numbers of elements are limited by a mask.
  std::uint32_t size() const noexcept;
  std::uint32_t shorts() const noexcept { return shorts_in(width); }
  /// Range of addresses in local memory, in shorts.
  std::uint32_t begin() const noexcept { return first * shorts(); }
  std::uint32_t end() const noexcept { return (last + 1) * shorts(); }
  friend bool operator==(const Table&, const Table&) = default;
};

/// Elements that follow a table in memory, its first ones again: numbers up to so many above an
/// index need no operation.
constexpr std::uint32_t repeated_elements = 8;

/// An element of a table: an index below its size, and how many elements follow it up to the one
/// that is read, at most `repeated_elements`.
struct Element {
  Ref index = no_ref;
  std::uint32_t behind = 0;
};

/// The element of a table at an address. An address outside of the range is that of any element.
Element element_at(Graph& graph, Ref address, const Table& table);

/// A short of a table: a word of the broadcast memory, or a constant.
struct TableShort {
  std::optional<std::uint32_t> address;
  std::uint64_t constant = 0;
};

/// The shorts of a table as Start leaves them, with zeros up to its size. The words of the
/// broadcast memory are the parameters that Start copies, and nothing else changes them or the
/// table. Throws Unsupported if the table is not of that kind. `start`: null, if it runs on the
/// exact engine.
std::vector<TableShort> table_contents(const Program& program, const SectionModel* start,
                                       const Table& table);

}  // namespace gdr::native
