// The j-particles of the GRAPE-6 interface: polynomials of time in numbered slots.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gdr/device.hpp"

namespace gdr::compat::grape {

/// A particle at its own time, with the derivatives that its polynomial has as coefficients.
struct MovingSource {
  std::int64_t id = 0;
  double time = 0, mass = 0;
  std::array<double, 3> x{}, v{};
  std::array<double, 3> half_a{};     ///< acceleration / 2
  std::array<double, 3> sixth_j{};    ///< its first derivative / 6
  std::array<double, 3> snap_18th{};  ///< its second derivative / 18
};

/// Predicts particles at a time, and passes a job what has changed. With dt = t - t_j,
///
///   x(t) = x + dt (v + dt (a/2 + dt (j/6 + 3/4 dt s/18)))
///   v(t) = v + dt (2 a/2 + dt (3 j/6 + 3 dt s/18))
///
/// which are the Taylor series up to s, the second derivative of the acceleration (J. Makino and S.
/// Aarseth, Publ. Astron. Soc. Japan 44, 141, 1992).
class MovingSources {
 public:
  /// Sets the particle of a slot.
  void set(std::size_t slot, const MovingSource& particle);
  /// Slots 0 .. slots() - 1 exist; those that were never set hold nothing.
  std::size_t slots() const noexcept { return time_.size(); }
  /// Predicts the particles of the first n slots and updates the sources of the job: all if their
  /// number has changed, else what has changed. Throws Error (Usage) for slots that were not set,
  /// and Error (Input) for particles that are not finite.
  void predict(Job& job, double time, std::size_t n);
  /// Gives another job all sources of the last prediction.
  void resend(Job& job) const { job.sources(predicted_, arrays(0, true, true)); }

  // Of the last prediction, by slot.
  const std::array<std::vector<double>, 3>& positions() const noexcept { return at_; }
  const std::vector<std::int64_t>& ids() const noexcept { return sent_id_; }
  std::size_t predicted() const noexcept { return predicted_; }

 private:
  void grow(std::size_t n);
  void predict_range(double time, std::size_t first, std::size_t n);
  /// Arrays of the job's sources from a slot on.
  std::vector<NamedInput> arrays(std::size_t first, bool motion, bool constants) const;

  std::vector<double> time_, mass_;
  std::vector<std::int64_t> id_;
  std::array<std::vector<double>, 3> x_, v_, half_a_, sixth_j_, snap_18th_;
  std::vector<bool> is_set_;
  std::size_t unset_ = 0;                           ///< number of slots that were never set
  std::vector<std::size_t> changed_;                ///< slots set since the last prediction
  std::vector<std::size_t> pieces_;                 ///< those whose mass or id must be sent
  std::array<std::vector<double>, 3> at_, moving_;  ///< predicted positions and velocities
  std::vector<std::int64_t> sent_id_;
  std::vector<double> sent_mass_;
  double now_ = 0;
  std::size_t predicted_ = 0;  ///< number of slots of the last prediction
};

}  // namespace gdr::compat::grape
