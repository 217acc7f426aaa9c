#include "emulator/engine/native/run/lane_sources.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "emulator/engine/native/run/block_executor.hpp"
#include "emulator/engine/native/translate/float_range.hpp"
#include "emulator/host/float_mode.hpp"
#include "emulator/host/for_each_isa.hpp"
#include "emulator/port/port_words.hpp"

namespace gdr::native {
namespace {

/// Items per conversion task: some for each of many threads, but not more than caches hold.
constexpr std::uint64_t least_items_a_task = 128, max_items_a_task = 2048,
                        good_number_of_tasks = 32;
/// Items per step of the general conversion.
constexpr std::uint64_t items_at_once = 64;

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) noexcept {
  return a / b + (a % b != 0 ? 1 : 0);
}

// Words of groups, which are stored as vectors.
using Lane64 [[gnu::may_alias]] = std::int64_t;
using Lane32 [[gnu::may_alias]] = std::int32_t;

/// The smallest and the largest integers of some lanes.
struct LaneRange {
  std::int64_t least, most;
};

/// Lanes that are compared together: a vector of AVX2.
constexpr std::size_t bytes_at_once = 32;
using LaneRanges = std::array<LaneRange, bytes_at_once / sizeof(std::int32_t)>;

/// Ranges of adjacent lanes of n groups, `step` elements apart.
template <typename Integer, typename Lane>
[[gnu::always_inline]] inline void ranges_among(const Lane* from, std::size_t step, std::uint64_t n,
                                                LaneRanges& ranges) {
  using Row [[gnu::vector_size(bytes_at_once)]] = Integer;
  constexpr std::size_t chains = 4;  // since a minimum takes several clocks
  Row least[chains], most[chains];
  std::memcpy(&least[0], from, sizeof(Row));
  most[0] = least[0];
  for (std::size_t k = 1; k < chains; ++k) least[k] = most[k] = least[0];
  const auto add = [&](std::size_t k, std::uint64_t g) __attribute__((always_inline)) {
    Row row;
    std::memcpy(&row, from + g * step, sizeof row);
    least[k] = row < least[k] ? row : least[k];
    most[k] = row > most[k] ? row : most[k];
  };
  std::uint64_t done = 0;
  for (; done + chains <= n; done += chains)
    for (std::size_t k = 0; k < chains; ++k) add(k, done + k);
  for (; done < n; ++done) add(0, done);
  for (std::size_t k = 1; k < chains; ++k) {
    least[0] = least[k] < least[0] ? least[k] : least[0];
    most[0] = most[k] > most[0] ? most[k] : most[0];
  }
  for (std::size_t k = 0; k < bytes_at_once / sizeof(Integer); ++k)
    ranges[k] = {lane_integer(least[0][k]), lane_integer(most[0][k])};
}
GDR_FOR_EACH_ISA void ranges_of(const Lane64* from, std::size_t step, std::uint64_t n,
                                LaneRanges& ranges) {
  ranges_among<std::int64_t>(from, step, n, ranges);
}
GDR_FOR_EACH_ISA void ranges_of(const Lane32* from, std::size_t step, std::uint64_t n,
                                LaneRanges& ranges) {
  ranges_among<std::int32_t>(from, step, n, ranges);
}

/// The simple conversion of a field, as port_load. Floats that are read as bits, and integers that
/// are read as numbers, are rare.
std::optional<WordConversion> conversion_of(const PortField& f, LeafKey key) noexcept {
  const MachineFormat machine = f.conversion.machine;
  const bool number = machine == MachineFormat::FloatLong || machine == MachineFormat::FloatShort;
  const bool f64 = number && f.conversion.host == HostType::F64;
  if (f64 && f.width == Width::Short && key.type == WordType::Short) return WordConversion::Short;
  if (f64 && machine == MachineFormat::FloatLong && is_long(key.type))
    return key.type == WordType::Long ? WordConversion::Long : WordConversion::Rest;
  if (machine == MachineFormat::Integer && f.width == Width::Short && key.type == WordType::Bits)
    return WordConversion::Integer;
  return std::nullopt;
}

}  // namespace

LaneSources::LaneSources(const CompiledSection& body, const LoadedProgram& loaded)
    : body_(body), loaded_(loaded) {
  const std::uint32_t item_shorts = loaded.program.item_shorts;
  const std::uint32_t words = loaded.layout.source_words;
  std::vector<GroupWord> simple;
  for (const LeafKey key : body.source_words().words) {
    std::optional<GroupWord> word;
    for (const PortField& field : loaded.sources) {
      if (field.location.address != key.place % item_shorts) continue;
      if (const auto conversion = conversion_of(field, key))
        word = GroupWord{*conversion, key.place / item_shorts * words + field.half_word / 2};
    }
    if (word) simple.push_back(*word);
  }
  if (simple.size() == body.source_words().words.size())
    simple_ = make_group_conversion({simple, loaded.program.group * words, body.precision()},
                                    body.target().isa);
  windows_.words = body.compared_words();
  windows_.ranges.resize(windows_.words.size());
}

/// Without pads.
std::uint64_t LaneSources::items_per_chunk() const noexcept {
  const std::uint64_t group = loaded_.program.group;
  return (chunk_groups - (group > 1 ? 1 : 0)) * group;
}

std::uint64_t LaneSources::group_of(std::uint64_t item) const noexcept {
  const std::uint64_t items = items_per_chunk();
  return item / items * chunk_groups + item % items / loaded_.program.group;
}

std::uint64_t LaneSources::first_item(std::uint64_t group) const noexcept {
  return group / chunk_groups * items_per_chunk() +
         std::min(items_per_chunk(), group % chunk_groups * loaded_.program.group);
}

LaneSources::Range LaneSources::items_of(std::uint64_t first_group,
                                         std::uint64_t groups) const noexcept {
  const std::uint64_t first = std::min(item_count(), first_item(first_group));
  return {first, std::min(item_count(), first_item(first_group + groups)) - first};
}

std::uint64_t LaneSources::groups_for(std::uint64_t items) const noexcept {
  const std::uint64_t group = loaded_.program.group, rest = items % items_per_chunk();
  const std::uint64_t more = rest == 0 ? 0 : divide_up(rest, group) + (group > 1 ? 1 : 0);
  return items / items_per_chunk() * chunk_groups + more;
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
    groups_ = groups_for(items);
    // The ranges of the last lanes are found with some behind them.
    const std::size_t bytes = groups_ * body_.stream_bytes() + bytes_at_once;
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
    const std::uint64_t first = group_of(range.first);
    // Whole groups, and behind the last item of a chunk its pads.
    const std::uint64_t end = range.end() == items ? groups_ : group_of(range.end() + group - 1);
    if (!view_.is_new()) changes_.add({first, end - first});
    const std::uint64_t a_task =
        std::clamp(range.count / good_number_of_tasks, least_items_a_task, max_items_a_task);
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
    for (std::uint64_t w = window; w * SourceWindows::groups < end; ++w) find_ranges(w);
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
  const bool usable = simple_ ? convert_simply(from, groups, to) : convert_any(from, groups, to);
  if (!usable) usable_ = false;
}

/// False if lanes of floats cannot represent a word. Doubles need no arithmetic.
bool LaneSources::convert_simply(const std::uint64_t* from, std::uint64_t groups,
                                 std::byte* to) const {
  if (body_.precision() == Precision::Double) return simple_->convert(from, groups, to);
  const MachineFloatMode mode;
  const RangeErrorMonitor range_errors(true);
  const bool fits = simple_->convert(from, groups, to);
  return fits && !range_errors.detected();
}

/// Computes the ranges of a converted window.
void LaneSources::find_ranges(std::uint64_t window) {
  const bool floats = body_.precision() == Precision::Float;
  const std::size_t lanes = body_.source_words().words.size();
  const std::uint64_t begin = window * SourceWindows::groups;
  const std::uint64_t groups = std::min(groups_ - begin, SourceWindows::groups);
  const std::byte* const at = lanes_.data() + begin * body_.stream_bytes();
  const std::size_t at_once = bytes_at_once / body_.target().lane_bytes();
  LaneRanges ranges;
  std::size_t first = lanes;  // of the lanes in `ranges`
  for (std::size_t w = 0; w < windows_.words.size(); ++w) {
    const std::size_t number = body_.source_words().number(windows_.words[w]);
    if (first == lanes || number < first || number >= first + at_once) {
      first = number / at_once * at_once;
      if (floats)
        ranges_of(reinterpret_cast<const Lane32*>(at) + first, lanes, groups, ranges);
      else
        ranges_of(reinterpret_cast<const Lane64*>(at) + first, lanes, groups, ranges);
    }
    windows_.ranges[w].least[window] = ranges[number - first].least;
    windows_.ranges[w].most[window] = ranges[number - first].most;
  }
}

/// General conversion through machine words. False if the lanes cannot represent a word.
bool LaneSources::convert_any(const std::uint64_t* from, std::uint64_t groups,
                              std::byte* to) const {
  const MachineFloatMode mode;
  thread_local std::vector<std::uint64_t> shorts;
  const std::uint32_t group = loaded_.program.group;
  const std::size_t item_shorts = loaded_.program.item_shorts, words = loaded_.layout.source_words;
  const std::uint64_t at_once = divide_up(items_at_once, group);
  if (shorts.size() < at_once * group * item_shorts) shorts.resize(at_once * group * item_shorts);
  bool usable = true;
  for (std::uint64_t g = 0; g < groups; g += at_once) {
    const std::uint64_t n = std::min(at_once, groups - g);
    for (const PortField& field : loaded_.sources)
      port_load(field, {from + g * group * words, words}, n * group,
                {shorts.data() + field.location.address, item_shorts, 1});
    if (!convert_sources(body_, shorts.data(), n, static_cast<std::uint32_t>(group * item_shorts),
                         to + g * body_.stream_bytes()))
      usable = false;
  }
  return usable;
}

}  // namespace gdr::native
