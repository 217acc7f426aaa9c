// Gravity of simulations of REBOUND: functions that it calls for steps and for accelerations.
//
// REBOUND's structures are read at the places that its Python classes state, so that no header of
// it is needed and other versions are right as long as the names of their members are.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "gdr/error.hpp"
#include "gdr/gravity.hpp"

namespace gdr::python {
namespace {

/// MemberOffsets of members of a structure in bytes, by their names.
using MemberOffsets = std::map<std::string, std::size_t>;

/// What is to be known of REBOUND: its structures, and its functions for errors and accelerations.
struct Rebound {
  MemberOffsets simulation, particle;
  std::size_t particle_bytes = 0;
  void (*report)(void* simulation, const char* text) = nullptr;
  void (*update_acceleration)(void* simulation) = nullptr;
};

Rebound& rebound() {
  static Rebound known;
  return known;
}

template <typename Member>
Member& member_at(void* structure, std::size_t offset) {
  return *reinterpret_cast<Member*>(static_cast<char*>(structure) + offset);
}
template <typename Member>
Member& member(void* simulation, const char* name) {
  return member_at<Member>(simulation, rebound().simulation.at(name));
}

/// Calls use(i, particle) for all particles of a simulation.
template <typename Use>
void for_particles(void* simulation, const Use& use) {
  const auto n = member<std::size_t>(simulation, "N");
  char* const first = member<char*>(simulation, "_particles");
  for (std::size_t i = 0; i < n; ++i) use(i, first + i * rebound().particle_bytes);
}

/// Ends the integration with an error, and leaves no numbers that could be taken for results.
void fail_rebound(void* simulation, const char* text) {
  const std::size_t ax = rebound().particle.at("ax");
  for_particles(simulation, [&](std::size_t, char* particle) {
    double* const a = &member_at<double>(particle, ax);
    std::fill(a, a + 3, std::nan(""));
  });
  member<int>(simulation, "_status") = 1;  // REBOUND's generic error
  rebound().report(simulation, (std::string("gdr.rebound: ") + text).c_str());
}

/// A range of sources that acts on a range of targets.
struct ReboundPart {
  std::size_t first_source, sources, first_target, targets;
};

/// What REBOUND's basic gravity sums: active particles act on all others, test particles of type 1
/// on active ones. `ignore` 1 leaves out the pair of particles 0 and 1, and 2 all pairs of particle
/// 0. The part with most pairs is first.
std::vector<ReboundPart> rebound_parts(std::size_t n, std::size_t active, bool back_reaction,
                                       unsigned ignore) {
  const std::size_t first = ignore == 2 ? 1 : 0;
  const std::size_t two = std::min<std::size_t>(2, n);
  std::vector<ReboundPart> parts;
  const auto add = [&](std::size_t s0, std::size_t s1, std::size_t t0, std::size_t t1) {
    if (s0 < s1 && t0 < t1) parts.push_back({s0, s1 - s0, t0, t1 - t0});
  };
  if (ignore == 1) {
    add(0, active, two, n);
    add(two, active, 0, two);
    if (back_reaction) add(std::max(active, two), n, 0, active);
  } else {
    add(first, active, first, n);
    if (back_reaction) add(std::max(active, first), n, first, active);
  }
  return parts;
}

/// Up to so many pairs REBOUND's own loop is as fast as a call of a device, and its forces cancel
/// exactly where particles are arranged symmetrically.
constexpr std::size_t few_pairs = 3000;

class ReboundGravity {
 public:
  ReboundGravity(const DevicePointer& device, std::optional<double> accuracy, double theta)
      : gravity_(device, [](Device& d) { return Gravity(d); }), tree_(accuracy.has_value()) {
    options_.accuracy = accuracy.value_or(1e-3);
    options_.theta = theta;
    options_.calls = choice_calls;
  }

  /// Number of calls, and of the last one the error of a tree (0: direct sums) and the number of
  /// sources and clusters in the sums of a target.
  std::tuple<std::size_t, double, double> statistics() const {
    return {calls_, last_error_, last_length_};
  }

  /// Computes the accelerations of all particles; false, and nothing is done, if there are few.
  bool fill(void* r) {
    const auto n = member<std::size_t>(r, "N");
    const std::size_t active = std::min(n, member<std::size_t>(r, "N_active"));
    ++calls_;
    if (n * active <= few_pairs) return false;
    for (const char* counted : {"N_ghost_x", "N_ghost_y", "N_ghost_z"})
      if (member<int>(r, counted) != 0)
        throw Error(ErrorCategory::Unsupported, "ghost boxes are not supported");
    if (member<std::size_t>(r, "N_var") != 0)
      throw Error(ErrorCategory::Unsupported, "variational particles are not supported");
    const bool back_reaction = member<int>(r, "testparticle_type") != 0;
    const auto ignore = member<unsigned>(r, "gravity_ignore");
    const double eps = std::fabs(member<double>(r, "softening"));
    const auto g = member<double>(r, "G");

    position_.resize(3 * n);
    mass_.resize(n);
    sum_.assign(3 * n, 0.0);
    const MemberOffsets& at = rebound().particle;
    for_particles(r, [&, x = at.at("x"), m = at.at("m")](std::size_t i, char* particle) {
      std::memcpy(&position_[3 * i], particle + x, 3 * sizeof(double));
      std::memcpy(&mass_[i], particle + m, sizeof(double));
    });
    // In this thread, without Python's signals: REBOUND handles Ctrl-C itself, after the step.
    gravity_.run(
        [&](Gravity& gravity) {
          add(gravity, rebound_parts(n, active, back_reaction, ignore), eps);
        },
        true);
    last_error_ = last_ ? last_->error : 0;
    last_length_ = last_ ? last_->sources_per_target : 0;
    for_particles(r, [&, ax = at.at("ax")](std::size_t i, char* particle) {
      double* const a = &member_at<double>(particle, ax);
      for (std::size_t k = 0; k < 3; ++k) a[k] = g * sum_[3 * i + k];
    });
    return true;
  }

 private:
  void add(Gravity& gravity, const std::vector<ReboundPart>& parts, double eps) {
    for (const ReboundPart& part : parts) {
      part_sum_.resize(3 * part.targets);
      const double* const at = &position_[3 * part.first_target];
      const double* const of = &position_[3 * part.first_source];
      const double* const mass = &mass_[part.first_source];
      try {
        if (tree_ && &part == parts.data()) {
          const bool again = last_ && calls_ % choice_calls != 0 && options_.theta == 0;
          options_.earlier = again ? &*last_ : nullptr;
          last_ = gravity.compute_on(part.targets, at, part.sources, of, mass, eps,
                                     part_sum_.data(), nullptr, options_);
        } else {
          gravity.compute_on(part.targets, at, part.sources, of, mass, eps, part_sum_.data(),
                             nullptr);
        }
      } catch (const Error& error) {
        if (error.category() == ErrorCategory::Input) explain(part);
        throw;
      }
      double* const sum = &sum_[3 * part.first_target];
      for (std::size_t k = 0; k < 3 * part.targets; ++k) sum[k] += part_sum_[k];
    }
  }

  /// Throws an error that names the first particle with a number that is not finite, if there is
  /// one, by its number in the simulation.
  void explain(const ReboundPart& part) const {
    const auto check = [](const std::vector<double>& values, std::size_t first, std::size_t width,
                          const char* what) {
      for (std::size_t k = 0; k < values.size(); ++k)
        if (!std::isfinite(values[k]))
          throw Error(ErrorCategory::Input, std::string("the ") + what + " of particle " +
                                                std::to_string(first + k / width) +
                                                " is not finite");
    };
    check(position_, 0, 3, "position");
    check(mass_, 0, 1, "mass");
    check(part_sum_, part.first_target, 3, "acceleration");
  }

  /// Calls for which the choice of a tree serves, while its error is small enough.
  static constexpr std::size_t choice_calls = 32;

  DeviceObject<Gravity> gravity_;
  bool tree_;  ///< whether a tree may be used
  std::size_t calls_ = 0;
  TreeOptions options_;
  std::optional<TreeReport> last_;  ///< of the last tree; used without the GIL
  double last_error_ = 0, last_length_ = 0;
  std::vector<double> position_, mass_, sum_, part_sum_;
};

/// A simulation's gravity, and the function of its integrator that this file's `rebound_step`
/// calls.
struct AttachedRebound {
  py::object gravity;
  void (*step)(void* simulation, void* integrator) = nullptr;
};

/// What is attached to simulations, by their addresses; guarded by the GIL. Never destroyed,
/// because Python ends before static objects are.
std::map<void*, AttachedRebound>& attached_to_rebound() {
  static auto* const all = new std::map<void*, AttachedRebound>;
  return *all;
}

/// Values of REBOUND's `gravity`.
constexpr int basic_gravity = 1, custom_gravity = 7;

/// The routine of the simulation's object fills the accelerations. False if there are few pairs.
bool filled(void* simulation) {
  const py::gil_scoped_acquire gil;
  try {
    const auto found = attached_to_rebound().find(simulation);
    if (found == attached_to_rebound().end())
      throw Error(ErrorCategory::Usage, "the simulation is not attached; call gdr.rebound.attach");
    const py::object kept = found->second.gravity;
    return kept.cast<ReboundGravity&>().fill(simulation);
  } catch (const std::exception& error) {
    fail_rebound(simulation, error.what());
    return true;
  }
}

/// What REBOUND calls for the accelerations of all particles, without the GIL.
void rebound_gravity(void* simulation) {
  using Forces = void (*)(void*);
  if (!filled(simulation)) {
    member<int>(simulation, "_gravity") = basic_gravity;
    rebound().update_acceleration(simulation);
    // Additional forces may have detached it.
    if (member<void (*)(void*)>(simulation, "_gravity_custom") == &rebound_gravity)
      member<int>(simulation, "_gravity") = custom_gravity;
  } else if (const auto forces = member<Forces>(simulation, "_additional_forces")) {
    forces(simulation);
  }
}

/// What REBOUND calls for a step, instead of the integrator's function. The gravity is "custom"
/// during the step only, so that copies of a simulation and those from files, which do not have
/// this function, use REBOUND's gravity.
void rebound_step(void* simulation, void* integrator) {
  decltype(AttachedRebound::step) step = nullptr;
  {
    const py::gil_scoped_acquire gil;
    const auto found = attached_to_rebound().find(simulation);
    if (found != attached_to_rebound().end()) step = found->second.step;
  }
  if (step == nullptr)
    return fail_rebound(simulation, "the simulation is not attached; call gdr.rebound.attach");
  auto& gravity = member<int>(simulation, "_gravity");
  if (gravity != basic_gravity) return step(simulation, integrator);
  gravity = custom_gravity;
  step(simulation, integrator);
  if (gravity == custom_gravity) gravity = basic_gravity;
}

void attach_rebound(std::size_t address, py::object gravity) {
  auto* const simulation = reinterpret_cast<void*>(address);
  auto& function = member<void (*)(void*)>(simulation, "_gravity_custom");
  const bool custom = function != nullptr || member<int>(simulation, "_gravity") == custom_gravity;
  if (custom && function != &rebound_gravity)
    throw Error(ErrorCategory::Unsupported,
                "the simulation has a custom gravity already (_gravity_custom)");
  AttachedRebound& own = attached_to_rebound()[simulation];
  own.gravity = std::move(gravity);
  auto& step = member<decltype(AttachedRebound::step)>(simulation, "step");
  if (step != &rebound_step) own.step = std::exchange(step, &rebound_step);
  function = &rebound_gravity;
}

/// Ends an attachment. `gone`: the simulation is being destroyed.
void detach_rebound(void* simulation, bool gone) {
  // Extracted, because others may change the map while its object is destroyed.
  const auto node = attached_to_rebound().extract(simulation);
  if (node.empty() || gone) return;
  auto& step = member<decltype(AttachedRebound::step)>(simulation, "step");
  if (step == &rebound_step) step = node.mapped().step;
  auto& function = member<void (*)(void*)>(simulation, "_gravity_custom");
  if (function != &rebound_gravity) return;
  function = nullptr;
  auto& gravity = member<int>(simulation, "_gravity");
  if (gravity == custom_gravity) gravity = basic_gravity;
}

/// What REBOUND calls when it destroys a simulation, without the GIL.
void clean_up_rebound(void* simulation) {
  const py::gil_scoped_acquire gil;
  detach_rebound(simulation, true);
}

}  // namespace

void bind_rebound(py::module_& m) {
  py::class_<ReboundGravity>(m, "ReboundGravity")
      .def(py::init<const DevicePointer&, std::optional<double>, double>())
      .def("statistics", &ReboundGravity::statistics);
  // Once: REBOUND reads it without the GIL.
  m.def("describe_rebound", [](const MemberOffsets& simulation, const MemberOffsets& particle,
                               std::size_t particle_bytes, std::size_t report, std::size_t update) {
    if (rebound().particle_bytes != 0) return;
    rebound() = {simulation, particle, particle_bytes,
                 reinterpret_cast<void (*)(void*, const char*)>(report),
                 reinterpret_cast<void (*)(void*)>(update)};
  });
  m.def("attach_rebound", &attach_rebound);
  // False, and nothing is done, if another object is attached.
  m.def("detach_rebound", [](std::size_t address, const py::object& gravity) {
    auto* const simulation = reinterpret_cast<void*>(address);
    const auto found = attached_to_rebound().find(simulation);
    if (found == attached_to_rebound().end()) return true;
    if (!found->second.gravity.is(gravity)) return false;
    detach_rebound(simulation, false);
    return true;
  });
  m.def("rebound_clean_up", [] { return reinterpret_cast<std::size_t>(&clean_up_rebound); });
}

}  // namespace gdr::python
