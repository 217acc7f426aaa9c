#include "libgdr/cli/gpus.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

#include "emulator/engine/gpu/cards.hpp"
#include "emulator/engine/matmul/gpu/library_choice.hpp"
#include "emulator/engine/vector/gpu/self_test.hpp"
#include "emulator/host/gpu/device.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"
#include "libgdr/cli/output.hpp"
#include "libgdr/cli/own_process.hpp"

namespace gdr::cli {
namespace {

/// A driver that compiles slowly needs seconds.
constexpr std::chrono::seconds longest_test{120};

std::string failure_of(const std::string& name) {
  try {
    return exactness_failure(*gpu::open_device(name));
  } catch (const Error& error) {
    return error.what();
  }
}

/// The name of a BLAS library, or of GDR's own kernels; or why a product is an error.
std::string products_of(const std::string& name) {
  try {
    const auto library = multiplying_library(*gpu::open_device(name));
    return library != nullptr ? library->name() : "kernels of GDR";
  } catch (const Error& error) {
    return error.what();
  }
}

/// Writes a line for every GPU, and others after its tests. Those before `first` are known.
void test_gpus(std::size_t first, const WriteText& write) {
  const auto line = [&](const Json& json) { write(json.dump() + "\n"); };
  const std::vector<gpu::DeviceInfo>& devices = gpu::devices();
  if (devices.empty()) return line({{"why_none", gpu::why_no_device()}});
  for (std::size_t n = first; n < devices.size(); ++n) {
    const Stopwatch stopwatch;
    const std::string name = std::to_string(n);
    line({{"name", name},
          {"description", gpu::description(devices[n])},
          {"default", n == default_gpu()}});
    const std::string failure = failure_of(name);
    line({{"failure", failure}, {"seconds", stopwatch.seconds()}});
    // A device that cannot be opened has failed for the same reason.
    if (const std::string products = products_of(name); products != failure)
      line({{"products", products}});
  }
}

}  // namespace

TestedGpus tested_gpus() {
  TestedGpus all;
  for (bool goes_on = true; goes_on;) {
    const std::size_t known = all.gpus.size();
    const Ended ended =
        in_own_process([&](const WriteText& write) { test_gpus(known, write); }, longest_test);
    std::istringstream lines(ended.text);
    for (std::string line; std::getline(lines, line);) {
      const Json json = Json::parse(line);
      if (json.contains("why_none")) {
        all.why_none = json["why_none"];
      } else if (json.contains("name")) {
        all.gpus.push_back({json["name"], json["description"], "", "", json["default"], 0});
      } else if (json.contains("products")) {
        all.gpus.back().products = json["products"];
      } else {
        all.gpus.back().failure = json["failure"];
        all.gpus.back().seconds = json["seconds"];
      }
    }
    goes_on = !ended.failure.empty() && all.gpus.size() > known;
    if (goes_on)
      all.gpus.back().failure = "its driver failed: " + ended.failure;
    else if (!ended.failure.empty())
      all.why_none = "the drivers cannot be asked: " + ended.failure;
  }
  return all;
}

}  // namespace gdr::cli
