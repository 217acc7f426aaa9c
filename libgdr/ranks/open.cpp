// Opening a device on many ranks, and rank reports.
#include <unistd.h>

#include <cstring>
#include <numeric>

#include "libgdr/device/openers.hpp"
#include "libgdr/ranks/collective.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {
namespace {

/// The properties of a device that must be equal on all ranks.
struct Fingerprint {
  std::uint64_t sizes[8] = {};
  double clock = 0;
  std::uint32_t partition = 0;
  char engine[28] = "";

  Fingerprint() = default;
  Fingerprint(const Geometry& g, Partition s, const std::string& name)
      : sizes{g.chips_per_board, g.blocks,          g.pes_per_block,     g.register_words,
              g.local_words,     g.broadcast_words, g.instruction_words, g.dram_bytes},
        clock(g.clock_hz),
        partition(static_cast<std::uint32_t>(s)) {
    // All exact engines are bit-identical.
    const bool fast = name.starts_with("native");
    std::strncpy(engine, fast ? name.c_str() : "exact", sizeof engine - 1);
  }
};

void check_equal(RankGroup& ranks, const Fingerprint& mine) {
  std::vector<Fingerprint> all(ranks.size());
  ranks.gather(&mine, sizeof mine, all.data());
  for (unsigned r = 1; r < ranks.size(); ++r)
    if (std::memcmp(&all[r], all.data(), sizeof mine) != 0)
      throw CollectiveError(ErrorCategory::Usage,
                            "rank " + std::to_string(r) +
                                " opens another device than rank 0: geometry, partition and "
                                "numerics must be equal on all ranks (isa, boards and threads may "
                                "differ)");
}

}  // namespace

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
  check_equal(*ranks->calls, Fingerprint(core->geometry, core->partition, core->statistics.engine));
  ranks->work = ranks->calls->split(0);
  ranks->report.rank = ranks->calls->rank();
  ranks->numbers.resize(ranks->calls->size());
  std::iota(ranks->numbers.begin(), ranks->numbers.end(), 0U);
  ranks->report.boards = core->boards.size();
  ranks->report.threads = core->threads;
  core->ranks = std::move(ranks);
  return core;
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

}  // namespace gdr
