#include "ranks.hpp"

#include "libgdr/ranks/device_ranks.hpp"

namespace gdr::python {

bool works_in_any_thread(Device& device) {
  const RankGroup* const ranks = DeviceRanks::group(device);
  return ranks == nullptr || ranks->any_thread();
}

std::vector<double> gather(Device& device, double mine) {
  RankGroup* const ranks = DeviceRanks::group(device);
  if (ranks == nullptr) return {mine};
  std::vector<double> all(ranks->size());
  ranks->gather(&mine, sizeof mine, all.data());
  return all;
}

std::string gather(Device& device, const std::string& mine) {
  RankGroup* const ranks = DeviceRanks::group(device);
  if (ranks == nullptr) return mine;
  std::string all(mine.size() * ranks->size(), '\0');
  ranks->gather(mine.data(), mine.size(), all.data());
  return all;
}

void throw_agreed(const std::string& message) { throw AgreedError(ErrorCategory::Input, message); }

void agree_on_arguments(Device& device, const std::optional<std::string>& wrong, bool type) {
  RankGroup* const ranks = DeviceRanks::group(device);
  if (ranks == nullptr) return;
  std::optional<Error> here;
  if (wrong) here.emplace(type ? ErrorCategory::Usage : ErrorCategory::Input, *wrong);
  agree(*ranks, here);
}

}  // namespace gdr::python
