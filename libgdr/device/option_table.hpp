// The one table of the options that a device name may hold.
#pragma once

#include <span>
#include <string_view>

#include "libgdr/device/names.hpp"

namespace gdr {

/// Largest values of device options, however they are given.
constexpr unsigned most_boards = 64, most_threads = 4096;
constexpr double most_seconds = 1e6;

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
