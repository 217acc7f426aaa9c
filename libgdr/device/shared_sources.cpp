#include "libgdr/device/shared_sources.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "emulator/host/for_each_isa.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

/// Most different arrays of a call: others are converted by each segment.
constexpr std::size_t max_tables = 8;
/// Arrays are converted as a whole if segments take so many times their items.
constexpr double min_taken = 1.5;

/// Copies rows of a number of words that the compiler knows.
template <std::size_t words>
inline void copy_indexed(const std::uint64_t* from, const std::int32_t* index, std::size_t n,
                         std::uint64_t* to) {
  for (std::size_t k = 0; k < n; ++k)
    std::memcpy(to + words * k, from + words * static_cast<std::size_t>(index[k]),
                words * sizeof(std::uint64_t));
}

GDR_FOR_EACH_ISA void gather_rows(const std::uint64_t* from, std::size_t words,
                                  const std::int32_t* index, std::size_t n, std::uint64_t* to) {
  switch (words) {
    case 3:
      return copy_indexed<3>(from, index, n, to);
    case 4:
      return copy_indexed<4>(from, index, n, to);
    case 5:
      return copy_indexed<5>(from, index, n, to);
    case 6:
      return copy_indexed<6>(from, index, n, to);
    case 8:
      return copy_indexed<8>(from, index, n, to);
    default:
      for (std::size_t k = 0; k < n; ++k)
        std::memcpy(to + words * k, from + words * static_cast<std::size_t>(index[k]),
                    words * sizeof(std::uint64_t));
  }
}

}  // namespace

std::size_t items_of(const SourceSegment& segment) noexcept {
  return segment.index != nullptr ? segment.items : segment.first + segment.n;
}

void SharedSources::count(const SourceSegment& segment) {
  std::size_t k = 0;
  while (k < used_ && !is_of(tables_[k], segment)) ++k;
  if (k == max_tables) return;
  if (k == used_) {
    if (tables_.size() == used_) tables_.emplace_back();
    Table& table = tables_[used_++];
    table.arrays = segment.arrays;
    table.items = 0;
    table.taken = 0;
    table.is_converted = false;
  }
  tables_[k].items = std::max(tables_[k].items, items_of(segment));
  tables_[k].taken += static_cast<double>(segment.n);
}

void SharedSources::convert(std::span<const InteractionSet> sets, unsigned threads) {
  used_ = 0;
  for (const InteractionSet& set : sets)
    for (const SourceSegment& segment : set.sources)
      if (segment.n > 0) count(segment);
  for (std::size_t k = 0; k < used_; ++k) {
    Table& table = tables_[k];
    if (table.taken < min_taken * static_cast<double>(table.items)) continue;
    try {
      table.records.resize(table.items * group_->words);
      packer_.check(table.items, table.arrays);
      packer_.pack({table.items}, table.arrays, table.records.data(), threads);
      table.is_converted = true;
    } catch (const Error&) {
      // The segment that takes such a value reports it.
    } catch (const std::bad_alloc&) {
      table.records = {};  // segments take less
    }
  }
}

bool SharedSources::copy(const SourceSegment& segment, std::uint64_t* records) const noexcept {
  const std::size_t words = group_->words;
  for (std::size_t k = 0; k < used_; ++k) {
    const Table& table = tables_[k];
    if (!is_of(table, segment)) continue;
    if (!table.is_converted) return false;
    const std::uint64_t* const from = table.records.data();
    if (segment.index != nullptr)
      gather_rows(from, words, segment.index, segment.n, records);
    else
      std::copy_n(from + segment.first * words, segment.n * words, records);
    return true;
  }
  return false;
}

}  // namespace gdr
