#include "emulator/host/gpu/device.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>

#include "emulator/host/gpu/backend.hpp"
#include "gdr/error.hpp"

namespace gdr::gpu {
namespace {

constexpr const Backend* backends[] = {&opencl_backend};

/// A device of an interface.
struct Offer {
  const Backend* backend = nullptr;
  std::size_t number = 0;  ///< in the list of the interface
};

struct Devices {
  std::vector<Offer> offers;
  std::vector<DeviceInfo> infos;  ///< of `offers`
};

/// Listed once: drivers need a part of a second for it.
const Devices& all_devices() {
  static const Devices* const all = [] {
    std::vector<Offer> offers;
    for (const Backend* const backend : backends)
      for (std::size_t n = 0; n < backend->devices().size(); ++n) offers.push_back({backend, n});
    const auto info = [](const Offer& o) -> const DeviceInfo& {
      return o.backend->devices()[o.number];
    };
    std::ranges::stable_partition(offers, [&](const Offer& o) { return info(o).is_gpu; });
    auto* const made = new Devices{offers, {}};
    for (const Offer& offer : offers) made->infos.push_back(info(offer));
    return made;
  }();
  return *all;
}

std::string list_of_devices() {
  std::string text;
  for (std::size_t n = 0; n < devices().size(); ++n)
    text += (n == 0 ? "" : ", ") + std::to_string(n) + " (" + devices()[n].name + ")";
  return text;
}

std::size_t find_device(std::string_view which) {
  const std::vector<DeviceInfo>& all = devices();
  if (all.empty()) throw Error(ErrorCategory::Unsupported, "no GPU: " + why_no_device());
  if (which.empty()) return 0;
  std::size_t number = 0;
  const auto [end, bad] = std::from_chars(which.data(), which.data() + which.size(), number);
  if (bad == std::errc() && end == which.data() + which.size()) {
    if (number < all.size()) return number;
  } else {
    const auto named = std::ranges::find_if(
        all, [&](const DeviceInfo& d) { return d.name.find(which) != std::string::npos; });
    if (named != all.end()) return static_cast<std::size_t>(named - all.begin());
  }
  throw Error(ErrorCategory::Unsupported, "there is no OpenCL device '" + std::string(which) +
                                              "'; there are " + list_of_devices());
}

}  // namespace

const std::vector<DeviceInfo>& devices() { return all_devices().infos; }

std::string description(const DeviceInfo& d) {
  return d.name + ", " + d.platform + ", driver " + d.driver + ", " + std::to_string(d.units) +
         " compute units, " + std::to_string(d.memory_bytes >> 30) + " GiB" +
         (d.has_doubles ? "" : ", no doubles") + (d.is_gpu ? "" : " (no GPU, but a processor)");
}

std::string label(const DeviceInfo& d) { return "the " + d.backend + " device " + d.name; }

std::string why_no_device() { return opencl_backend.why_no_device(); }

std::shared_ptr<Device> open_device(std::string_view which) {
  static std::mutex mutex;
  static auto* const open = new std::map<std::size_t, std::shared_ptr<Device>>;
  const std::size_t number = find_device(which);
  const std::scoped_lock lock(mutex);
  std::shared_ptr<Device>& device = (*open)[number];
  if (!device) {
    const Offer& offer = all_devices().offers[number];
    device = offer.backend->open(offer.number);
  }
  return device;
}

}  // namespace gdr::gpu
