// The command lists of BoardRun once more, each with what it costs instead of what it does. Lists
// follow one another, so equal ones are worked out once and counted.
#include "libgdr/predict/particle_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "emulator/board/run_clocks.hpp"
#include "emulator/port/loaded_program.hpp"
#include "emulator/port/loop_plan.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/slices.hpp"
#include "libgdr/device/sources.hpp"

namespace gdr::predict {
namespace {

constexpr double word = 8;

/// One board, list by list.
class BoardTimer {
 public:
  BoardTimer(const KernelShape& kernel, const Geometry& geometry, const BoardRates& rates,
             Share share, std::size_t sources)
      : kernel_(kernel),
        geometry_(geometry),
        rates_(rates),
        share_(share),
        chips_(geometry.chips_per_board),
        sources_(sources),
        at_once_(sources_at_once(kernel.cost, geometry, share, 0)),
        list_(chips_, geometry.clock_hz, rates) {
    if (at_once_ == 0)
      throw Error(ErrorCategory::Device,
                  fmt::format("the memory of a chip ({} bytes) does not hold one source of kernel "
                              "\"{}\"; give the machine more board.memory",
                              geometry.dram_bytes, kernel.name));
  }

  /// `kept`: memories hold all sources of the job, and keep them from its first batch on; `sent`
  /// are those that are sent with the first one here.
  BoardTime run(std::size_t targets, bool kept, std::vector<IndexRange> sent) {
    sent_ = std::move(sent);
    kept_ = kept;
    const std::size_t slots = board_slots(kernel_.cost, geometry_, share_);
    const std::size_t full = targets / slots, rest = targets % slots;
    if (full > 0) batch(slots, true, 1);
    if (full > 1) batch(slots, !kept, full - 1);
    if (rest > 0) batch(rest, full == 0 || !kept, 1);
    time_.share = share_;
    time_.link_write = static_cast<double>(time_.bytes_to_board) / rates_.link_write;
    time_.link_read = static_cast<double>(time_.bytes_from_board) / rates_.link_read;
    return time_;
  }

 private:
  bool split() const noexcept { return share_ == Share::SourcesOverBlocks; }

  /// The targets of a chip when n are dealt out.
  std::size_t deal(std::size_t n, unsigned chip) const noexcept {
    if (split()) return n;
    const std::size_t part = targets_of_chip(kernel_.cost, geometry_, n);
    const std::size_t first = std::min(n, chip * part);
    return std::min(n - first, part);
  }

  /// A list goes out and is done before the next one begins; there are `times` like it.
  void flush() {
    time_.seconds += static_cast<double>(times_) * list_.seconds();
    list_ = Timeline(chips_, geometry_.clock_hz, rates_);
  }

  /// Chip 0 has the most work of all: clocks are counted for it.
  void count(std::uint64_t chips, const ChipClocks& clocks, std::uint64_t times = 1) {
    if ((chips & 1) == 0) return;
    const std::uint64_t all = times * times_;
    time_.clocks +=
        {all * clocks.compute, all * clocks.port_in, all * clocks.port_out, all * clocks.total};
  }

  std::uint64_t bytes_of(std::uint64_t words) const noexcept { return 8 * words; }

  void load(std::uint64_t chips, std::uint64_t words) {
    const ChipClocks clocks = load_clocks(words, rates_);
    count(chips, clocks);
    time_.bytes_to_board += times_ * bytes_of(words);
    list_.load(chips, bytes_of(words), clocks.total);
  }

  void read(std::uint64_t chips, std::uint64_t words) {
    const ChipClocks clocks = read_clocks(words, rates_);
    count(chips, clocks);
    time_.bytes_from_board += times_ * bytes_of(words);
    list_.read(chips, bytes_of(words), clocks.total);
  }

  void send(const Segment& segment) {
    const std::size_t words = kernel_.cost.source_words;
    if (words == 0) return;
    const std::size_t at_once = std::max<std::size_t>(1, write_words / words);
    for (std::size_t done = 0; done < segment.sources.count;) {
      const std::size_t n = std::min(segment.sources.count - done, at_once);
      const std::uint64_t address = (segment.place + done) * words;
      time_.bytes_to_board += times_ * bytes_of(n * words);
      list_.write_memory(segment.chips, bytes_of(n * words), address, address + n * words);
      if (n == at_once) flush();
      done += n;
    }
  }

  ChipClocks loop(std::size_t items, bool start, bool end) const {
    const KernelCost& k = kernel_.cost;
    LoopCost cost;
    if (start) cost.start = k.start_clocks;
    if (end) cost.end = k.end_clocks;
    cost.body = k.body_clocks;
    cost.words_in = std::uint64_t{k.group} * k.source_words;
    const LoopPlan plan = make_plan(k.group, kernel_.groups_per_half, geometry_, share_, items);
    return loop_clocks(plan, cost, geometry_.clock_hz, rates_);
  }

  void run_items(std::uint64_t chips, std::size_t place, std::size_t items, bool start, bool end) {
    const ChipClocks clocks = loop(items, start, end);
    count(chips, clocks);
    const std::uint64_t words = kernel_.cost.source_words;
    list_.run(chips, clocks.total, place * words, (place + items) * words);
  }

  void run_range(std::uint64_t active, std::size_t items, bool is_first, bool is_last) {
    const std::size_t each = split() ? items / chips_ : items;
    const std::size_t rest = split() ? items % chips_ : 0;
    const bool end = rest == 0 && is_last;
    run_items(active, 0, each, is_first, end);
    if (rest == 0) return;
    run_items(all_chips(static_cast<unsigned>(rest)), each, 1, false, false);
    if (is_last) run_items(active, 0, 0, false, true);
  }

  void batch(std::size_t n, bool sends, std::size_t times) {
    times_ = times;
    std::uint64_t active = 0;
    for (unsigned chip = 0; chip < chips_; ++chip)
      if (deal(n, chip) > 0) active |= std::uint64_t{1} << chip;
    for (const std::uint32_t words : kernel_.param_words) load(all_chips(chips_), words);
    const unsigned ways = split() ? 1 : chips_;
    const auto chips_of = [&](unsigned chip) {
      return split() ? all_chips(chips_) : std::uint64_t{1} << chip;
    };
    for (unsigned chip = 0; chip < ways && deal(n, chip) > 0; ++chip)
      load(chips_of(chip), deal(n, chip) * kernel_.cost.target_words);
    for (std::size_t done = 0; done == 0 || done < sources_;) {
      const std::size_t items = std::min(sources_ - done, at_once_);
      if (sends) {
        const std::vector<IndexRange> piece{{done, items}};
        for (const IndexRange& range : kept_ ? sent_ : piece)
          for (const Segment& s : place_sources(share_, chips_, range)) send(s);
      }
      run_range(active, items, done == 0, done + items == sources_);
      done += items;
      if (sources_ == 0) break;
    }
    for (unsigned chip = 0; chip < ways && deal(n, chip) > 0; ++chip)
      read(chips_of(chip), deal(n, chip) * kernel_.cost.result_words);
    flush();
  }

  const KernelShape& kernel_;
  const Geometry& geometry_;
  const BoardRates& rates_;
  Share share_;
  unsigned chips_;
  std::size_t sources_;
  std::size_t at_once_;  ///< sources in the memories
  Timeline list_;
  std::size_t times_ = 1;
  std::vector<IndexRange> sent_;
  bool kept_ = false;
  BoardTime time_;
};

/// Clocks and bytes are counted in 64 bits, and the stretches of sources that a memory takes are
/// gone through one by one.
void refuse_beyond_counting(const KernelShape& kernel, const Geometry& geometry, Share share,
                            const ParticleJob& job, std::size_t batches) {
  constexpr double most_counts = 4e18, most_stretches = 1e7;
  const KernelCost& k = kernel.cost;
  const double passes = static_cast<double>(batches) * static_cast<double>(job.sources);
  const double each = static_cast<double>(k.body_clocks) + 8.0 * 64 * (1 + k.source_words);
  const double words = static_cast<double>(job.sources) * (1 + k.source_words);
  const double held = static_cast<double>(geometry.dram_bytes) / 8 *
                      (share == Share::SourcesOverBlocks ? geometry.chips_per_board : 1);
  const double piece = static_cast<double>(std::min<std::uint64_t>(write_words, 1U << 21));
  if (passes * each > most_counts || words / std::min(held, piece) > most_stretches)
    throw Error(ErrorCategory::Usage,
                fmt::format("{} targets and {} sources are more than can be counted for this "
                            "machine",
                            job.targets, job.sources));
}

}  // namespace

KernelShape kernel_shape(const Program& program, const Geometry& geometry) {
  const LinkLayout layout = link_layout(program);
  if (!layout.outputs.empty())
    throw Error(ErrorCategory::Unsupported,
                fmt::format("kernel \"{}\" leaves something for every source (ovar); the time of "
                            "such kernels is not predicted",
                            program.name));
  KernelShape shape{program.name,
                    kernel_cost(program),
                    place_halves(program, geometry).groups,
                    {},
                    static_cast<std::uint32_t>(words_of_target(layout, read_raw)),
                    program.flops};
  for (const LinkLayout::Field& field : layout.params)
    shape.param_words.push_back((field.half_words + 1) / 2);
  return shape;
}

KernelShape with_clocks(const KernelShape& interface, std::string name, double clocks,
                        double flops) {
  const double pass = clocks * interface.cost.elements;
  if (!(pass >= 1) || pass > 1e9 || pass != std::floor(pass))
    throw Error(
        ErrorCategory::Usage,
        fmt::format("{:g} clocks an interaction: a pass of the loop works on {} targets and "
                    "takes whole clocks, so this has to be a multiple of {:g}",
                    clocks, interface.cost.elements, 1.0 / interface.cost.elements));
  KernelShape shape = interface;
  shape.name = std::move(name);
  shape.flops = flops;
  shape.cost.start_clocks = shape.cost.end_clocks = 0;
  shape.groups_per_half = interface.groups_per_half == unlimited_groups
                              ? unlimited_groups
                              : interface.groups_per_half * interface.cost.group;
  shape.cost.group = 1;
  shape.cost.body_clocks = static_cast<std::uint64_t>(pass);
  return shape;
}

namespace {

/// Whether the memories of a chip hold all slices, as BoardRun places them.
bool holds(const KernelShape& kernel, const Geometry& geometry, const JobCut& cut,
           std::size_t sources) {
  const std::size_t capacity = sources_at_once(kernel.cost, geometry, cut.share, 0);
  if (cut.slices == 1) return sources <= capacity;
  const std::size_t chips =
      cut.share == Share::SourcesOverBlocks ? std::size_t{geometry.chips_per_board} : 1;
  std::size_t place = 0;
  for (std::size_t k = 0; k < cut.slices; ++k)
    place += (slice_of(cut, kernel.cost.group, sources, k).count + chips - 1) / chips;
  return place * chips <= capacity;
}

}  // namespace

BoardTime particle_time(const KernelShape& kernel, const Geometry& geometry,
                        const BoardRates& rates, unsigned boards, const ParticleJob& job) {
  const JobCut cut = cut_job(kernel.cost, geometry, job.partition, job.targets, job.sources);
  if (job.targets == 0) return {};
  const std::size_t slots = board_slots(kernel.cost, geometry, cut.share);
  const std::size_t batches = (job.targets + slots - 1) / slots;
  refuse_beyond_counting(kernel, geometry, cut.share, job, batches);
  const bool kept = holds(kernel, geometry, cut, job.sources);
  KernelShape part_kernel = kernel;
  if (cut.slices > 1) part_kernel.cost.result_words = kernel.raw_words;
  const std::size_t used = std::min<std::size_t>(batches, std::max(1U, boards));
  const std::size_t part = (batches + used - 1) / used * slots;
  const std::size_t whole = job.targets / part, rest = job.targets % part;
  std::vector<IndexRange> slices;
  for (std::size_t k = 0; k < cut.slices; ++k)
    slices.push_back(slice_of(cut, kernel.cost.group, job.sources, k));
  BoardTime all;
  all.share = cut.share;
  for (std::size_t k = 0; k < cut.slices; ++k) {
    const std::size_t sources = slices[k].count;
    const auto on_board = [&](std::size_t targets) {
      return BoardTimer(part_kernel, geometry, rates, cut.share, sources)
          .run(targets, kept, k == 0 ? slices : std::vector<IndexRange>());
    };
    // The first board has the most batches: its clocks and its time are those of the slowest.
    const BoardTime first = on_board(whole > 0 ? part : rest);
    const BoardTime last = whole > 0 && rest > 0 ? on_board(rest) : BoardTime{};
    const std::size_t alike = std::max<std::size_t>(1, whole);
    all.clocks += first.clocks;
    all.seconds += std::max(first.seconds, last.seconds);
    all.bytes_to_board += alike * first.bytes_to_board + last.bytes_to_board;
    all.bytes_from_board += alike * first.bytes_from_board + last.bytes_from_board;
    all.link_write += first.link_write;
    all.link_read += first.link_read;
  }
  return all;
}

}  // namespace gdr::predict
