// C interface: errors, devices and statistics.
#include <algorithm>
#include <cstring>

#include "emulator/assembler/printable.hpp"
#include "gdr/version.hpp"
#include "libgdr/capi/guard.hpp"
#include "libgdr/capi/handles.hpp"

namespace gdr::capi {
namespace {

struct LastError {
  gdr_status status = GDR_OK;
  std::string message;
};
thread_local LastError last_error;

}  // namespace

gdr_status fail(gdr_status status, const char* message) noexcept {
  last_error.status = status;
  try {
    last_error.message = printable(message);
  } catch (...) {
    last_error.message.clear();  // out of memory: the status remains
  }
  return status;
}

}  // namespace gdr::capi

using gdr::capi::guarded;
using gdr::capi::need;

const char* gdr_version(void) { return gdr::version(); }
const char* gdr_last_error(void) { return gdr::capi::last_error.message.c_str(); }
gdr_status gdr_last_status(void) { return gdr::capi::last_error.status; }

gdr_status gdr_device_open(const char* name, gdr_device** device) {
  return guarded([&] {
    need(device, "device");
    *device = nullptr;
    gdr::Device opened = gdr::Device::open(name == nullptr ? "" : name);
    std::string description = opened.description();
    *device = new gdr_device{std::move(opened), std::move(description)};
  });
}

gdr_status gdr_device_open_mpi(int communicator, const char* name, gdr_device** device) {
  return guarded([&] {
    need(device, "device");
    *device = nullptr;
    const bool given = name != nullptr && *name != '\0';
    gdr::Device opened = gdr::Device::open_on_ranks(communicator, given ? name : "mpi");
    std::string description = opened.description();
    *device = new gdr_device{std::move(opened), std::move(description)};
  });
}

void gdr_device_close(gdr_device* device) { delete device; }

const char* gdr_device_description(gdr_device* device) {
  return device == nullptr ? "" : device->description.c_str();
}

gdr_status gdr_device_statistics(const gdr_device* device, gdr_statistics* statistics) {
  return guarded([&] {
    need(device, "device");
    need(statistics, "statistics");
    const gdr::Statistics s = device->device.statistics();
    *statistics = {s.runs,
                   s.interactions,
                   s.flops,
                   s.compute_clocks,
                   s.chip_clocks,
                   s.bytes_to_board,
                   s.bytes_from_board,
                   s.predicted_seconds,
                   s.host_seconds,
                   s.threads,
                   s.fast_runs,
                   s.fallback_runs,
                   s.compile_seconds};
  });
}

gdr_status gdr_device_board_statistics(const gdr_device* device, gdr_board_statistics* statistics,
                                       size_t size) {
  return guarded([&] {
    need(device, "device");
    need(statistics, "statistics");
    const gdr::Statistics s = device->device.statistics();
    const gdr_board_statistics all = {s.conversion_seconds, s.transfer_seconds, s.board_seconds,
                                      s.overlap_seconds,    s.failed_boards,    s.checks};
    std::memset(statistics, 0, size);
    std::memcpy(statistics, &all, std::min(size, sizeof(all)));
  });
}

namespace {

/// A text of the statistics, stored with the device.
const char* text_of(gdr_device* device, std::string gdr_device::*kept,
                    std::string gdr::Statistics::*text) {
  if (device == nullptr) return "";
  guarded([&] { device->*kept = device->device.statistics().*text; });
  return (device->*kept).c_str();
}

}  // namespace

const char* gdr_device_engine(gdr_device* device) {
  return text_of(device, &gdr_device::engine, &gdr::Statistics::engine);
}
const char* gdr_device_isa(gdr_device* device) {
  return text_of(device, &gdr_device::isa, &gdr::Statistics::isa);
}
const char* gdr_device_fallback_reason(gdr_device* device) {
  return text_of(device, &gdr_device::fallback_reason, &gdr::Statistics::fallback_reason);
}

gdr_status gdr_device_reset_statistics(gdr_device* device) {
  return guarded([&] {
    need(device, "device");
    device->device.reset_statistics();
  });
}

gdr_status gdr_device_target_slots(const gdr_device* device, const gdr_kernel* kernel,
                                   size_t* slots) {
  return guarded([&] {
    need(device, "device");
    need(kernel, "kernel");
    need(slots, "slots");
    *slots = device->device.target_slots(kernel->kernel);
  });
}
