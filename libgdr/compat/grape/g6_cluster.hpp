// A cluster of libg6: j-particles, and calculations in two halves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gdr/moving_sources.hpp"
#include "libgdr/compat/grape/g6_jobs.hpp"
#include "libgdr/compat/grape/g6_lists.hpp"
#include "libgdr/compat/grape/g6_targets.hpp"

namespace gdr::compat::grape {

/// Destinations of results; null: not wanted.
struct Results {
  Row *acc = nullptr, *jerk = nullptr;
  double* pot = nullptr;
  int* nearest = nullptr;
};

/// A vector of an interface; a null pointer stands for zeros.
std::array<double, 3> vector_of(const double* from);

class Cluster {
 public:
  void open() { jobs_.open_device(); }
  /// A time that is refused remains, so that calculations fail until there is another.
  void set_time(double time);
  /// A particle that is not finite is refused, but stored, so that calculations fail until it is
  /// set again: clients that ignore the error get no forces of a former particle.
  void set(int address, const double* x, MovingSource particle);

  /// The particle of an address as it was set. Throws Error (Usage) if it never was.
  MovingSource particle(int address) const;
  /// A particle, with position and velocity at the time of set_time.
  MovingSource predicted(MovingSource particle) const;

  /// The first half of a calculation.
  void start(int nj, const Targets& targets);
  /// The second half.
  void finish(int ni, const Results& results);

  /// Makes the lists of the last calculation, if it had radii.
  void make_lists();
  /// Copies a list; 1 if it has more entries than `capacity`, else 0.
  int list(int pipe, int capacity, int* length, int* to);

 private:
  /// How far the last calculation is.
  enum class Phase {
    None,       ///< there is none, or it failed
    Given,      ///< i-particles and time are known
    Predicted,  ///< j-particles are at the call's time; the call may run in the background
    Done        ///< results are complete
  };

  KernelFeatures features_for(std::size_t n, const Targets& targets) const;
  /// Selects another job for a calculation that has started, which is then computed anew.
  void reopen(KernelFeatures features);
  /// Predicts the particles of a calculation, unless that was done. Without them there is none.
  void predict_now();
  void require_calculation() const;
  /// Arrays of the selected job.
  void bind_inputs();
  void bind_results();
  void compute_in_background();
  void compute_now();
  /// Results are there afterwards. After an error the next call computes again.
  void complete();
  void wait_or_compute();

  MovingSources sources_;
  double time_ = 0, predicted_time_ = 0;
  bool may_be_infinite_ = false;  ///< whether any j-particle was not finite when it was set
  bool wants_nearest_ = false;    ///< whether the client has asked for the nearest particle
  ListDemand list_demand_;

  // The last calculation.
  Phase phase_ = Phase::None;
  std::size_t sources_used_ = 0;
  KeptTargets targets_;
  NeighbourLists lists_;
  std::vector<std::array<double, 3>> acc_, jerk_;
  std::vector<double> pot_;
  std::vector<std::int64_t> nearest_;
  std::vector<NamedInput> inputs_;  // kept for their memory, since small calls are frequent
  std::vector<NamedResult> results_;

  KernelJobs jobs_;  // destroyed first: a calculation in the background fills the results
};

}  // namespace gdr::compat::grape
