// Kinds of devices and options of device names, with the functions that read the values.
#include <algorithm>
#include <charconv>

#include "emulator/engine/engine.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/names.hpp"

namespace gdr {
namespace {

struct PartitionName {
  std::string_view name;
  Partition partition;
};
constexpr PartitionName partition_names[] = {{"auto", Partition::Auto},
                                             {"targets", Partition::TargetsOverBlocks},
                                             {"sources", Partition::SourcesOverBlocks}};

[[noreturn]] void usage(const std::string& message) { throw Error(ErrorCategory::Usage, message); }

unsigned parse_count(std::string_view option, std::string_view value, unsigned least,
                     unsigned most) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() || number < least || number > most)
    usage("device option " + std::string(option) + "=" + std::string(value) +
          ": give a number from " + std::to_string(least) + " to " + std::to_string(most));
  return number;
}

double parse_seconds(std::string_view option, std::string_view value) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error != std::errc{} || end != value.data() + value.size() || !(seconds >= 0) ||
      seconds > most_seconds)
    usage("device option " + std::string(option) + "=" + std::string(value) +
          ": give seconds from 0 to 1e6");
  return seconds;
}

Partition parse_partition(std::string_view value) {
  std::vector<std::string_view> known;
  for (const PartitionName& s : partition_names) {
    if (s.name == value) return s.partition;
    known.push_back(s.name);
  }
  usage(unknown_name("value of the device option partition", value, known));
}

void require_known(std::string_view what, std::string_view value,
                   const std::vector<std::string_view>& known) {
  if (std::find(known.begin(), known.end(), value) == known.end())
    usage(unknown_name(what, value, known));
}

void set_geometry(DeviceName& device, std::string_view option, std::string_view value) {
  const std::string wrong = set_geometry_field(device.geometry, option, value);
  if (!wrong.empty()) usage("device option " + wrong);
  device.given.emplace_back(option);
}

constexpr DeviceKind kinds[] = {
    {"emulator", false, "emulator", "emulated boards in this process"},
    {"board", true, "board board:N board:unix:PATH",
     "board N on the PCI bus of this host (0 without a number), or the boards of a server "
     "(`gdr serve`) at a Unix socket. On a host without boards, `board` and `board:N` mean the "
     "server at the default socket"},
    {"mpi", false, "mpi", "one emulated device on every rank of an MPI job"},
    {"auto", false, "auto",
     "the first of these that works: a board on the bus, the server at the default socket, the "
     "emulator. `description()` names it and the reason"},
};

using Value = std::string_view;

constexpr DeviceOption options[] = {
    {"engine",
     "`reference`, `vector`, `native`, `native-mixed`, `native-float`, `native-fast`, "
     "`gpu`, `gpu-float`; `gpu:1`: a certain GPU, by number or a part of its name",
     "`GDR_ENGINE`, else `vector`", "engine that executes the programs",
     [](DeviceName& d, Value, Value v) {
       const auto names = engine_names();
       require_known("engine", v.substr(0, v.find(':')), {names.begin(), names.end()});
       d.options.engine = v;
     }},
    {"isa", "`portable`, `avx2`, `avx512`", "`GDR_ISA`, else the best of the host",
     "instruction set of the host that the engine uses",
     [](DeviceName& d, Value, Value v) {
       require_known("instruction set", v, {"portable", "avx2", "avx512"});
       d.options.isa = v;
     }},
    {"boards", "1 to 64", "1", "boards that share the work",
     [](DeviceName& d, Value o, Value v) { d.options.boards = parse_count(o, v, 1, most_boards); }},
    {"queues", "1 to 64", "1",
     "`emulator`: queues of independent work, each with emulated boards of its own and an equal "
     "share "
     "of the threads, at least one",
     [](DeviceName& d, Value o, Value v) { d.options.queues = parse_count(o, v, 1, most_queues); }},
    {"threads", "0 to 4096", "0", "threads of the host; 0: as many as OpenMP chooses",
     [](DeviceName& d, Value o, Value v) {
       d.options.threads = parse_count(o, v, 0, most_threads);
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

std::span<const DeviceKind> device_kinds() noexcept { return kinds; }

std::span<const DeviceOption> device_options() noexcept { return options; }

}  // namespace gdr
