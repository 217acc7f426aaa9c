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
/// Columns to which those of a chip are filled up for a library.
constexpr std::size_t columns_of_blas = 32;

}  // namespace

const ResidentItems& CardItems::find(const DeviceItems& items, const ColumnRange& columns,
                                     bool for_blas) {
  const auto known = std::ranges::find_if(resident_, [&](const ResidentItems& r) {
    return r.for_blas == for_blas && r.range == columns &&
           std::ranges::equal(r.keys, items.keys, &SourceKey::has_place_of);
  });
  if (known != resident_.end() && known->keys == items.keys) {
    resident_.splice(resident_.begin(), resident_, known);
    return resident_.front();
  }
  if (known != resident_.end()) resident_.erase(known);
  ResidentItems made;
  made.keys = items.keys;
  made.range = columns;
  made.for_blas = for_blas;
  made.record = numbers_of_record(items);
  made.columns =
      for_blas ? parts_of(columns.count, columns_of_blas) * columns_of_blas : columns.count;
  const std::size_t numbers = items.chips * made.columns * made.record;
  made.bytes = numbers * card_.number_bytes();
  std::size_t resident = made.bytes;
  for (auto at = resident_.begin(); at != resident_.end();) {
    resident += at->bytes;
    at = resident > card_.resident_bytes ? resident_.erase(at) : std::next(at);
  }
  made.numbers = card_.take(made.bytes);
  made.unfit.assign(columns.count, 0);
  send(items, columns, made);
  if (for_blas && !card_.floats())
    card_.run_for_each(flush_text(), {{made.numbers.get()}, number(numbers)}, numbers);
  if (card_.exact())
    made.intervals = exponent_intervals(card_, *made.numbers, columns.count, made.record, numbers);
  resident_.push_front(std::move(made));
  return resident_.front();
}

void CardItems::send(const DeviceItems& items, const ColumnRange& columns, ResidentItems& made) {
  const std::size_t words = columns.count * items.words;
  std::vector<std::uint64_t> copy;
  for (std::size_t chip = 0; chip < items.chips; ++chip)
    for (std::size_t first = 0; first < words; first += words_at_once) {
      const std::size_t count = std::min(words_at_once, words - first);
      const std::uint64_t* const from =
          items.view(chip, columns.first * items.words + first, count, copy);
      send_words(items, from, first, count, chip * made.columns * made.record, made);
    }
}

/// Words of a chip's records, from word `first` of the columns on; `at`: the chip's numbers.
void CardItems::send_words(const DeviceItems& items, const std::uint64_t* from, std::size_t first,
                           std::size_t count, std::size_t at, ResidentItems& made) {
  const std::size_t in_word = items.floats ? 2 : 1, numbers = count * in_word;
  if (items.floats) {
    if (staged_.size() < numbers) staged_.resize(numbers);
    widen_floats(from, count, reinterpret_cast<std::uint64_t*>(staged_.data()));
    from = reinterpret_cast<const std::uint64_t*>(staged_.data());
  }
  const std::size_t offset = (at + first * in_word) * card_.number_bytes();
  if (!card_.floats())
    return card_.device().write(*made.numbers, offset, from, numbers * sizeof(double));
  staged_floats_.resize(numbers);
  // By column, to find those that do not fit.
  for (std::size_t done = 0; done < numbers;) {
    const std::size_t place = first * in_word + done, column = place / made.record;
    const std::size_t some = std::min(numbers - done, (column + 1) * made.record - place);
    if (!round_to_floats(reinterpret_cast<const double*>(from) + done, some,
                         staged_floats_.data() + done))
      made.unfit[column] = 1;
    done += some;
  }
  card_.device().write(*made.numbers, offset, staged_floats_.data(), numbers * sizeof(float));
}

}  // namespace gdr
