// C interface: errors, devices, statistics, and the ranks of a device.
#include <algorithm>
#include <cstddef>

#include "emulator/assembler/printable.hpp"
#include "gdr/version.hpp"
#include "libgdr/capi/capi.hpp"
#include "libgdr/ranks/ranks.hpp"

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

using gdr::capi::copy_prefix;
using gdr::capi::create;
using gdr::capi::guarded;
using gdr::capi::need;

namespace {

/// A text of the statistics, stored with the device.
const char* text_of(gdr_device* device, std::string gdr_device::*kept,
                    std::string gdr::Statistics::*text) {
  if (device == nullptr) return "";
  guarded({}, [&] { device->*kept = device->device.statistics().*text; });
  return (device->*kept).c_str();
}

gdr_rank_report report_of(const gdr::RankReport& r) noexcept {
  gdr_rank_report c{};
  c.rank = r.rank;
  r.host.copy(c.host, sizeof c.host - 1);
  c.boards = r.boards;
  c.threads = r.threads;
  c.pairs = r.pairs;
  c.bytes_to_board = r.bytes_to_board;
  c.bytes_from_board = r.bytes_from_board;
  c.bytes_received = r.bytes_received;
  c.sources_bytes = r.sources_bytes;
  c.memory_bytes = r.memory_bytes;
  c.seconds = r.seconds;
  c.waiting_seconds = r.waiting_seconds;
  c.sources_seconds = r.sources_seconds;
  c.sources_waiting = r.sources_waiting;
  return c;
}

/// Throw the exception for a status that the user's function returned.
[[noreturn]] void throw_status(gdr_status status) {
  const bool has_message = gdr_last_status() == status;
  const std::string message =
      has_message ? gdr_last_error() : "the work returned status " + std::to_string(status);
  if (status == GDR_ERROR_RANK_FAILURE) throw gdr::RankFailure(message);
  const bool known = status >= GDR_ERROR_USAGE && status <= GDR_ERROR_INTERNAL;
  throw gdr::Error(known                        ? static_cast<gdr::ErrorCategory>(status)
                   : status == GDR_ERROR_MEMORY ? gdr::ErrorCategory::Device
                                                : gdr::ErrorCategory::Usage,
                   message);
}

}  // namespace

const char* gdr_version(void) { return gdr::version(); }
const char* gdr_last_error(void) { return gdr::capi::last_error.message.c_str(); }
gdr_status gdr_last_status(void) { return gdr::capi::last_error.status; }

gdr_status gdr_device_open(const char* name, gdr_device** device) {
  return create(device, "device", [&] { return gdr::Device::open(name == nullptr ? "" : name); });
}

gdr_status gdr_device_open_mpi(int communicator, const char* name, gdr_device** device) {
  return create(device, "device", [&] {
    const bool given = name != nullptr && *name != '\0';
    return gdr::Device::open_on_ranks(communicator, given ? name : "mpi");
  });
}

void gdr_device_close(gdr_device* device) { delete device; }

const char* gdr_device_description(gdr_device* device) {
  return device == nullptr ? "" : device->description.c_str();
}

gdr_status gdr_device_statistics(const gdr_device* device, gdr_statistics* statistics) {
  return guarded({{device, "device"}, {statistics, "statistics"}}, [&] {
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
  return guarded({{device, "device"}, {statistics, "statistics"}}, [&] {
    const gdr::Statistics s = device->device.statistics();
    const gdr_board_statistics all = {s.conversion_seconds, s.transfer_seconds, s.board_seconds,
                                      s.overlap_seconds,    s.failed_boards,    s.checks};
    copy_prefix(statistics, size, all);
  });
}

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
  return guarded({{device, "device"}}, [&] { device->device.reset_statistics(); });
}

gdr_status gdr_device_target_slots(const gdr_device* device, const gdr_kernel* kernel,
                                   size_t* slots) {
  return guarded({{device, "device"}, {kernel, "kernel"}, {slots, "slots"}},
                 [&] { *slots = device->device.target_slots(kernel->kernel); });
}

unsigned gdr_device_rank(const gdr_device* device) {
  return device == nullptr ? 0 : device->device.rank();
}
unsigned gdr_device_ranks(const gdr_device* device) {
  return device == nullptr ? 0 : device->device.ranks();
}

gdr_status gdr_device_rank_reports(gdr_device* device, gdr_rank_report* reports, size_t size,
                                   size_t capacity, size_t* count) {
  return guarded({{device, "device"}, {count, "count"}}, [&] {
    *count = 0;
    if (capacity > 0) need(reports, "reports");
    const std::vector<gdr::RankReport> all = device->device.rank_reports();
    auto* const bytes = reinterpret_cast<std::byte*>(reports);
    for (std::size_t k = 0; k < std::min(capacity, all.size()); ++k)
      copy_prefix(bytes + k * size, size, report_of(all[k]));
    *count = all.size();
  });
}

gdr_status gdr_device_shrink(gdr_device* device, unsigned* failed, size_t capacity, size_t* count) {
  return guarded({{device, "device"}}, [&] {
    if (count != nullptr) *count = 0;
    const std::vector<unsigned> ranks = device->device.shrink();
    if (failed != nullptr) std::copy_n(ranks.begin(), std::min(capacity, ranks.size()), failed);
    if (count != nullptr) *count = ranks.size();
    device->description = device->device.description();
  });
}

gdr_status gdr_device_retry_on_rank_failure(gdr_device* device, gdr_status (*work)(void* data),
                                            void* data) {
  return guarded({{device, "device"}}, [&] {
    if (work == nullptr) need(nullptr, "work");
    gdr::Device& opened = device->device;
    opened.retry_on_rank_failure([&] {
      const gdr_status status = work(data);
      if (status == GDR_ERROR_RANK_FAILURE) throw_status(status);
      // The error may be that of one rank: all ranks throw it.
      gdr::collectively(gdr::DeviceRanks::group(opened),
                        "the end of gdr_device_retry_on_rank_failure", [&] {
                          if (status != GDR_OK) throw_status(status);
                        });
    });
    device->description = opened.description();
  });
}
