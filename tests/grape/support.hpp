// The devices of the conformance tests, messages on standard error, and particles.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace grape_test {

using Row = std::array<double, 3>;

/// An array of rows as the C interfaces take it.
inline double (*rows(std::vector<Row>& v))[3] { return reinterpret_cast<double(*)[3]>(v.data()); }
inline double* row(const Row& r) { return const_cast<double*>(r.data()); }

/// Calls test(id, tolerance) with the device of GDR_DEVICE set to a native, an exact and a board
/// device, one after the other. `id` is a device id that no other call has used.
void for_all_devices(const std::function<void(int id, double tolerance)>& test);

/// What a call writes on standard error.
std::string messages_of(const std::function<void()>& call);

/// Sets an environment variable while it lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value);
  ~Variable();
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

/// Particles with all derivatives, each with a time of its own.
struct Particles {
  std::vector<int> id;
  std::vector<double> time, mass;
  std::vector<Row> x, v, a, j, s;
  std::size_t size() const { return id.size(); }
};
Particles random_particles(std::size_t n, unsigned seed);
/// A Plummer sphere of equal masses, total mass and scale length one, at rest at time 0 but for
/// velocities of the size of its own.
Particles plummer_particles(std::size_t n, unsigned seed);

/// Positions and velocities at a time, by Taylor series.
struct Motion {
  std::vector<Row> x, v;
};
Motion at_time(const Particles& p, double time);

/// Differences relative to the largest magnitude.
double difference(const std::vector<Row>& a, const std::vector<Row>& b);
double difference(const std::vector<double>& a, const std::vector<double>& b);

/// The root of the mean square of relative errors, of vectors or numbers.
double rms_error(const std::vector<Row>& got, const std::vector<Row>& right);
double rms_error(const std::vector<double>& got, const std::vector<double>& right);

/// Calls test() with GDR_DEVICE set to an emulator with this engine, for every instruction set of
/// the host. `id` is a device id that no other call has used.
void for_all_isas(const std::string& engine, const std::function<void(int id)>& test);

}  // namespace grape_test
