// libg6: the GRAPE-6 library interface.
#pragma GCC visibility push(default)
#include "libgdr/compat/grape/g6lib.h"
#pragma GCC visibility pop

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gdr/error.hpp"
#include "gdr/moving_sources.hpp"
#include "libgdr/compat/grape/calls.hpp"
#include "libgdr/particle/neighbour_search.hpp"

namespace gdr::compat::grape {
namespace {

constexpr int failed = -1;
constexpr std::ptrdiff_t row = 3 * sizeof(double);
/// Entries of a list of the kernels with neighbours.
constexpr std::size_t list_capacity = 200;
/// For fewer i-particles the host finds lists in less time: a device processes as many at once.
/// Measured beside 1024 and 16384 j-particles, relative to calls without lists: 1.2 for one, 1.5
/// for four, 2.0 for eight and 2.5 for sixteen on the host; 2.2, 2.4, 2.3 and 1.8 on the device.
constexpr std::size_t least_device_lists = 12;
/// Lists of more i-particles, 100 MB, are not made by the device.
constexpr std::size_t most_device_lists = 1 << 16;
/// A calculation of as many pairs, some milliseconds of work, proceeds while the client does
/// something else between its two halves.
constexpr std::size_t pairs_in_background = 4'000'000;
/// After so many calculations whose lists the client did not ask for, the device makes none.
constexpr unsigned calls_without_lists = 8;
/// A search on the host among as many pairs is divided over threads.
constexpr std::size_t pairs_for_threads = 200'000;

using Row = double[3];

std::array<double, 3> vector_of(const double* from) {
  return from == nullptr ? std::array<double, 3>{} : std::array{from[0], from[1], from[2]};
}

/// The name of a member that is not finite, as in the interface; empty if there is none.
std::string not_finite(const MovingSource& p) {
  // A product with 0 is not 0 for values that are not finite.
  double sum = 0 * p.time + 0 * p.mass;
  for (const auto* const vector : {&p.x, &p.v, &p.half_a, &p.sixth_j, &p.snap_18th})
    for (const double value : *vector) sum += 0 * value;
  if (sum == 0) return {};
  if (!std::isfinite(p.time)) return "tj is " + number_text(p.time);
  if (!std::isfinite(p.mass)) return "mass is " + number_text(p.mass);
  const std::pair<const char*, const std::array<double, 3>*> vectors[] = {{"x", &p.x},
                                                                          {"v", &p.v},
                                                                          {"aby2", &p.half_a},
                                                                          {"a1by6", &p.sixth_j},
                                                                          {"a2by18", &p.snap_18th}};
  for (const auto& [name, vector] : vectors)
    for (std::size_t k = 0; k < 3; ++k)
      if (const double value = (*vector)[k]; !std::isfinite(value))
        return std::string(name) + "[" + std::to_string(k) + "] is " + number_text(value);
  return {};
}

/// The i-particles of a calculation.
struct Targets {
  int count = 0;
  const int* index = nullptr;
  const Row *x = nullptr, *v = nullptr;
  const double* eps2 = nullptr;
  bool one_eps2 = true;  ///< one for all, else one for each
  const double* h2 = nullptr;
};

/// Whether an error of a calculation with valid arguments is due to the kernel: the device has too
/// little memory in its PEs, or cannot combine lists (partition=sources).
bool is_of_kernel(const Error& e) {
  return e.category() == ErrorCategory::Program || e.category() == ErrorCategory::Usage;
}

/// Destinations of results; null: not wanted.
struct Results {
  Row *acc = nullptr, *jerk = nullptr;
  double* pot = nullptr;
  int* nearest = nullptr;
};

class Cluster {
 public:
  void open() {
    if (!device_) device_ = open_device();
  }
  /// A time that is refused remains, so that calculations fail until there is another.
  void set_time(double time) {
    time_ = time;
    if (!std::isfinite(time))
      throw Error(ErrorCategory::Input, "ti is " + number_text(time) + "; it must be finite");
  }
  /// A particle that is not finite is refused, but stored, so that calculations fail until it is
  /// set again: clients that ignore the error get no forces of a former particle.
  void set(int address, const double* x, MovingSource particle) {
    if (x == nullptr) throw Error(ErrorCategory::Usage, "x is a null pointer");
    particle.x = vector_of(x);
    if (address < 0 || address >= most_particles)
      throw Error(ErrorCategory::Usage, "address " + std::to_string(address) +
                                            " is not one of 0 to " +
                                            std::to_string(most_particles - 1));
    // A calculation has begun with the particles as they were.
    try {
      predict_now();
    } catch (const Error& e) {
      print_error("g6calc_firsthalf", e.what());
    }
    const std::string bad = not_finite(particle);
    may_be_infinite_ = may_be_infinite_ || !bad.empty();
    sources_.set(static_cast<std::size_t>(address), particle);
    if (!bad.empty())
      throw Error(ErrorCategory::Input,
                  bad + " for address " + std::to_string(address) + "; all values must be finite");
  }

  void start(int nj, const Targets& targets) {
    targets_ = 0;
    has_calculation_ = lists_made_ = is_predicted_ = false;
    h2_.clear();
    const std::size_t n = checked_count(targets.count, "i-particles");
    const std::size_t m = checked_count(nj, "j-particles");
    if (n > 0 && (targets.x == nullptr || targets.v == nullptr || targets.index == nullptr ||
                  targets.eps2 == nullptr))
      throw Error(ErrorCategory::Usage, "index, xi, vi or eps2 is a null pointer");
    require_softening(targets, n);
    // Another kernel for the rest of a block of i-particles would get all j-particles anew.
    const bool many = n >= least_device_lists || (has_lists_ && time_ == predicted_time_);
    open(needs_hermite_ || !targets.one_eps2,
         needs_lists_ && targets.h2 != nullptr && many && n <= most_device_lists);
    if (++calls_since_lists_ > calls_without_lists) needs_lists_ = false;
    sources_.require(time_, m);
    predicted_time_ = time_;
    sources_used_ = m;
    keep(targets, n);
    targets_ = n;
    has_calculation_ = true;
    state_ = State::Open;
    if (may_be_infinite_) predict_now();  // an error belongs to this half
    if (n * m >= pairs_in_background) begin(true);
  }

  void finish(int ni, const Results& results) {
    const std::size_t n = checked_count(ni, "i-particles");
    require_calculation();
    if (n > targets_)
      throw Error(ErrorCategory::Usage, "results of " + std::to_string(n) +
                                            " i-particles are wanted, but the first half was for " +
                                            std::to_string(targets_));
    if (results.nearest != nullptr && !has_nearest_) {
      // A client that asks once will ask again.
      needs_hermite_ = true;
      reopen(true, has_lists_);
    }
    complete();
    if (results.acc != nullptr) require_finite_results(acc_.data()->data(), n, 3, "acceleration");
    if (results.jerk != nullptr)
      require_finite_results(jerk_.data()->data(), n, 3, "derivative of the acceleration");
    if (results.pot != nullptr) require_finite_results(pot_.data(), n, 1, "potential");
    if (results.acc != nullptr) std::memcpy(results.acc, acc_.data(), n * sizeof(Row));
    if (results.jerk != nullptr) std::memcpy(results.jerk, jerk_.data(), n * sizeof(Row));
    if (results.pot != nullptr) std::copy_n(pot_.begin(), n, results.pot);
    for (std::size_t i = 0; results.nearest != nullptr && i < n; ++i)
      results.nearest[i] = static_cast<int>(nearest_[i]);
  }

  void make_lists() {
    if (lists_made_ || h2_.empty()) return;
    const bool softened = environment_number("GDR_G6_SOFTENED_LISTS", 0, 0, 1) == 1;
    if (has_lists_) complete();
    predict_now();
    sources_.predict_on_host();
    if (lists_.size() < targets_) lists_.resize(targets_);
    std::size_t searches = 0, long_lists = 0;
    for (std::size_t i = 0; i < targets_; ++i) searches += is_listed(i, softened) ? 0 : 1;
    for_each_target(targets_, searches * sources_.predicted() > pairs_for_threads,
                    [&](std::size_t i) { make_list(i, softened); });
    for (std::size_t i = 0; i < targets_; ++i) long_lists += lists_[i].size() > list_capacity;
    lists_made_ = true;
    // A client that asks once will ask again. Lists that the device cannot hold are no use.
    needs_lists_ = device_lists_ && 4 * long_lists <= targets_;
    calls_since_lists_ = 0;
  }

  int list(int pipe, int capacity, int* length, int* to) {
    const std::size_t most =
        checked_count(capacity, "entries of a list", std::numeric_limits<int>::max());
    if (length == nullptr || (to == nullptr && most > 0))
      throw Error(ErrorCategory::Usage, "nblen or nbl is a null pointer");
    *length = 0;
    if (pipe < 0 || static_cast<std::size_t>(pipe) >= targets_)
      throw Error(ErrorCategory::Usage, "i-particle " + std::to_string(pipe) +
                                            " is not one of the " + std::to_string(targets_) +
                                            " of the last calculation");
    if (h2_.empty())
      throw Error(ErrorCategory::Usage, "the last calculation had no h2, so there are no lists");
    make_lists();
    const std::vector<int>& found = lists_[static_cast<std::size_t>(pipe)];
    const std::size_t n = std::min(most, found.size());
    std::copy_n(found.begin(), n, to);
    *length = static_cast<int>(n);
    return found.size() > n ? 1 : 0;
  }

 private:
  /// Selects the job of a kernel: with the nearest particle and softening of each target, or the
  /// faster one without; with neighbour lists or without.
  void open(bool hermite, bool lists) {
    if (job_ != nullptr && has_nearest_ == hermite && has_lists_ == lists) return;
    if (!device_) device_ = open_device();
    // Floats are too few digits for positions that are predicted.
    if (computes_in_floats(*device_)) device_predicts_ = false;
    forget();
    job_ = nullptr;
    std::optional<Job>& job = jobs_[hermite ? 1 : 0][lists ? 1 : 0];
    const char* const without_lists =
        device_predicts_ ? "gravity_jerk_moving" : "gravity_jerk_long";
    try {
      if (!job)
        job.emplace(device_->job(Kernel::builtin(
            lists ? (hermite ? "gravity_hermite_neighbours" : "gravity_jerk_neighbours")
                  : (hermite ? "gravity_hermite" : without_lists))));
    } catch (const Error& e) {
      if (!lists || !is_of_kernel(e)) throw;
      device_lists_ = needs_lists_ = false;
      return open(hermite, false);
    }
    job_ = &*job;
    has_nearest_ = hermite;
    has_lists_ = lists;
    sources_.name_slots(lists ? "slotj" : "");
    sources_.predict_on_device(device_predicts_ && !hermite && !lists);
  }

  /// Waits for a calculation whose results are not wanted, so that it does not fill them later.
  void forget() {
    if (std::exchange(state_, State::Open) != State::Started) return;
    try {
      job_->wait();
    } catch (const Error&) {
      // Nobody has asked for the results.
    }
  }

  /// Selects another job for a calculation that has started, which is then computed anew.
  void reopen(bool hermite, bool lists) {
    has_calculation_ = false;
    open(hermite, lists);
    if (is_predicted_) sources_.resend(*job_);
    has_calculation_ = true;
  }

  /// Predicts the particles of a calculation, unless that was done. Without them there is none.
  void predict_now() {
    if (!has_calculation_ || is_predicted_) return;
    has_calculation_ = false;
    sources_.predict(*job_, predicted_time_, sources_used_);
    has_calculation_ = is_predicted_ = true;
  }

  void require_calculation() const {
    if (!has_calculation_)
      throw Error(ErrorCategory::Usage,
                  "there is no calculation: g6calc_firsthalf was not called before, or it failed");
  }

  static void require_softening(const Targets& targets, std::size_t n) {
    for (std::size_t i = 0; i < (targets.one_eps2 ? std::min<std::size_t>(n, 1) : n); ++i)
      if (const double eps2 = targets.eps2[i]; !(eps2 >= 0 && std::isfinite(eps2)))
        throw Error(ErrorCategory::Usage,
                    "eps2" + (targets.one_eps2 ? "" : " of i-particle " + std::to_string(i)) +
                        " is " + number_text(eps2) + "; it must be finite and not negative");
  }

  /// Copies the i-particles: clients change their arrays before they ask for lists.
  void keep(const Targets& targets, std::size_t n) {
    // No pointer to an empty array is null.
    const std::size_t size = std::max<std::size_t>(n, 1);
    x_.resize(size);
    v_.resize(size);
    id_.resize(size);
    eps2_.resize(size);
    if (n > 0) {
      std::memcpy(x_.data(), targets.x, n * sizeof(Row));
      std::memcpy(v_.data(), targets.v, n * sizeof(Row));
    }
    for (std::size_t i = 0; i < n; ++i) {
      id_[i] = targets.index[i];
      eps2_[i] = targets.eps2[targets.one_eps2 ? 0 : i];
    }
    if (targets.h2 != nullptr) h2_.assign(targets.h2, targets.h2 + n);
    radius2_.resize(size);
    for (std::size_t i = 0; has_lists_ && i < n; ++i) radius2_[i] = device_radius2(x_[i], h2_[i]);
  }

  /// Starts the calculation, or computes it at once.
  void begin(bool in_background) {
    const double *const x = x_.data()->data(), *const v = v_.data()->data();
    std::vector<NamedInput>& targets = inputs_;
    targets.assign({{"xi", {x, row}},
                    {"yi", {x + 1, row}},
                    {"zi", {x + 2, row}},
                    {"vxi", {v, row}},
                    {"vyi", {v + 1, row}},
                    {"vzi", {v + 2, row}},
                    {"idi", id_.data()}});
    if (has_lists_) targets.push_back({"h2i", radius2_.data()});
    if (has_nearest_)
      targets.push_back({"e2i", eps2_.data()});
    else
      job_->set("eps2", targets_ > 0 ? eps2_[0] : 0);
    job_->targets(targets_, targets);
    const std::size_t n = std::max<std::size_t>(targets_, 1);
    acc_.resize(n);
    jerk_.resize(n);
    pot_.resize(n);
    nearest_.resize(n);
    double *const a = acc_.data()->data(), *const j = jerk_.data()->data();
    std::vector<NamedResult>& results = results_;
    results.assign({{"ax", {a, row}},
                    {"ay", {a + 1, row}},
                    {"az", {a + 2, row}},
                    {"jx", {j, row}},
                    {"jy", {j + 1, row}},
                    {"jz", {j + 2, row}},
                    {"pot", pot_.data()}});
    if (has_nearest_) results.push_back({"nearest", nearest_.data()});
    if (has_lists_) {
      near_count_.resize(n);
      near_.resize(n * list_capacity);
      results.push_back({"near", near_count_.data()});
      results.push_back({"near[]", near_.data()});
    }
    if (in_background || is_predicted_) {
      predict_now();
      in_background ? job_->start(results) : job_->run(results);
    } else {
      try {
        sources_.run(*job_, predicted_time_, sources_used_, results);
      } catch (const Error& e) {
        // Without its particles there is no calculation.
        if (e.category() == ErrorCategory::Input) has_calculation_ = false;
        throw;
      }
      is_predicted_ = true;
    }
    state_ = in_background ? State::Started : State::Done;
  }

  /// Results are there afterwards. After an error the next call computes again.
  void complete() {
    try {
      compute();
    } catch (const Error& e) {
      if (!has_lists_ || !is_of_kernel(e)) throw;
      device_lists_ = needs_lists_ = false;
      // The sources of this calculation are given again, as they are at its time.
      device_predicts_ = false;
      jobs_[0][0].reset();
      reopen(has_nearest_, false);
      compute();
    }
  }
  void compute() {
    require_calculation();
    if (state_ == State::Open) begin(false);
    if (std::exchange(state_, State::Open) == State::Started) job_->wait();
    state_ = State::Done;
  }

  /// Whether the device has listed all neighbours of a target.
  bool is_listed(std::size_t i, bool softened) const {
    // The spheres of the device do not have the softening, so a negative one makes them too small.
    return has_lists_ && near_count_[i] <= static_cast<std::int64_t>(list_capacity) &&
           radius2_[i] >= 0 && !(softened && !(eps2_[i] >= 0));
  }

  /// Several threads make lists at once.
  void make_list(std::size_t i, bool softened) {
    thread_local std::vector<std::uint32_t> found;
    found.clear();
    const auto at = sources_.positions();
    const Coordinates coordinates{at[0].data(), at[1].data(), at[2].data()};
    const double e2 = softened ? eps2_[i] : 0;
    if (is_listed(i, softened))
      choose_within(coordinates,
                    {near_.data() + i * list_capacity, static_cast<std::size_t>(near_count_[i])},
                    x_[i], e2, h2_[i], found);
    else
      find_within(coordinates, sources_.predicted(), x_[i], e2, h2_[i], found);
    std::vector<int>& list = lists_[i];
    list.clear();
    for (const std::uint32_t slot : found) {
      const std::int64_t id = sources_.ids()[slot];
      if (id != id_[i]) list.push_back(static_cast<int>(id));
    }
    if (!std::ranges::is_sorted(list)) std::ranges::sort(list);
  }

  bool has_nearest_ = false;    ///< whether the job's kernel finds the nearest particle
  bool needs_hermite_ = false;  ///< whether the client has asked for it
  bool has_lists_ = false;      ///< whether the job's kernel makes neighbour lists
  bool needs_lists_ = false;    ///< whether the client asks for them, and the device can hold most
  bool device_lists_ = true;    ///< whether the device runs kernels with lists
  unsigned calls_since_lists_ = 0;
  /// Whether the device predicts, for calls without the nearest particle and without lists.
  bool device_predicts_ = environment_number("GDR_G6_DEVICE_PREDICTION", 0, 0, 1) == 1;
  MovingSources sources_;
  double time_ = 0, predicted_time_ = 0;

  // The last calculation.
  bool has_calculation_ = false;  ///< whether the last first half succeeded
  bool is_predicted_ = false;     ///< whether its particles were predicted
  bool may_be_infinite_ = false;  ///< whether any j-particle was not finite when it was set
  std::size_t targets_ = 0, sources_used_ = 0;
  enum class State { Open, Started, Done };
  State state_ = State::Open;
  std::vector<std::array<double, 3>> x_, v_, acc_, jerk_;
  std::vector<double> eps2_, h2_, pot_;
  std::vector<std::int64_t> id_, nearest_;
  std::vector<NamedInput> inputs_;  // kept for their memory, since small calls are frequent
  std::vector<NamedResult> results_;
  std::vector<double> radius2_;                  ///< of the device's lists
  std::vector<std::int64_t> near_count_, near_;  ///< slots of sources, a row for each target
  std::vector<std::vector<int>> lists_;
  bool lists_made_ = false;

  // Destroyed first: a calculation in the background fills the results.
  std::shared_ptr<Device> device_;
  std::array<std::array<std::optional<Job>, 2>, 2> jobs_;  ///< [has_nearest_][has_lists_]
  Job* job_ = nullptr;                                     ///< the one of the last calculation
};

States<Cluster>& clusters() {
  static States<Cluster>& all = *new States<Cluster>;  // still there when the process ends
  return all;
}

/// Runs the body of a function on the cluster of an id.
template <typename Work>
int on_cluster(const char* function, int id, const Work& work) {
  return guarded(function, failed, [&] {
    return clusters().with(id, [&](Cluster& cluster) {
      if constexpr (std::is_void_v<decltype(work(cluster))>) {
        work(cluster);
        return 0;
      } else {
        return work(cluster);
      }
    });
  });
}

int pipes() {
  return guarded("g6_npipes", 48,
                 [] { return environment_number("GDR_G6_PIPES", 48, 1, 1 << 20); });
}

}  // namespace
}  // namespace gdr::compat::grape

using namespace gdr::compat::grape;

#define GDR_WEAK __attribute__((weak))

extern "C" {

// Some clients define the C forms themselves, on top of the Fortran ones: these must not call them,
// and the client's definitions take precedence.

int g6_open_(int* id) {
  return on_cluster("g6_open", id_at(id), [](Cluster& c) { c.open(); });
}
GDR_WEAK int g6_open(int id) { return g6_open_(&id); }

int g6_close_(int* id) {
  clusters().close(id_at(id));
  return 0;
}
GDR_WEAK int g6_close(int id) { return g6_close_(&id); }

int g6_open_special_(int* /*clusters*/, int* /*list*/) {
  return guarded("g6_open_special", failed, [] {
    open_device();
    return 0;
  });
}
GDR_WEAK int g6_open_special(int n, int* list) { return g6_open_special_(&n, list); }
int g6_reset_(int* /*id*/) { return 0; }
GDR_WEAK int g6_reset(int id) { return g6_reset_(&id); }
int g6_reset_fofpga_(int* /*id*/) { return 0; }
GDR_WEAK int g6_reset_fofpga(int id) { return g6_reset_fofpga_(&id); }
void g6_reinitialize_(int* /*id*/) {}
GDR_WEAK void g6_reinitialize(int id) { g6_reinitialize_(&id); }
int g6_set_overflow_flag_test_mode_(int* /*a*/, int* /*j*/, int* /*p*/) { return 0; }
GDR_WEAK int g6_set_overflow_flag_test_mode(int a, int j, int p) {
  return g6_set_overflow_flag_test_mode_(&a, &j, &p);
}
GDR_WEAK int get_device_count(void) { return 1; }

int g6_npipes_(void) { return pipes(); }
GDR_WEAK int g6_npipes(void) { return pipes(); }
int g6_get_number_of_pipelines_(void) { return pipes(); }
GDR_WEAK int g6_get_number_of_pipelines(void) { return pipes(); }
int g6_getnjmax_(int* /*id*/) { return most_particles; }
GDR_WEAK int g6_getnjmax(int /*id*/) { return most_particles; }

int g6_set_tunit_(void* /*unit*/) { return 0; }
GDR_WEAK int g6_set_tunit(int /*unit*/) { return 0; }
int g6_set_xunit_(void* /*unit*/) { return 0; }
GDR_WEAK int g6_set_xunit(int /*unit*/) { return 0; }

int g6_set_ti_(int* id, double* ti) {
  return on_cluster("g6_set_ti", id_at(id), [&](Cluster& c) { c.set_time(argument(ti, "ti")); });
}
GDR_WEAK int g6_set_ti(int id, double ti) { return g6_set_ti_(&id, &ti); }

int g6_set_j_particle_(int* id, int* address, int* index, double* tj, double* /*dtj*/, double* mass,
                       double* a2by18, double* a1by6, double* aby2, double* v, double* x) {
  return on_cluster("g6_set_j_particle", id_at(id), [&](Cluster& c) {
    c.set(argument(address, "address"), x,
          {.time = argument(tj, "tj"),
           .mass = argument(mass, "mass"),
           .id = argument(index, "index"),
           .v = vector_of(v),
           .half_a = vector_of(aby2),
           .sixth_j = vector_of(a1by6),
           .snap_18th = vector_of(a2by18)});
  });
}
GDR_WEAK int g6_set_j_particle(int id, int address, int index, double tj, double dtj, double mass,
                               double* a2by18, double* a1by6, double* aby2, double* v, double* x) {
  return g6_set_j_particle_(&id, &address, &index, &tj, &dtj, &mass, a2by18, a1by6, aby2, v, x);
}
int g6_set_j_particle_mxonly_(int* id, int* address, int* index, double* mass, double* x) {
  return on_cluster("g6_set_j_particle_mxonly", id_at(id), [&](Cluster& c) {
    c.set(argument(address, "address"), x,
          {.mass = argument(mass, "mass"), .id = argument(index, "index")});
  });
}
GDR_WEAK int g6_set_j_particle_mxonly(int id, int address, int index, double mass, double* x) {
  return g6_set_j_particle_mxonly_(&id, &address, &index, &mass, x);
}
int g6_initialize_jp_buffer_(int* /*id*/, int* /*size*/) { return 0; }
GDR_WEAK int g6_initialize_jp_buffer(int /*id*/, int /*size*/) { return 0; }
int g6_flush_jp_buffer_(int* /*id*/) { return 0; }
GDR_WEAK int g6_flush_jp_buffer(int /*id*/) { return 0; }
int g6_setup_njdata_(int* /*id*/, int* /*nj*/) { return 0; }
GDR_WEAK int g6_setup_njdata(int /*id*/, int /*nj*/) { return 0; }

void g6calc_firsthalf_(int* id, int* nj, int* ni, int* index, double (*xi)[3], double (*vi)[3],
                       double (*)[3], double (*)[3], double*, double* eps2, double* h2) {
  on_cluster("g6calc_firsthalf", id_at(id), [&](Cluster& c) {
    c.start(argument(nj, "nj"), {argument(ni, "ni"), index, xi, vi, eps2, true, h2});
  });
}
GDR_WEAK void g6calc_firsthalf(int id, int nj, int ni, int* index, double (*xi)[3], double (*vi)[3],
                               double (*fold)[3], double (*jold)[3], double* phiold, double eps2,
                               double* h2) {
  g6calc_firsthalf_(&id, &nj, &ni, index, xi, vi, fold, jold, phiold, &eps2, h2);
}
void g6calc_firsthalf0_(int* id, int* nj, int* ni, int* index, double (*xi)[3], double (*vi)[3],
                        double (*)[3], double (*)[3], double*, double* eps2, double* h2) {
  on_cluster("g6calc_firsthalf0", id_at(id), [&](Cluster& c) {
    c.start(argument(nj, "nj"), {argument(ni, "ni"), index, xi, vi, eps2, false, h2});
  });
}
GDR_WEAK void g6calc_firsthalf0(int id, int nj, int ni, int* index, double (*xi)[3],
                                double (*vi)[3], double (*fold)[3], double (*jold)[3],
                                double* phiold, double* eps2, double* h2) {
  g6calc_firsthalf0_(&id, &nj, &ni, index, xi, vi, fold, jold, phiold, eps2, h2);
}

int g6calc_lasthalf2_(int* id, int* /*nj*/, int* ni, int* /*index*/, double (*)[3], double (*)[3],
                      double*, double*, double (*acc)[3], double (*jerk)[3], double* pot,
                      int* nearest) {
  return on_cluster("g6calc_lasthalf", id_at(id), [&](Cluster& c) {
    c.finish(argument(ni, "ni"), {acc, jerk, pot, nearest});
  });
}
GDR_WEAK int g6calc_lasthalf2(int id, int nj, int ni, int* index, double (*xi)[3], double (*vi)[3],
                              double eps2, double* h2, double (*acc)[3], double (*jerk)[3],
                              double* pot, int* nearest) {
  return g6calc_lasthalf2_(&id, &nj, &ni, index, xi, vi, &eps2, h2, acc, jerk, pot, nearest);
}
int g6calc_lasthalf_(int* id, int* nj, int* ni, int* index, double (*xi)[3], double (*vi)[3],
                     double* eps2, double* h2, double (*acc)[3], double (*jerk)[3], double* pot) {
  return g6calc_lasthalf2_(id, nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot, nullptr);
}
GDR_WEAK int g6calc_lasthalf(int id, int nj, int ni, int* index, double (*xi)[3], double (*vi)[3],
                             double eps2, double* h2, double (*acc)[3], double (*jerk)[3],
                             double* pot) {
  return g6calc_lasthalf2_(&id, &nj, &ni, index, xi, vi, &eps2, h2, acc, jerk, pot, nullptr);
}
int g6calc_lasthalf0_(int* id, int* nj, int* ni, int* index, double (*xi)[3], double (*vi)[3],
                      double* eps2, double* h2, double (*acc)[3], double (*jerk)[3], double* pot) {
  return g6calc_lasthalf2_(id, nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot, nullptr);
}
GDR_WEAK int g6calc_lasthalf0(int id, int nj, int ni, int* index, double (*xi)[3], double (*vi)[3],
                              double* eps2, double* h2, double (*acc)[3], double (*jerk)[3],
                              double* pot) {
  return g6calc_lasthalf2_(&id, &nj, &ni, index, xi, vi, eps2, h2, acc, jerk, pot, nullptr);
}
int g6calc_lasthalf20_(int* id, int* nj, int* ni, int* index, double (*xi)[3], double (*vi)[3],
                       double* eps2, double* h2, double (*acc)[3], double (*jerk)[3], double* pot,
                       int* nearest) {
  return g6calc_lasthalf2_(id, nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot, nearest);
}
GDR_WEAK int g6calc_lasthalf20(int id, int nj, int ni, int* index, double (*xi)[3], double (*vi)[3],
                               double* eps2, double* h2, double (*acc)[3], double (*jerk)[3],
                               double* pot, int* nearest) {
  return g6calc_lasthalf2_(&id, &nj, &ni, index, xi, vi, eps2, h2, acc, jerk, pot, nearest);
}

int g6_read_neighbour_list_(int* id) {
  return on_cluster("g6_read_neighbour_list", id_at(id), [](Cluster& c) { c.make_lists(); });
}
GDR_WEAK int g6_read_neighbour_list(int id) { return g6_read_neighbour_list_(&id); }
int g6_get_neighbour_list_(int* id, int* pipe, int* capacity, int* length, int* list) {
  return on_cluster("g6_get_neighbour_list", id_at(id), [&](Cluster& c) {
    return c.list(argument(pipe, "ipipe"), argument(capacity, "maxlength"), length, list);
  });
}
GDR_WEAK int g6_get_neighbour_list(int id, int pipe, int capacity, int* length, int* list) {
  return g6_get_neighbour_list_(&id, &pipe, &capacity, length, list);
}
void g6_set_neighbour_list_sort_mode_(int* /*mode*/) {}
GDR_WEAK void g6_set_neighbour_list_sort_mode(int /*mode*/) {}
int g6_get_neighbour_list_sort_mode_(void) { return 1; }
GDR_WEAK int g6_get_neighbour_list_sort_mode(void) { return 1; }

}  // extern "C"
