// What the libraries for NBODY6 share: regular forces with neighbour lists, and potentials. Their
// functions differ in the criterion of neighbours, in overflows, and in arguments.
#pragma once

#include <algorithm>
#include <cstddef>

namespace gdr::compat::grape {

/// A vector as clients pass it.
using Row = double[3];

/// The arguments of gpunb_regf_. A pair is left out of the sums and listed if the square of its
/// distance, now or after dt on straight lines, is less than h2, or with `by_mass` than h2 times
/// the mass of the j-particle.
struct RegularRequest {
  std::size_t n = 0;
  const double *h2 = nullptr, *dt = nullptr;
  const Row *x = nullptr, *v = nullptr;
  Row *acc = nullptr, *jerk = nullptr;
  double* pot = nullptr;
  int* list = nullptr;
  bool by_mass = false;
  bool counts_overflow = false;  ///< whether a list that is too long begins with -count, else -1
  std::size_t row_length = 0, capacity = 0;
};

/// Writes the list of target i.
template <typename Number>
void leave_list(const RegularRequest& r, std::size_t i, std::size_t count, const Number* found) {
  int* const list = r.list + i * r.row_length;
  const auto number = static_cast<int>(count);
  if (count <= r.capacity) {
    list[0] = number;
    std::copy_n(found, count, list + 1);
  } else {
    list[0] = r.counts_overflow ? -number : -1;
  }
}

/// The arguments of gpupot_: potentials of `count` of n particles, from number `first` on.
struct PotentialRequest {
  std::size_t n = 0, first = 0, count = 0;
  const double* mass = nullptr;
  const Row* x = nullptr;
  double* pot = nullptr;
};

/// Each is the body of a function: 0, or after an error -1 and a message. Counts by their addresses
/// are checked, and set those of a request.
int open_regular();
int close_regular();
int send_regular(const int* nj, const double* mass, const Row* x, const Row* v);
int run_regular(RegularRequest request, const int* ni, const int* lmax, const int* nbmax);
int run_potentials(const PotentialRequest& request);
int run_potentials(const int* n, const double* mass, const Row* x, double* pot);

}  // namespace gdr::compat::grape
