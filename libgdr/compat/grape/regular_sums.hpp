// Loops over pairs for regular forces with neighbour lists, in this host's doubles.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>

#include "emulator/host/isa.hpp"

namespace gdr::compat::grape {

/// Sources of a vector, and of what loops over sources take at a time: columns are padded to it.
constexpr std::size_t sources_together = 8;

/// Columns as loops take them.
struct RegularSources {
  const double *x[3] = {}, *v[3] = {}, *mass = nullptr;
};

/// Coordinates and masses of particles, one column for each, aligned for vectors. The padding has
/// no mass, and is at an infinite distance from everything.
class SourceColumns {
 public:
  enum Column : unsigned char { X, Y, Z, Vx, Vy, Vz, Mass, columns };

  /// Copies n particles. Whether all values are finite: if not, there are no particles.
  bool assign(std::size_t n, const double* mass, const double (*x)[3], const double (*v)[3]);
  std::size_t size() const noexcept { return n_; }
  std::size_t padded_size() const noexcept { return length_; }
  const double* operator[](Column column) const noexcept { return at(column); }
  RegularSources all() const noexcept {
    return {{at(X), at(Y), at(Z)}, {at(Vx), at(Vy), at(Vz)}, at(Mass)};
  }

 private:
  struct Deleter {
    void operator()(double* values) const { ::operator delete[](values, std::align_val_t(64)); }
  };
  double* at(std::size_t column) const noexcept { return values_.get() + column * capacity_; }

  std::size_t n_ = 0, length_ = 0;
  std::size_t capacity_ = 0;  ///< capacity of a column
  std::unique_ptr<double[], Deleter> values_;
};

/// A particle whose sums are wanted. A source is its neighbour if the square of their distance, now
/// or after dt on straight lines, is less than h2, or by mass than h2 times the mass of the source.
struct RegularTarget {
  double x[3] = {}, v[3] = {};
  double h2 = 0, dt = 0;
};

/// Numbers of neighbours, as far as there is room for them.
struct NearList {
  int* numbers = nullptr;
  std::size_t capacity = 0, count = 0;
};

/// Partial sums: acceleration, its derivative and potential, each in the lanes of vectors.
struct alignas(64) PartialSums {
  double lane[7][sources_together] = {};
  /// The sum over the lanes of each.
  std::array<double, 7> total() const;
};

/// Adds the sources of a range of whole vectors to the sums of a target, but for neighbours, which
/// are appended to the list, and sources that are closer than 1e-154.
using RegularLoop = void (*)(const RegularSources& sources, std::size_t first, std::size_t last,
                             const RegularTarget& target, PartialSums& sums, NearList& near);

/// The loops for an instruction set; rounding differs between them, but for neighbours.
struct RegularLoops {
  RegularLoop by_radius, by_mass;
};
const RegularLoops& regular_loops(Isa isa) noexcept;
const RegularLoops& regular_loops_avx2() noexcept;
/// `with_root`: with the instruction for square roots, else with steps after an estimate.
const RegularLoops& regular_loops_avx512(bool with_root) noexcept;

}  // namespace gdr::compat::grape
