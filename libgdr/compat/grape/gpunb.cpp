// Sums and lists of the libraries for NBODY6.
#include "libgdr/compat/grape/gpunb.hpp"

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
#include "libgdr/compat/grape/host_regular.hpp"
#include "libgdr/particle/neighbour_search.hpp"

namespace gdr::compat::grape {
namespace {

constexpr int failed = -1;
/// Relative difference of squared distances that no rounding bridges.
constexpr double min_gap = 1e-10;
constexpr std::ptrdiff_t row = 3 * sizeof(double);
using Row = double[3];

void check_array(const void* array, std::size_t n, const char* name) {
  if (n > 0 && array == nullptr) throw_null(name);
}

/// gravity_regular for spheres whose squared radius is the mass of a source times h2i.
constexpr const char* regular_by_mass_text =
    "VARI xi, yi, zi, vxi, vyi, vzi, h2i, dti;\n"
    "VARJ xj, yj, zj, mj, vxj, vyj, vzj; VARJ int idj;\n"
    "VARF ax, ay, az, jx, jy, jz, pot; VARF list near[200];\n"
    "dx = xj - xi; dy = yj - yi; dz = zj - zi;\n"
    "dvx = vxj - vxi; dvy = vyj - vyi; dvz = vzj - vzi;\n"
    "r2 = dx*dx + dy*dy + dz*dz;\n"
    "px = dx + dti*dvx; py = dy + dti*dvy; pz = dz + dti*dvz;\n"
    "least = min(r2, px*px + py*py + pz*pz); reach = mj*h2i;\n"
    "if (least < reach) { near append= idj; }\n"
    "skip if (least < reach || r2 == 0);\n"
    "rv = dx*dvx + dy*dvy + dz*dvz;\n"
    "rinv = rsqrt(r2); r2inv = rinv*rinv; mr = mj*rinv; f = mr*r2inv; al = 3*rv*r2inv;\n"
    "ax += f*dx; ay += f*dy; az += f*dz;\n"
    "jx += f*(dvx - al*dx); jy += f*(dvy - al*dy); jz += f*(dvz - al*dz); pot += mr;\n";

Kernel kernel_for(bool by_mass) {
  if (!by_mass) return Kernel::builtin("gravity_regular");
  return Kernel::compile(std::string("precision long;\n") + regular_by_mass_text,
                         "gravity_regular_by_mass");
}

class Regular {
 public:
  void open() {
    if (device_) return;
    device_ = open_device();
    if (const std::optional<Isa> isa = isa_of_host_doubles(*device_))
      on_host_.emplace(*isa, device_->statistics().threads);
  }

  /// After an error there are no particles: clients that ignore it get no forces of former ones.
  void set_sources(std::size_t n, const double* mass, const Row* x, const Row* v) {
    is_set_ = sent_ = false;
    check_array(mass, n, "mj");
    check_array(x, n, "xj");
    check_array(v, n, "vj");
    if (!sources_.assign(n, mass, x, v)) {
      require_finite_input(mass, n, 1, "mj");
      require_finite_rows(x, n, {"xj", "yj", "zj"});
      require_finite_rows(v, n, {"vxj", "vyj", "vzj"});
    }
    is_set_ = true;
  }

  void run(const RegularRequest& r) {
    check(r);
    if (!is_set_)
      throw Error(ErrorCategory::Usage,
                  "there are no j-particles: gpunb_send has not been called since the device was "
                  "opened or closed, or it failed");
    if (r.n == 0) return;
    open();
    if (on_host_)
      on_host_->run(sources_, r);
    else
      run_on_device(r);
    require_finite_results(*r.acc, r.n, 3, "acceleration");
    require_finite_results(*r.jerk, r.n, 3, "derivative of the acceleration");
    require_finite_results(r.pot, r.n, 1, "potential");
  }

 private:
  void run_on_device(const RegularRequest& r) {
    send(r.by_mass);
    std::vector<std::size_t> rest;
    if (lists_in_floats_) {
      rest.resize(r.n);
      std::iota(rest.begin(), rest.end(), 0);
    } else {
      run_with_lists(r, rest);
    }
    if (!rest.empty()) run_after_search(r, rest);
  }

  static void check(const RegularRequest& r) {
    check_array(r.h2, r.n, "h2");
    check_array(r.dt, r.n, "dtr");
    check_array(r.x, r.n, "xi");
    check_array(r.v, r.n, "vi");
    check_array(r.acc, r.n, "acc");
    check_array(r.jerk, r.n, "jrk");
    check_array(r.pot, r.n, "pot");
    check_array(r.list, r.n, "list");
  }

  void send(bool by_mass) {
    if (!job_ || by_mass != by_mass_) {
      job_.reset();
      sent_ = false;
      by_mass_ = by_mass;
      open();
      const Kernel kernel = kernel_for(by_mass);
      capacity_ = static_cast<std::size_t>(std::ranges::count_if(
          kernel.variables(), [](const KernelVariable& v) { return v.name.starts_with("near_"); }));
      job_.emplace(device_->job(kernel));
      lists_in_floats_ = computes_in_floats(*device_);
    }
    if (sent_) return;
    ids_.resize(std::max<std::size_t>(sources_.size(), 1));
    std::iota(ids_.begin(), ids_.end(), 0);
    job_->sources(sources_.size(), {{"xj", sources_[SourceColumns::X]},
                                    {"yj", sources_[SourceColumns::Y]},
                                    {"zj", sources_[SourceColumns::Z]},
                                    {"mj", sources_[SourceColumns::Mass]},
                                    {"idj", ids_.data()},
                                    {"vxj", sources_[SourceColumns::Vx]},
                                    {"vyj", sources_[SourceColumns::Vy]},
                                    {"vzj", sources_[SourceColumns::Vz]}});
    sent_ = true;
  }

  /// Device and host round differently: the device lists, and leaves out of the sums, the particles
  /// within a slightly larger sphere. Those that the host does not find within the given one are
  /// added to the sums. Targets with more than the device can list are left for a search.
  void run_with_lists(const RegularRequest& r, std::vector<std::size_t>& left) {
    radius2_.resize(r.n);
    for (std::size_t i = 0; i < r.n; ++i) radius2_[i] = r.h2[i] * (1 + min_gap);
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
        if (d2 < reach2(r, i, j))
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
  void run_after_search(const RegularRequest& all, const std::vector<std::size_t>& targets) {
    std::vector<std::array<double, 3>> x, v;
    std::vector<double> h2, dt;
    for (const std::size_t i : targets) {
      x.push_back(std::to_array(all.x[i]));
      v.push_back(std::to_array(all.v[i]));
      h2.push_back(all.h2[i]);
      dt.push_back(all.dt[i]);
    }
    RegularRequest r = all;
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
  void leave(const RegularRequest& r, std::size_t i, std::size_t from,
             const std::vector<std::uint32_t>& found) const {
    std::ranges::copy(acc_[from], r.acc[i]);
    std::ranges::copy(jerk_[from], r.jerk[i]);
    r.pot[i] = pot_[from];
    leave_list(r, i, found.size(), found.data());
  }

  /// The square of the distance below which a source is a neighbour.
  double reach2(const RegularRequest& r, std::size_t i, std::size_t j) const {
    return by_mass_ ? masses()[j] * r.h2[i] : r.h2[i];
  }

  Coordinates positions() const { return std::to_array(sources_.all().x); }
  Coordinates velocities() const { return std::to_array(sources_.all().v); }
  const double* masses() const { return sources_[SourceColumns::Mass]; }

  void find_lists(const RegularRequest& r) {
    lists_.resize(r.n);
    radius2_.resize(r.n);
    uncertain_.resize(r.n);
    const std::size_t m = sources_.size();
    for_each_target(r.n, r.n * m > 200000, [&](std::size_t i) {
      lists_[i].clear();
      const Gap gap = find_within_soon(positions(), velocities(), m, std::to_array(r.x[i]),
                                       std::to_array(r.v[i]), r.dt[i], r.h2[i], lists_[i],
                                       by_mass_ ? masses() : nullptr);
      uncertain_[i] = gap.outside - gap.inside <= min_gap * gap.outside;
      radius2_[i] = r.h2[i];
      if (r.h2[i] > 0)
        radius2_[i] = std::isfinite(gap.outside) ? 0.5 * (gap.inside + gap.outside)
                                                 : std::max(r.h2[i], 2 * gap.inside);
    });
  }

  /// Sums on the device with radius2_, and the ids of the particles that it leaves out.
  void compute(const RegularRequest& r) {
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
  void sum_on_host(const RegularRequest& r, std::size_t i) {
    acc_[i] = jerk_[i] = {};
    pot_[i] = 0;
    auto listed = lists_[i].begin();
    for (std::size_t j = 0; j < sources_.size(); ++j) {
      if (listed != lists_[i].end() && *listed == j) {
        ++listed;
        continue;
      }
      add_pair(r, i, j);
    }
  }

  /// Adds the pair of target i and source j to the sums.
  void add_pair(const RegularRequest& r, std::size_t i, std::size_t j) {
    std::array<double, 3> d, w;
    for (std::size_t k = 0; k < 3; ++k) {
      d[k] = positions()[k][j] - r.x[i][k];
      w[k] = velocities()[k][j] - r.v[i][k];
    }
    const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    if (r2 == 0) return;
    const double inverse = 1 / std::sqrt(r2), f = masses()[j] * inverse / r2;
    const double al = 3 * (d[0] * w[0] + d[1] * w[1] + d[2] * w[2]) / r2;
    for (std::size_t k = 0; k < 3; ++k) {
      acc_[i][k] += f * d[k];
      jerk_[i][k] += f * (w[k] - al * d[k]);
    }
    pot_[i] += masses()[j] * inverse;
  }

  std::shared_ptr<Device> device_;
  std::optional<Job> job_;
  std::optional<HostRegular> on_host_;  ///< instead of the device
  SourceColumns sources_;
  std::vector<double> pot_, radius2_;
  bool is_set_ = false, sent_ = false;
  std::vector<std::array<double, 3>> acc_, jerk_;
  std::vector<std::int64_t> counts_;
  std::vector<char> uncertain_;  ///< whether pairs are nearly at the radius
  std::vector<std::vector<std::uint32_t>> lists_;
  std::vector<std::int64_t> ids_, near_;  ///< numbers of sources: all, and those that are left out
  std::vector<std::uint32_t> list_;
  std::size_t capacity_ = 0;      ///< capacity of the device's lists, entries
  bool lists_in_floats_ = false;  ///< whether the device compares distances among floats
  bool by_mass_ = false;          ///< the kernel of the job
};

/// Potentials of particles due to each other.
class Potentials {
 public:
  void run(const PotentialRequest& r) {
    check_array(r.mass, r.n, "m");
    check_array(r.x, r.n, "x");
    check_array(r.pot, r.count, "pot");
    if (r.n == 0 || r.count == 0) return;
    if (!job_) {
      device_ = open_device();
      job_.emplace(device_->job(Kernel::builtin("gravity_softened_long")));
    }
    const double *const at = r.x[0], *const to = r.x[r.first];
    const std::vector<double> none(r.n);
    job_->sources(r.n, {{"xj", {at, row}},
                        {"yj", {at + 1, row}},
                        {"zj", {at + 2, row}},
                        {"mj", r.mass},
                        {"e2j", none.data()}});
    job_->targets(
        r.count,
        {{"xi", {to, row}}, {"yi", {to + 1, row}}, {"zi", {to + 2, row}}, {"e2i", none.data()}});
    job_->run({{"pot", r.pot}});
    require_finite_results(r.pot, r.count, 1, "potential");
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

/// A message if the radii seem to be those of a version of NBODY6 with another library, which would
/// make most particles neighbours.
void give_hint(const RegularRequest& r) {
  if (r.by_mass || r.counts_overflow) return;
  std::size_t too_long = 0;
  for (std::size_t i = 0; i < r.n; ++i) too_long += r.list[i * r.row_length] == -1 ? 1 : 0;
  if (r.n == 0 || 2 * too_long <= r.n) return;
  print_error("gpunb_regf",
              "the lists of most i-particles are too long: NBODY6 since 2013 passes h2 divided by "
              "the mean mass; link it with -lgpunb_nbody6");
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

int open_regular() {
  return on_state("gpunb_open", regular(), [](Regular& r) { r.open(); });
}

int close_regular() {
  regular().close(0);
  potentials().close(0);
  return 0;
}

int send_regular(const int* nj, const double* mass, const Row* x, const Row* v) {
  return on_state("gpunb_send", regular(), [&](Regular& r) {
    r.set_sources(checked_count(argument(nj, "nj"), "j-particles"), mass, x, v);
  });
}

int run_regular(RegularRequest request, const int* ni, const int* lmax, const int* nbmax) {
  return on_state("gpunb_regf", regular(), [&](Regular& r) {
    constexpr int any = std::numeric_limits<int>::max();
    request.n = checked_count(argument(ni, "ni"), "i-particles");
    request.row_length = checked_count(argument(lmax, "lmax"), "entries of a list", any);
    if (request.row_length == 0) throw Error(ErrorCategory::Usage, "lmax is 0");
    request.capacity = std::min(request.row_length - 1,
                                checked_count(argument(nbmax, "nbmax"), "neighbours", any));
    r.run(request);
    give_hint(request);
  });
}

int run_potentials(const PotentialRequest& request) {
  return on_state("gpupot", potentials(), [&](Potentials& p) { p.run(request); });
}

int run_potentials(const int* n, const double* mass, const Row* x, double* pot) {
  return guarded("gpupot", failed, [&] {
    const std::size_t count = checked_count(argument(n, "n"), "particles");
    return run_potentials({count, 0, count, mass, x, pot});
  });
}

}  // namespace gdr::compat::grape
