// Kinds of devices and options of device names, with the functions that read the values.
#include <algorithm>

#include "emulator/engine/api/engine.hpp"
#include "emulator/host/parse_number.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/device/usage_error.hpp"

namespace gdr {
namespace {

struct PartitionName {
  std::string_view name;
  Partition partition;
};
constexpr PartitionName partition_names[] = {{"auto", Partition::Auto},
                                             {"targets", Partition::TargetsOverBlocks},
                                             {"sources", Partition::SourcesOverBlocks}};

unsigned parse_count(std::string_view option, std::string_view value, unsigned least,
                     unsigned most) {
  const auto number = parse_all<unsigned>(value);
  if (!number || *number < least || *number > most)
    usage_error("device option " + std::string(option) + "=" + std::string(value) +
                ": give a number from " + std::to_string(least) + " to " + std::to_string(most));
  return *number;
}

double parse_seconds(std::string_view option, std::string_view value) {
  const auto seconds = parse_all<double>(value);
  if (!seconds || !(*seconds >= 0) || *seconds > max_seconds)
    usage_error("device option " + std::string(option) + "=" + std::string(value) +
                ": give seconds from 0 to 1e6");
  return *seconds;
}

double parse_rate(std::string_view option, std::string_view value) {
  const auto rate = parse_all<double>(value);
  if (!rate || !(*rate >= 0) || *rate > 1e15)
    usage_error("device option " + std::string(option) + "=" + std::string(value) +
                ": give a number from 0 to 1e15");
  return *rate;
}

Partition parse_partition(std::string_view value) {
  std::vector<std::string_view> known;
  for (const PartitionName& s : partition_names) {
    if (s.name == value) return s.partition;
    known.push_back(s.name);
  }
  usage_error(unknown_name("value of the device option partition", value, known));
}

void require_known(std::string_view what, std::string_view value,
                   const std::vector<std::string_view>& known) {
  if (std::find(known.begin(), known.end(), value) == known.end())
    usage_error(unknown_name(what, value, known));
}

void set_geometry(DeviceName& device, std::string_view option, std::string_view value) {
  const std::string wrong = set_geometry_field(device.geometry, option, value);
  if (!wrong.empty()) usage_error("device option " + wrong);
  device.given.emplace_back(option);
}

constexpr DeviceKind all_kinds[] = {
    {"emulator", false, "emulator native exact ENGINE",
     "emulated boards in this process. The name of an engine stands for an emulator with it: "
     "`native:boards=2` is `emulator:engine=native,boards=2`"},
    {"board", true, "board board:N board:unix:PATH board:tcp:HOST:PORT",
     "board N on the PCI bus of this host (0 without a number), or the boards of a server "
     "(`gdr serve`) at a Unix socket, or on another host over TLS. On a host without boards, "
     "`board` and `board:N` mean the "
     "server at the default socket"},
    {"mpi", false, "mpi", "one emulated device on every rank of an MPI job"},
    {"auto", false, "auto",
     "the first of these that works: a board on the bus, the server at the default socket, the "
     "emulator. `description()` names it and the reason"},
};

using Value = std::string_view;

constexpr DeviceOption options[] = {
    {"engine",
     "`native`, `exact` (the same as `vector`), `reference`, `native-mixed`, `native-float`, "
     "`native-fast`, "
     "`gpu`, `gpu-float`, `gpu-exact`; `gpu:1`, `gpu:cuda:0`: a certain GPU, by number or a part "
     "of its name, `gpu:0+1`: several, `gpu:all`: all of the first one's kind",
     "`GDR_ENGINE`, else [by use](#default-engines)", "engine that executes the programs",
     [](DeviceName& d, Value, Value v) {
       require_known("engine", v.substr(0, v.find(':')), engine_words());
       d.options.engine = v;
     }},
    {"isa", "`portable`, `avx2`, `avx512`, `neon`", "`GDR_ISA`, else the best of the host",
     "instruction set of the host that the engine uses",
     [](DeviceName& d, Value, Value v) {
       require_known("instruction set", v, {"portable", "avx2", "avx512", "neon"});
       d.options.isa = v;
     }},
    {"boards", "1 to 64", "1", "boards that share the work",
     [](DeviceName& d, Value o, Value v) { d.options.boards = parse_count(o, v, 1, max_boards); }},
    {"queues", "1 to 64", "1",
     "`emulator`: queues of independent work, each with emulated boards of its own and an equal "
     "share "
     "of the threads, at least one",
     [](DeviceName& d, Value o, Value v) { d.options.queues = parse_count(o, v, 1, max_queues); }},
    {"threads", "0 to 4096", "0", "threads of the host; 0: as many as OpenMP chooses",
     [](DeviceName& d, Value o, Value v) {
       d.options.threads = parse_count(o, v, 0, max_threads);
     }},
    {"partition", "`auto`, `targets`, `sources`", "`auto`",
     "partition of the work: targets over the blocks, sources over the blocks, or the one with "
     "the smaller predicted time",
     [](DeviceName& d, Value, Value v) { d.options.partition = parse_partition(v); }},
    {"queue_timeout", "seconds", "30",
     "`board`: how long to wait for a board that another process uses",
     [](DeviceName& d, Value o, Value v) { d.options.queue_timeout = parse_seconds(o, v); }},
    {"timeout", "seconds", "0",
     "`board`: seconds without a heartbeat after which a board is marked as failed; 0: 5 to 60, "
     "depending on the work",
     [](DeviceName& d, Value o, Value v) { d.options.timeout_seconds = parse_seconds(o, v); }},
    {"self_test", "0, 1", "1", "`board`: test each board when it is opened",
     [](DeviceName& d, Value o, Value v) { d.options.self_test = parse_count(o, v, 0, 1) != 0; }},
    {"health_check", "seconds", "0",
     "interval at which all boards are tested in the background; 0: never",
     [](DeviceName& d, Value o, Value v) {
       d.options.health_check_interval = parse_seconds(o, v);
     }},
    {"psk", "file", "`GDR_PSK`",
     "`board:tcp`: file with the key NAME:HEX that this host and the server share",
     [](DeviceName& d, Value, Value v) { d.credentials.shared_key = v; }},
    {"cert", "file", "", "`board:tcp`: own certificate with its chain, PEM; instead of `psk`",
     [](DeviceName& d, Value, Value v) { d.credentials.certificate = v; }},
    {"key", "file", "", "`board:tcp`: key of the own certificate, PEM",
     [](DeviceName& d, Value, Value v) { d.credentials.key = v; }},
    {"ca", "file", "", "`board:tcp`: certificates that may sign the server's, PEM",
     [](DeviceName& d, Value, Value v) { d.credentials.authorities = v; }},
    {"insecure", "0, 1", "0",
     "`board:tcp`: plain TCP, without encryption and authentication, for a server of this host "
     "that was started with `--insecure`",
     [](DeviceName& d, Value o, Value v) { d.credentials.none = parse_count(o, v, 0, 1) != 0; }},
    {"streams", "0 to 64", "0",
     "`board:tcp`: TCP connections that share the transfers; 0: as `bandwidth` requires, else 1",
     [](DeviceName& d, Value o, Value v) { d.transfers.streams = parse_count(o, v, 0, 64); }},
    {"bandwidth", "bits/s", "0",
     "`board:tcp`: rate that the path offers, such as 1e9: windows and streams follow from it and "
     "the measured delay; 0: unknown",
     [](DeviceName& d, Value o, Value v) { d.transfers.bandwidth = parse_rate(o, v); }},
    {"window", "bytes", "0",
     "`board:tcp`: bytes in flight of a stream; 0: from `bandwidth`, else the system's choice",
     [](DeviceName& d, Value o, Value v) {
       d.transfers.window = static_cast<std::uint64_t>(parse_rate(o, v));
     }},
    {"pacing", "bits/s, `auto`", "0",
     "`board:tcp`: largest rate of all streams together; `auto`: by the measured rate of delivery; "
     "0: none",
     [](DeviceName& d, Value o, Value v) {
       d.transfers.pacing_auto = v == "auto";
       d.transfers.pacing = d.transfers.pacing_auto ? 0 : parse_rate(o, v);
     }},
    {"congestion", "name", "the system's",
     "`board:tcp`: congestion control of the operating system, such as `cubic`, `reno` or `bbr`",
     [](DeviceName& d, Value, Value v) { d.transfers.congestion = v; }},
    {"resume", "seconds", "30",
     "`board:tcp`: how long a broken connection is restored before the board counts as lost",
     [](DeviceName& d, Value o, Value v) { d.transfers.resume_seconds = parse_seconds(o, v); }},
    {"poll", "seconds", "5e-5; `board:tcp`: 0",
     "`board`: how long a call polls for its results before it sleeps, while no other thread wants "
     "its core; for small calls where cores are free",
     [](DeviceName& d, Value o, Value v) { d.transfers.poll_seconds = parse_seconds(o, v); }},
    {"chips", "1 to 64", "4", "chips of a board", set_geometry},
    {"blocks", "1 to 1024", "16", "broadcast blocks of a chip", set_geometry},
    {"pes", "1 to 4096", "32", "PEs of a broadcast block", set_geometry},
    {"registers", "1 to 1024", "32", "long words of a register file", set_geometry},
    {"local", "1 to 32768", "256", "long words of a local memory", set_geometry},
    {"bm", "1 to 32768", "1024", "long words of a broadcast memory", set_geometry},
    {"instructions", "1 to 2^24", "16384", "instructions that a control processor holds",
     set_geometry},
    {"dram", "4096 to 2^40", "268435456", "memory of a control processor, bytes", set_geometry},
    {"clock", "1 to 1e15", "500e6", "clock of the chips, Hz", set_geometry},
};

}  // namespace

std::span<const DeviceKind> device_kinds() noexcept { return all_kinds; }

std::span<const DeviceOption> device_options() noexcept { return options; }

}  // namespace gdr
