// Discovery of boards on this host's bus.
#include "libgdr/driver/device_node.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include "emulator/host/parse_number.hpp"

namespace gdr::driver {
namespace {

namespace fs = std::filesystem;

/// Vendor id of Altera, the maker of the original board's PCI interface; device id of this project.
constexpr std::string_view default_id = "1172:6d72";

std::string environment(const char* name, std::string_view fallback) {
  const char* const value = std::getenv(name);
  return std::string(value != nullptr && *value != 0 ? value : fallback);
}

/// Parses a whole text as a number: hexadecimal after 0x, else in base `base`.
std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  return parse_all<std::uint64_t>(text, base);
}

/// Reads a number from a sysfs file.
std::optional<std::uint64_t> read_number(const fs::path& path) {
  std::ifstream file(path);
  std::string text;
  if (!(file >> text)) return {};
  return parse_number(text, 10);
}

struct PciId {
  std::uint64_t vendor = 0, device = 0;
  friend bool operator==(const PciId&, const PciId&) = default;
};

PciId wanted_id() {
  const std::string text = environment("GDR_PCI_ID", default_id);
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto vendor = parse_number(std::string_view(text).substr(0, colon), 16);
  const auto device =
      parse_number(std::string_view(text).substr(std::min(colon + 1, text.size())), 16);
  if (!vendor || !device || *vendor > 0xffff || *device > 0xffff)
    throw Error(ErrorCategory::Usage, "GDR_PCI_ID=" + text +
                                          " is not a PCI id: write VENDOR:DEVICE, four hexadecimal "
                                          "digits each, as printed by lspci -n");
  return {*vendor, *device};
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

/// Last path component of a link's target; empty if the link does not exist.
std::string target_of(const fs::path& link) {
  std::error_code none;
  return fs::read_symlink(link, none).filename();
}

/// The files of a device, or (second) the reason why it is unusable.
std::pair<Node, std::string> node_of(const fs::path& device) {
  Node node;
  node.address = device.filename();
  const std::string driver = target_of(device / "driver");
  if (driver != "vfio-pci")
    return {node, "it is bound to " + (driver.empty() ? "no driver" : "driver " + driver) +
                      "; bind it to vfio-pci"};
  const std::string group = target_of(device / "iommu_group");
  if (group.empty())
    return {node, "it is bound to vfio-pci, but has no IOMMU group; enable the IOMMU of the host"};
  const fs::path dev = environment("GDR_DEV", "/dev");
  node.group = dev / "vfio" / group;
  node.container = dev / "vfio/vfio";
  return {node, ""};
}

}  // namespace

Bus find_device_nodes() {
  const fs::path sys = environment("GDR_SYSFS", "/sys");
  const PciId id = wanted_id();
  Bus bus;
  for (const fs::path& device : entries(sys / "bus/pci/devices")) {
    const auto vendor = read_number(device / "vendor"), kind = read_number(device / "device");
    if (!vendor || !kind || PciId{*vendor, *kind} != id) continue;
    const auto [node, reason] = node_of(device);
    if (reason.empty())
      bus.nodes.push_back(node);
    else
      bus.unusable.push_back(node.address + ": " + reason);
  }
  return bus;
}

std::string Bus::unusable_text() const {
  std::string text;
  for (const std::string& device : unusable) text += "; " + device;
  return text;
}

}  // namespace gdr::driver
