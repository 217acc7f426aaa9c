#include "emulator/engine/native/run/gpu_sources.hpp"

#include <algorithm>
#include <vector>

namespace gdr::native {

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

}  // namespace gdr::native
