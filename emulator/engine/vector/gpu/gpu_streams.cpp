#include "emulator/engine/vector/gpu/gpu_streams.hpp"

#include <algorithm>
#include <utility>

#include "emulator/engine/gpu/queue_scope.hpp"

namespace gdr {

/// Whether groups may be sent to the buffer that is there: not while a launch may read it.
bool GpuStreams::may_send_parts(const std::vector<EncodedGroups>& streams) const {
  return made_.failure == 0 && made_.words.use_count() == 1 &&
         std::ranges::equal(copied_, streams, &CopiedGroups::has_place_of);
}

GpuStreams::Made GpuStreams::update(const std::vector<EncodedGroups>& streams) {
  const std::scoped_lock lock(mutex_);
  if (made_.words != nullptr && std::ranges::equal(copied_, streams, &CopiedGroups::is_current))
    return made_;
  const bool in_parts = may_send_parts(streams);
  const std::vector<CopiedGroups> before = std::exchange(copied_, {});  // if sending fails
  std::uint64_t groups = 0;
  for (const EncodedGroups& stream : streams) groups += stream.count;
  if (!in_parts) {
    made_ = {};  // its buffer may be used again
    made_.words = gpu_.pool.take(groups * kept_ * gpu_word_bytes);
  }
  gpu::Device& device = *gpu_.device;
  std::uint32_t failure = 0;
  Queued queued{gpu_.pool.take(sizeof failure), {}};
  QueueScope queue(device);
  device.send(*queued.failures, 0, &failure, sizeof failure);
  std::uint64_t first = 0;
  for (std::size_t n = 0; n < streams.size(); ++n) {
    std::vector<ChangedRange> missing;
    add_missing_groups(in_parts ? before[n] : CopiedGroups(), streams[n], missing);
    for (const ChangedRange& range : missing)
      send(streams[n].groups + range.first * read_ * gpu_word_bytes, first + range.first,
           range.count, queued);
    first += streams[n].count;
  }
  device.read(*queued.failures, 0, &failure, sizeof failure);
  queue.set_empty();
  made_.failure |= failure;
  for (const EncodedGroups& stream : streams) copied_.emplace_back(stream);
  return made_;
}

/// Groups `first` to `first + count - 1` of all streams.
void GpuStreams::send(const std::byte* groups, std::uint64_t first, std::uint64_t count,
                      Queued& queued) {
  if (count == 0) return;
  gpu::Device& device = *gpu_.device;
  const std::size_t bytes = count * read_ * gpu_word_bytes;
  gpu::Buffer& words = *queued.words.emplace_back(gpu_.pool.take(bytes));
  device.send(words, 0, groups, bytes);
  device.start(*program_,
               {{&words},
                {made_.words.get()},
                {queued.failures.get()},
                {nullptr, first},
                {nullptr, count},
                {nullptr, read_}},
               (count + threads_of_group - 1) / threads_of_group * threads_of_group,
               threads_of_group);
}

}  // namespace gdr
