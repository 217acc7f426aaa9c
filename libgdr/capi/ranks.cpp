// C interface: the ranks of a device, and going on without those that are lost.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "libgdr/capi/guard.hpp"
#include "libgdr/capi/handles.hpp"
#include "libgdr/ranks/ranks.hpp"

using gdr::capi::guarded;
using gdr::capi::need;

unsigned gdr_device_rank(const gdr_device* device) {
  return device == nullptr ? 0 : device->device.rank();
}
unsigned gdr_device_ranks(const gdr_device* device) {
  return device == nullptr ? 0 : device->device.ranks();
}

namespace {

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

}  // namespace

gdr_status gdr_device_rank_reports(gdr_device* device, gdr_rank_report* reports, size_t size,
                                   size_t capacity, size_t* count) {
  return guarded([&] {
    need(device, "device");
    need(count, "count");
    *count = 0;
    if (capacity > 0) need(reports, "reports");
    const std::vector<gdr::RankReport> all = device->device.rank_reports();
    auto* const bytes = reinterpret_cast<std::byte*>(reports);
    for (std::size_t k = 0; k < std::min(capacity, all.size()); ++k) {
      const gdr_rank_report one = report_of(all[k]);
      std::memset(bytes + k * size, 0, size);
      std::memcpy(bytes + k * size, &one, std::min(size, sizeof one));
    }
    *count = all.size();
  });
}

gdr_status gdr_device_shrink(gdr_device* device, unsigned* failed, size_t capacity, size_t* count) {
  return guarded([&] {
    need(device, "device");
    if (count != nullptr) *count = 0;
    const std::vector<unsigned> ranks = device->device.shrink();
    if (failed != nullptr) std::copy_n(ranks.begin(), std::min(capacity, ranks.size()), failed);
    if (count != nullptr) *count = ranks.size();
    device->description = device->device.description();
  });
}

namespace {

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

gdr_status gdr_device_retry_on_rank_failure(gdr_device* device, gdr_status (*work)(void* data),
                                            void* data) {
  return guarded([&] {
    need(device, "device");
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
