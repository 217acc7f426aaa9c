#include "emulator/engine/matmul/gpu/card_items.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "emulator/engine/matmul/cpu/widen_floats.hpp"
#include "emulator/engine/matmul/gpu/card_factors.hpp"
#include "emulator/engine/matmul/gpu/product_text.hpp"
#include "emulator/engine/matmul/gpu/round_to_floats.hpp"

namespace gdr {
namespace {

/// Words that are sent at a time, a chunk of a board's memory.
constexpr std::size_t words_at_once = std::size_t{1} << 16;
/// Unchanged words between changed ones that are sent, too: to begin another transfer takes longer.
constexpr std::size_t words_between = std::size_t{1} << 14;
/// Columns to which those of a chip are filled up for a library.
constexpr std::size_t columns_of_blas = 32;

/// The records of some columns in the memory of each chip.
std::vector<RecordSegment> segments_of(const DeviceItems& items, const ColumnRange& columns) {
  std::vector<RecordSegment> segments = items.segments;
  for (RecordSegment& s : segments) {
    s.address += columns.first * items.words;
    s.items = columns.count;
  }
  return segments;
}

}  // namespace

const EncodedItems& CardItems::find(const DeviceItems& items, const ColumnRange& columns,
                                    bool for_blas) {
  const std::vector<RecordSegment> segments = segments_of(items, columns);
  EncodedItems& found = place_for(items, segments, for_blas);
  if (found.view.update(segments, items.words)) update(found, items);
  found.view.commit();
  return found;
}

/// The items of an earlier product in the same places, or new ones in place of those that were not
/// used for the longest time; they come first in the list.
EncodedItems& CardItems::place_for(const DeviceItems& items,
                                   std::span<const RecordSegment> segments, bool for_blas) {
  const auto known = std::ranges::find_if(encoded_, [&](const EncodedItems& e) {
    return e.for_blas == for_blas && e.view.has_place_of(segments, items.words);
  });
  if (known != encoded_.end()) {
    encoded_.splice(encoded_.begin(), encoded_, known);
    return encoded_.front();
  }
  const std::size_t columns = segments.front().items;
  EncodedItems made;
  made.for_blas = for_blas;
  made.record = numbers_of_record(items);
  made.columns = for_blas ? parts_of(columns, columns_of_blas) * columns_of_blas : columns;
  made.bytes = items.chips() * made.columns * made.record * card_.number_bytes();
  std::size_t resident = made.bytes;
  for (auto at = encoded_.begin(); at != encoded_.end();) {
    resident += at->bytes;
    at = resident > card_.resident_bytes ? encoded_.erase(at) : std::next(at);
  }
  made.numbers = card_.take(made.bytes);
  made.unfit.assign(columns, 0);
  return encoded_.emplace_front(std::move(made));
}

/// Sends the columns that have changed.
void CardItems::update(EncodedItems& e, const DeviceItems& items) {
  for (const ColumnRange& columns : changed_columns(e)) send(e, items, columns);
  const std::size_t numbers = items.chips() * e.columns * e.record;
  if (e.for_blas && !card_.floats())
    card_.run_for_each(flush_text(), {{e.numbers.get()}, number(numbers)}, numbers);
  if (card_.exact())
    e.intervals = exponent_intervals(card_, *e.numbers, e.unfit.size(), e.record, numbers);
}

/// Columns of which any chip's record has changed, in ascending order.
std::vector<ColumnRange> CardItems::changed_columns(const EncodedItems& e) const {
  const std::size_t count = e.unfit.size();
  if (e.view.is_new()) return {{0, count}};
  std::vector<char> is_changed(count, 0);
  for (const ChangedRange& records : e.view.changed())
    for (std::uint64_t record = records.first; record < records.end(); ++record)
      is_changed[record % count] = 1;
  std::vector<ColumnRange> columns;
  for (std::size_t c = 0; c < count; ++c) {
    if (is_changed[c] == 0) continue;
    const std::size_t end = columns.empty() ? 0 : columns.back().first + columns.back().count;
    if (columns.empty() || (c - end) * e.record > words_between)
      columns.push_back({c, 1});
    else
      columns.back().count = c + 1 - columns.back().first;
  }
  return columns;
}

void CardItems::send(EncodedItems& e, const DeviceItems& items, const ColumnRange& columns) {
  const std::size_t at_once = std::max<std::size_t>(1, words_at_once / items.words);
  std::fill_n(e.unfit.begin() + static_cast<std::ptrdiff_t>(columns.first), columns.count, 0);
  for (std::size_t chip = 0; chip < items.chips(); ++chip)
    for (std::size_t done = 0; done < columns.count; done += at_once)
      send_records(e, items, chip, {columns.first + done, std::min(at_once, columns.count - done)});
}

void CardItems::send_records(EncodedItems& e, const DeviceItems& items, std::size_t chip,
                             const ColumnRange& columns) {
  const std::size_t numbers = columns.count * e.record;
  const std::size_t offset = (chip * e.columns + columns.first) * e.record * card_.number_bytes();
  const std::uint64_t* from =
      e.view.view().records(chip * e.unfit.size() + columns.first, columns.count, records_);
  if (items.floats) {
    doubles_.resize(numbers);
    widen_floats(from, columns.count * items.words,
                 reinterpret_cast<std::uint64_t*>(doubles_.data()));
    from = reinterpret_cast<const std::uint64_t*>(doubles_.data());
  }
  if (!card_.floats())
    return card_.device().write(*e.numbers, offset, from, numbers * sizeof(double));
  floats_.resize(numbers);
  // By column, to find those that do not fit.
  for (std::size_t c = 0; c < columns.count; ++c)
    if (!round_to_floats(reinterpret_cast<const double*>(from) + c * e.record, e.record,
                         floats_.data() + c * e.record))
      e.unfit[columns.first + c] = 1;
  card_.device().write(*e.numbers, offset, floats_.data(), numbers * sizeof(float));
}

}  // namespace gdr
