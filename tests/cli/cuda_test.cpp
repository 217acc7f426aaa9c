// What the command says about CUDA, through the fake libraries of tests/gpu.
#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

namespace gdr::test {
namespace {

const std::string fake = "GDR_CUDA_LIBRARY='" GDR_FAKE_CUDA "' GDR_GPU_BACKEND=cuda ";
const std::string compiler = "GDR_NVRTC_LIBRARY='" GDR_FAKE_CUDA "' ";

/// Whether the fake card is there: it needs an OpenCL device.
bool has_card(const Shell& shell) {
  if (contains(shell.run(fake + "gdr info").out, "Fake CUDA card 0, CUDA, driver 12.4"))
    return true;
  WARN("the fake CUDA library needs an OpenCL device");
  return false;
}

}  // namespace

TEST_CASE("engines run on a CUDA card that is named or chosen by GDR_GPU_BACKEND") {
  const Shell shell;
  if (!has_card(shell)) return;
  CHECK(contains(shell.run(fake + compiler + "gdr info").out, "tested: its doubles are exact"));
  for (const std::string engine : {"gpu-exact", "gpu-float:cuda", "gpu:cuda:0", "gpu:Fake"}) {
    INFO(engine);
    CHECK(shell.run(fake + compiler + "gdr info --device emulator:engine=" + engine).status == 0);
  }
  const Outcome other = shell.run(fake + compiler + "gdr info --engine gpu:cuda:1");
  CHECK(contains(other.err, "there is no CUDA device '1'; there are 0 (Fake CUDA card 0)"));
}

TEST_CASE(
    "a CUDA card without a fitting driver or compiler is an error that says what to install") {
  const Shell shell;
  if (!has_card(shell)) return;
  struct Case {
    std::string settings;
    const char* message;
  };
  const Case cases[] = {
      {"GDR_NVRTC_LIBRARY=/nowhere/libnvrtc.so ",
       "GDR_NVRTC_LIBRARY: /nowhere/libnvrtc.so cannot be opened, or is no NVRTC"},
      {compiler + "GDR_FAKE_CUDA_CAPABILITY=61 ",
       "NVRTC 12.4 no longer supports cards of compute capability 6.1: install an older one"},
      {compiler + "GDR_FAKE_CUDA_FAIL=cuInit=803 ",
       "no GPU: CUDA: the driver's library and its kernel module have different versions"},
      {compiler + "GDR_FAKE_CUDA_DEVICES=0 ", "no GPU: CUDA: the driver sees no card"},
      {compiler + "GDR_FAKE_CUDA_FAIL=cuDevicePrimaryCtxRetain=46 ",
       "the CUDA device Fake CUDA card 0 cannot be opened: another process has the card"},
  };
  for (const Case& c : cases) {
    INFO(c.settings);
    const Outcome failed = shell.run(fake + c.settings + "gdr info --engine gpu");
    CHECK(failed.status != 0);
    CHECK(contains(failed.err, c.message));
  }
  // A card that is newer than the compiler gets PTX.
  const Outcome newer =
      shell.run(fake + compiler + "GDR_FAKE_CUDA_CAPABILITY=121 gdr info --engine gpu-exact");
  CHECK(newer.status == 0);
}

TEST_CASE("a driver that ends the process does not end gdr info, gdr boards or a bug report") {
  const Shell shell;
  if (!has_card(shell)) return;
  const std::string message =
      "its driver failed: it ended the process by signal 6 (" + std::string(strsignal(SIGABRT));
  for (const std::string where : {"cuMemAlloc_v2=abort ", "cuDevicePrimaryCtxRetain=abort "}) {
    INFO(where);
    const std::string broken =
        fake + compiler + "GDR_FAKE_CUDA_FAIL=" + where + "GDR_FAKE_CUDA_DEVICES=2 ";
    const auto info = nlohmann::json::parse(shell.run(broken + "gdr info --json").out);
    REQUIRE(info["host"]["gpus"].size() == 2);
    for (const auto& gpu : info["host"]["gpus"]) {
      CHECK(contains(gpu["description"].get<std::string>(), "Fake CUDA card"));
      CHECK(contains(gpu["failure"].get<std::string>(), message));
    }
    const Outcome boards = shell.run(broken + "gdr boards --test 1");
    CHECK(boards.status == 0);
    CHECK(contains(boards.out, message));
    const Outcome report = shell.run(broken + "gdr info --bug-report");
    CHECK(report.status == 0);
    CHECK(contains(report.out, "FAILS: it ended the process by signal 6"));
  }
  const Outcome none = shell.run(fake + "GDR_FAKE_CUDA_FAIL=cuInit=abort gdr info");
  CHECK(none.status == 0);
  CHECK(contains(none.out, "the drivers cannot be asked: it ended the process by signal 6"));
}

TEST_CASE("NVRTC is found in a toolkit, in conda, and among Python's packages") {
  const Shell shell;
  if (!has_card(shell)) return;
  // No NVRTC of this version is installed.
  const std::string newest = fake + "GDR_FAKE_CUDA_DRIVER=15000 ";
  struct Place {
    const char* variable;
    const char* folder;
  };
  constexpr Place places[] = {
      {"CUDA_HOME", "lib64"},
      {"CUDA_PATH", "lib64"},
      {"CONDA_PREFIX", "lib"},
      {"VIRTUAL_ENV", "lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib"},
      {"VIRTUAL_ENV", "lib/python3.14/site-packages/nvidia/cu13/lib"},
  };
  for (const Place& place : places) {
    INFO(place.variable << " " << place.folder);
    const std::filesystem::path folder = shell.folder() / place.variable / place.folder;
    std::filesystem::create_directories(folder);
    std::filesystem::create_symlink(GDR_FAKE_CUDA, folder / "libnvrtc.so.15");
    const std::string home = "env -u GDR_NVRTC_LIBRARY " + std::string(place.variable) + "='" +
                             (shell.folder() / place.variable).string() + "' ";
    // The fake driver takes the code of the fake compiler only.
    const Outcome found = shell.run(newest + home + "gdr info --engine gpu-exact");
    INFO(found.err);
    CHECK(found.status == 0);
    std::filesystem::remove_all(shell.folder() / place.variable);
  }
}

TEST_CASE("a failure of the card during a calculation ends it with the reason and a remedy") {
  const Shell shell;
  if (!has_card(shell)) return;
  std::string particles;
  for (int n = 0; n < 50; ++n) particles += fmt::format("1 {} {} {} 0 0 0\n", n, n % 7, n % 5);
  shell.write("particles.txt", particles);
  const std::string force = "gdr force particles.txt --eps 0.1 --output forces.txt --engine gpu";
  const std::string on_card = fake + compiler + "GDR_GPU_PAIRS=0 ";
  const Outcome right = shell.run(on_card + force);
  INFO(right.err);
  REQUIRE(right.status == 0);
  for (const auto& [failure, message] :
       {std::pair("cuMemAlloc_v2=2", "its memory is full: use fewer targets"),
        std::pair("cuLaunchKernel=702", "a launch took too long and was ended"),
        std::pair("cuStreamSynchronize=999", "may have been removed or reset")}) {
    INFO(failure);
    const Outcome failed = shell.run(on_card + "GDR_FAKE_CUDA_FAIL=" + failure + " " + force);
    CHECK(failed.status != 0);
    CHECK(contains(failed.err, "the CUDA device Fake CUDA card 0"));
    CHECK(contains(failed.err, message));
  }
}

}  // namespace gdr::test
