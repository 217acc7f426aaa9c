#include "emulator/engine/native/gpu/gpu.hpp"

#include <algorithm>
#include <string>

#include "emulator/engine/gpu/launch_length.hpp"
#include "emulator/engine/native/gpu/kernel_text.hpp"
#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"

namespace gdr::native {

void GpuSources::update(const LaneSources& sources) {
  const std::size_t bytes = sources.group_count() * sources.group_bytes();
  const bool follows = buffer_ != nullptr && bytes == bytes_;
  if (follows && sources.revision() == revision_) return;
  if (!follows || sources.revision() != revision_ + 1) {
    buffer_.reset();
    buffer_ = gpu_.pool.take(bytes);
    gpu_.device->write(*buffer_, 0, sources.groups(), bytes);
  } else {
    for (const LaneSources::Range& groups : sources.converted_groups()) {
      const std::size_t first = groups.first * sources.group_bytes();
      gpu_.device->write(*buffer_, first, sources.groups() + first,
                         groups.count * sources.group_bytes());
    }
  }
  send_ranges(sources.windows());
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
  gpu_.device->write(*ranges_, 0, ranges.data(), bytes);
}

GpuKernel::GpuKernel(Gpu& gpu, const CodeContext& context, std::span<const LeafKey> compared)
    : gpu_(gpu),
      layout_(context.kernel.layout),
      lanes_(context.target.lanes()),
      lane_bytes_(context.target.lane_bytes()),
      group_words_(context.group_bytes() / context.target.lane_bytes()),
      may_pause_(context.kernel.loops && context.kernel.has_effects()) {
  const std::string text = kernel_text(context, compared);
  text_bytes_ = text.size();
  kernel_ = gpu.compile(text);
}

void GpuKernel::run(const std::byte* items, std::size_t count, const GpuSources& sources,
                    std::uint64_t first_group, const std::byte* uniforms, std::size_t uniform_bytes,
                    std::uint64_t passes, std::byte* results, GpuLists* lists) const {
  constexpr std::size_t group = 128;
  const std::size_t bytes = layout_.bytes(), outputs = layout_.outputs * layout_.vector_bytes;
  const std::size_t threads = count * lanes_;
  const auto input = gpu_.pool.take(count * bytes);
  const auto made = gpu_.pool.take(count * outputs);
  const auto words = gpu_.pool.take(uniform_bytes);
  const auto left = gpu_.pool.take(threads * (layout_.carried + layout_.totals) * lane_bytes_);
  gpu_.device->write(*input, 0, items, count * bytes);
  gpu_.device->write(*words, 0, uniforms, uniform_bytes);
  std::shared_ptr<gpu::Buffer> counters, entries;
  std::vector<gpu::Argument> arguments{
      {input.get()},     {made.get()},       {&sources.buffer()},
      {words.get()},     {nullptr, threads}, {nullptr, first_group * group_words_},
      {nullptr, passes}, {nullptr, 0},       {nullptr, 0},
      {left.get()},      {&sources.ranges()}};
  if (lists != nullptr) {
    const std::size_t counter_bytes = lists->counters.size() * sizeof(std::uint64_t);
    counters = gpu_.pool.take(counter_bytes);
    entries = gpu_.pool.take(counter_bytes * lists->rows);
    gpu_.device->write(*counters, 0, lists->counters.data(), counter_bytes);
    arguments.insert(arguments.end(), {{counters.get()}, {entries.get()}, {nullptr, lists->rows}});
  }
  LaunchLength length(threads);
  for (std::uint64_t begin = 0; begin < passes;) {
    const std::uint64_t end = may_pause_ ? std::min(passes, begin + length.passes()) : passes;
    const Stopwatch timer;
    arguments[7].number = begin;
    arguments[8].number = end;
    gpu_.device->run(*kernel_, arguments, (threads + group - 1) / group * group, group);
    length.record(end - begin, timer.seconds());
    begin = end;
    cancellation_point();
  }
  gpu_.device->read(*made, 0, results, count * outputs);
  if (lists != nullptr) read_lists(*counters, *entries, *lists);
}

void GpuKernel::read_lists(const gpu::Buffer& counters, const gpu::Buffer& entries,
                           GpuLists& lists) const {
  gpu_.device->read(counters, 0, lists.counters.data(),
                    lists.counters.size() * sizeof(std::uint64_t));
  lists.entries.resize(lists.counters.size() * lists.rows);
  gpu_.device->read(entries, 0, lists.entries.data(), lists.entries.size() * sizeof(std::uint64_t));
}

}  // namespace gdr::native
