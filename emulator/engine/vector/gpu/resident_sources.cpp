#include "emulator/engine/vector/gpu/resident_sources.hpp"

#include <algorithm>
#include <span>
#include <utility>

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
  std::uint64_t first = 0;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    send_changes(parts[n], first, in_place ? before[n].revision : 0);
    first += parts[n].groups;
  }
  for (const Part& part : parts)
    resident_.push_back({part.stream.groups, part.groups, part.stream.revision});
  return made_;
}

/// `resident`: the revision that is there, or 0.
void ResidentSources::send_changes(const Part& part, std::uint64_t first, std::uint64_t resident) {
  const SourceStream& s = part.stream;
  if (resident == 0 || s.revision == 0) return send(s.groups, first, part.groups);
  if (s.revision == resident) return;
  if (s.previous != resident) return send(s.groups, first, part.groups);
  const std::size_t group_bytes = read_ * gpu_word_bytes;
  const std::byte* const end = s.groups + part.groups * group_bytes;
  for (const std::span<const std::byte> change : s.changes) {
    const std::byte* const from = std::max(s.groups, change.data());
    const std::byte* const to = std::min(end, change.data() + change.size());
    if (from >= to) continue;
    send(from, first + static_cast<std::size_t>(from - s.groups) / group_bytes,
         static_cast<std::size_t>(to - from) / group_bytes);
  }
}

/// Groups `first` to `first + count - 1` of all streams.
void ResidentSources::send(const std::byte* groups, std::uint64_t first, std::uint64_t count) {
  if (count == 0) return;
  gpu::Device& device = *gpu_.device;
  const std::size_t bytes = count * read_ * gpu_word_bytes;
  const auto words = gpu_.pool.take(bytes);
  const auto failures = gpu_.pool.take(sizeof(std::uint32_t));
  std::uint32_t failure = 0;
  device.write(*words, 0, groups, bytes);
  device.write(*failures, 0, &failure, sizeof failure);
  device.run(*program_,
             {{words.get()},
              {made_.words.get()},
              {failures.get()},
              {nullptr, first},
              {nullptr, count},
              {nullptr, read_}},
             (count + threads_of_group - 1) / threads_of_group * threads_of_group,
             threads_of_group);
  device.read(*failures, 0, &failure, sizeof failure);
  made_.failure |= failure;
}

}  // namespace gdr
