// Time model of LU: the steps of lu.cpp with their costs.
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
  const auto add_serial = [&time](double& part, const StepCost& step) {
    part += step.seconds;
    time.total += step.seconds;
    time.use += step;
  };
  if (n > 0) add_serial(time.panels, host_step(host.panel(n, std::min(block, n))));
  for (std::size_t at = 0; at < n; at += block) {
    const std::size_t width = std::min(block, n - at), end = at + width, below = n - end;
    const std::size_t next = std::min(block, below), far = below - next;
    add_serial(time.exchanges, host_step(host.exchange(width, n - width)));
    add_serial(time.solves, cost.triangle(width, below));
    add_serial(time.updates, cost.subtract(below, next, width));
    if (cost.on_device(below, next, width)) time.additions += host.additions(below, next);
    const double ahead = next > 0 ? host.panel(below, next) : 0;
    const bool on_device = cost.on_device(below, far, width);
    const StepCost board = on_device ? cost.board_product(below, far, width) : StepCost{};
    const double host_work =
        on_device ? host.additions(below, far) : host.product(below, far, width);
    time.panels += ahead;
    time.updates += on_device ? board.seconds : host_work;
    if (on_device) time.additions += host_work;
    time.total += overlap ? std::max(board.seconds, host_work + ahead)
                          : std::max(board.seconds, host_work) + ahead;
    time.use += board;
    time.use.host += host_work + ahead;
  }
  return time;
}

}  // namespace gdr::dense
