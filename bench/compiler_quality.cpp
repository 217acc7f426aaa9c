// What the kernel compiler makes of the library's kernels and of random ones at default effort.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "bench/measurement.hpp"
#include "gdr/chemistry.hpp"
#include "gdr/error.hpp"
#include "kernels/compiler/compiler.hpp"

namespace gdr::bench {
namespace {

struct Compilation {
  CompileResult result;
  double cpu_seconds = 0;
};

Compilation compile(const std::string& text, const std::string& name, bool pipeline = true) {
  CompileOptions options;
  options.cache = false;
  options.pipeline = pipeline;
  const std::clock_t start = std::clock();
  Compilation c{compile_kernel(text, name, options), 0};
  c.cpu_seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  if (!c.result.ok())
    throw Error(ErrorCategory::Internal, name + ": " + c.result.diagnostics.render());
  return c;
}

/// Random kernels of about 10 to 150 operations: a chain of products, sums and functions of
/// differences of positions and earlier values.
class RandomKernel {
 public:
  explicit RandomKernel(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    const std::size_t statements = 3 + below(32), results = 1 + below(7);
    std::string text = "CONST k, c; VARI x, y, z, h; VARJ xs, ys, zs, m, q; VARF f0";
    for (std::size_t i = 1; i < results; ++i) text += fmt::format(", f{}", i);
    text += ";\ndx = xs - x; dy = ys - y; dz = zs - z;\n";
    if (below(4) == 0) text += "skip if (dx*dx + dy*dy > k);\n";
    for (; temporaries_ < statements; ++temporaries_)
      text +=
          fmt::format("{}t{} = {};\n", below(12) == 0 ? "long " : "", temporaries_, operation());
    for (std::size_t i = 0; i < results; ++i)
      text += fmt::format("f{} += t{}*{};\n", i,
                          temporaries_ - 1 - std::min(temporaries_ - 1, 2 * i), operand());
    return text;
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }

  std::string operand() {
    constexpr std::array<const char*, 8> inputs{"dx", "dy", "dz", "m", "q", "h", "k", "c"};
    if (temporaries_ == 0 || below(10) >= 7) return inputs[below(inputs.size())];
    return fmt::format("t{}", temporaries_ - 1 - std::min(temporaries_ - 1, below(8)));
  }

  std::string operation() {
    const std::string a = operand(), b = operand(), c = operand(), d = operand();
    switch (below(14)) {
      case 0:
        return fmt::format("rsqrt({}*{} + 0.5)", a, b);
      case 1:
        return fmt::format("recip({}*{} + 1.5)", a, b);
      case 2:
        return fmt::format("max({}, {})", a, b);
      case 3:
      case 4:
      case 5:
      case 6:
        return fmt::format("{}*{}", a, b);
      case 7:
      case 8:
        return fmt::format("{} + {}", a, b);
      case 9:
        return fmt::format("{} - {}", a, b);
      case 10:
        return fmt::format("{}*{} + {}", a, b, c);
      case 11:
        return fmt::format("{}*({} - {})", a, b, c);
      case 12:
        return below(3) > 0 ? fmt::format("{}*{}*{}", a, b, c) : fmt::format("exp(-abs({}))", a);
      default:
        return below(3) > 0 ? fmt::format("1.5*{} - {}", a, b)
                            : fmt::format("({} < {} ? {} : {})", a, b, c, d);
    }
  }

  std::mt19937_64 random_;
  std::size_t temporaries_ = 0;
};

/// Required clocks of library kernels.
struct Required {
  const char* kernel;
  double clocks;
};
constexpr Required required_clocks[] = {
    {"gravity_potential", 20}, {"lennard_jones", 23}, {"gravity_jerk", 37}, {"gravity_nearest", 50},
    {"gravity_snap", 84},      {"gravity_1pn", 55},   {"sph_force", 70},    {"morse", 53}};

/// The longest compilation of a Coulomb kernel for engines that need no schedule.
Measurement longest_without_schedule() {
  Measurement longest{.name = "Coulomb kernels, longest compilation without a schedule",
                      .unit = "CPU s",
                      .required = 0.05,
                      .lower_is_better = true};
  constexpr unsigned most = 4;  // of a pair of d shells, in two parts
  for (unsigned i = 0; i <= most; ++i)
    for (unsigned j = 0; j <= most; ++j)
      for (unsigned part = 0; part <= i / most; ++part) {
        const Compilation c = compile(chemistry::kernel_text(i, j, part), "coulomb", false);
        if (c.cpu_seconds <= longest.value) continue;
        longest.value = c.cpu_seconds;
        longest.comment =
            fmt::format("({}|{}), {} instructions", i, j, c.result.initiation_interval);
      }
  return longest;
}

}  // namespace

std::vector<Measurement> compiler_quality(const Context& context) {
  std::vector<Measurement> found;
  for (const Required& r : required_clocks) {
    const std::filesystem::path sources = data_folder(context) / "../../kernels";
    std::ifstream file(sources / "particle" / (std::string(r.kernel) + ".gdk"));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file || text.empty())
      throw Error(ErrorCategory::Io,
                  fmt::format("cannot read the kernel {} in {}: run the benchmark "
                              "in the source folder, or use --data",
                              r.kernel, sources.string()));
    const Compilation c = compile(text, r.kernel);
    found.push_back(
        {.name = fmt::format("{}, compiled at default effort", r.kernel),
         .value = c.result.program->clocks_per_interaction(),
         .unit = "clocks",
         .comment = fmt::format("lower bound of the interval {}", c.result.min_interval),
         .required = r.clocks,
         .lower_is_better = true});
    found.push_back({.name = fmt::format("{}, compile time", r.kernel),
                     .value = c.cpu_seconds,
                     .unit = "CPU s",
                     .required = 2,
                     .lower_is_better = true});
  }
  found.push_back(longest_without_schedule());
  constexpr std::uint64_t kernels = 300;
  std::vector<double> ratios;
  double longest = 0, unpipelined = 0;
  for (std::uint64_t k = 0; k < kernels; ++k) {
    const Compilation c = compile(RandomKernel(context.seed * 1000 + k).text(), "random");
    ratios.push_back(static_cast<double>(c.result.initiation_interval) / c.result.min_interval);
    longest = std::max(longest, c.cpu_seconds);
    if (!c.result.pipelined) ++unpipelined;
  }
  std::ranges::sort(ratios);
  const std::string what = fmt::format("{} random kernels", kernels);
  found.push_back({.name = what + ", median of the interval relative to its lower bound",
                   .value = ratios[ratios.size() / 2],
                   .required = 1.08,
                   .lower_is_better = true});
  found.push_back({.name = what + ", the same at 90 %", .value = ratios[ratios.size() * 9 / 10]});
  found.push_back({.name = what + ", without a pipelined loop",
                   .value = unpipelined,
                   .required = 0,
                   .lower_is_better = true});
  found.push_back({.name = what + ", longest compile time",
                   .value = longest,
                   .unit = "CPU s",
                   .required = 3,
                   .lower_is_better = true});
  return found;
}

}  // namespace gdr::bench
