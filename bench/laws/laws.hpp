// Pair laws of the library's kernels in long double, written independently of the kernels, and
// direct sums: the reference for errors of the kernels.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gdr/device.hpp"
#include "gdr/kernel.hpp"

namespace gdr::bench {

using Real = long double;

/// Particles: one column of n values for each property. A kernel's variable finds its column by its
/// own name, or by its name without the i or j at the end: xi and xj both are "x".
struct Sample {
  std::size_t n = 0;
  std::map<std::string, std::vector<double>, std::less<>> columns;

  /// The first `count` particles.
  Sample first(std::size_t count) const;
  /// Throws Error (Internal) for a property that the sample lacks.
  const std::vector<double>& of(std::string_view variable) const;
};

/// Results of n targets, a column for each result in the order of their declaration.
using Columns = std::vector<std::vector<double>>;

/// A result, or several that are the components of a vector.
struct Quantity {
  std::string_view name;
  std::size_t first = 0, count = 1;
};

/// Errors of one quantity in units of its root mean square over the targets; a vector's error is
/// the length of the difference.
struct LawError {
  std::string_view quantity;
  double rms = 0, largest = 0;
};

/// The contribution of one source to the results of one target. The arguments hold the values of
/// the kernel's targets, sources and parameters, and its results, each in the order of declaration.
using PairLaw = void (*)(const Real* i, const Real* j, const Real* c, Real* f);

struct Law {
  std::string_view kernel;
  std::vector<std::pair<std::string_view, double>> parameters;
  std::vector<Quantity> quantities;
  Sample (*sample)(std::size_t n, std::uint64_t seed);
  PairLaw pair;
  double limit = 2e-7;          ///< limit of the rms error of exact numerics
  double native_limit = 2e-14;  ///< limit for fast numerics in doubles
};

/// One for each kernel of the library that works on pairs of particles.
const std::vector<Law>& laws();
/// Throws Error (Internal) if there is none.
const Law& law_of(std::string_view kernel);

/// A job of a law's kernel that may run many times.
class LawJob {
 public:
  LawJob(Device& device, const Kernel& kernel, const Law& law, Sample targets,
         const Sample& sources);
  /// Gives the targets and runs the job.
  void run();
  /// Of the last run.
  Columns results() const;

 private:
  // Inputs and results refer to these.
  Kernel kernel_;
  Sample targets_;
  std::vector<KernelVariable> variables_;  ///< results
  std::vector<std::vector<std::int64_t>> integers_, counts_;
  Job job_;
  std::vector<NamedInput> inputs_;
  Columns found_;
  std::vector<NamedResult> named_;
};

/// The kernel's results.
Columns run_law(Device& device, const Kernel& kernel, const Law& law, const Sample& targets,
                const Sample& sources);
/// The direct sum in long double.
Columns direct_law(const Kernel& kernel, const Law& law, const Sample& targets,
                   const Sample& sources);
std::vector<LawError> compare(const Law& law, const Columns& found, const Columns& right);

// The tables that laws() joins, by field.
std::vector<Law> gravity_laws();
std::vector<Law> molecular_laws();
std::vector<Law> fluid_laws();

/// A star cluster: Gaussian positions, velocities and accelerations; masses over two decades.
Sample cluster(std::size_t n, std::uint64_t seed);
/// A perturbed crystal of spacing 1.1 with two species and charges, and the properties of a gas for
/// SPH: velocities, smoothing lengths, pressures, densities.
Sample crystal(std::size_t n, std::uint64_t seed);

/// Three components, for pair laws that read like their formulas.
struct Vec {
  Real x = 0, y = 0, z = 0;
  static Vec at(const Real* p) { return {p[0], p[1], p[2]}; }
  void add_to(Real* p) const {
    p[0] += x;
    p[1] += y;
    p[2] += z;
  }
};
inline Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec operator*(Real s, Vec a) { return {s * a.x, s * a.y, s * a.z}; }
inline Real dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

}  // namespace gdr::bench
