#include "emulator/engine/native/run/lane_sources.hpp"

#include <algorithm>

#include "emulator/engine/native/run/lane_ranges.hpp"
#include "emulator/port/port_words.hpp"

namespace gdr::native {
namespace {

/// Items per conversion task: some for each of many threads, but not more than caches hold.
constexpr std::uint64_t min_items_a_task = 128, max_items_a_task = 2048, good_number_of_tasks = 32;

}  // namespace

LaneSources::LaneSources(const CompiledSection& body, const LoadedProgram& loaded)
    : body_(body), loaded_(loaded), conversion_(body, loaded), numbering_(loaded.program.group) {
  windows_.words = body.compared_words();
  windows_.ranges.resize(windows_.words.size());
}

LaneSources::Range LaneSources::items_of(std::uint64_t first_group,
                                         std::uint64_t groups) const noexcept {
  const std::uint64_t first = std::min(item_count(), numbering_.first_item(first_group));
  return {first, std::min(item_count(), numbering_.first_item(first_group + groups)) - first};
}

bool LaneSources::may_complete(std::span<const PendingWrite> writes,
                               std::span<const RecordSegment> segments) const noexcept {
  const std::uint64_t words = loaded_.layout.source_words;
  const auto is_in = [&](const PendingWrite& write, const RecordSegment& s) {
    return write.memory == s.memory && write.address >= s.address &&
           write.end() <= s.address + s.items * words && (write.address - s.address) % words == 0 &&
           write.words.size() % words == 0;
  };
  return std::ranges::all_of(writes, [&](const PendingWrite& write) {
    return std::ranges::count_if(segments, [&](const auto& s) { return is_in(write, s); }) == 1;
  });
}

void LaneSources::prepare(std::span<const RecordSegment> segments,
                          std::span<const PendingWrite> writes, std::vector<Phase>& phases) {
  writes_ = writes;
  if (!usable_) view_.discard();
  if (!view_.update(segments, loaded_.layout.source_words)) return;
  const std::uint32_t group = loaded_.program.group;
  const std::uint64_t items = view_.items();
  if (view_.is_new()) {
    groups_ = numbering_.groups_for(items);
    // The ranges of the last lanes are found with some behind them.
    const std::size_t bytes = groups_ * body_.stream_bytes() + bytes_behind_lanes;
    if (lanes_.size() < bytes) lanes_.resize(bytes);
    changes_.restart();
  }
  usable_ = true;
  for (SourceWindows::Ranges& of_word : windows_.ranges) {
    of_word.least.resize(divide_up(groups_, SourceWindows::groups));
    of_word.most.resize(of_word.least.size());
  }
  changed_.clear();
  for (const ChangedRange& range : view_.changed()) {
    const std::uint64_t first = numbering_.group_of(range.first);
    // Whole groups, and behind the last item of a chunk its pads.
    const std::uint64_t end =
        range.end() == items ? groups_ : numbering_.group_of(range.end() + group - 1);
    if (!view_.is_new()) changes_.add({first, end - first});
    const std::uint64_t a_task =
        std::clamp(range.count / good_number_of_tasks, min_items_a_task, max_items_a_task);
    changed_.push_back({first, end, divide_up(a_task, group * SourceWindows::groups)});
  }
  for (const Changed& c : changed_) {
    const std::uint64_t windows =
        divide_up(c.end, SourceWindows::groups) - c.first / SourceWindows::groups;
    phases.push_back(
        {divide_up(windows, c.windows), [this, &c](std::size_t task) { convert_task(c, task); }});
  }
}

/// The end of a window's groups. A window of nothing but pads belongs to the previous one: they are
/// copies of its last item, whose words may be on their way to a memory until it is converted.
std::uint64_t LaneSources::window_end(const Changed& c, std::uint64_t window) const noexcept {
  const std::uint64_t end = std::min(c.end, (window + 1) * SourceWindows::groups);
  return c.end == end + 1 && items_of(end, 1).count == 0 ? c.end : end;
}

void LaneSources::convert_task(const Changed& c, std::size_t task) {
  const std::uint64_t begin = c.first / SourceWindows::groups + task * c.windows;
  const std::uint64_t stop = std::min(begin + c.windows, divide_up(c.end, SourceWindows::groups));
  std::vector<std::uint64_t> scratch;  // rarely used
  // Window by window, which stays in the nearest cache.
  for (std::uint64_t window = begin; window < stop; ++window) {
    const std::uint64_t from = std::max(c.first, window * SourceWindows::groups);
    const std::uint64_t end = window_end(c, window);
    if (items_of(from, end - from).count == 0) continue;  // converted with the previous window
    convert(from, end - from, scratch);
    for (std::uint64_t w = window; w * SourceWindows::groups < end; ++w)
      find_ranges(body_, lanes_.data(), groups_, w, windows_);
  }
}

void LaneSources::copy_group(std::uint64_t group, std::uint64_t* to) const {
  const std::uint64_t words = loaded_.layout.source_words;
  const auto [first, count] = items_of(group, 1);
  const SourceView view = view_.view();
  std::vector<std::uint64_t> scratch;
  if (count != 0) std::copy_n(view.records(first, count, scratch), count * words, to);
  const std::uint64_t* const last = view.records(first + count - 1, 1, scratch);
  for (std::uint64_t k = count; k < loaded_.program.group; ++k)
    make_pad(loaded_, last, to + k * words);
}

/// Stores items that are on their way to a memory.
void LaneSources::complete_writes(std::uint64_t first, std::uint64_t count) const {
  if (writes_.empty()) return;
  view_.view().for_each_part(
      first, count, [&](const RecordSegment& s, std::uint64_t address, std::uint64_t words) {
        for (const PendingWrite& write : writes_)
          if (write.memory == s.memory) write.store(address, words);
      });
}

/// Groups of one window, and pads behind it.
void LaneSources::convert(std::uint64_t first_group, std::uint64_t count,
                          std::vector<std::uint64_t>& scratch) {
  const std::uint32_t group = loaded_.program.group;
  const auto [first, items] = items_of(first_group, count);
  complete_writes(first, items);
  const std::size_t bytes = body_.stream_bytes();
  std::byte* to = lanes_.data() + first_group * bytes;
  const std::uint64_t whole = items / group;
  if (whole != 0) convert_groups(view_.view().records(first, whole * group, scratch), whole, to);
  if (whole == count) return;
  thread_local std::vector<std::uint64_t> completed;
  completed.resize(group * loaded_.layout.source_words);
  for (std::uint64_t g = whole; g < count; ++g) {
    copy_group(first_group + g, completed.data());
    convert_groups(completed.data(), 1, to + g * bytes);
  }
}

void LaneSources::convert_groups(const std::uint64_t* from, std::uint64_t groups, std::byte* to) {
  if (!conversion_.convert(from, groups, to)) usable_ = false;
}

}  // namespace gdr::native
