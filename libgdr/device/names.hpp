// Names from users: messages for unknown ones, and parsing of device names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/isa/geometry.hpp"
#include "gdr/device.hpp"

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
  std::vector<std::string> given = {};  ///< names of the geometry options in the name
};

/// Parses "KIND", "KIND:option=value,..." or, for kinds with a location, "KIND:PLACE,option=value,
/// ...". An empty name means GDR_DEVICE, else "emulator". Throws Error (Usage) for an unknown
/// device, option or value, with the nearest known one.
DeviceName parse_device_name(std::string_view name, const DeviceOptions& options);

/// Names of the kinds of devices, for messages and help.
std::vector<std::string_view> device_kind_names();

/// Names of the options that a device name may hold, for messages and help.
std::vector<std::string_view> device_option_names();

}  // namespace gdr
