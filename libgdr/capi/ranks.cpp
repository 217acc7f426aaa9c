// C interface: the ranks of a device, and going on without those that are lost.
#include <algorithm>

#include "libgdr/capi/guard.hpp"
#include "libgdr/capi/handles.hpp"
#include "libgdr/ranks/device_ranks.hpp"

using gdr::capi::guarded;
using gdr::capi::need;

unsigned gdr_device_rank(const gdr_device* device) {
  return device == nullptr ? 0 : device->device.rank();
}
unsigned gdr_device_ranks(const gdr_device* device) {
  return device == nullptr ? 0 : device->device.ranks();
}

gdr_status gdr_device_recover(gdr_device* device, unsigned* lost, size_t room, size_t* count) {
  return guarded([&] {
    need(device, "the device");
    if (count != nullptr) *count = 0;
    const std::vector<unsigned> ranks = device->device.recover();
    if (lost != nullptr) std::copy_n(ranks.begin(), std::min(room, ranks.size()), lost);
    if (count != nullptr) *count = ranks.size();
    device->description = device->device.description();
  });
}

namespace {

/// What the user's function returned as the exception that it stands for.
[[noreturn]] void throw_status(gdr_status status) {
  const bool told = gdr_last_status() == status;
  const std::string message =
      told ? gdr_last_error() : "the work returned status " + std::to_string(status);
  if (status == GDR_ERROR_RANKS_LOST) throw gdr::RanksLost(message);
  const bool known = status >= GDR_ERROR_USAGE && status <= GDR_ERROR_INTERNAL;
  throw gdr::Error(known                        ? static_cast<gdr::ErrorCategory>(status)
                   : status == GDR_ERROR_MEMORY ? gdr::ErrorCategory::Device
                                                : gdr::ErrorCategory::Usage,
                   message);
}

}  // namespace

gdr_status gdr_device_despite_losses(gdr_device* device, gdr_status (*work)(void* data),
                                     void* data) {
  return guarded([&] {
    need(device, "the device");
    if (work == nullptr) throw gdr::Error(gdr::ErrorCategory::Usage, "the work is a null pointer");
    gdr::Device& opened = device->device;
    opened.despite_losses([&] {
      const gdr_status status = work(data);
      if (status == GDR_ERROR_RANKS_LOST) throw_status(status);
      // It may be one rank's own: all must hear of it.
      gdr::together(gdr::DeviceRanks::group(opened), "the end of gdr_device_despite_losses", [&] {
        if (status != GDR_OK) throw_status(status);
      });
    });
    device->description = opened.description();
  });
}
