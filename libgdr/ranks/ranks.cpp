// Opening of a device on many ranks with the MPI plugin, rank reports, and recovery from rank
// failures.
#include "libgdr/ranks/ranks.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <numeric>

#include "emulator/host/hash.hpp"
#include "libgdr/device/openers.hpp"
#include "libgdr/plugin/plugin.hpp"

namespace gdr {
namespace {

bool has_symbol(const char* name) { return dlsym(RTLD_DEFAULT, name) != nullptr; }
bool is_set(const char* name) { return std::getenv(name) != nullptr; }

/// Whether MPICH is loaded in this process or started it.
bool is_mpich() {
  if (has_symbol("MPIR_Err_create_code")) return true;
  if (has_symbol("ompi_mpi_comm_world")) return false;
  return !is_set("OMPI_COMM_WORLD_SIZE") && is_set("PMI_RANK");
}
/// Whether Open MPI 5 or later, which has ULFM, is loaded in this process or started it.
bool is_open_mpi_5() {
  if (has_symbol("ompi_mpi_comm_world")) return has_symbol("MPIX_Comm_revoke");
  return is_set("OMPI_COMM_WORLD_SIZE") && is_set("OMPI_VERSION");
}

/// Plugins for other MPIs than that of the build.
struct Choice {
  const char* file;
  bool (*applies)();
};
constexpr Choice choices[] = {{"libgdr_mpi_mpich.so", is_mpich},
                              {"libgdr_mpi_ulfm.so", is_open_mpi_5}};

/// The plugin for the MPI that is loaded in this process or started it.
const char* mpi_plugin() {
  for (const Choice& choice : choices)
    if (choice.applies() && plugin_exists(choice.file)) return choice.file;
  return "libgdr_mpi.so";
}

RankPlugin load_mpi() {
  Plugin plugin{plugin_path("GDR_MPI_LIBRARY", mpi_plugin()), rank_plugin_symbol,
                "devices of kind \"mpi\"",
                "build with MPI installed (libopenmpi-dev or libmpich-dev) and without "
                "GDR_MPI=OFF, or set GDR_MPI_LIBRARY to the library"};
  plugin.global = true;  // Open MPI's components use its symbols
  return reinterpret_cast<RankPlugin>(load_plugin(plugin));
}

/// Hash of the properties of a device that must be equal on all ranks.
std::uint64_t device_hash(const DeviceCore& device) {
  const Geometry& g = device.geometry;
  Hash hash;
  for (const std::uint32_t size : {g.chips_per_board, g.blocks, g.pes_per_block, g.register_words,
                                   g.local_words, g.broadcast_words, g.instruction_words})
    hash.add(size);
  hash.add(g.dram_bytes).add(g.clock_hz).add(device.partition);
  // All exact engines are bit-identical.
  const std::string& engine = device.statistics.engine;
  return hash.add(device.engine.exact() ? std::string_view("exact") : engine).value();
}

/// Waits for submitted work, which ends with an error because its group is revoked.
void drain(DeviceCore& device) {
  Work nothing;
  nothing.body = [](const std::stop_token&) {};
  device.queue.run(nothing);
}

/// Further ranks may fail during the recovery.
std::vector<unsigned> shrink(Ranks& ranks) {
  std::vector<unsigned> failed;
  for (bool complete = false; !complete;) {
    const std::vector<unsigned> more = ranks.calls->shrink();
    for (auto k = more.rbegin(); k != more.rend(); ++k) {
      failed.push_back(ranks.numbers.at(*k));
      ranks.numbers.erase(ranks.numbers.begin() + *k);
    }
    bool split = false;
    try {
      ranks.work = ranks.calls->split(0);
      split = true;
    } catch (const RankFailure&) {  // handled in the next iteration
    }
    complete = ranks.calls->agreed(split);
  }
  return {failed.rbegin(), failed.rend()};
}

/// Shrinks the device to the remaining ranks and returns the failed ones.
std::vector<unsigned> recover(DeviceCore& device) {
  drain(device);
  Ranks& ranks = ranks_of(device);
  ranks.retried = true;
  std::vector<unsigned> failed = shrink(ranks);
  {
    const std::scoped_lock lock(device.counters);
    std::vector<unsigned>& all = device.statistics.failed_ranks;
    all.insert(all.end(), failed.begin(), failed.end());
  }
  if (!failed.empty() && ranks.on_failure) ranks.on_failure(failed);
  return failed;
}

[[noreturn]] void throw_no_failed_rank() {
  throw CollectiveError(ErrorCategory::Device,
                        "a transfer between ranks failed, but no rank has failed");
}

}  // namespace

std::unique_ptr<RankGroup> mpi_ranks(std::optional<std::int32_t> communicator) {
  static const RankPlugin plugin = load_mpi();
  char error[512] = "";
  RankGroup* const group = plugin(communicator.value_or(0), !communicator, error, sizeof error);
  if (group == nullptr)
    throw Error(ErrorCategory::Device, std::string("MPI cannot be used: ") + error);
  return std::unique_ptr<RankGroup>(group);
}

std::shared_ptr<DeviceCore> open_on_ranks(const DeviceName& name,
                                          std::optional<std::int32_t> communicator) {
  auto ranks = std::make_shared<Ranks>();
  ranks->calls = mpi_ranks(communicator);
  std::shared_ptr<DeviceCore> core;
  collectively(ranks->calls.get(), [&] {
    DeviceName own = name;
    own.kind = "emulator";
    core = open_emulator(own);
  });
  require_equal(*ranks->calls, device_hash(*core),
                "opens another device than rank 0: geometry, partition and numerics must be equal "
                "on all ranks (isa, boards and threads may differ)");
  ranks->work = ranks->calls->split(0);
  ranks->report.rank = ranks->calls->rank();
  ranks->numbers.resize(ranks->calls->size());
  std::iota(ranks->numbers.begin(), ranks->numbers.end(), 0U);
  ranks->report.boards = core->boards.size();
  ranks->report.threads = core->threads;
  core->ranks = std::move(ranks);
  return core;
}

void add_to_report(DeviceCore& device, const RankReport& work) {
  const std::scoped_lock lock(device.counters);
  RankReport& all = ranks_of(device).report;
  all.pairs += work.pairs;
  all.bytes_received += work.bytes_received;
  all.sources_bytes = work.sources_bytes;
  all.memory_bytes = work.memory_bytes;
  all.seconds += work.seconds;
  all.waiting_seconds += work.waiting_seconds;
}

void Ranks::collectively(std::string_view member, unsigned job, const std::function<void()>& step) {
  std::string call = "Job::" + std::string(member);
  if (!retried) call += " of the device's job " + std::to_string(job);
  gdr::collectively(calls.get(), call, step);
}

std::vector<RankReport> Ranks::reports(DeviceCore& device) {
  RankGroup& ranks = *calls;
  gdr::collectively(&ranks, "Device::rank_reports", [] {});
  constexpr std::size_t fields = 9, name = 64;
  struct Plain {
    std::uint64_t counts[fields];
    double seconds[4];
    char host[name];
  };
  Plain mine{};
  {
    const std::scoped_lock lock(device.counters);
    const RankReport& r = report;
    const Statistics& s = device.statistics;
    mine = {{r.rank, r.boards, r.threads, r.pairs, s.bytes_to_board, s.bytes_from_board,
             r.bytes_received, r.sources_bytes, r.memory_bytes},
            {r.seconds, r.waiting_seconds, r.sources_seconds, r.sources_waiting},
            {}};
  }
  gethostname(mine.host, name - 1);
  std::vector<Plain> all(ranks.size());
  ranks.gather(&mine, sizeof mine, all.data());
  std::vector<RankReport> gathered;
  for (const Plain& p : all)
    gathered.push_back({static_cast<unsigned>(p.counts[0]), p.host, p.counts[1], p.counts[2],
                        p.counts[3], p.counts[4], p.counts[5], p.counts[6], p.counts[7],
                        p.counts[8], p.seconds[0], p.seconds[1], p.seconds[2], p.seconds[3]});
  return gathered;
}

std::vector<unsigned> Ranks::shrink(DeviceCore& device) {
  if (!calls->supports_shrink())
    throw Error(ErrorCategory::Unsupported,
                "this device cannot continue after a rank failure: that requires an MPI with ULFM "
                "(Open MPI 5, started with mpirun --with-ft ulfm)");
  std::vector<unsigned> failed = recover(device);
  if (failed.empty()) throw_no_failed_rank();
  return failed;
}

void Ranks::retry_on_rank_failure(DeviceCore& device, const std::function<void()>& body) {
  if (!calls->supports_shrink()) return body();
  // The error of a background run may be reported after the recovery from its rank failure.
  constexpr int max_without_failure = 3;
  for (int without_failure = 0;;) {
    std::exception_ptr error;
    bool complete = true;
    try {
      body();
    } catch (const RankFailure&) {
      complete = false;
    } catch (const CollectiveError&) {
      // All ranks throw it, unless some saw a rank failure first: then all ranks retry.
      error = std::current_exception();
    }
    if (calls->agreed(complete)) {
      if (error) std::rethrow_exception(error);
      return;
    }
    without_failure = recover(device).empty() ? without_failure + 1 : 0;
    if (without_failure > max_without_failure) throw_no_failed_rank();
  }
}

}  // namespace gdr
