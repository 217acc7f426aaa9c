#include "libgdr/compat/grape/g5_board.hpp"

#include <cmath>

#include "gdr/error.hpp"

namespace gdr::compat::grape::g5 {
namespace {

constexpr std::ptrdiff_t row = 3 * sizeof(double);

/// gravity_softened without the softening of j-particles, which most clients do not set: one sum
/// and one word of each j-particle less.
constexpr const char* target_softened_text =
    "VARI xi, yi, zi, e2i; VARJ xj, yj, zj, mj; VARF ax, ay, az, pot;\n"
    "dx = xj - xi; dy = yj - yi; dz = zj - zi;\n"
    "r2 = dx*dx + e2i + dy*dy + dz*dz;\n"
    "skip if (r2 == 0);\n"
    "rinv = rsqrt(r2); mr = mj*rinv; f = mr*rinv*rinv;\n"
    "ax += f*dx; ay += f*dy; az += f*dz; pot += mr;\n";

/// The kernel of a device. Texts need a search for a schedule where programs need one; among floats
/// long precision has no meaning.
Kernel kernel_for(const Device& device, bool softened_sources) {
  const bool floats = computes_in_floats(device);
  if (softened_sources || device.needs_schedule())
    return Kernel::builtin(floats ? "gravity_softened" : "gravity_softened_long");
  return Kernel::compile(std::string(floats ? "" : "precision long;\n") + target_softened_text,
                         "gravity_target_softened");
}

}  // namespace

LawOfAll& law_of_all() {
  static LawOfAll& law = *new LawOfAll;  // still there when the process ends
  return law;
}

void Board::set_softening(double eps2) {
  if (!is_softening(eps2))
    throw Error(ErrorCategory::Usage, "the softening is " + number_text(eps2) +
                                          " (squared); it must be finite and not negative");
  eps2_ = eps2;
  target_eps2_.clear();
  own_eps2_.reset();
}

void Board::set_sources(int address, int nj, const Sources& from) {
  const std::size_t n = checked_count(nj, "j-particles");
  if (address < 0 || address > max_particles - nj)
    throw Error(ErrorCategory::Usage,
                "addresses " + std::to_string(address) + " to " +
                    std::to_string(static_cast<std::int64_t>(address) + nj - 1) +
                    " are not all of 0 to " + std::to_string(max_particles - 1));
  for (std::size_t j = 0; from.eps2 != nullptr && j < n; ++j)
    if (!is_softening(from.eps2[j])) refuse_softening("j-particle", j, from.eps2[j]);
  const auto first = static_cast<std::size_t>(address);
  if (first + n > x_.size()) {
    // The size of x_ is the number of particles: it grows last, in case memory is short.
    mass_.resize(first + n);
    source_eps2_.resize(first + n);
    parts_.resize(first + n);
    x_.resize(first + n);
  }
  const unsigned parts =
      (from.x != nullptr ? has_position : 0U) | (from.mass != nullptr ? has_mass : 0U);
  for (std::size_t j = 0; j < n; ++j) {
    if (from.x != nullptr) std::ranges::copy(from.x[j], x_[first + j].begin());
    if (from.mass != nullptr) mass_[first + j] = from.mass[j];
    if (from.x != nullptr && from.mass != nullptr)
      source_eps2_[first + j] = from.eps2 != nullptr ? from.eps2[j] : 0;
    parts_[first + j] = static_cast<std::uint8_t>(parts_[first + j] | parts);
  }
  changed_.add(first, first + n);
}

void Board::set_targets(int ni, const Row* x, const double* eps, bool squared) {
  if (eps == nullptr) return set_targets(ni, x);
  const std::size_t n = checked(ni, "i-particles", x);
  own_eps2_ = softening(n, eps, squared);
  set_positions(n, x);
}

void Board::run() {
  has_results_ = false;
  require_set();
  const std::size_t n = targets_.size();
  acc_.assign(std::max<std::size_t>(n, 1), {});
  pot_.assign(std::max<std::size_t>(n, 1), 0);
  if (n > 0 && used_ > 0) {
    set_target_softening();
    if (const auto law = law_of_all().get())
      run_by_law(*law);
    else
      cutoff_ ? run_on_host() : run_on_device();
    require_finite_results(acc_.data()->data(), n, 3, "acceleration");
    require_finite_results(pot_.data(), n, 1, "potential");
  }
  has_results_ = true;
}

void Board::get(int ni, Row* acc, double* pot) const {
  const std::size_t n = checked_count(ni, "i-particles");
  if (n == 0) return;
  if (!has_results_)
    throw Error(ErrorCategory::Usage,
                "there are no results for these i-particles: after they were set, there was no "
                "g5_run, or it failed");
  if (n > targets_.size())
    throw Error(ErrorCategory::Usage, "results of " + std::to_string(n) +
                                          " i-particles are wanted, but there are " +
                                          std::to_string(targets_.size()));
  if (acc == nullptr || pot == nullptr)
    throw Error(ErrorCategory::Usage, "an array for results is a null pointer");
  for (std::size_t i = 0; i < n; ++i) std::ranges::copy(acc_[i], acc[i]);
  std::copy_n(pot_.begin(), n, pot);
}

void Board::set_eta(double eta) {
  eta_ = eta;
  if (!std::isfinite(eta))
    throw Error(ErrorCategory::Usage, "eta is " + number_text(eta) + "; it must be finite");
}

void Board::set_cutoff(const Factor& force, const Factor& potential) {
  if (!force.f) {
    cutoff_.reset();
    return;
  }
  if (!potential.f) throw Error(ErrorCategory::Usage, "pfunc is a null pointer");
  // The former cut-off remains if a function is refused.
  Cutoff cutoff{tabulated(force, "f"), tabulated(potential, "p")};
  cutoff_ = std::move(cutoff);
}

std::size_t Board::checked(int count, const char* what, const void* array) {
  const std::size_t n = checked_count(count, what);
  if (n > 0 && array == nullptr)
    throw Error(ErrorCategory::Usage,
                "an array for " + std::to_string(n) + " " + what + " is a null pointer");
  return n;
}

void Board::refuse_softening(const char* what, std::size_t k, double eps2) {
  throw Error(ErrorCategory::Usage, "the softening of " + std::string(what) + " " +
                                        std::to_string(k) + " is " + number_text(eps2) +
                                        " (squared); it must be finite and not negative");
}

std::vector<double> Board::softening(std::size_t n, const double* eps, bool squared) {
  std::vector<double> eps2(n);
  for (std::size_t i = 0; i < n; ++i) {
    eps2[i] = squared ? eps[i] : eps[i] * eps[i];
    if (!is_softening(eps2[i])) refuse_softening("i-particle", i, eps2[i]);
  }
  return eps2;
}

Tabulated Board::tabulated(const Factor& of, const std::string& name) {
  const auto refuse = [&](const char* argument, double value, const char* what) {
    throw Error(ErrorCategory::Usage,
                name + argument + " is " + number_text(value) + "; it must be " + what);
  };
  if (!(of.end > 0) || !std::isfinite(of.end)) refuse("cut", of.end, "positive and finite");
  if (!std::isfinite(of.factor)) refuse("cor", of.factor, "finite");
  return {[&](double r) { return of.factor * of.f(r); }, of.end};
}

void Board::set_positions(std::size_t n, const Row* x) {
  targets_.resize(n);
  for (std::size_t i = 0; i < n; ++i) std::ranges::copy(x[i], targets_[i].begin());
  has_results_ = false;
}

void Board::set_target_softening() {
  if (own_eps2_) {
    run_eps2_ = *own_eps2_;
    return;
  }
  run_eps2_.assign(targets_.size(), eps2_);
  std::copy_n(target_eps2_.begin(), std::min(targets_.size(), target_eps2_.size()),
              run_eps2_.begin());
}

void Board::require_set() {
  constexpr unsigned all = has_position | has_mass;
  while (first_unset_ < parts_.size() && parts_[first_unset_] == all) ++first_unset_;
  if (used_ <= first_unset_) return;
  const std::string number = std::to_string(used_) + " j-particles are used, but ";
  if (first_unset_ >= x_.size())
    throw Error(ErrorCategory::Usage, number + "only " + std::to_string(x_.size()) + " were set");
  const unsigned parts = parts_[first_unset_];
  const char* const what = parts == 0 ? "that" : parts == has_mass ? "the position" : "the mass";
  throw Error(ErrorCategory::Usage,
              number + what + " of address " + std::to_string(first_unset_) + " was never set");
}

void Board::run_on_device() {
  send_sources();
  const double* const x = targets_.data()->data();
  job_->targets(
      targets_.size(),
      {{"xi", {x, row}}, {"yi", {x + 1, row}}, {"zi", {x + 2, row}}, {"e2i", run_eps2_.data()}});
  double* const a = acc_.data()->data();
  job_->run({{"ax", {a, row}}, {"ay", {a + 1, row}}, {"az", {a + 2, row}}, {"pot", pot_.data()}});
}

void Board::send_sources() {
  const bool softened =
      std::any_of(source_eps2_.begin(), source_eps2_.begin() + static_cast<std::ptrdiff_t>(used_),
                  [](double eps2) { return eps2 != 0; });
  open();
  if (!job_ || softened != sources_are_softened_) {
    job_.reset();
    job_.emplace(device_->job(kernel_for(*device_, softened)));
    sources_are_softened_ = softened;
    takes_source_eps2_ = softened || device_->needs_schedule();
  }
  const bool all = job_->source_count() != used_;
  const std::size_t first = all ? 0 : changed_.first;
  const std::size_t end = all ? used_ : std::min(used_, changed_.end);
  if (end > first) {
    const double* const x = x_[first].data();
    std::vector<NamedInput> arrays{
        {"xj", {x, row}}, {"yj", {x + 1, row}}, {"zj", {x + 2, row}}, {"mj", mass_.data() + first}};
    if (takes_source_eps2_) arrays.push_back({"e2j", source_eps2_.data() + first});
    if (all)
      job_->sources(used_, arrays);
    else
      job_->update_sources(first, end - first, arrays);
  }
  // Those beyond the used ones are sent with all others when they are used.
  changed_ = {};
}

void Board::run_on_host() {
  if (!(eta_ > 0 && std::isfinite(eta_)))
    throw Error(ErrorCategory::Usage,
                "eta is " + number_text(eta_) +
                    "; a cut-off needs one that is positive and finite (g5_set_eta)");
  const CutoffParticles sources = checked_sources();
  for_each_target([&](std::size_t k) {
    add_with_cutoff(*cutoff_, eta_, sources, targets_[k].data(), run_eps2_[k], acc_[k].data(),
                    pot_[k]);
  });
}

void Board::run_by_law(const Tabulated& law) {
  const CutoffParticles sources = checked_sources();
  for_each_target(
      [&](std::size_t k) { add_by_law(law, sources, targets_[k].data(), acc_[k].data()); });
}

CutoffParticles Board::checked_sources() const {
  for (std::size_t c = 0; c < 3; ++c) {
    static constexpr const char* sources[] = {"xj", "yj", "zj"};
    static constexpr const char* targets[] = {"xi", "yi", "zi"};
    require_finite_input(x_.data()->data() + c, used_, 3, sources[c]);
    require_finite_input(targets_.data()->data() + c, targets_.size(), 3, targets[c]);
  }
  require_finite_input(mass_.data(), used_, 1, "mj");
  return {{reinterpret_cast<const Row*>(x_.data()), used_},
          {mass_.data(), used_},
          {source_eps2_.data(), used_}};
}

}  // namespace gdr::compat::grape::g5
