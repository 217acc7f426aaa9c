// The i-particles of a calculation of libg6.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gdr/device.hpp"

namespace gdr::compat::grape {

using Row = double[3];

/// The arrays of a client.
struct Targets {
  int count = 0;
  const int* index = nullptr;
  const Row *x = nullptr, *v = nullptr;
  const double* eps2 = nullptr;
  bool one_eps2 = true;  ///< whether all have one, else each its own
  const double* h2 = nullptr;
};

/// Throws Error (Usage) for null pointers, and for a softening that is not finite or negative.
/// Returns the number of i-particles.
std::size_t checked_targets(const Targets& targets);

/// A copy of them: clients change their arrays before they ask for lists.
class KeptTargets {
 public:
  void keep(const Targets& targets, std::size_t n);
  /// Drops all, and the squares of radii.
  void clear() noexcept;

  std::size_t count() const noexcept { return count_; }
  const std::array<double, 3>& x(std::size_t i) const noexcept { return x_[i]; }
  std::int64_t id(std::size_t i) const noexcept { return id_[i]; }
  double eps2(std::size_t i) const noexcept { return eps2_[i]; }
  /// Squares of radii for lists, if the client gave some.
  bool have_radii() const noexcept { return !h2_.empty(); }
  double h2(std::size_t i) const noexcept { return h2_[i]; }
  const double* all_eps2() const noexcept { return eps2_.data(); }

  /// Inputs of all kernels: positions, velocities and ids.
  void add_inputs(std::vector<NamedInput>& to) const;

 private:
  std::size_t count_ = 0;
  std::vector<std::array<double, 3>> x_, v_;
  std::vector<std::int64_t> id_;
  std::vector<double> eps2_, h2_;
};

}  // namespace gdr::compat::grape
