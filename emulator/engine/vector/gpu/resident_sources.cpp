#include "emulator/engine/vector/gpu/resident_sources.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "emulator/engine/gpu/queue_scope.hpp"

namespace gdr {
/// Whether parts may be sent to the buffer: not while a launch may read it.
bool ResidentSources::same_places(const std::vector<Part>& parts) const {
  return made_.failure == 0 && made_.words.use_count() == 1 &&
         std::ranges::equal(parts, resident_, [](const Part& p, const Resident& r) {
           return p.stream.groups == r.groups && p.groups == r.count;
         });
}

ResidentSources::Made ResidentSources::update(const std::vector<Part>& parts) {
  const std::scoped_lock lock(mutex_);
  const bool unchanged = std::ranges::equal(parts, resident_, [](const Part& p, const Resident& r) {
    return p.stream.groups == r.groups && p.groups == r.count && r.revision != 0 &&
           p.stream.revision == r.revision;
  });
  if (unchanged && made_.words != nullptr) return made_;
  const bool in_place = same_places(parts);
  const std::vector<Resident> before = std::exchange(resident_, {});  // in case that sending fails
  std::uint64_t groups = 0;
  for (const Part& part : parts) groups += part.groups;
  if (!in_place) {
    made_ = {};  // its buffer may be used again
    made_.words = gpu_.pool.take(groups * kept_ * gpu_word_bytes);
  }
  gpu::Device& device = *gpu_.device;
  std::uint32_t failure = 0;
  Queued queued{gpu_.pool.take(sizeof failure), {}};
  QueueScope queue(device);
  device.send(*queued.failures, 0, &failure, sizeof failure);
  std::uint64_t first = 0;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    send_changes(parts[n], first, in_place ? before[n].revision : 0, queued);
    first += parts[n].groups;
  }
  device.read(*queued.failures, 0, &failure, sizeof failure);
  queue.set_empty();
  made_.failure |= failure;
  for (const Part& part : parts)
    resident_.push_back({part.stream.groups, part.groups, part.stream.revision});
  return made_;
}

/// `resident`: the revision that is there, or 0.
void ResidentSources::send_changes(const Part& part, std::uint64_t first, std::uint64_t resident,
                                   Queued& queued) {
  const SourceStream& s = part.stream;
  if (resident != 0 && s.revision == resident) return;
  if (resident == 0 || s.revision == 0 || s.previous != resident)
    return send(s.groups, first, part.groups, queued);
  const std::size_t group_bytes = read_ * gpu_word_bytes;
  const std::byte* const end = s.groups + part.groups * group_bytes;
  for (const std::span<const std::byte> change : s.changes) {
    const std::byte* const from = std::max(s.groups, change.data());
    const std::byte* const to = std::min(end, change.data() + change.size());
    if (from >= to) continue;
    send(from, first + static_cast<std::size_t>(from - s.groups) / group_bytes,
         static_cast<std::size_t>(to - from) / group_bytes, queued);
  }
}

/// Groups `first` to `first + count - 1` of all streams.
void ResidentSources::send(const std::byte* groups, std::uint64_t first, std::uint64_t count,
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
