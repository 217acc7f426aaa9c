// The same job once more for every part of the machine, with that part twice as fast.
#include "libgdr/predict/bottleneck.hpp"

#include <algorithm>

namespace gdr::predict {
namespace {

struct Part {
  std::string_view name;
  std::vector<Key> rates;
  std::vector<Key> times;
};

const std::vector<Part>& parts() {
  static const std::vector<Part> list = {
      {"chip", {Key::ChipClock, Key::BoardMemoryBandwidth}, {}},
      {"link", {Key::LinkWrite, Key::LinkRead}, {}},
      {"host", {Key::HostProduct, Key::HostMemoryBandwidth}, {}},
      {"network", {Key::NetworkBandwidth}, {Key::NetworkLatency}}};
  return list;
}

bool has_part(const Machine& machine, std::string_view name) noexcept {
  if (name == "network") return machine.nodes() > 1;
  return name == "host" || machine.boards() > 0;
}

}  // namespace

std::vector<Gain> gains(const Machine& machine, const JobOn& job, const Prediction& prediction) {
  std::vector<Gain> list;
  for (const Part& part : parts()) {
    if (!has_part(machine, part.name)) continue;
    // Not through set(): twice the largest value that there may be is no mistake here.
    Machine faster = machine;
    for (const Key key : part.rates) faster.values[static_cast<std::size_t>(key)].value *= 2;
    for (const Key key : part.times) faster.values[static_cast<std::size_t>(key)].value /= 2;
    const double seconds = job(faster).seconds;
    list.push_back({part.name, prediction.seconds > 0 ? 1 - seconds / prediction.seconds : 0.0});
  }
  return list;
}

std::string_view bottleneck(const std::vector<Gain>& gains, const Prediction& prediction) noexcept {
  const auto most = std::ranges::max_element(gains, {}, &Gain::saved);
  if (most == gains.end() || most->saved <= 0) return "nothing";
  const Usage& use = prediction.usage;
  if (most->part == "chip" && use[Resource::Ports] > use[Resource::Chip]) return "ports";
  return most->part;
}

}  // namespace gdr::predict
