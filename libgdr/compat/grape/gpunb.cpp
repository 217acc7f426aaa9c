// libgpunb: the interface of NBODY6 to accelerators.
#pragma GCC visibility push(default)
#include "libgdr/compat/grape/gpunb.h"
#pragma GCC visibility pop

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "gdr/error.hpp"
#include "libgdr/compat/grape/calls.hpp"
#include "libgdr/particle/neighbour_search.hpp"

namespace gdr::compat::grape {
namespace {

constexpr int failed = -1;
/// Relative difference of squared distances that no rounding bridges.
constexpr double least_gap = 1e-10;
constexpr std::ptrdiff_t row = 3 * sizeof(double);
using Row = double[3];

void check_array(const void* array, std::size_t n, const char* name) {
  if (n > 0 && array == nullptr) throw_null(name);
}

/// Arguments of gpunb_regf_.
struct Request {
  std::size_t n = 0;
  const double *h2 = nullptr, *dt = nullptr;
  const Row *x = nullptr, *v = nullptr;
  Row *acc = nullptr, *jerk = nullptr;
  double* pot = nullptr;
  std::size_t row_length = 0, capacity = 0;
  int* list = nullptr;
};

class Regular {
 public:
  void open() {
    if (!device_) device_ = open_device();
  }

  /// After an error there are no particles: clients that ignore it get no forces of former ones.
  void set_sources(std::size_t n, const double* mass, const Row* x, const Row* v) {
    is_set_ = sent_ = false;
    check_array(mass, n, "mj");
    check_array(x, n, "xj");
    check_array(v, n, "vj");
    require_finite_input(mass, n, 1, "mj");
    for (std::size_t k = 0; n > 0 && k < 3; ++k) {
      static constexpr const char* names[][2] = {{"xj", "vxj"}, {"yj", "vyj"}, {"zj", "vzj"}};
      require_finite_input(x[0] + k, n, 3, names[k][0]);
      require_finite_input(v[0] + k, n, 3, names[k][1]);
    }
    for (std::size_t k = 0; k < 3; ++k) {
      x_[k].resize(n);
      v_[k].resize(n);
      for (std::size_t j = 0; j < n; ++j) {
        x_[k][j] = x[j][k];
        v_[k][j] = v[j][k];
      }
    }
    mass_.assign(mass, mass + n);
    is_set_ = true;
  }

  void run(const Request& r) {
    check(r);
    if (!is_set_)
      throw Error(ErrorCategory::Usage,
                  "there are no j-particles: gpunb_send has not been called since the device was "
                  "opened or closed, or it failed");
    if (r.n == 0) return;
    send();
    std::vector<std::size_t> rest;
    if (lists_in_floats_) {
      rest.resize(r.n);
      std::iota(rest.begin(), rest.end(), 0);
    } else {
      run_with_lists(r, rest);
    }
    if (!rest.empty()) run_after_search(r, rest);
    require_finite_results(*r.acc, r.n, 3, "acceleration");
    require_finite_results(*r.jerk, r.n, 3, "derivative of the acceleration");
    require_finite_results(r.pot, r.n, 1, "potential");
  }

 private:
  static void check(const Request& r) {
    check_array(r.h2, r.n, "h2");
    check_array(r.dt, r.n, "dtr");
    check_array(r.x, r.n, "xi");
    check_array(r.v, r.n, "vi");
    check_array(r.acc, r.n, "acc");
    check_array(r.jerk, r.n, "jrk");
    check_array(r.pot, r.n, "pot");
    check_array(r.list, r.n, "list");
  }

  void send() {
    if (!job_) {
      open();
      const Kernel kernel = Kernel::builtin("gravity_regular");
      capacity_ = static_cast<std::size_t>(std::ranges::count_if(
          kernel.variables(), [](const KernelVariable& v) { return v.name.starts_with("near_"); }));
      job_.emplace(device_->job(kernel));
      lists_in_floats_ = computes_in_floats(*device_);
    }
    if (sent_) return;
    ids_.resize(std::max<std::size_t>(mass_.size(), 1));
    std::iota(ids_.begin(), ids_.end(), 0);
    // No pointer to an empty array is null.
    for (auto* vectors : {&x_, &v_})
      for (std::vector<double>& column : *vectors) column.reserve(1);
    mass_.reserve(1);
    job_->sources(mass_.size(), {{"xj", x_[0].data()},
                                 {"yj", x_[1].data()},
                                 {"zj", x_[2].data()},
                                 {"mj", mass_.data()},
                                 {"idj", ids_.data()},
                                 {"vxj", v_[0].data()},
                                 {"vyj", v_[1].data()},
                                 {"vzj", v_[2].data()}});
    sent_ = true;
  }

  /// Device and host round differently: the device lists, and leaves out of the sums, the particles
  /// within a slightly larger sphere. Those that the host does not find within the given one are
  /// added to the sums. Targets with more than the device can list are left for a search.
  void run_with_lists(const Request& r, std::vector<std::size_t>& left) {
    radius2_.resize(r.n);
    for (std::size_t i = 0; i < r.n; ++i) radius2_[i] = r.h2[i] * (1 + least_gap);
    compute(r);
    for (std::size_t i = 0; i < r.n; ++i) {
      const auto count = static_cast<std::size_t>(counts_[i]);
      if (count > capacity_) {
        left.push_back(i);
        continue;
      }
      list_.clear();
      for (std::size_t k = 0; k < count; ++k) {
        const auto j = static_cast<std::uint32_t>(near_[i * capacity_ + k]);
        const double d2 = distance2_soon(positions(), velocities(), j, std::to_array(r.x[i]),
                                         std::to_array(r.v[i]), r.dt[i]);
        if (d2 < r.h2[i])
          list_.push_back(j);
        else
          add_pair(r, i, j);
      }
      leave(r, i, i, list_);
    }
  }

  /// The sums of some targets, with lists that the host finds, and for each target a radius in the
  /// middle between its last neighbour and the next particle, so that the device finds the same
  /// neighbours.
  void run_after_search(const Request& all, const std::vector<std::size_t>& targets) {
    std::vector<std::array<double, 3>> x, v;
    std::vector<double> h2, dt;
    for (const std::size_t i : targets) {
      x.push_back(std::to_array(all.x[i]));
      v.push_back(std::to_array(all.v[i]));
      h2.push_back(all.h2[i]);
      dt.push_back(all.dt[i]);
    }
    Request r = all;
    r.n = targets.size();
    r.x = reinterpret_cast<const Row*>(x.data());
    r.v = reinterpret_cast<const Row*>(v.data());
    r.h2 = h2.data();
    r.dt = dt.data();
    find_lists(r);
    compute(r);
    for (std::size_t i = 0; i < r.n; ++i) {
      // The device may decide otherwise about pairs at the radius, among floats also about those
      // near it, of which it shows only the first ones.
      const bool is_hidden = lists_in_floats_ && lists_[i].size() > capacity_;
      if (uncertain_[i] || is_hidden || !left_out(i, lists_[i])) sum_on_host(r, i);
      leave(all, targets[i], i, lists_[i]);
    }
  }

  /// Whether the device has left out as many particles, and first of all these.
  bool left_out(std::size_t i, const std::vector<std::uint32_t>& list) const {
    const auto* const first = near_.data() + i * capacity_;
    const std::size_t listed = std::min(list.size(), capacity_);
    return counts_[i] == static_cast<std::int64_t>(list.size()) &&
           std::equal(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(listed), first);
  }

  /// Results of target i, computed as number `from`.
  void leave(const Request& r, std::size_t i, std::size_t from,
             const std::vector<std::uint32_t>& found) const {
    std::ranges::copy(acc_[from], r.acc[i]);
    std::ranges::copy(jerk_[from], r.jerk[i]);
    r.pot[i] = pot_[from];
    int* const list = r.list + i * r.row_length;
    const bool fits = found.size() <= r.capacity;
    list[0] = fits ? static_cast<int>(found.size()) : -1;
    if (fits) std::ranges::copy(found, list + 1);
  }

  Coordinates positions() const { return {x_[0].data(), x_[1].data(), x_[2].data()}; }
  Coordinates velocities() const { return {v_[0].data(), v_[1].data(), v_[2].data()}; }

  void find_lists(const Request& r) {
    lists_.resize(r.n);
    radius2_.resize(r.n);
    uncertain_.resize(r.n);
    const std::size_t m = mass_.size();
    for_each_target(r.n, r.n * m > 200000, [&](std::size_t i) {
      lists_[i].clear();
      const Gap gap = find_within_soon(positions(), velocities(), m, std::to_array(r.x[i]),
                                       std::to_array(r.v[i]), r.dt[i], r.h2[i], lists_[i]);
      uncertain_[i] = gap.outside - gap.inside <= least_gap * gap.outside;
      radius2_[i] = r.h2[i];
      if (r.h2[i] > 0)
        radius2_[i] = std::isfinite(gap.outside) ? 0.5 * (gap.inside + gap.outside)
                                                 : std::max(r.h2[i], 2 * gap.inside);
    });
  }

  /// Sums on the device with radius2_, and the ids of the particles that it leaves out.
  void compute(const Request& r) {
    near_.resize(r.n * capacity_);
    for (auto* rows : {&acc_, &jerk_}) rows->resize(r.n);
    pot_.resize(r.n);
    counts_.resize(r.n);
    const double *const x = r.x[0], *const v = r.v[0];
    job_->targets(r.n, {{"xi", {x, row}},
                        {"yi", {x + 1, row}},
                        {"zi", {x + 2, row}},
                        {"vxi", {v, row}},
                        {"vyi", {v + 1, row}},
                        {"vzi", {v + 2, row}},
                        {"h2i", radius2_.data()},
                        {"dti", r.dt}});
    double *const a = acc_.data()->data(), *const j = jerk_.data()->data();
    job_->run({{"ax", {a, row}},
               {"ay", {a + 1, row}},
               {"az", {a + 2, row}},
               {"jx", {j, row}},
               {"jy", {j + 1, row}},
               {"jz", {j + 2, row}},
               {"pot", pot_.data()},
               {"near", counts_.data()},
               {"near[]", near_.data()}});
  }

  /// The sums without the listed particles.
  void sum_on_host(const Request& r, std::size_t i) {
    acc_[i] = jerk_[i] = {};
    pot_[i] = 0;
    auto listed = lists_[i].begin();
    for (std::size_t j = 0; j < mass_.size(); ++j) {
      if (listed != lists_[i].end() && *listed == j) {
        ++listed;
        continue;
      }
      add_pair(r, i, j);
    }
  }

  /// Adds the pair of target i and source j to the sums.
  void add_pair(const Request& r, std::size_t i, std::size_t j) {
    std::array<double, 3> d, w;
    for (std::size_t k = 0; k < 3; ++k) {
      d[k] = x_[k][j] - r.x[i][k];
      w[k] = v_[k][j] - r.v[i][k];
    }
    const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    if (r2 == 0) return;
    const double inverse = 1 / std::sqrt(r2), f = mass_[j] * inverse / r2;
    const double al = 3 * (d[0] * w[0] + d[1] * w[1] + d[2] * w[2]) / r2;
    for (std::size_t k = 0; k < 3; ++k) {
      acc_[i][k] += f * d[k];
      jerk_[i][k] += f * (w[k] - al * d[k]);
    }
    pot_[i] += mass_[j] * inverse;
  }

  std::shared_ptr<Device> device_;
  std::optional<Job> job_;
  std::array<std::vector<double>, 3> x_, v_;
  std::vector<double> mass_, pot_, radius2_;
  bool is_set_ = false, sent_ = false;
  std::vector<std::array<double, 3>> acc_, jerk_;
  std::vector<std::int64_t> counts_;
  std::vector<char> uncertain_;  ///< whether pairs are nearly at the radius
  std::vector<std::vector<std::uint32_t>> lists_;
  std::vector<std::int64_t> ids_, near_;  ///< numbers of sources: all, and those that are left out
  std::vector<std::uint32_t> list_;
  std::size_t capacity_ = 0;      ///< of the device's lists
  bool lists_in_floats_ = false;  ///< whether the device compares distances among floats
};

/// Potentials of particles due to each other.
class Potentials {
 public:
  void run(std::size_t n, const double* mass, const Row* x, double* pot) {
    check_array(mass, n, "m");
    check_array(x, n, "x");
    check_array(pot, n, "pot");
    if (n == 0) return;
    if (!job_) {
      device_ = open_device();
      job_.emplace(device_->job(Kernel::builtin("gravity_softened_long")));
    }
    const double* const at = x[0];
    const std::vector<double> none(n);
    job_->sources(n, {{"xj", {at, row}},
                      {"yj", {at + 1, row}},
                      {"zj", {at + 2, row}},
                      {"mj", mass},
                      {"e2j", none.data()}});
    job_->targets(
        n, {{"xi", {at, row}}, {"yi", {at + 1, row}}, {"zi", {at + 2, row}}, {"e2i", none.data()}});
    job_->run({{"pot", pot}});
    require_finite_results(pot, n, 1, "potential");
  }

 private:
  std::shared_ptr<Device> device_;
  std::optional<Job> job_;
};

States<Regular>& regular() {
  static States<Regular>& all = *new States<Regular>;  // still there when the process ends
  return all;
}
States<Potentials>& potentials() {
  static States<Potentials>& all = *new States<Potentials>;
  return all;
}

template <typename State, typename Work>
int on_state(const char* function, States<State>& states, const Work& work) {
  return guarded(function, failed, [&] {
    return states.with(0, [&](State& state) {
      work(state);
      return 0;
    });
  });
}

}  // namespace
}  // namespace gdr::compat::grape

using namespace gdr::compat::grape;

extern "C" {

int gpunb_open_(int* /*nbmax*/) {
  return on_state("gpunb_open", regular(), [](Regular& r) { r.open(); });
}

int gpunb_close_(void) {
  regular().close(0);
  potentials().close(0);
  return 0;
}

int gpunb_send_(int* nj, double* mj, double (*xj)[3], double (*vj)[3]) {
  return on_state("gpunb_send", regular(), [&](Regular& r) {
    r.set_sources(checked_count(argument(nj, "nj"), "j-particles"), mj, xj, vj);
  });
}

int gpunb_regf_(int* ni, double* h2, double* dtr, double (*xi)[3], double (*vi)[3],
                double (*acc)[3], double (*jrk)[3], double* pot, int* lmax, int* nbmax, int* list) {
  return on_state("gpunb_regf", regular(), [&](Regular& r) {
    constexpr int any = std::numeric_limits<int>::max();
    const std::size_t length = checked_count(argument(lmax, "lmax"), "entries of a list", any);
    if (length == 0) throw gdr::Error(gdr::ErrorCategory::Usage, "lmax is 0");
    const std::size_t capacity =
        std::min(length - 1, checked_count(argument(nbmax, "nbmax"), "neighbours", any));
    r.run({checked_count(argument(ni, "ni"), "i-particles"), h2, dtr, xi, vi, acc, jrk, pot, length,
           capacity, list});
  });
}

int gpupot_(int* n, double* m, double (*x)[3], double* pot) {
  return on_state("gpupot", potentials(), [&](Potentials& p) {
    p.run(checked_count(argument(n, "n"), "particles"), m, x, pot);
  });
}

}  // extern "C"
