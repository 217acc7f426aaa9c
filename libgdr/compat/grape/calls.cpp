#include "libgdr/compat/grape/calls.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "emulator/engine/api/capabilities.hpp"
#include "emulator/host/parse_number.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/names.hpp"

namespace gdr::compat::grape {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

void print_error(const char* function, const char* what) {
  static std::mutex mutex;
  static std::string& last = *new std::string;  // still there when the process ends
  std::string message = std::string("gdr: ") + function + ": " + what + "\n";
  const std::scoped_lock lock(mutex);
  if (message == last) return;
  std::fputs(message.c_str(), stderr);
  last = std::move(message);
}

std::shared_ptr<Device> open_device() {
  const std::string name(variable("GDR_DEVICE"));
  if (name.starts_with("mpi"))
    throw Error(ErrorCategory::Unsupported,
                "GDR_DEVICE is \"" + name +
                    "\": devices of several ranks need collective calls; use one device per rank");
  if (parse_device_name(name, {}).kind == "emulator")
    return std::make_shared<Device>(Device::open(name));
  static std::mutex mutex;
  static std::weak_ptr<Device>& shared = *new std::weak_ptr<Device>;
  const std::scoped_lock lock(mutex);
  std::shared_ptr<Device> device = shared.lock();
  if (!device) shared = device = std::make_shared<Device>(Device::open(name));
  return device;
}

bool computes_in_floats(const Device& device) {
  return numbers_of(device.statistics().engine) == EngineNumbers::Floats;
}

std::optional<Isa> isa_of_host_doubles(const Device& device) {
  const Statistics statistics = device.statistics();
  const bool is_here = parse_device_name(variable("GDR_DEVICE"), {}).kind == "emulator";
  const Capabilities engine = capabilities_of(statistics.engine);
  if (!is_here || engine.numbers != EngineNumbers::Doubles || engine.uses_gpu) return std::nullopt;
  return find_isa(statistics.isa);
}

int environment_number(const char* name, int otherwise, int least, int most) {
  const std::string_view text = variable(name);
  if (text.empty()) return otherwise;
  const auto value = parse_all<int>(text);
  if (!value || *value < least || *value > most)
    throw Error(ErrorCategory::Usage, std::string(name) + " is \"" + std::string(text) +
                                          "\"; must be a number from " + std::to_string(least) +
                                          " to " + std::to_string(most));
  return *value;
}

std::string number_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

void require_finite_input(const double* values, std::size_t n, std::size_t stride,
                          const char* name) {
  for (std::size_t k = 0; k < n; ++k)
    if (const double value = values[k * stride]; !std::isfinite(value))
      throw Error(ErrorCategory::Input, "\"" + std::string(name) + "\"[" + std::to_string(k) +
                                            "] is " +
                                            (std::isnan(value) ? "not a number" : "infinite") +
                                            "; all values must be finite");
}

void require_finite_rows(const double (*rows)[3], std::size_t n,
                         const std::array<const char*, 3>& names) {
  for (std::size_t k = 0; n > 0 && k < 3; ++k) require_finite_input(rows[0] + k, n, 3, names[k]);
}

void require_finite_results(const double* values, std::size_t n, std::size_t width,
                            const char* what) {
  // A product with 0 is not 0 for values that are not finite.
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t k = 0; k < n * width; ++k) sum += 0 * values[k];
  if (sum == 0) return;
  std::size_t k = 0;
  while (std::isfinite(values[k])) ++k;
  throw Error(ErrorCategory::Input, "the " + std::string(what) + " of i-particle " +
                                        std::to_string(k / width) +
                                        " is not finite: positions or masses are too large, or a "
                                        "j-particle is too close");
}

void throw_null(const char* name) {
  throw Error(ErrorCategory::Usage, std::string(name) + " is a null pointer");
}

std::size_t checked_count(int count, const char* what, int most) {
  if (count < 0 || count > most)
    throw Error(ErrorCategory::Usage,
                "the number of " + std::string(what) + " is " + std::to_string(count) +
                    (count < 0 ? "" : "; at most " + std::to_string(most) + " are possible"));
  return static_cast<std::size_t>(count);
}

}  // namespace gdr::compat::grape
