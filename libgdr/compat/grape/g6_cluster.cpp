#include "libgdr/compat/grape/g6_cluster.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "gdr/error.hpp"
#include "libgdr/compat/grape/calls.hpp"

namespace gdr::compat::grape {
namespace {

constexpr std::ptrdiff_t row = 3 * sizeof(double);
/// A calculation of as many pairs, some milliseconds of work, proceeds while the client does
/// something else between its two halves.
constexpr std::size_t pairs_in_background = 4'000'000;

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

}  // namespace

std::array<double, 3> vector_of(const double* from) {
  return from == nullptr ? std::array<double, 3>{} : std::array{from[0], from[1], from[2]};
}

void Cluster::set_time(double time) {
  time_ = time;
  if (!std::isfinite(time))
    throw Error(ErrorCategory::Input, "ti is " + number_text(time) + "; it must be finite");
}

void Cluster::set(int address, const double* x, MovingSource particle) {
  if (x == nullptr) throw Error(ErrorCategory::Usage, "x is a null pointer");
  particle.x = vector_of(x);
  if (address < 0 || address >= max_particles)
    throw Error(ErrorCategory::Usage, "address " + std::to_string(address) +
                                          " is not one of 0 to " +
                                          std::to_string(max_particles - 1));
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

MovingSource Cluster::particle(int address) const {
  const auto slot = static_cast<std::size_t>(address);
  if (address < 0 || !sources_.is_set(slot))
    throw Error(ErrorCategory::Usage, "address " + std::to_string(address) + " was never set");
  return sources_.get(slot);
}

MovingSource Cluster::predicted(MovingSource p) const {
  const double dt = time_ - p.time;
  for (std::size_t k = 0; k < 3; ++k) {
    const double v = p.v[k], a = p.half_a[k], j = p.sixth_j[k], s = p.snap_18th[k];
    p.x[k] += dt * (v + dt * (a + dt * (j + 0.75 * dt * s)));
    p.v[k] += dt * (2 * a + dt * (3 * j + 3 * dt * s));
  }
  p.time = time_;
  return p;
}

KernelFeatures Cluster::features_for(std::size_t n, const Targets& targets) const {
  // Another kernel for the rest of a block of i-particles would get all j-particles anew.
  const bool many =
      n >= NeighbourLists::min_on_device || (jobs_.features().lists && time_ == predicted_time_);
  const bool lists = list_demand_.is_expected() && jobs_.device_makes_lists() &&
                     targets.h2 != nullptr && many && n <= NeighbourLists::max_on_device;
  return {wants_nearest_ || !targets.one_eps2, lists};
}

void Cluster::start(int nj, const Targets& targets) {
  phase_ = Phase::None;
  targets_.clear();
  lists_.clear();
  checked_count(targets.count, "i-particles");
  const std::size_t m = checked_count(nj, "j-particles");
  const std::size_t n = checked_targets(targets);
  jobs_.select(features_for(n, targets), sources_);
  list_demand_.count_calculation();
  sources_.require(time_, m);
  predicted_time_ = time_;
  sources_used_ = m;
  targets_.keep(targets, n);
  if (jobs_.features().lists) lists_.set_radii(targets_);
  jobs_.drop();
  phase_ = Phase::Given;
  if (may_be_infinite_) predict_now();  // an error belongs to this half
  if (n * m >= pairs_in_background) compute_in_background();
}

void Cluster::finish(int ni, const Results& results) {
  const std::size_t n = checked_count(ni, "i-particles");
  require_calculation();
  if (n > targets_.count())
    throw Error(ErrorCategory::Usage, "results of " + std::to_string(n) +
                                          " i-particles are wanted, but the first half was for " +
                                          std::to_string(targets_.count()));
  if (results.nearest != nullptr && !jobs_.features().nearest) {
    wants_nearest_ = true;  // a client that asks once will ask again
    reopen({true, jobs_.features().lists});
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

void Cluster::make_lists() {
  if (lists_.are_made() || !targets_.have_radii()) return;
  const bool softened = environment_number("GDR_G6_SOFTENED_LISTS", 0, 0, 1) == 1;
  if (jobs_.features().lists) complete();
  predict_now();
  lists_.make(targets_, sources_, {.device = jobs_.features().lists, .softened = softened});
  // A client that asks once will ask again. Lists that the device cannot hold are no use.
  list_demand_.asked(lists_.fit_device(targets_));
}

int Cluster::list(int pipe, int capacity, int* length, int* to) {
  const std::size_t most =
      checked_count(capacity, "entries of a list", std::numeric_limits<int>::max());
  if (length == nullptr || (to == nullptr && most > 0))
    throw Error(ErrorCategory::Usage, "nblen or nbl is a null pointer");
  *length = 0;
  if (pipe < 0 || static_cast<std::size_t>(pipe) >= targets_.count())
    throw Error(ErrorCategory::Usage, "i-particle " + std::to_string(pipe) + " is not one of the " +
                                          std::to_string(targets_.count()) +
                                          " of the last calculation");
  if (!targets_.have_radii())
    throw Error(ErrorCategory::Usage, "the last calculation had no h2, so there are no lists");
  // Only here: clients that read no lists may pass memory that they never set.
  if (std::isnan(targets_.h2(static_cast<std::size_t>(pipe))))
    throw Error(ErrorCategory::Input,
                "h2 of i-particle " + std::to_string(pipe) + " is not a number, so it has no list");
  make_lists();
  const std::vector<int>& found = lists_.of(static_cast<std::size_t>(pipe));
  const std::size_t n = std::min(most, found.size());
  std::copy_n(found.begin(), n, to);
  *length = static_cast<int>(n);
  return found.size() > n ? 1 : 0;
}

void Cluster::reopen(KernelFeatures features) {
  const Phase before = std::exchange(phase_, Phase::None);
  jobs_.select(features, sources_);
  if (before != Phase::Given) sources_.resend(jobs_.job());
  phase_ = before == Phase::Given ? Phase::Given : Phase::Predicted;
}

void Cluster::predict_now() {
  if (phase_ != Phase::Given) return;
  phase_ = Phase::None;
  sources_.predict(jobs_.job(), predicted_time_, sources_used_);
  phase_ = Phase::Predicted;
}

void Cluster::require_calculation() const {
  if (phase_ == Phase::None)
    throw Error(ErrorCategory::Usage,
                "there is no calculation: g6calc_firsthalf was not called before, or it failed");
}

void Cluster::bind_inputs() {
  inputs_.clear();
  targets_.add_inputs(inputs_);
  if (jobs_.features().lists) lists_.add_inputs(inputs_);
  if (jobs_.features().nearest)
    inputs_.push_back({"e2i", targets_.all_eps2()});
  else
    jobs_.job().set("eps2", targets_.count() > 0 ? targets_.eps2(0) : 0);
  jobs_.job().targets(targets_.count(), inputs_);
}

void Cluster::bind_results() {
  const std::size_t n = std::max<std::size_t>(targets_.count(), 1);
  acc_.resize(n);
  jerk_.resize(n);
  pot_.resize(n);
  nearest_.resize(n);
  double *const a = acc_.data()->data(), *const j = jerk_.data()->data();
  results_.assign({{"ax", {a, row}},
                   {"ay", {a + 1, row}},
                   {"az", {a + 2, row}},
                   {"jx", {j, row}},
                   {"jy", {j + 1, row}},
                   {"jz", {j + 2, row}},
                   {"pot", pot_.data()}});
  if (jobs_.features().nearest) results_.push_back({"nearest", nearest_.data()});
  if (jobs_.features().lists) lists_.add_results(n, results_);
}

void Cluster::compute_in_background() {
  bind_inputs();
  bind_results();
  predict_now();
  jobs_.start(results_);
}

void Cluster::compute_now() {
  bind_inputs();
  bind_results();
  if (phase_ == Phase::Predicted) return jobs_.job().run(results_);
  try {
    sources_.run(jobs_.job(), predicted_time_, sources_used_, results_);
  } catch (const Error& e) {
    // Without its particles there is no calculation.
    if (e.category() == ErrorCategory::Input) phase_ = Phase::None;
    throw;
  }
}

void Cluster::complete() {
  try {
    wait_or_compute();
  } catch (const Error& e) {
    if (!jobs_.features().lists || !is_of_kernel(e)) throw;
    // The sources of this calculation are given again, as they are at its time.
    jobs_.disable_lists();
    reopen({jobs_.features().nearest, false});
    wait_or_compute();
  }
}

void Cluster::wait_or_compute() {
  require_calculation();
  if (phase_ == Phase::Done) return;
  if (jobs_.is_running())
    jobs_.wait();
  else
    compute_now();
  phase_ = Phase::Done;
}

}  // namespace gdr::compat::grape
