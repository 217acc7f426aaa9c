#include "grape/support.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "driver/server_process.hpp"
#include "emulator/host/isa.hpp"
#include "support/catch.hpp"

namespace grape_test {

Variable::Variable(const char* name, const std::string& value) : name_(name) {
  setenv(name, value.c_str(), 1);
}
Variable::~Variable() { unsetenv(name_); }

void for_all_devices(const std::function<void(int id, double tolerance)>& test) {
  static const driver_test::ServerProcess server({"--engine", "native"});
  static int id = 1000;
  const struct {
    std::string name;
    double tolerance;
  } devices[] = {{"emulator:engine=native", 1e-13},
                 {"emulator:engine=native,isa=avx2", 1e-13},
                 {"emulator:engine=native,isa=portable", 1e-13},
                 {"emulator:engine=vector", 1e-12},
                 {server.device(), 1e-12}};
  for (const auto& device : devices) {
    INFO("device " << device.name);
    const Variable name("GDR_DEVICE", device.name);
    test(id++, device.tolerance);
  }
}

void for_all_isas(const std::string& engine, const std::function<void(int id)>& test) {
  static int id = 5000;
  for (const gdr::Isa isa : gdr::host_isas()) {
    INFO(engine << ", " << gdr::isa_name(isa));
    const Variable name("GDR_DEVICE",
                        "emulator:engine=" + engine + ",isa=" + std::string(gdr::isa_name(isa)));
    test(id++);
  }
}

std::string messages_of(const std::function<void()>& call) {
  std::fflush(stderr);
  std::FILE* const file = std::tmpfile();
  const int saved = dup(2);
  dup2(fileno(file), 2);
  call();
  std::fflush(stderr);
  dup2(saved, 2);
  close(saved);
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

Particles random_particles(std::size_t n, unsigned seed) {
  std::mt19937_64 bits(seed);
  const auto uniform = [&] { return static_cast<double>(bits() >> 11) * 0x1p-53 - 0.5; };
  const auto vector = [&] { return Row{uniform(), uniform(), uniform()}; };
  Particles p;
  for (std::size_t k = 0; k < n; ++k) {
    p.id.push_back(static_cast<int>(k));
    p.time.push_back(0.1 * uniform());
    p.mass.push_back((1 + uniform()) / static_cast<double>(n));
    p.x.push_back(vector());
    p.v.push_back(vector());
    p.a.push_back(vector());
    p.j.push_back(vector());
    p.s.push_back(vector());
  }
  return p;
}

Particles plummer_particles(std::size_t n, unsigned seed) {
  std::mt19937_64 bits(seed);
  const auto uniform = [&] { return static_cast<double>(bits() >> 11) * 0x1p-53; };
  const auto vector_of_length = [&](double length) {
    const double z = 2 * uniform() - 1, angle = 2 * std::acos(-1.0) * uniform();
    const double across = std::sqrt(1 - z * z);
    return Row{length * across * std::cos(angle), length * across * std::sin(angle), length * z};
  };
  Particles p;
  for (std::size_t k = 0; k < n; ++k) {
    // The mass within r is (1 + r^-2)^-3/2.
    const double within = 0.999 * uniform() + 1e-6;
    const double r = 1 / std::sqrt(std::pow(within, -2.0 / 3) - 1);
    p.id.push_back(static_cast<int>(k));
    p.time.push_back(0);
    p.mass.push_back(1.0 / static_cast<double>(n));
    p.x.push_back(vector_of_length(r));
    p.v.push_back(vector_of_length(uniform() * std::sqrt(2 / std::sqrt(1 + r * r))));
    for (std::vector<Row>* derivatives : {&p.a, &p.j, &p.s}) derivatives->push_back({});
  }
  return p;
}

Motion at_time(const Particles& p, double time) {
  Motion m{p.x, p.v};
  for (std::size_t k = 0; k < p.size(); ++k) {
    const double dt = time - p.time[k];
    for (std::size_t c = 0; c < 3; ++c) {
      const double a = p.a[k][c], j = p.j[k][c], s = p.s[k][c];
      m.x[k][c] +=
          p.v[k][c] * dt + a * dt * dt / 2 + j * std::pow(dt, 3) / 6 + s * std::pow(dt, 4) / 24;
      m.v[k][c] += a * dt + j * dt * dt / 2 + s * std::pow(dt, 3) / 6;
    }
  }
  return m;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return INFINITY;
  double most = 0, size = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (!std::isfinite(a[k])) return INFINITY;
    most = std::max(most, std::abs(a[k] - b[k]));
    size = std::max(size, std::abs(b[k]));
  }
  return size > 0 ? most / size : most;
}

double difference(const std::vector<Row>& a, const std::vector<Row>& b) {
  std::vector<double> flat_a, flat_b;
  for (const Row& r : a) flat_a.insert(flat_a.end(), r.begin(), r.end());
  for (const Row& r : b) flat_b.insert(flat_b.end(), r.begin(), r.end());
  return difference(flat_a, flat_b);
}

double rms_error(const std::vector<Row>& got, const std::vector<Row>& right) {
  double sum = 0;
  for (std::size_t k = 0; k < right.size(); ++k) {
    double error = 0, size = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      error += std::pow(got[k][c] - right[k][c], 2);
      size += std::pow(right[k][c], 2);
    }
    sum += error / size;
  }
  return std::sqrt(sum / static_cast<double>(right.size()));
}

double rms_error(const std::vector<double>& got, const std::vector<double>& right) {
  double sum = 0;
  for (std::size_t k = 0; k < right.size(); ++k) sum += std::pow(got[k] / right[k] - 1, 2);
  return std::sqrt(sum / static_cast<double>(right.size()));
}

}  // namespace grape_test
