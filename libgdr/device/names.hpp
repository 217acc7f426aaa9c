// Names from users: messages for unknown ones, and parsing of device names.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/isa/geometry.hpp"
#include "gdr/device.hpp"
#include "libgdr/driver/network_options.hpp"

namespace gdr {

/// The known name with the smallest edit distance to `name`, if any is near.
std::optional<std::string_view> nearest_name(std::string_view name,
                                             const std::vector<std::string_view>& known);

/// `unknown WHAT "name"; did you mean "other"? (known: a, b, c)`
std::string unknown_name(std::string_view what, std::string_view name,
                         const std::vector<std::string_view>& known);

/// A parsed device name. Its options override those passed separately.
struct DeviceName {
  std::string kind = "emulator";
  std::string place;  ///< location, for kinds that have one: the part before the options
  Geometry geometry;
  DeviceOptions options;
  std::vector<std::string> given = {};   ///< names of the geometry options in the name
  driver::Credentials credentials = {};  ///< credentials for boards on other hosts
  driver::TransferOptions transfers = {};
};

/// Parses "KIND", "KIND:option=value,..." or, for kinds with a location, "KIND:PLACE,option=value,
/// ...". An empty name means GDR_DEVICE, else "emulator". Throws Error (Usage) for an unknown
/// device, option or value, with the nearest known one.
DeviceName parse_device_name(std::string_view name, const DeviceOptions& options);

/// Names of the kinds of devices, for messages and help.
std::vector<std::string_view> device_kind_names();

/// Engines as words that users write: the names, and the alias "exact".
std::vector<std::string_view> engine_words();

/// Names of the options that a device name may hold, for messages and help.
std::vector<std::string_view> device_option_names();

/// Largest values of device options, however they are given.
constexpr unsigned max_boards = 64, max_queues = 64, max_threads = 4096;
constexpr double max_seconds = 1e6;

/// A kind of device: a row of docs/reference/device-options.md.
struct DeviceKind {
  std::string_view name;
  bool has_place;            ///< whether a location follows the colon, before the options
  std::string_view written;  ///< forms of the name, separated by spaces
  std::string_view meaning;
};
std::span<const DeviceKind> device_kinds() noexcept;

/// An option of a device name: how it is read, and a row of docs/reference/device-options.md.
struct DeviceOption {
  std::string_view name;
  std::string_view values;
  std::string_view fallback;  ///< value without the option
  std::string_view meaning;
  /// Stores the value. Throws Error (Usage) if it is not one of `values`.
  void (*set)(DeviceName& device, std::string_view option, std::string_view value);
};
std::span<const DeviceOption> device_options() noexcept;

}  // namespace gdr
