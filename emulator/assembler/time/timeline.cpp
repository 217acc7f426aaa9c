#include "emulator/assembler/time/timeline.hpp"

#include <algorithm>

namespace gdr::assembly {

LocationIndex::LocationIndex(const Geometry& geometry) noexcept
    : local_shorts_(geometry.local_words * 2) {
  const std::uint32_t bm = geometry.broadcast_words * 2;
  // In the order of Access::What: Register, Local, T, Bm, BmSource, BmOutput, Mask.
  const std::array<std::uint32_t, 7> sizes{
      geometry.register_words * 2,  local_shorts_, max_elements * 2, bm, bm, bm,
      mask_registers * max_elements};
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    base_[i] = next;
    next += sizes[i];
  }
  count_ = next;
}

Timeline::Timeline(const Geometry& geometry, bool track_writers)
    : locations_(geometry), track_(track_writers), written_(locations_.count() + 1) {
  if (track_) writers_.resize(written_.size());
}

void Timeline::reset() {
  std::fill(written_.begin(), written_.end(), Clock{0});
  local_latest_ = 0;
  now_ = origin;
}

void Timeline::seed(const std::vector<RecentWrite>& writes) {
  for (const RecentWrite& w : writes) {
    if (w.age >= result_latency || w.location >= written_.size()) continue;
    const Clock time = origin - w.age;
    if (written_[w.location] >= time) continue;
    written_[w.location] = time;
    if (track_) writers_[w.location] = w.writer;
    const bool local =
        w.location == locations_.whole_local_memory() || locations_.is_local(w.location);
    if (local && time > local_latest_) {
      local_latest_ = time;
      local_latest_location_ = w.location;
    }
  }
}

Timeline::Clock Timeline::last_write(const Access& access, unsigned element,
                                     std::uint32_t& location) const noexcept {
  if (locations_.covers_local_memory(access)) {
    location = local_latest_location_;
    return local_latest_;
  }
  Clock latest = 0;
  const std::uint32_t first = locations_.first(access, element);
  const std::uint32_t end = std::min(first + access.shorts, locations_.count());
  for (std::uint32_t i = first; i < end; ++i) {
    if (written_[i] > latest) {
      latest = written_[i];
      location = i;
    }
  }
  if (access.what == Access::What::Local && written_.back() > latest) {
    latest = written_.back();
    location = locations_.whole_local_memory();
  }
  return latest;
}

Writer Timeline::writer_of(std::uint32_t location) const {
  return track_ ? writers_[location] : Writer{};
}

Stall Timeline::stall_of(const InstructionAccesses& accesses) const {
  Stall stall;
  for (unsigned k = 0; k < accesses.vlen; ++k) {
    const Clock clock = now_ + k * accesses.stride;
    for (const Access& access : accesses.lists[k]) {
      if (access.write) break;  // reads come first
      std::uint32_t location = 0;
      const Clock written = last_write(access, k, location);
      if (written + result_latency <= clock + stall.clocks || written == 0) continue;
      stall = {written + result_latency - clock, access, k, writer_of(location), 0};
    }
  }
  return stall;
}

void Timeline::issue(const InstructionAccesses& accesses, Writer writer) {
  for (unsigned k = 0; k < accesses.vlen; ++k) {
    for (const Access& access : accesses.lists[k]) {
      if (!access.write) continue;
      const Clock clock = now_ + accesses.clock_of(k, access);
      const bool whole = locations_.covers_local_memory(access);
      const std::uint32_t first =
          whole ? locations_.whole_local_memory() : locations_.first(access, k);
      const std::uint32_t end =
          whole ? first + 1 : std::min(first + access.shorts, locations_.count());
      for (std::uint32_t i = first; i < end; ++i) {
        written_[i] = clock;
        if (track_) writers_[i] = writer;
      }
      if (access.what == Access::What::Local && clock >= local_latest_) {
        local_latest_ = clock;
        local_latest_location_ = first;
      }
    }
  }
  now_ += accesses.clocks();
}

}  // namespace gdr::assembly
