#include "emulator/host/gpu/device.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "emulator/host/gpu/backend.hpp"
#include "emulator/host/gpu/listing.hpp"
#include "emulator/host/parse_number.hpp"
#include "gdr/error.hpp"

namespace gdr::gpu {
namespace {

/// In the order of preference: OpenCL is older and takes a card of any maker.
constexpr const Backend* backends[] = {&opencl_backend, &cuda_backend};

/// Whether GDR_GPU_BACKEND allows an interface.
bool is_allowed(const Backend& backend) {
  const char* const given = std::getenv("GDR_GPU_BACKEND");
  if (given == nullptr || *given == '\0') return true;
  const auto known = [&](const Backend* b) { return b->word == std::string_view(given); };
  if (std::ranges::none_of(backends, known))
    throw Error(ErrorCategory::Usage,
                std::string("GDR_GPU_BACKEND is '") + given + "', not 'opencl' or 'cuda'");
  return backend.word == std::string_view(given);
}

struct Devices {
  std::vector<Listed> listed;
  std::vector<DeviceInfo> infos;  ///< descriptions of `listed`
};

/// Listed once: drivers need a part of a second for it.
const Devices& all_devices() {
  static const Devices* const all = [] {
    std::vector<std::vector<DeviceInfo>> interfaces;
    for (const Backend* const backend : backends)
      interfaces.push_back(is_allowed(*backend) ? backend->devices() : std::vector<DeviceInfo>());
    auto made = std::make_unique<Devices>();
    made->listed = merged(interfaces);
    for (const Listed& l : made->listed) made->infos.push_back(interfaces[l.interface][l.device]);
    return made.release();
  }();
  return *all;
}

std::string list_of_devices(const std::vector<DeviceInfo>& all) {
  std::string text;
  for (std::size_t n = 0; n < all.size(); ++n)
    text += (n == 0 ? "" : ", ") + std::to_string(n) + " (" + all[n].name + ")";
  return text;
}

/// The number of a device in a list: given, or of the first one with this part of a name.
std::optional<std::size_t> find_device(std::string_view which, const std::vector<DeviceInfo>& all) {
  if (const auto number = parse_all<std::size_t>(which))
    return *number < all.size() ? number : std::nullopt;
  const auto named = std::ranges::find_if(
      all, [&](const DeviceInfo& d) { return d.name.find(which) != std::string::npos; });
  if (named == all.end()) return std::nullopt;
  return static_cast<std::size_t>(named - all.begin());
}

/// A device by the name that open_device takes.
Listed device_named(std::string_view which) {
  const std::string_view first = which.substr(0, which.find(':'));
  const auto* const backend = std::ranges::find(backends, first, &Backend::word);
  const bool any = backend == std::end(backends);
  const std::vector<DeviceInfo>& all = any ? devices() : (*backend)->devices();
  if (all.empty())
    throw Error(ErrorCategory::Unsupported,
                "no GPU: " + (any ? why_no_device() : (*backend)->why_no_device()));
  const std::string_view name =
      any ? which : which.substr(std::min(first.size() + 1, which.size()));
  const std::optional<std::size_t> found = name.empty() ? 0 : find_device(name, all);
  if (!found)
    throw Error(ErrorCategory::Unsupported,
                std::string("there is no ") + (any ? "GPU" : (*backend)->name) + " device '" +
                    std::string(name) + "'; there are " + list_of_devices(all));
  if (any) return all_devices().listed[*found];
  return {static_cast<std::size_t>(backend - std::begin(backends)), *found};
}

}  // namespace

const std::vector<DeviceInfo>& devices() { return all_devices().infos; }

std::string why_no_device() {
  std::string text;
  for (const Backend* const backend : backends)
    if (is_allowed(*backend))
      text += (text.empty() ? "" : "; ") + (backend->name + (": " + backend->why_no_device()));
  return text;
}

std::shared_ptr<Device> open_device(std::string_view which) {
  static std::mutex mutex;
  static auto* const open =
      new std::map<std::pair<std::size_t, std::size_t>, std::shared_ptr<Device>>;
  const Listed listed = device_named(which);
  const std::scoped_lock lock(mutex);
  std::shared_ptr<Device>& device = (*open)[{listed.interface, listed.device}];
  if (!device) device = backends[listed.interface]->open(listed.device);
  return device;
}

}  // namespace gdr::gpu
