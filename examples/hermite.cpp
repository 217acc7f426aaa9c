// A direct N-body code: the fourth-order Hermite scheme (Makino & Aarseth 1992) with a shared,
// variable step; the kernel "gravity_jerk" computes accelerations and jerks.
//   c++ -std=c++20 hermite.cpp -lgdr
#include <cmath>
#include <cstdio>
#include <gdr/kernels/gravity_jerk.hpp>
#include <random>
#include <valarray>
namespace kernel = gdr::kernels::gravity_jerk;

using Vector = std::valarray<double>;
struct Body {
  Vector x, v, a, j;
  double m = 0, pot = 0;
};

int main() {
  std::mt19937 random(1);  // a cold Gaussian cloud; replace with your particles
  std::normal_distribution<double> g;
  const auto draw = [&] { return Vector{g(random), g(random), g(random)}; };
  std::vector<Body> bodies(128);
  for (Body& b : bodies) b = {0.6 * draw(), 0.2 * draw(), {}, {}, 1.0 / 128};
  gdr::Device device = gdr::Device::open();
  const auto forces = [&](std::vector<Body>& all) {
    std::vector<kernel::Source> from;
    std::vector<kernel::Target> to;
    for (std::int64_t id = 0; const auto& [x, v, a, j, m, pot] : all) {
      from.push_back({x[0], x[1], x[2], m, v[0], v[1], v[2], id});
      to.push_back({x[0], x[1], x[2], v[0], v[1], v[2], id++});
    }
    const std::vector<kernel::Result> f = kernel::compute(device, {.eps2 = 1e-3}, from, to);
    for (auto i = f.begin(); auto& b : all) {
      b.a = {i->ax, i->ay, i->az}, b.j = {i->jx, i->jy, i->jz};
      b.pot = i++->pot;
    }
  };
  const auto energy = [&](double e = 0) {
    for (const Body& b : bodies) e += 0.5 * b.m * ((b.v * b.v).sum() + b.pot);
    return e;
  };
  forces(bodies);
  const double start = energy(), end = 0.125, eta = 0.02;
  for (double t = 0, dt = end; t < end; t += dt, dt = end - t) {
    for (const auto& [x, v, a, j, m, pot] : bodies)
      dt = std::fmin(dt, eta * std::sqrt((a * a).sum() / (j * j).sum()));
    std::vector<Body> next = bodies;
    for (auto& [x, v, a, j, m, pot] : next)
      x += dt * (v + dt / 2 * (a + dt / 3 * j)), v += dt * (a + dt / 2 * j);
    forces(next);
    for (auto b = bodies.begin(); const auto& [x, v, a, j, m, pot] : next) {
      const Vector v0 = b->v;
      b->v += dt / 2 * (b->a + a + dt / 6 * (b->j - j));
      b->x += dt / 2 * (v0 + b->v + dt / 6 * (b->a - a));
      b->a = a, b->j = j, b++->pot = pot;
    }
  }
  std::printf("energy %.9f, relative change %.1e\n", energy(), energy() / start - 1);
  return std::abs(energy() / start - 1) < 1e-5 ? 0 : 1;
}
