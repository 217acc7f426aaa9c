#include "emulator/engine/native/run/gpu_lanes.hpp"

#include <algorithm>
#include <vector>

namespace gdr::native {

void GpuLanes::update(const LaneSources& sources) {
  const EncodedGroups now{sources.groups(), sources.group_count(), &sources.changes()};
  if (buffer_ != nullptr && copied_.is_current(now)) return;
  const std::size_t group_bytes = sources.group_bytes();
  std::vector<ChangedRange> missing;
  add_missing_groups(copied_, now, missing);
  const bool has_place = buffer_ != nullptr && copied_.has_place_of(now);
  copied_ = {};  // in case that sending fails
  if (!has_place) {
    buffer_.reset();
    buffer_ = gpu_.pool.take(now.count * group_bytes);
  }
  for (const ChangedRange& groups : missing) {
    const std::size_t first = groups.first * group_bytes;
    gpu_.device->send(*buffer_, first, now.groups + first, groups.count * group_bytes);
  }
  send_ranges(sources.windows());
  gpu_.device->finish();  // launches of other threads read them
  copied_ = CopiedGroups(now);
}

/// All of them: a few bytes for each window.
void GpuLanes::send_ranges(const SourceWindows& windows) {
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
