// Cost model of the steps of panel.cpp and triangular.cpp.
#include "libgdr/dense/factor_cost.hpp"

#include <algorithm>

#include "libgdr/dense/panel.hpp"
#include "libgdr/dense/triangular.hpp"
#include "libgdr/dense/updates.hpp"
#include "libgdr/dense/views.hpp"

namespace gdr::dense {
namespace {

constexpr double word = 8;

double real(std::size_t n) noexcept { return static_cast<double>(n); }

}  // namespace

double HostCost::work(double flops, double bytes) const noexcept {
  return std::max(flops / rates_.product, bytes / rates_.memory);
}

double HostCost::product(std::size_t m, std::size_t n, std::size_t k) const noexcept {
  return work(2 * real(m) * real(n) * real(k),
              word * (2 * real(m) * real(n) + real(m) * real(k) + real(k) * real(n)));
}

double HostCost::triangle(std::size_t n, std::size_t others) const noexcept {
  constexpr std::size_t small = smallest_triangle;
  if (n <= small) return work(real(n) * real(n) * real(others), word * 2 * real(n) * real(others));
  const std::size_t half = aligned_half(n, small), rest = n - half;
  return triangle(half, others) + product(rest, others, half) + triangle(rest, others);
}

/// An element that moves up touches a cache line of its own; those that move down are contiguous.
double HostCost::exchange(std::size_t pivots, std::size_t columns) const noexcept {
  return work(0, 2 * rates_.cache_line * real(pivots) * real(columns));
}

double HostCost::panel(std::size_t m, std::size_t n) const noexcept {
  if (n <= narrowest_panel) {
    // Each elimination reads and writes the columns to its right.
    const double passes = 0.5 * real(n) * real(n + 1);
    return work(2 * passes * real(m), 2 * word * passes * real(m));
  }
  const std::size_t half = aligned_half(n, narrowest_panel), rest = n - half;
  const std::size_t below = m - std::min(m, half);
  return panel(m, half) + exchange(half, rest) + triangle(half, rest) + product(below, rest, half) +
         panel(below, rest) + exchange(rest, half);
}

/// The time of packing the factors is negligible.
double HostCost::additions(std::size_t m, std::size_t n) const noexcept {
  return work(0, 4 * word * real(m) * real(n));
}

bool FactorCost::on_device(std::size_t m, std::size_t n, std::size_t k) const noexcept {
  return boards_ > 0 && device_pays(m, n, k, mapping_.depth * geometry_.chips_per_board,
                                    LinearOptions{}.device_flops);
}

StepCost FactorCost::board_product(std::size_t m, std::size_t n, std::size_t k) const {
  const std::size_t tiles = (m + mapping_.rows - 1) / mapping_.rows;
  const std::size_t rows = std::min(m, (tiles + boards_ - 1) / boards_ * mapping_.rows);
  const ProductTime time = product_time(geometry_, mapping_, m, n, k, rates_, boards_);
  const double clock = geometry_.clock_hz;
  StepCost cost;
  const double flops = 2 * real(rows) * real(n) * real(k);
  cost.seconds = std::max(time.seconds, flops / (product_share_ * peak(geometry_)));
  cost.chip = static_cast<double>(time.clocks.compute) / clock;
  cost.ports = static_cast<double>(std::max(time.clocks.port_in, time.clocks.port_out)) / clock;
  cost.link_write = static_cast<double>(time.bytes_to_board) / rates_.link_write;
  cost.link_read = static_cast<double>(time.bytes_from_board) / rates_.link_read;
  return cost;
}

StepCost FactorCost::subtract(std::size_t m, std::size_t n, std::size_t k) const {
  if (!on_device(m, n, k)) return host_step(host_.product(m, n, k));
  StepCost cost = board_product(m, n, k);
  cost.host = host_.additions(m, n);
  cost.seconds = std::max(cost.seconds, cost.host);
  return cost;
}

StepCost FactorCost::triangle(std::size_t n, std::size_t others) const {
  constexpr std::size_t small = smallest_triangle;
  if (n <= small) return host_step(host_.triangle(n, others));
  const std::size_t half = aligned_half(n, small), rest = n - half;
  StepCost cost = triangle(half, others);
  cost += subtract(rest, others, half);
  cost += triangle(rest, others);
  return cost;
}

StepCost& StepCost::operator+=(const StepCost& o) noexcept {
  seconds += o.seconds;
  host += o.host;
  chip += o.chip;
  ports += o.ports;
  link_write += o.link_write;
  link_read += o.link_read;
  return *this;
}

StepCost operator*(double times, StepCost c) noexcept {
  return {times * c.seconds, times * c.host,       times * c.chip,
          times * c.ports,   times * c.link_write, times * c.link_read};
}

}  // namespace gdr::dense
