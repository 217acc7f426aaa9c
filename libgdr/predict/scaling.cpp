#include "libgdr/predict/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "gdr/error.hpp"

namespace gdr::predict {
namespace {

/// A part of a machine, which is twice as fast if one value is doubled and the other one multiplied
/// by `factor`.
struct Part {
  std::string_view name;
  Key rate, other;
  double factor;
};
constexpr Part parts[] = {{"chip", Key::ChipClock, Key::BoardMemoryBandwidth, 2},
                          {"link", Key::LinkWrite, Key::LinkRead, 2},
                          {"host", Key::HostProduct, Key::HostMemoryBandwidth, 2},
                          {"network", Key::NetworkBandwidth, Key::NetworkLatency, 0.5}};

bool has_part(const Machine& machine, std::string_view name) noexcept {
  if (name == "network") return machine.nodes() > 1 || machine.remote();
  return name == "host" || machine.boards() > 0;
}

/// Chips of a board, boards of a node, and nodes.
struct Size {
  std::size_t chips, boards, nodes;
};

/// 1, 2, 4, ... and `most` itself.
std::vector<std::size_t> doublings(std::size_t most) {
  std::vector<std::size_t> list;
  for (std::size_t n = 1; n < most; n *= 2) list.push_back(n);
  list.push_back(most);
  return list;
}

std::vector<Size> sizes_of(const Machine& machine, bool from_nodes) {
  const std::size_t chips = machine.count(Key::BoardChips), boards = machine.boards();
  std::vector<Size> sizes;
  if (!from_nodes && boards > 0) {
    for (const std::size_t c : doublings(chips)) sizes.push_back({c, 1, 1});
    for (const std::size_t b : doublings(boards))
      if (b > 1) sizes.push_back({chips, b, 1});
  }
  for (const std::size_t n : doublings(machine.nodes()))
    if (n > 1 || sizes.empty()) sizes.push_back({chips, boards, n});
  return sizes;
}

Machine part_of(const Machine& machine, const Size& size) {
  Machine part = machine;
  part.value(Key::BoardChips) = static_cast<double>(size.chips);
  part.value(Key::NodeBoards) = static_cast<double>(size.boards);
  part.value(Key::NetworkNodes) = static_cast<double>(size.nodes);
  return part;
}

}  // namespace

std::vector<Gain> gains(const Machine& machine, const JobOn& job, const Prediction& prediction) {
  std::vector<Gain> list;
  for (const Part& part : parts) {
    if (!has_part(machine, part.name)) continue;
    Machine faster = machine;  // values may exceed the ranges that set() checks
    faster.value(part.rate) *= 2;
    faster.value(part.other) *= part.factor;
    if (part.name == "network") {
      faster.value(Key::RemoteRate) *= 2;
      faster.value(Key::RemoteRtt) *= 0.5;
    }
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

std::vector<ScalingPoint> strong_scaling(const Machine& machine, const JobOn& job,
                                         bool from_nodes) {
  std::vector<ScalingPoint> points;
  std::exception_ptr refused;
  for (const Size& size : sizes_of(machine, from_nodes)) {
    const Machine part = part_of(machine, size);
    try {
      Prediction prediction = job(part);
      const std::string_view waits = bottleneck(gains(part, job, prediction), prediction);
      points.push_back(
          {part.chips(), size.boards, size.nodes, std::move(prediction), std::string(waits), 1, 1});
    } catch (const Error& error) {
      if (error.category() != ErrorCategory::Usage) throw;
      refused = std::current_exception();
    }
  }
  if (points.empty() && refused) std::rethrow_exception(refused);
  for (ScalingPoint& p : points) {
    const ScalingPoint& first = points.front();
    p.speedup = p.prediction.seconds > 0 ? first.prediction.seconds / p.prediction.seconds : 1;
    // Without boards the units are hosts.
    const double units = p.chips > 0
                             ? static_cast<double>(p.chips) / static_cast<double>(first.chips)
                             : static_cast<double>(p.nodes) / static_cast<double>(first.nodes);
    p.efficiency = p.speedup / units;
  }
  return points;
}

std::size_t last_that_pays(const std::vector<ScalingPoint>& points) noexcept {
  std::size_t last = 0;
  while (last + 1 < points.size() && points[last + 1].efficiency >= 0.5) ++last;
  return last;
}

std::string scaling_csv(const std::vector<ScalingPoint>& points) {
  std::string text = "chips,boards_a_node,nodes,seconds,gflops,speedup,efficiency,bottleneck";
  const auto field = [](Resource r) {
    std::string name(resource_name(r));
    std::ranges::replace(name, ' ', '_');
    return name;
  };
  for (std::size_t r = 0; r < resource_count; ++r)
    text += "," + field(static_cast<Resource>(r)) + "_seconds";
  text += "\n";
  for (const ScalingPoint& p : points) {
    text += fmt::format("{},{},{},{:.9g},{:.9g},{:.6g},{:.6g},{}", p.chips, p.boards, p.nodes,
                        p.prediction.seconds, p.prediction.gflops(), p.speedup, p.efficiency,
                        p.bottleneck);
    for (const double seconds : p.prediction.usage.seconds) text += fmt::format(",{:.9g}", seconds);
    text += "\n";
  }
  return text;
}

}  // namespace gdr::predict
