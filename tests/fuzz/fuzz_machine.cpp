// Machine files: any bytes give a machine whose values lie in their ranges, or an Error (Input);
// a machine is unchanged when written and read again; jobs on it give a time or an error.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/check.hpp"
#include "gdr/error.hpp"
#include "gdr/kernel.hpp"
#include "libgdr/predict/jobs.hpp"
#include "libgdr/predict/machine_file.hpp"

namespace {

using fuzz::check;
using namespace gdr::predict;

void check_values(const Machine& machine) {
  for (const KeyInfo& info : key_table()) {
    const double x = machine[info.key];
    check(x >= info.least && x <= info.most, "values lie in their ranges");
    check(!info.whole || x == std::floor(x), "counts are whole");
  }
}

void check_round_trip(const Machine& machine) {
  const Machine again = parse_machine(machine_json(machine), "again");
  check(again.name == machine.name, "the name comes back");
  for (const KeyInfo& info : key_table())
    check(again[info.key] == machine[info.key], "values come back");
}

/// Predicts a job on the machine, which may be an error.
template <typename Job>
void check_job(const Job& job) {
  try {
    const Prediction p = job();
    check(std::isfinite(p.seconds) && p.seconds > 0, "a job takes time");
  } catch (const gdr::Error& error) {
    check(error.category() != gdr::ErrorCategory::Internal, "a refusal is no defect");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const gdr::Kernel gravity = gdr::Kernel::builtin("gravity");
  const std::string text(reinterpret_cast<const char*>(data), size);
  Machine machine;
  try {
    machine = parse_machine(text, "fuzz");
  } catch (const gdr::Error& error) {
    check(error.category() == gdr::ErrorCategory::Input, "a bad file is an Error (Input)");
    check(std::string_view(error.what()).substr(0, 4) == "fuzz", "an error names the file");
    return 0;
  }
  check_values(machine);
  check_round_trip(machine);
  check_job([&] {
    const KernelShape shape = kernel_shape(gravity, machine.geometry());
    return predict_particles(machine, shape, {1000, 1000});
  });
  check_job([&] { return predict_product(machine, 600, 500, 400); });
  check_job([&] {
    HplJob job;
    job.n = 3000;
    job.rows = machine.nodes() > 1 ? 2 : 1;
    return predict_hpl(machine, job);
  });
  return 0;
}
