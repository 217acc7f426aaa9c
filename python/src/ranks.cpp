#include "ranks.hpp"

#include "libgdr/ranks/ranks.hpp"

namespace gdr::python {

bool any_thread_allowed(Device& device) {
  const RankGroup* const ranks = DeviceRanks::group(device);
  return ranks == nullptr || ranks->any_thread();
}

std::vector<double> gather(Device& device, double own) {
  RankGroup* const ranks = DeviceRanks::group(device);
  if (ranks == nullptr) return {own};
  std::vector<double> all(ranks->size());
  ranks->gather(&own, sizeof own, all.data());
  return all;
}

std::string gather(Device& device, const std::string& own) {
  RankGroup* const ranks = DeviceRanks::group(device);
  if (ranks == nullptr) return own;
  std::string all(own.size() * ranks->size(), '\0');
  ranks->gather(own.data(), own.size(), all.data());
  return all;
}

void throw_collective(const std::string& message) {
  throw CollectiveError(ErrorCategory::Input, message);
}

void check_collectively(Device& device, const std::optional<std::string>& message,
                        bool type_error) {
  RankGroup* const ranks = DeviceRanks::group(device);
  if (ranks == nullptr) return;
  std::optional<Error> error;
  if (message) error.emplace(type_error ? ErrorCategory::Usage : ErrorCategory::Input, *message);
  agree(*ranks, error);
}

}  // namespace gdr::python
