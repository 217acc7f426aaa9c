#include "emulator/engine/native/gpu/gpu.hpp"

#include <algorithm>
#include <string>

#include "emulator/engine/gpu/launch_length.hpp"
#include "emulator/engine/gpu/queue_scope.hpp"
#include "emulator/engine/native/gpu/kernel_text.hpp"
#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"

namespace gdr::native {

namespace {

/// The numbers of a kernel's arguments (kernel_text.hpp).
enum Place : std::size_t {
  passes_begin = 7,
  passes_end = 8,
  first_part = 11,
  parts_end,
  part_length
};

/// The parts of passes that threads share: of a length that depends on the number of passes only.
struct Parts {
  explicit Parts(std::uint64_t passes)
      : length(std::max<std::uint64_t>(least, (passes + most - 1) / most)),
        count((std::max<std::uint64_t>(passes, 2) - 1 + length - 1) / length) {}
  std::uint64_t length, count;  ///< passes of a part, but for the last one

 private:
  /// The sums of so many parts are added up by one thread; each part begins with registers to fill.
  static constexpr std::uint64_t least = 256, most = 1024;
};

}  // namespace

void GpuSources::update(const LaneSources& sources) {
  const std::size_t bytes = sources.group_count() * sources.group_bytes();
  const bool follows = buffer_ != nullptr && bytes == bytes_;
  if (follows && sources.revision() == revision_) return;
  if (!follows || sources.revision() != revision_ + 1) {
    buffer_.reset();
    buffer_ = gpu_.pool.take(bytes);
    gpu_.device->send(*buffer_, 0, sources.groups(), bytes);
  } else {
    for (const LaneSources::Range& groups : sources.converted_groups()) {
      const std::size_t first = groups.first * sources.group_bytes();
      gpu_.device->send(*buffer_, first, sources.groups() + first,
                        groups.count * sources.group_bytes());
    }
  }
  send_ranges(sources.windows());
  gpu_.device->finish();  // launches of other threads read them
  bytes_ = bytes;
  revision_ = sources.revision();
}

/// All of them: a few bytes for each window.
void GpuSources::send_ranges(const SourceWindows& windows) {
  const std::size_t words = windows.ranges.size();
  const std::size_t count = words == 0 ? 0 : windows.ranges[0].least.size();
  std::vector<std::int64_t> ranges(std::max<std::size_t>(1, 2 * words * count));
  for (std::size_t n = 0; n < count; ++n)
    for (std::size_t k = 0; k < words; ++k) {
      ranges[2 * (n * words + k)] = windows.ranges[k].least[n];
      ranges[2 * (n * words + k) + 1] = windows.ranges[k].most[n];
    }
  const std::size_t bytes = ranges.size() * sizeof ranges[0];
  ranges_.reset();
  ranges_ = gpu_.pool.take(bytes);
  gpu_.device->send(*ranges_, 0, ranges.data(), bytes);
}

GpuKernel::GpuKernel(Gpu& gpu, const CodeContext& context, std::span<const LeafKey> compared)
    : gpu_(gpu),
      layout_(context.kernel.layout),
      lanes_(context.target.lanes()),
      lane_bytes_(context.target.lane_bytes()),
      group_words_(context.group_bytes() / context.target.lane_bytes()),
      may_pause_(context.kernel.loops && context.kernel.has_effects()),
      can_share_passes_(context.kernel.can_share_passes) {
  const std::string text = kernel_text(context, compared);
  text_bytes_ = text.size();
  kernel_ = gpu.compile(text);
}

void GpuKernel::run(const std::byte* items, std::size_t count, const GpuSources& sources,
                    std::uint64_t first_group, const std::byte* uniforms, std::size_t uniform_bytes,
                    std::uint64_t passes, bool shared, std::byte* results, GpuLists* lists) const {
  const std::size_t bytes = layout_.bytes(), outputs = layout_.outputs * layout_.vector_bytes;
  const std::size_t threads = count * lanes_;
  const bool divides = shared && can_share_passes_ && Parts(passes).count > 1;
  const std::uint64_t left_words =
      (layout_.carried + layout_.totals) * (divides ? Parts(passes).count : 1);
  const auto input = gpu_.pool.take(count * bytes);
  const auto made = gpu_.pool.take(count * outputs);
  const auto words = gpu_.pool.take(uniform_bytes);
  const auto left = gpu_.pool.take(threads * left_words * lane_bytes_);
  std::shared_ptr<gpu::Buffer> counters, entries;
  QueueScope queue(*gpu_.device);
  gpu_.device->send(*input, 0, items, count * bytes);
  gpu_.device->send(*words, 0, uniforms, uniform_bytes);
  std::vector<gpu::Argument> arguments{
      {input.get()},     {made.get()},       {&sources.buffer()},
      {words.get()},     {nullptr, threads}, {nullptr, first_group * group_words_},
      {nullptr, passes}, {nullptr, 0},       {nullptr, passes},
      {left.get()},      {&sources.ranges()}};
  if (lists != nullptr) {
    const std::size_t counter_bytes = lists->counters.size() * sizeof(std::uint64_t);
    counters = gpu_.pool.take(counter_bytes);
    entries = gpu_.pool.take(counter_bytes * lists->rows);
    gpu_.device->send(*counters, 0, lists->counters.data(), counter_bytes);
    arguments.insert(arguments.end(), {{counters.get()}, {entries.get()}, {nullptr, lists->rows}});
  }
  if (can_share_passes_) arguments.resize(arguments.size() + 3);
  if (divides)
    run_parts(arguments, threads, passes);
  else
    run_passes(arguments, threads, passes);
  gpu_.device->read(*made, 0, results, count * outputs);
  if (lists != nullptr) read_lists(*counters, *entries, *lists);
  queue.set_empty();
}

void GpuKernel::start(const std::vector<gpu::Argument>& arguments, std::size_t threads) const {
  constexpr std::size_t group = 128;
  gpu_.device->start(*kernel_, arguments, (threads + group - 1) / group * group, group);
}

/// A thread executes all passes of a lane, in launches that are short enough.
void GpuKernel::run_passes(std::vector<gpu::Argument>& arguments, std::size_t threads,
                           std::uint64_t passes) const {
  LaunchLength length(threads);
  for (std::uint64_t begin = 0; begin < passes;) {
    const std::uint64_t end = may_pause_ ? std::min(passes, begin + length.passes()) : passes;
    const Stopwatch timer;
    arguments[passes_begin].number = begin;
    arguments[passes_end].number = end;
    start(arguments, threads);
    if (end < passes) {
      gpu_.device->finish();
      length.record(end - begin, timer.seconds());
    }
    begin = end;
    cancellation_point();
  }
}

/// Threads share the passes; then one for each lane adds up their sums and executes the last pass.
void GpuKernel::run_parts(std::vector<gpu::Argument>& arguments, std::size_t threads,
                          std::uint64_t passes) const {
  const Parts parts(passes);
  LaunchLength length(threads);
  arguments[part_length].number = parts.length;
  for (std::uint64_t first = 0; first < parts.count;) {
    const std::uint64_t end =
        std::min(parts.count, first + std::max<std::uint64_t>(1, length.passes() / parts.length));
    const Stopwatch timer;
    arguments[first_part].number = first;
    arguments[parts_end].number = end;
    start(arguments, threads * (end - first));
    if (end < parts.count) {
      gpu_.device->finish();
      length.record((end - first) * parts.length, timer.seconds());
    }
    first = end;
    cancellation_point();
  }
  arguments[passes_begin].number = passes - 1;
  arguments[part_length].number = 0;
  start(arguments, threads);
}

void GpuKernel::read_lists(const gpu::Buffer& counters, const gpu::Buffer& entries,
                           GpuLists& lists) const {
  gpu_.device->read(counters, 0, lists.counters.data(),
                    lists.counters.size() * sizeof(std::uint64_t));
  lists.entries.resize(lists.counters.size() * lists.rows);
  gpu_.device->read(entries, 0, lists.entries.data(), lists.entries.size() * sizeof(std::uint64_t));
}

}  // namespace gdr::native
