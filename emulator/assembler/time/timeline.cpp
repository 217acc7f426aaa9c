#include "emulator/assembler/time/timeline.hpp"

#include <algorithm>

namespace gdr::assembly {

Places::Places(const Geometry& geometry) noexcept : local_shorts_(geometry.local_words * 2) {
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
    : places_(geometry), track_(track_writers), written_(places_.count() + 1) {
  if (track_) writers_.resize(written_.size());
}

void Timeline::reset() {
  std::fill(written_.begin(), written_.end(), Clock{0});
  local_latest_ = 0;
  now_ = origin;
}

void Timeline::seed(const std::vector<RecentWrite>& writes) {
  for (const RecentWrite& w : writes) {
    if (w.age >= result_latency || w.place >= written_.size()) continue;
    const Clock time = origin - w.age;
    if (written_[w.place] >= time) continue;
    written_[w.place] = time;
    if (track_) writers_[w.place] = w.writer;
    const bool local = w.place == places_.everything_local() || places_.is_local(w.place);
    if (local && time > local_latest_) {
      local_latest_ = time;
      local_latest_place_ = w.place;
    }
  }
}

Timeline::Clock Timeline::last_write(const Access& access, unsigned element,
                                     std::uint32_t& place) const noexcept {
  if (places_.whole_local(access)) {
    place = local_latest_place_;
    return local_latest_;
  }
  Clock latest = 0;
  const std::uint32_t first = places_.first(access, element);
  const std::uint32_t end = std::min(first + access.shorts, places_.count());
  for (std::uint32_t i = first; i < end; ++i) {
    if (written_[i] > latest) {
      latest = written_[i];
      place = i;
    }
  }
  if (access.what == Access::What::Local && written_.back() > latest) {
    latest = written_.back();
    place = places_.everything_local();
  }
  return latest;
}

Writer Timeline::writer_of(std::uint32_t place) const {
  return track_ ? writers_[place] : Writer{};
}

Wait Timeline::wait_of(const InstructionAccesses& accesses) const {
  Wait wait;
  for (unsigned k = 0; k < accesses.vlen; ++k) {
    const Clock clock = now_ + k * accesses.stride;
    for (const Access& access : accesses.lists[k]) {
      if (access.write) break;  // reads come first
      std::uint32_t place = 0;
      const Clock written = last_write(access, k, place);
      if (written + result_latency <= clock + wait.clocks || written == 0) continue;
      wait = {written + result_latency - clock, access, k, writer_of(place), 0};
    }
  }
  return wait;
}

void Timeline::issue(const InstructionAccesses& accesses, Writer writer) {
  for (unsigned k = 0; k < accesses.vlen; ++k) {
    for (const Access& access : accesses.lists[k]) {
      if (!access.write) continue;
      const Clock clock = now_ + accesses.clock_of(k, access);
      const bool whole = places_.whole_local(access);
      const std::uint32_t first = whole ? places_.everything_local() : places_.first(access, k);
      const std::uint32_t end =
          whole ? first + 1 : std::min(first + access.shorts, places_.count());
      for (std::uint32_t i = first; i < end; ++i) {
        written_[i] = clock;
        if (track_) writers_[i] = writer;
      }
      if (access.what == Access::What::Local && clock >= local_latest_) {
        local_latest_ = clock;
        local_latest_place_ = first;
      }
    }
  }
  now_ += accesses.clocks();
}

}  // namespace gdr::assembly
