// Strong scaling: sizes, and where it ends.
#include "libgdr/predict/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "gdr/error.hpp"

namespace gdr::predict {
namespace {

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
  const auto shrink = [&part](Key key, std::size_t value) {
    part.values[static_cast<std::size_t>(key)].value = static_cast<double>(value);
  };
  shrink(Key::BoardChips, size.chips);
  shrink(Key::NodeBoards, size.boards);
  shrink(Key::NetworkNodes, size.nodes);
  return part;
}

}  // namespace

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
    // Hosts that work alone are counted by themselves.
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
