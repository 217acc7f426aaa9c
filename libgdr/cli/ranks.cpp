#include "libgdr/cli/ranks.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "emulator/assembler/printable.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr::cli {
namespace {

/// The device that was opened last, and its ranks, which live until the process ends, so that an
/// error can end all of them.
struct Attached {
  std::weak_ptr<DeviceCore> device;
  std::shared_ptr<Ranks> ranks;
};
Attached& attached() {
  static Attached one;
  return one;
}
const std::shared_ptr<Ranks>& ranks() { return attached().ranks; }

/// From now on the first of the remaining ranks reports.
void report_rank_failure(const std::vector<unsigned>& lost) {
  set_silent(!is_first_rank());
  warn(fmt::format("rank{} {} failed; the remaining {} continue", lost.size() == 1 ? "" : "s",
                   fmt::join(lost, ", "), ranks()->calls->size()));
}

/// Work with other ranks, retried on rank failure.
void with_retry(const std::function<void()>& work) {
  const std::shared_ptr<DeviceCore> device = attached().device.lock();
  if (device && device->ranks)
    device->ranks->retry_on_rank_failure(*device, work);
  else
    work();
}

/// The words of every rank, without another attempt after a failure.
std::vector<std::uint64_t> gathered(const std::vector<std::uint64_t>& own) {
  if (!ranks()) return own;
  RankGroup& group = *ranks()->calls;
  std::vector<std::uint64_t> all(own.size() * group.size());
  group.gather(own.data(), own.size() * sizeof own[0], all.data());
  return all;
}

}  // namespace

void attach_ranks(Device& device) {
  attached() = {DeviceRanks::core(device), DeviceRanks::of(device)};
  if (ranks()) ranks()->on_failure = report_rank_failure;
  if (!is_first_rank()) set_silent(true);
}

bool is_first_rank() noexcept { return !ranks() || ranks()->calls->rank() == 0; }

bool abort_ranks(const std::exception& error, int status) {
  if (!ranks() || ranks()->calls->size() == 1) return true;
  if (dynamic_cast<const CollectiveError*>(&error) != nullptr) return is_first_rank();
  std::fprintf(stderr, "gdr: error: rank %u: %s\n", ranks()->calls->rank(),
               printable(error.what()).c_str());
  std::fflush(nullptr);
  ranks()->calls->abort(status);
  std::_Exit(status);
}

Device open_and_read(const DeviceChoice& choice, const std::function<void()>& read) {
  if (parse_device_name(choice.device, choice).kind != "mpi") {
    read();
    return open_device(choice);
  }
  Device device = open_device(choice);
  on_all_ranks(read);
  return device;
}

void on_all_ranks(const std::function<void()>& work) {
  with_retry([&] { collectively(ranks() ? ranks()->calls.get() : nullptr, work); });
}
std::vector<std::uint64_t> gather_from_ranks(const std::vector<std::uint64_t>& own) {
  std::vector<std::uint64_t> all;
  with_retry([&] { all = gathered(own); });
  return all;
}

std::vector<std::string> texts_of_ranks(const std::string& own) {
  std::vector<std::string> texts;
  // Both gathers again after a failure: they must be of the same ranks.
  with_retry([&] {
    constexpr std::size_t word = sizeof(std::uint64_t);
    const std::vector<std::uint64_t> sizes = gathered({own.size()});
    std::vector<std::uint64_t> words((std::ranges::max(sizes) + word - 1) / word + 1);
    std::memcpy(words.data(), own.data(), own.size());
    const std::vector<std::uint64_t> all = gathered(words);
    texts.clear();
    for (std::size_t r = 0; r < sizes.size(); ++r)
      texts.emplace_back(reinterpret_cast<const char*>(all.data() + r * words.size()), sizes[r]);
  });
  return texts;
}

std::vector<RankReport> rank_reports(Device& device) {
  std::vector<RankReport> reports;
  device.retry_on_rank_failure([&] { reports = device.rank_reports(); });
  return reports;
}

Hash hash_of(const Snapshot& snapshot) {
  Hash hash;
  for (const std::vector<double>* values : {&snapshot.position, &snapshot.velocity, &snapshot.mass})
    hash.add(std::span<const double>(*values));
  if (snapshot.hermite)
    for (const HermiteArray& array : hermite_arrays)
      hash.add(std::span<const double>((*snapshot.hermite).*array.values));
  return hash.add(std::span<const std::uint64_t>(snapshot.id)).add(snapshot.time);
}

void require_same_on_ranks(std::initializer_list<RankInput> inputs) {
  std::vector<std::uint64_t> own;
  for (const RankInput& input : inputs) own.push_back(input.hash.value());
  const std::vector<std::uint64_t> all = gather_from_ranks(own);
  for (std::size_t at = 0; at < all.size(); ++at) {
    const std::size_t k = at % own.size();
    if (all[at] != all[k])
      throw CollectiveError(ErrorCategory::Usage,
                            fmt::format("rank {} {} than rank 0; all ranks must be given the same",
                                        at / own.size(), inputs.begin()[k].difference));
  }
}

SnapshotOutput snapshot_place(const std::string& folder, SnapshotFormat format) {
  SnapshotOutput place{folder, format, is_first_rank, {}};
  if (ranks()) place.collectively = on_all_ranks;
  return place;
}

Statistics sum_over_ranks(Statistics own, const std::vector<RankReport>& reports) {
  if (reports.empty()) return own;
  own.interactions = own.bytes_to_board = own.bytes_from_board = 0;
  for (const RankReport& r : reports) {
    own.interactions += r.pairs;
    own.bytes_to_board += r.bytes_to_board;
    own.bytes_from_board += r.bytes_from_board;
  }
  return own;
}

Json ranks_json(const std::vector<RankReport>& reports) {
  Json list = Json::array();
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
