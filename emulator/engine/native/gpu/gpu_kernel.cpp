#include "emulator/engine/native/gpu/gpu_kernel.hpp"

#include <algorithm>
#include <string>

#include "emulator/engine/gpu/launch_length.hpp"
#include "emulator/engine/gpu/queue_scope.hpp"
#include "emulator/engine/native/gpu/kernel_text.hpp"
#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"

namespace gdr::native {

namespace {

/// The parts of iterations that threads share: of a length that depends on the number of iterations
/// only.
struct Parts {
  explicit Parts(std::uint64_t iterations)
      : length(std::max<std::uint64_t>(min_length, (iterations + max_parts - 1) / max_parts)),
        count((std::max<std::uint64_t>(iterations, 2) - 1 + length - 1) / length) {}
  std::uint64_t length, count;  ///< iterations of a part but for the last one, and parts

 private:
  /// The sums of so many parts are added up by one thread; each part begins with registers to fill.
  static constexpr std::uint64_t min_length = 256, max_parts = 1024;
};

}  // namespace

GpuKernel::GpuKernel(Gpu& gpu, const CodeContext& context, std::span<const LeafKey> compared)
    : gpu_(gpu),
      layout_(context.kernel.layout),
      lanes_(context.target.lanes()),
      lane_bytes_(context.target.lane_bytes()),
      group_words_(context.group_bytes() / context.target.lane_bytes()),
      may_pause_(context.kernel.loops && context.kernel.has_effects()) {
  const std::string text = kernel_text(context, compared);
  if (context.kernel.can_share_iterations) {
    part_text_ = kernel_text(context, compared, LoopShare::Part);
    join_text_ = kernel_text(context, compared, LoopShare::Join);
  }
  text_bytes_ = text.size();
  kernel_ = gpu.compile(text);
}

void GpuKernel::run(const std::byte* items, std::size_t count, SourceBuffers sources,
                    std::uint64_t first_group, const std::byte* uniforms, std::size_t uniform_bytes,
                    std::uint64_t iterations, bool shared, std::byte* results,
                    GpuLists* lists) const {
  const std::size_t bytes = layout_.bytes(), outputs = layout_.outputs * layout_.vector_bytes;
  const std::size_t threads = count * lanes_;
  const bool divides = shared && !part_text_.empty() && Parts(iterations).count > 1;
  const std::uint64_t left_words =
      (layout_.carried + layout_.totals) * (divides ? Parts(iterations).count : 1);
  const auto input = gpu_.pool.take(count * bytes);
  const auto made = gpu_.pool.take(count * outputs);
  const auto words = gpu_.pool.take(uniform_bytes);
  const auto left = gpu_.pool.take(threads * left_words * lane_bytes_);
  std::shared_ptr<gpu::Buffer> counters, entries;
  QueueScope queue(*gpu_.device);
  gpu_.device->send(*input, 0, items, count * bytes);
  gpu_.device->send(*words, 0, uniforms, uniform_bytes);
  Launch launch{{{input.get()},
                 {made.get()},
                 {&sources.lanes},
                 {words.get()},
                 {nullptr, threads},
                 {nullptr, first_group * group_words_},
                 {nullptr, iterations}},
                {{left.get()}, {&sources.ranges}},
                threads,
                iterations};
  if (lists != nullptr) {
    const std::size_t counter_bytes = lists->counters.size() * sizeof(std::uint64_t);
    counters = gpu_.pool.take(counter_bytes);
    entries = gpu_.pool.take(counter_bytes * lists->rows);
    gpu_.device->send(*counters, 0, lists->counters.data(), counter_bytes);
    launch.last.insert(launch.last.end(),
                       {{counters.get()}, {entries.get()}, {nullptr, lists->rows}});
  }
  divides ? run_parts(launch) : run_iterations(launch);
  gpu_.device->read(*made, 0, results, count * outputs);
  if (lists != nullptr) read_lists(*counters, *entries, *lists);
  queue.set_empty();
}

/// `share`: the arguments of the LoopShare.
void GpuKernel::start(const gpu::Kernel& kernel, const Launch& launch,
                      std::initializer_list<std::uint64_t> share, std::size_t threads) const {
  constexpr std::size_t group = 128;
  std::vector<gpu::Argument> arguments = launch.first;
  for (const std::uint64_t number : share) arguments.push_back({nullptr, number});
  arguments.insert(arguments.end(), launch.last.begin(), launch.last.end());
  gpu_.device->start(kernel, arguments, (threads + group - 1) / group * group, group);
}

/// A thread executes all iterations of a lane, in launches that are short enough.
void GpuKernel::run_iterations(const Launch& launch) const {
  LaunchLength length(launch.threads);
  for (std::uint64_t begin = 0; begin < launch.iterations;) {
    const std::uint64_t end =
        may_pause_ ? std::min(launch.iterations, begin + length.iterations()) : launch.iterations;
    const Stopwatch timer;
    start(*kernel_, launch, {begin, end}, launch.threads);
    if (end < launch.iterations) {
      gpu_.device->finish();
      length.record(end - begin, timer.seconds());
    }
    begin = end;
    cancellation_point();
  }
}

/// Threads share the iterations; then one for each lane adds up their sums and executes the last
/// iteration.
void GpuKernel::run_parts(const Launch& launch) const {
  const Parts parts(launch.iterations);
  std::call_once(parts_compiled_, [this] {
    part_ = gpu_.compile(part_text_);
    join_ = gpu_.compile(join_text_);
  });
  LaunchLength length(launch.threads);
  for (std::uint64_t first = 0; first < parts.count;) {
    const std::uint64_t end = std::min(
        parts.count, first + std::max<std::uint64_t>(1, length.iterations() / parts.length));
    const Stopwatch timer;
    start(*part_, launch, {first, end, parts.length}, launch.threads * (end - first));
    if (end < parts.count) {
      gpu_.device->finish();
      length.record((end - first) * parts.length, timer.seconds());
    }
    first = end;
    cancellation_point();
  }
  start(*join_, launch, {parts.count}, launch.threads);
}

void GpuKernel::read_lists(const gpu::Buffer& counters, const gpu::Buffer& entries,
                           GpuLists& lists) const {
  gpu_.device->read(counters, 0, lists.counters.data(),
                    lists.counters.size() * sizeof(std::uint64_t));
  lists.entries.resize(lists.counters.size() * lists.rows);
  gpu_.device->read(entries, 0, lists.entries.data(), lists.entries.size() * sizeof(std::uint64_t));
}

}  // namespace gdr::native
