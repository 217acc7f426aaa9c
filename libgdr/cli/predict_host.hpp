// `gdr predict KERNEL --host`: the time of a calculation on a device of this host.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gdr/estimate.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/device_choice.hpp"

namespace gdr::cli {

struct HostOptions {
  bool wanted = false;
  std::optional<double> accuracy;
  DeviceChoice device;
};

void add_host_options(CLI::App& app, HostOptions& options);

/// Throws Error (Usage) for options of the other jobs beside --host, and for those of --host
/// without it.
void check_host_options(const CLI::App& app, const HostOptions& options);

/// Measures and prints the report of a kernel.
void report_on_host(const Kernel& kernel, std::size_t targets, std::size_t sources,
                    const HostOptions& options, bool json);

}  // namespace gdr::cli
