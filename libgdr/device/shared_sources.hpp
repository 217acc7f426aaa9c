// Sources that several sets of a call have in common, converted once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gdr/sets.hpp"
#include "libgdr/device/arrays.hpp"

namespace gdr {

/// Number of items that the arrays of a segment must have.
std::size_t items_of(const SourceSegment& segment) noexcept;

/// The link records of arrays of which the segments of a call take more sources than they have.
class SharedSources {
 public:
  /// The group must outlive it.
  explicit SharedSources(const LinkGroup& group) : group_(&group), packer_(group) {}

  /// Converts such arrays of sets that have been checked, in up to `threads` threads. Arrays with
  /// values that must not be there are left to the segments, of which none may take them.
  void convert(std::span<const InteractionSet> sets, unsigned threads);

  /// Copies the records of a segment whose indices have been checked; false if its arrays were not
  /// converted.
  bool copy(const SourceSegment& segment, std::uint64_t* records) const noexcept;

 private:
  /// Arrays of one or more segments.
  struct Table {
    std::span<const NamedInput> arrays;
    std::size_t items = 0;  ///< required length of the arrays
    double taken = 0;       ///< sources of all segments
    bool is_converted = false;
    LinkWords records = {};
  };
  static bool is_of(const Table& table, const SourceSegment& segment) noexcept {
    return table.arrays.data() == segment.arrays.data() &&
           table.arrays.size() == segment.arrays.size();
  }
  void count(const SourceSegment& segment);

  const LinkGroup* group_;
  InputPacker packer_;
  std::vector<Table> tables_;
  std::size_t used_ = 0;  ///< tables of the last call; the others keep their memory
};

}  // namespace gdr
