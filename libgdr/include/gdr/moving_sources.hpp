// Sources that move: polynomials of time, predicted for each run of a job.
//
//   gdr::Job job = device.job(gdr::Kernel::builtin("gravity_jerk_long"));
//   gdr::MovingSources sources;
//   sources.set(k, {.time = t_k, .mass = m_k, .id = k, .x = ..., .v = ..., .half_a = ...});
//   sources.predict(job, t, n);  // the sources of the job are particles 0 .. n - 1 at time t
//   job.run(results);
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gdr/device.hpp"

namespace gdr {
namespace detail {

/// The polynomials of eight slots side by side, which MovingSources reads as one stream.
struct alignas(64) MovingSourceBlock {
  static constexpr std::size_t slots = 8;
  using Values = std::array<double, slots>;
  Values time{};
  std::array<Values, 3> x{}, v{}, half_a{}, sixth_j{}, snap_18th{};
};

/// Columns of doubles of equal length that begin at cache lines, whose first rows are in different
/// sets of a cache. A copy may begin elsewhere.
class LineColumns {
 public:
  explicit LineColumns(std::size_t columns) : columns_(columns) {}
  /// Sets the number of rows; those that remain keep their values.
  void resize(std::size_t rows);
  std::size_t rows() const noexcept { return rows_; }
  double* operator[](std::size_t column) noexcept { return values_.data() + place(column); }
  const double* operator[](std::size_t column) const noexcept {
    return values_.data() + place(column);
  }

 private:
  std::size_t place(std::size_t column) const noexcept { return begin_ + column * pitch_; }
  std::size_t columns_, rows_ = 0, begin_ = 0, pitch_ = 0;
  std::vector<double> values_;
};

}  // namespace detail

/// A particle at a time of its own, with the coefficients of its polynomial.
struct MovingSource {
  double time = 0;  ///< time at which the coefficients hold
  double mass = 0;
  std::int64_t id = 0;
  std::array<double, 3> x{}, v{};     ///< position, velocity
  std::array<double, 3> half_a{};     ///< acceleration / 2
  std::array<double, 3> sixth_j{};    ///< first derivative of the acceleration / 6
  std::array<double, 3> snap_18th{};  ///< second derivative of the acceleration / 18
};

/// The `jvar`s of a kernel that hold a particle. An empty name: the kernel has no such variable.
struct MovingSourceNames {
  std::array<std::string, 3> x{"xj", "yj", "zj"};
  std::array<std::string, 3> v{"vxj", "vyj", "vzj"};
  std::string mass = "mj", id = "idj";
  std::string slot{};  ///< number of the slot; by default none
  // Of kernels that predict, such as gravity_jerk_moving.
  std::string now = "time";  ///< the parameter with the time of the run
  std::string time = "tj";
  std::array<std::string, 3> half_a{"a2xj", "a2yj", "a2zj"};
  std::array<std::string, 3> sixth_j{"j6xj", "j6yj", "j6zj"};
  std::array<std::string, 3> snap_18th{"s18xj", "s18yj", "s18zj"};
};

/// The prediction stage of individual time steps: particles in numbered slots, each with a time of
/// its own, are moved to a common time before a run. With dt = t - time,
///
///   x(t) = x + dt (v + dt (a/2 + dt (j/6 + 3/4 dt s/18)))
///   v(t) = v + dt (2 a/2 + dt (3 j/6 + 3 dt s/18))
///
/// which are the Taylor series up to s, the second derivative of the acceleration (J. Makino and S.
/// Aarseth, Publ. Astron. Soc. Japan 44, 141, 1992). The host predicts, with the same bits on every
/// instruction set, and sends all particles for each new time; or the device does, in a kernel made
/// for it, and gets the time and the particles that were set since. Must be used by one thread at a
/// time.
class MovingSources {
 public:
  explicit MovingSources(MovingSourceNames names = {}) : names_(std::move(names)) {}
  /// Names the variable for slot numbers of the kernel of the next job; empty: it has none.
  void name_slots(std::string name) { names_.slot = std::move(name); }
  /// Whether the kernel of the next job predicts: it has the variables of the polynomials. Such a
  /// kernel computes longer, but its sources move without a transfer: good for boards, few targets
  /// and many sources.
  void predict_on_device(bool on) { on_device_ = on; }

  /// Sets the particle of a slot. Slots may be set in any order.
  void set(std::size_t slot, const MovingSource& particle);
  /// The particle of a slot, as it was set last. The slot must have been set.
  MovingSource get(std::size_t slot) const;
  bool is_set(std::size_t slot) const noexcept { return slot < is_set_.size() && is_set_[slot]; }
  /// Slots 0 .. slots() - 1 exist; those that were never set hold nothing.
  std::size_t slots() const noexcept { return slots_; }
  /// Makes the particles of the first n slots, at a time, the sources of the job. If job, time and
  /// n are those of the last call, only particles that were set since are sent; so nothing else may
  /// change the sources of the job.
  /// Throws Error (Usage) for slots that were not set and for a kernel without the variables,
  /// Error (Input) for a time or particles that are not finite, and the errors of Job::sources.
  void predict(Job& job, double time, std::size_t n);
  /// predict(), then job.run(results), in one step: on an emulated board each thread predicts the
  /// particles that it then converts. Throws what both do; after an error the job may have no
  /// sources.
  void run(Job& job, double time, std::size_t n, std::span<const NamedResult> results);
  /// Throws the Error (Usage) or (Input) of predict() for a time that is not finite, or slots that
  /// were not set.
  void require(double time, std::size_t n);
  /// Gives another job, of a kernel that does not predict, the sources of the last prediction.
  void resend(Job& job);
  /// Makes positions() and velocities() those of the last prediction, if the device has made it.
  void predict_on_host();

  // Of the last prediction by the host, by slot; the arrays are longer. Setting a particle of a new
  // slot invalidates them.
  std::array<std::span<const double>, 3> positions() const noexcept { return predicted_columns(0); }
  std::array<std::span<const double>, 3> velocities() const noexcept {
    return predicted_columns(3);
  }
  const std::vector<std::int64_t>& ids() const noexcept { return id_; }
  std::size_t predicted() const noexcept { return predicted_; }

 private:
  void grow(std::size_t n);
  /// Calls send(resident), where `resident` is whether the job has the particles at this time, and
  /// records the prediction.
  template <typename Send>
  void predict_by(Job& job, double time, std::size_t n, Send send);
  void send(Job& job, double time, std::size_t n, bool resident);
  void sort_changes();
  void drop_replaced_changes();
  void store_changes(std::size_t first, std::size_t n);
  std::array<std::span<const double>, 3> predicted_columns(std::size_t first) const noexcept;
  void predict_range(double time, std::size_t first, std::size_t n);
  std::function<void(std::size_t first, std::size_t n)> filler(double time);
  /// Arrays of a job's predicted sources from a slot on, valid until the next call.
  std::span<const NamedInput> arrays(std::size_t first);
  /// Arrays of the polynomials of n slots, which the next call overwrites.
  std::vector<NamedInput> polynomials(std::size_t first, std::size_t n);
  /// Calls send(first, n) for ranges with the slots before `end` that were set.
  template <typename Send>
  void send_changed(std::size_t end, Send send);

  MovingSourceNames names_;
  std::size_t slots_ = 0;
  // Of the last prediction, by slot.
  std::vector<detail::MovingSourceBlock> blocks_;
  std::vector<double> mass_;
  std::vector<std::int64_t> id_, slot_;   ///< slot_: 0, 1, 2, ...
  detail::LineColumns at_and_moving_{6};  ///< predicted positions and velocities
  /// What was set since; of several particles of a slot, the last one counts.
  struct Change {
    std::size_t slot, particle;
    auto operator<=>(const Change&) const = default;
  };
  std::vector<Change> changes_;
  std::vector<MovingSource> particles_;
  std::vector<bool> is_set_;
  std::size_t first_unset_ = 0;  ///< slots before it have been set
  const Job* job_ = nullptr;     ///< job of the last prediction
  double now_ = 0;
  std::size_t predicted_ = 0;  ///< number of slots of the last prediction
  bool on_device_ = false;
  bool was_on_device_ = false;       ///< whether the device made the last prediction
  std::vector<double> polynomials_;  ///< columns for a transfer
  std::vector<NamedInput> arrays_;
};

}  // namespace gdr
