// The state of a device id of libg5: particles, softening, cut-off and results.
#pragma once

#pragma GCC visibility push(default)
#include "emulator/host/parallel.hpp"
#pragma GCC visibility pop

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libgdr/compat/grape/calls.hpp"
#include "libgdr/compat/grape/cutoff.hpp"

namespace gdr::compat::grape::g5 {

using Row = double[3];

/// The range of sources that the next run has to send.
struct Range {
  std::size_t first = 0, end = 0;
  void add(std::size_t from, std::size_t to) {
    first = first == end ? from : std::min(first, from);
    end = std::max(end, to);
  }
};

/// The law of all devices in place of gravity, from pg5_gen_force_table; null: none.
class LawOfAll {
 public:
  std::shared_ptr<const Tabulated> get() const {
    const std::scoped_lock lock(mutex_);
    return law_;
  }
  void set(std::shared_ptr<const Tabulated> law) {
    const std::scoped_lock lock(mutex_);
    law_ = std::move(law);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Tabulated> law_;
};
LawOfAll& law_of_all();

/// What a call gives for each j-particle: pointers that are null are not set, but for the
/// softening, which is then 0 if the mass is set.
struct Sources {
  const Row* x = nullptr;
  const double *mass = nullptr, *eps2 = nullptr;
};

/// What clients have set for a device id, and the results of its last run.
class Board {
 public:
  void open() {
    if (!device_) device_ = open_device();
  }

  /// Softening of all i-particles, also of those that are set already.
  void set_softening(double eps2);
  /// Softening of each of the i-particles, those that are set or the next.
  void set_softening(int ni, const double* eps, bool squared) {
    target_eps2_ = softening(checked(ni, "i-particles", eps), eps, squared);
    own_eps2_.reset();
  }

  void set_number(int nj) { used_ = checked_count(nj, "j-particles"); }

  /// Sets j-particles from an address on. Changes nothing if an argument is invalid.
  void set_sources(int address, int nj, const Sources& from);

  /// Sets the i-particles, whose softening is that of set_softening.
  void set_targets(int ni, const Row* x) {
    set_positions(checked(ni, "i-particles", x), x);
    own_eps2_.reset();
  }
  /// Sets the i-particles with a softening of their own, until they or the softening are set again.
  /// Null eps: that of set_softening.
  void set_targets(int ni, const Row* x, const double* eps, bool squared);

  void run();

  void get(int ni, Row* acc, double* pot) const;

  void set_eta(double eta);

  /// A factor of force or potential: `factor` times the function of R, 0 from `end` on.
  struct Factor {
    std::function<double(double)> f;
    double end = 0, factor = 0;
  };
  void set_cutoff(const Factor& force, const Factor& potential);

 private:
  static std::size_t checked(int count, const char* what, const void* array);
  static bool is_softening(double eps2) { return eps2 >= 0 && std::isfinite(eps2); }
  [[noreturn]] static void refuse_softening(const char* what, std::size_t k, double eps2);
  static std::vector<double> softening(std::size_t n, const double* eps, bool squared);
  static Tabulated tabulated(const Factor& of, const std::string& name);
  void set_positions(std::size_t n, const Row* x);
  /// That of the run: the last that was set.
  void set_target_softening();
  void require_set();
  void run_on_device();
  void send_sources();
  void run_on_host();
  /// Potentials are 0.
  void run_by_law(const Tabulated& law);
  CutoffParticles checked_sources() const;

  template <typename Work>
  void for_each_target(const Work& work) {
    parallel_items(targets_.size(), targets_.size() * used_ > 20000 ? 0 : 1, work);
  }

  std::shared_ptr<Device> device_;
  std::optional<Job> job_;
  bool sources_are_softened_ = false;  ///< whether the job's sources are softened
  bool takes_source_eps2_ = false;     ///< whether its kernel has softening of j-particles
  double eps2_ = 0, eta_ = 0;
  std::optional<Cutoff> cutoff_;
  std::vector<std::array<double, 3>> x_, targets_, acc_;
  std::vector<double> mass_, source_eps2_, pot_;
  /// Which parts of each j-particle have been set.
  static constexpr unsigned has_position = 1, has_mass = 2;
  std::vector<std::uint8_t> parts_;
  std::size_t first_unset_ = 0;  ///< addresses before it have been set
  std::size_t used_ = 0;
  std::vector<double> target_eps2_;  ///< softening of the first i-particles; others have eps2_
  std::optional<std::vector<double>>
      own_eps2_;  ///< softening that was set with the i-particles, in place of these
  std::vector<double> run_eps2_;
  bool has_results_ = false;  ///< whether the i-particles have results
  Range changed_;
};

}  // namespace gdr::compat::grape::g5
