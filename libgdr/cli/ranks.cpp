#include "libgdr/cli/ranks.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "emulator/assembler/printable.hpp"
#include "libgdr/cli/output.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/ranks/device_ranks.hpp"
#include "libgdr/ranks/recover.hpp"

namespace gdr::cli {
namespace {

/// The device that was opened last, and its ranks, which are kept until the process ends, so that
/// it can be ended.
struct Followed {
  std::weak_ptr<DeviceCore> device;
  std::shared_ptr<Ranks> ranks;
};
Followed& followed() {
  static Followed one;
  return one;
}
const std::shared_ptr<Ranks>& ranks() { return followed().ranks; }

/// The first of those that are left speaks from now on.
void tell_of_loss(const std::vector<unsigned>& lost) {
  silence(!is_first_rank());
  warn(fmt::format("rank{} {} {} lost; the {} that are left go on", lost.size() == 1 ? "" : "s",
                   fmt::join(lost, ", "), lost.size() == 1 ? "was" : "were",
                   ranks()->calls->size()));
}

/// Work with other ranks, done again where some are lost.
void among_ranks(const std::function<void()>& work) {
  const std::shared_ptr<DeviceCore> device = followed().device.lock();
  if (device)
    despite_losses(*device, work);
  else
    work();
}

}  // namespace

void follow_ranks(Device& device) {
  followed() = {DeviceRanks::core(device), DeviceRanks::of(device)};
  if (ranks()) ranks()->on_loss = tell_of_loss;
  if (!is_first_rank()) silence();
}

bool is_on_ranks(const DeviceChoice& choice) {
  return parse_device_name(choice.device, device_options(choice)).kind == "mpi";
}

bool is_first_rank() noexcept { return !ranks() || ranks()->calls->rank() == 0; }

bool end_on_ranks(const std::exception& error, int status) {
  if (!ranks() || ranks()->calls->size() == 1) return true;
  if (dynamic_cast<const AgreedError*>(&error) != nullptr) return is_first_rank();
  std::fprintf(stderr, "gdr: error: rank %u: %s\n", ranks()->calls->rank(),
               printable(error.what()).c_str());
  std::fflush(nullptr);
  ranks()->calls->abort(status);
  std::_Exit(status);
}

void together_on_ranks(const std::function<void()>& work) {
  among_ranks([&] { together(ranks() ? ranks()->calls.get() : nullptr, work); });
}
bool any_rank(bool here) {
  bool any = here;
  among_ranks([&] { any = on_any_rank(ranks() ? ranks()->calls.get() : nullptr, here); });
  return any;
}
std::vector<std::uint64_t> words_of_ranks(const std::vector<std::uint64_t>& own) {
  std::vector<std::uint64_t> all = own;
  among_ranks([&] {
    if (!ranks()) return;
    RankGroup& group = *ranks()->calls;
    all.resize(own.size() * group.size());
    group.gather(own.data(), own.size() * sizeof own[0], all.data());
  });
  return all;
}
std::vector<RankReport> reports_of(Device& device) {
  std::vector<RankReport> reports;
  device.despite_losses([&] { reports = device.rank_reports(); });
  return reports;
}

SnapshotOutput shared_place(const std::string& folder, SnapshotFormat format) {
  SnapshotOutput place{folder, format, is_first_rank, {}};
  if (ranks()) place.collectively = together_on_ranks;
  return place;
}

Statistics of_all_ranks(Statistics own, const std::vector<RankReport>& reports) {
  if (reports.empty()) return own;
  own.interactions = own.bytes_to_board = own.bytes_from_board = 0;
  for (const RankReport& r : reports) {
    own.interactions += r.pairs;
    own.bytes_to_board += r.bytes_to_board;
    own.bytes_from_board += r.bytes_from_board;
  }
  return own;
}

nlohmann::ordered_json ranks_json(const std::vector<RankReport>& reports) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const RankReport& r : reports)
    list.push_back({{"rank", r.rank},
                    {"host", r.host},
                    {"boards", r.boards},
                    {"threads", r.threads},
                    {"pairs", r.pairs},
                    {"bytes_to_board", r.bytes_to_board},
                    {"bytes_from_board", r.bytes_from_board},
                    {"bytes_received", r.bytes_received},
                    {"sources_bytes", r.sources_bytes},
                    {"memory_bytes", r.memory_bytes},
                    {"seconds", r.seconds},
                    {"waiting_seconds", r.waiting_seconds},
                    {"sources_seconds", r.sources_seconds},
                    {"sources_waiting_seconds", r.sources_waiting}});
  return list;
}

std::string ranks_text(const std::vector<RankReport>& reports) {
  std::string text;
  for (const RankReport& r : reports)
    text += fmt::format(
        "{:<18} {} pairs in {:.3g} s, {:.3g} s of it waiting; {} bytes from other ranks\n",
        fmt::format("rank {}", r.rank), r.pairs, r.seconds, r.waiting_seconds, r.bytes_received);
  return text;
}

}  // namespace gdr::cli
