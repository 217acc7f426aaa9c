// Rate at which a board of another host receives data: lists of 1 MiB for its memories, as many in
// flight as the transport allows.
//
// usage: bench_remote_transfer DEVICE SECONDS    (DEVICE: board:tcp:HOST:PORT,option=value,...)
//
// Prints the bits per second in the second half of the time and in all, and the counters of the
// streams, as JSON. The time of lists that the server has not answered at the end is not counted:
// their number is the same at both ends of the second half.
#include <fmt/core.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "emulator/host/parse_number.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/driver/network.hpp"

namespace {

constexpr std::uint64_t list_words = 1 << 17;

int run(const char* name, double seconds) {
  const gdr::DeviceName device = gdr::parse_device_name(name, {});
  if (device.kind != "board" || !device.place.starts_with("tcp:"))
    throw gdr::Error(gdr::ErrorCategory::Usage, "name a device board:tcp:HOST:PORT,...");
  const gdr::driver::NetworkBoard board =
      gdr::driver::network().open({gdr::driver::parse_endpoint(device.place.substr(4)),
                                   device.credentials,
                                   device.transfers,
                                   {"", "", device.options.queue_timeout},
                                   0});
  gdr::CommandList list;
  list.payload.assign(list_words, 0x123456789);
  gdr::Command& command = list.commands.emplace_back();
  command.kind = gdr::CommandKind::WriteMemory;
  command.chips = 1;
  command.count = list_words;
  std::vector<std::uint64_t> none;
  const gdr::Stopwatch time;
  double bytes = 0, middle_bytes = 0, middle_seconds = 0;
  while (time.seconds() < seconds) {
    board.link->execute(list, none);
    bytes += list_words * 8;
    if (middle_seconds == 0 && time.seconds() > seconds / 2) {
      middle_seconds = time.seconds();
      middle_bytes = bytes;
    }
  }
  const double end = time.seconds();
  board.link->wait_for_completion();
  nlohmann::json result = {{"bits_per_second", 8 * (bytes - middle_bytes) / (end - middle_seconds)},
                           {"whole", 8 * bytes / time.seconds()}};
  for (const gdr::StreamStatistics& s : board.link->streams())
    result["streams"].push_back({{"bytes_sent", s.bytes_sent},
                                 {"round_trip_seconds", s.round_trip_seconds},
                                 {"retransmitted_packets", s.retransmitted_packets},
                                 {"connections", s.connections}});
  fmt::print("{}\n", result.dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: bench_remote_transfer DEVICE SECONDS\n");
    return 2;
  }
  try {
    return run(argv[1], gdr::parse_all<double>(argv[2]).value_or(0));
  } catch (const gdr::Error& e) {
    fmt::print(stderr, "bench_remote_transfer: {}\n", e.what());
    return 1;
  }
}
