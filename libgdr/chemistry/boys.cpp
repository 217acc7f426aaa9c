// The Boys functions on a device.
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "gdr/chemistry.hpp"
#include "gdr/error.hpp"
#include "kernels/compiler/compiler.hpp"
#include "libgdr/chemistry/hermite.hpp"
#include "libgdr/chemistry/kernel_text.hpp"

namespace gdr::chemistry {

void boys(Device& device, unsigned order, std::size_t n, const double* arguments, double* values) {
  if (order > max_total)
    throw Error(
        ErrorCategory::Usage,
        fmt::format("order {}: Boys functions of orders 0 to {} are available", order, max_total));
  std::vector<double> doubled(arguments, arguments + n);
  for (std::size_t k = 0; k < n; ++k) {
    if (!(arguments[k] >= 0) || !std::isfinite(arguments[k]))
      throw Error(ErrorCategory::Input, fmt::format("argument {} is {}, not a finite number from 0 "
                                                    "on",
                                                    k, arguments[k]));
    doubled[k] *= 2;
  }
  CompileOptions options;
  options.pipeline = false;  // it is used once
  CompileResult compiled = compile_kernel(boys_kernel(order), "boys", options);
  if (!compiled.ok()) throw Error(ErrorCategory::Internal, compiled.diagnostics.render());
  // p = q = 1, so that 2 alpha = 1, alpha r2 is half of r2, and sqrt(p + q) is that of 2.
  Job job = device.job(Kernel(std::move(*compiled.program)));
  const double one = 1;
  job.sources(1, {{"p", &one}, {"q", &one}});
  job.targets(n, {{"r2", doubled}});
  job.run({{"f[]", {values, sizeof(double)}}});
  for (std::size_t k = 0; k < n * (order + 1); ++k) values[k] *= std::numbers::sqrt2;
}

}  // namespace gdr::chemistry
