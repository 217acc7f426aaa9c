#include "emulator/engine/gpu/place_choice.hpp"

#include <algorithm>
#include <cmath>

namespace gdr {
namespace {

/// Work of which the processor would take longer is not tried there.
constexpr double long_work = 20e-3;
/// Work that runs on the GPU as long as the processor's time is not known.
constexpr double pairs_of_long_work = 1e7;
/// The first call on a GPU compiles.
constexpr unsigned calls_without_record = 1;

}  // namespace

PlaceChoice::Class& PlaceChoice::class_of(std::array<Class, 64>& classes, double pairs) noexcept {
  const int log = pairs >= 1 ? std::ilogb(pairs) : 0;
  return classes[static_cast<std::size_t>(std::clamp(log, 0, 63))];
}

bool PlaceChoice::on_gpu(double pairs, double min_pairs) noexcept {
  const std::scoped_lock lock(mutex_);
  Class& c = class_of(classes_, pairs);
  const Class::Place &processor = c.places[0], &gpu = c.places[1];
  const bool is_long =
      processor.calls > 0 ? pairs * processor.seconds > long_work : pairs >= pairs_of_long_work;
  if (is_long) return true;
  if (gpu.calls <= calls_without_record) return gpu.calls > 0 || pairs >= min_pairs;
  if (processor.calls == 0) return false;
  const bool faster = gpu.seconds < processor.seconds;
  if (--c.until_trial > 0) return faster;
  c.until_trial = c.pause = std::min(2 * c.pause, longest_pause);
  return !faster;
}

void PlaceChoice::record(double pairs, bool on_gpu, double seconds) noexcept {
  if (pairs <= 0) return;
  const std::scoped_lock lock(mutex_);
  Class& c = class_of(classes_, pairs);
  Class::Place& place = c.places[on_gpu ? 1 : 0];
  const auto gpu_is_faster = [&] { return c.places[1].seconds < c.places[0].seconds; };
  const bool before = gpu_is_faster();
  const double now = seconds / pairs;
  const bool first = place.calls++ <= (on_gpu ? calls_without_record : 0);
  // A call that waited for another program counts little.
  constexpr double step = 1.25;
  place.seconds = first ? now : std::min(now, place.seconds * step);
  if (gpu_is_faster() != before) c.until_trial = c.pause = first_pause;
}

}  // namespace gdr
