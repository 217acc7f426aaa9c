#include "bench/gpu_code/texts.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <vector>

#include "bench/gpu_code/run_tool.hpp"
#include "bench/laws/laws.hpp"
#include "emulator/host/parse_number.hpp"
#include "emulator/isa/program.hpp"
#include "gdr/matrix.hpp"

namespace gdr::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t particles = 64, matrix_size = 64;

/// A variable of the environment, set as long as this lives.
class SetVariable {
 public:
  SetVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* const old = std::getenv(name)) {
      was_set_ = true;
      old_ = old;
    }
    setenv(name, value.c_str(), 1);
  }
  SetVariable(const SetVariable&) = delete;
  ~SetVariable() {
    if (was_set_)
      setenv(name_, old_.c_str(), 1);
    else
      unsetenv(name_);
  }

 private:
  const char* name_;
  bool was_set_ = false;
  std::string old_;
};

/// The texts that the device compiles during `work`, in their order; none for what it does not
/// support.
template <typename Work>
std::vector<std::string> texts_of(const Context& context, std::string_view engine,
                                  const Work& work) {
  const WorkFolder folder;
  const SetVariable pairs("GDR_GPU_PAIRS", "0"), to("GDR_GPU_TEXT", folder.path().string());
  Device device = open_device(context, engine);
  work(device);
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder.path())) paths.push_back(entry.path());
  std::ranges::sort(paths, {}, [](const fs::path& p) { return std::stoul(p.stem().string()); });
  std::vector<std::string> texts;
  for (const fs::path& path : paths) {
    std::ifstream file(path);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

double number_after(const std::string& text, const std::regex& pattern) {
  double most = 0;
  for (std::sregex_iterator m(text.begin(), text.end(), pattern), end; m != end; ++m)
    most = std::max(most, parse_all<double>((*m)[1].str()).value_or(0));
  return most;
}

/// Of a thread's pass.
double interactions_of(std::string_view engine, const Kernel& kernel, const std::string& text) {
  const Program& program = kernel.program();
  if (engine == "gpu-exact")  // a thread has one target, or all of its PE
    return program.group *
           (text.find("one element of a PE") != std::string::npos ? 1.0 : program.elements);
  // Floats may have groups of fewer sources. The loop without rare conditions has several
  // iterations.
  static const std::regex words(R"(source \+= (\d+);)"), iterations(R"(remaining >= (\d+)u)");
  const auto variables =
      std::ranges::count(kernel.variables(), Role::Source, &KernelVariable::role);
  const double sources = number_after(text, words) / static_cast<double>(variables);
  return std::max(1.0, std::min<double>(program.group, std::floor(sources))) *
         number_after(text, iterations);
}

}  // namespace

LoopText loop_text(const Context& context, std::string_view engine, const Kernel& kernel) {
  const Law& law = law_of(kernel.name());
  const Sample sample = law.sample(particles, context.seed);
  const auto texts = texts_of(
      context, engine, [&](Device& device) { run_law(device, kernel, law, sample, sample); });
  // Not the program for sources of gpu-exact, nor those for parts of a target's iterations.
  const auto loop = std::ranges::find_if(texts.rbegin(), texts.rend(), [](const std::string& t) {
    return t.find("ulong iterations") != std::string::npos &&
           t.find("ulong parts") == std::string::npos;
  });
  if (loop == texts.rend()) return {};
  return {*loop, interactions_of(engine, kernel, *loop)};
}

std::vector<std::string> product_texts(const Context& context, std::string_view engine) {
  constexpr std::size_t n = matrix_size;
  std::vector<double> a(n * n), c(n * n);
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = 1 / static_cast<double>(k + 2);
  auto texts = texts_of(context, engine, [&](Device& device) {
    MatrixProduct product(device, MatrixPrecision::Chip);
    product.compute(n, n, n, 1, {a.data(), n}, {a.data(), n}, 0, {c.data(), n});
  });
  std::erase_if(texts,
                [](const std::string& t) { return t.find("get_group_id") == std::string::npos; });
  return texts;
}

}  // namespace gdr::bench
