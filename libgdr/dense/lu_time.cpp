// The time of an LU: the steps of lu.cpp once more, each with what it costs instead of what it
// does.
#include <algorithm>

#include "libgdr/dense/factor_cost.hpp"
#include "libgdr/dense/prediction.hpp"

namespace gdr::dense {

double LuTime::gflops(std::size_t n) const noexcept {
  const auto size = static_cast<double>(n);
  return total > 0 ? 1e-9 * 2 / 3 * size * size * size / total : 0;
}

LuTime predict_lu(const Geometry& geometry, std::size_t n, std::size_t block, bool overlap) {
  return predict_lu(FactorCost(geometry, {}, {}), n, block, overlap);
}

LuTime predict_lu(const FactorCost& cost, std::size_t n, std::size_t block, bool overlap) {
  block = std::max<std::size_t>(block, 1);
  const HostCost& host = cost.host();
  LuTime time;
  const auto alone = [&time](double& part, const StepCost& step) {
    part += step.seconds;
    time.total += step.seconds;
    time.use += step;
  };
  if (n > 0) alone(time.panels, host_step(host.panel(n, std::min(block, n))));
  for (std::size_t at = 0; at < n; at += block) {
    const std::size_t width = std::min(block, n - at), end = at + width, below = n - end;
    const std::size_t next = std::min(block, below), far = below - next;
    alone(time.exchanges, host_step(host.exchange(width, n - width)));
    alone(time.solves, cost.triangle(width, below));
    alone(time.updates, cost.subtract(below, next, width));
    if (cost.on_device(below, next, width)) time.additions += host.additions(below, next);
    const double ahead = next > 0 ? host.panel(below, next) : 0;
    const bool away = cost.on_device(below, far, width);
    const StepCost board = away ? cost.board_product(below, far, width) : StepCost{};
    const double beside = away ? host.additions(below, far) : host.product(below, far, width);
    time.panels += ahead;
    time.updates += away ? board.seconds : beside;
    if (away) time.additions += beside;
    time.total +=
        overlap ? std::max(board.seconds, beside + ahead) : std::max(board.seconds, beside) + ahead;
    time.use += board;
    time.use.host += beside + ahead;
  }
  return time;
}

}  // namespace gdr::dense
