#include "emulator/engine/gpu/cards.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "emulator/engine/api/capabilities.hpp"
#include "emulator/host/parse_number.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

/// Devices in use, and those that a test has given.
struct Cards {
  std::mutex mutex;
  std::vector<std::shared_ptr<gpu::Device>> given;
  std::map<gpu::Device*, std::shared_ptr<Gpu>> open;
};

Cards& cards() {
  static auto* const all = new Cards;
  return *all;
}

std::vector<std::shared_ptr<gpu::Device>> given_devices() {
  const std::scoped_lock lock(cards().mutex);
  return cards().given;
}

std::vector<gpu::DeviceInfo> all_devices() {
  const auto given = given_devices();
  if (given.empty()) return gpu::devices();
  std::vector<gpu::DeviceInfo> all;
  for (const auto& device : given) all.push_back(device->info());
  return all;
}

std::shared_ptr<Gpu> open_one(const std::string& name) {
  std::shared_ptr<gpu::Device> device;
  if (const auto given = given_devices(); given.empty()) {
    device = gpu::open_device(name);
  } else {
    const auto number = parse_all<std::size_t>(name);
    if (!number || *number >= given.size())
      throw Error(ErrorCategory::Unsupported, "there is no GPU device '" + name + "'; there are " +
                                                  std::to_string(given.size()));
    device = given[*number];
  }
  const std::scoped_lock lock(cards().mutex);
  std::shared_ptr<Gpu>& gpu = cards().open[device.get()];
  if (!gpu) gpu = std::make_shared<Gpu>(device, name);
  return gpu;
}

bool same_kind(const gpu::DeviceInfo& a, const gpu::DeviceInfo& b) {
  return a.backend == b.backend && a.name == b.name && a.platform == b.platform &&
         a.driver == b.driver;
}

std::vector<std::size_t> those_like_the_first(const std::vector<gpu::DeviceInfo>& all) {
  std::vector<std::size_t> numbers;
  for (std::size_t n = 0; n < all.size(); ++n)
    if (same_kind(all[n], all[0])) numbers.push_back(n);
  return numbers;
}

/// The names in "0+1" or "cuda:0+1"; none if the text is something else.
std::vector<std::string> several(std::string_view which) {
  const std::size_t colon = which.find(':');
  const std::string_view interface =
      which.substr(0, colon == std::string_view::npos ? 0 : colon + 1);
  which.remove_prefix(interface.size());
  if (which.find('+') == std::string_view::npos) return {};
  std::vector<std::string> names;
  while (!which.empty()) {
    const std::string_view number = which.substr(0, which.find('+'));
    if (!parse_all<std::size_t>(number)) return {};
    names.push_back(std::string(interface) + std::string(number));
    which.remove_prefix(std::min(number.size() + 1, which.size()));
  }
  return names;
}

}  // namespace

std::optional<LocalRank> local_rank() {
  // Open MPI; MPICH and Intel MPI; MVAPICH2; srun of Slurm; Flux.
  for (const char* const variable :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
        "SLURM_LOCALID", "FLUX_TASK_LOCAL_ID"}) {
    const char* const text = std::getenv(variable);
    if (text == nullptr) continue;
    if (const auto number = parse_all<std::size_t>(text))
      return LocalRank{static_cast<unsigned>(*number), variable};
  }
  return std::nullopt;
}

std::size_t default_gpu() {
  const std::vector<std::size_t> numbers = those_like_the_first(all_devices());
  const auto rank = local_rank();
  return numbers[rank ? rank->number % numbers.size() : 0];
}

Gpus open_gpus(std::string_view which) {
  // Drivers have threads, which a fork does not copy: a call in the child could wait for ever.
  static const pid_t owner = getpid();
  if (getpid() != owner)
    throw Error(
        ErrorCategory::Unsupported,
        "a GPU cannot be used in the child of a fork after its parent has used one; open the "
        "device after the fork only, or start a new program (exec)");
  std::vector<std::string> names;
  if (which.empty() || which == "all") {
    const std::vector<gpu::DeviceInfo> all = all_devices();
    if (all.empty()) throw Error(ErrorCategory::Unsupported, "no GPU: " + gpu::why_no_device());
    if (which.empty())
      names.push_back(std::to_string(default_gpu()));
    else
      for (const std::size_t n : those_like_the_first(all)) names.push_back(std::to_string(n));
  } else if (names = several(which); names.empty()) {
    names.emplace_back(which);
  }
  Gpus gpus;
  for (const std::string& name : names) {
    gpus.push_back(open_one(name));
    if (std::ranges::count(gpus, gpus.back()) > 1)
      throw Error(ErrorCategory::Usage, "the GPU " + name + " is named twice");
  }
  return gpus;
}

std::shared_ptr<Gpu> open_gpu(std::string_view which) { return open_gpus(which).front(); }

bool of_one_kind(const Gpus& gpus) {
  return std::ranges::all_of(gpus, [&](const std::shared_ptr<Gpu>& gpu) {
    return same_kind(gpu->device->info(), gpus.front()->device->info());
  });
}

std::string description(const Gpus& gpus) {
  std::string text = "gpu:", names;
  for (std::size_t n = 0; n < gpus.size(); ++n) {
    text += (n == 0 ? "" : "+") + gpus[n]->name;
    const std::string& name = gpus[n]->device->info().name;
    if (n == 0 || !of_one_kind(gpus)) names += (n == 0 ? "" : ", ") + name;
  }
  return text + ", " + names;
}

std::string gpus_of_engine(std::string_view engine) {
  const char* const given = std::getenv("GDR_ENGINE");
  if (engine.empty() && given != nullptr) engine = given;
  if (!capabilities_of(engine).uses_gpu) return {};
  return description(open_gpus(engine.substr(std::min(engine.find(':'), engine.size() - 1) + 1)));
}

void set_gpu_devices(std::vector<std::shared_ptr<gpu::Device>> devices) {
  const std::scoped_lock lock(cards().mutex);
  // Engines of before keep theirs.
  cards().open.clear();
  cards().given = std::move(devices);
}

}  // namespace gdr
