// `gdr info`, `gdr bench` and the generated pages.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/shell.hpp"
#include "libgdr/cli/anonymous.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

namespace gdr::test {

TEST_CASE("gdr info describes host, device and kernels") {
  const Shell shell;
  const Outcome text = shell.run("gdr info");
  CHECK(text.status == 0);
  CHECK(text.out.find("512 = 16 blocks of 32") != std::string::npos);
  CHECK(text.out.find("512 Gflops single, 256 double") != std::string::npos);

  const auto json = nlohmann::json::parse(shell.run("gdr info --json").out);
  CHECK(json["devices"][0] == "emulator");
  CHECK(json["engines"].size() >= 2);
  CHECK(json["host"]["isas"].back() == "portable");
  CHECK(json["device"]["geometry"]["pes"] == 512);
  CHECK(json["device"]["geometry"]["peak_gflops_single"] == 512.0);
  CHECK(json["kernels"][0]["name"] == "gravity");
  CHECK(json["kernels"][0]["clocks_per_interaction"] == 19.0);
  CHECK(json["time_model"].size() >= 5);
}

TEST_CASE("without a GPU gdr info and the engine gpu say what to install") {
  const Shell shell;
  const std::string none =
      "GDR_OPENCL_LIBRARY=/nowhere/libOpenCL.so GDR_CUDA_LIBRARY=/nowhere/libcuda.so ";
  const std::string of_opencl =
      "the library /nowhere/libOpenCL.so cannot be opened: install the "
      "OpenCL loader (ocl-icd-libopencl1) and the driver of the card";
  const std::string of_cuda =
      "the library /nowhere/libcuda.so cannot be opened: it is a part of NVIDIA's driver for the "
      "card";
  const std::string reason = "OpenCL: " + of_opencl + "; CUDA: " + of_cuda;
  CHECK(shell.run(none + "gdr info").out.find("none: " + reason) != std::string::npos);
  CHECK(nlohmann::json::parse(shell.run(none + "gdr info --json").out)["host"]["gpus"].empty());
  for (const char* engine : {"gpu", "gpu-float", "gpu:0"}) {
    const Outcome failed = shell.run(none + "gdr info --engine " + engine);
    CHECK(failed.status != 0);
    CHECK(failed.err.find("no GPU: " + reason) != std::string::npos);
  }
  for (const auto& [name, why] : {std::pair("cuda", of_cuda), std::pair("opencl:0", of_opencl)}) {
    const Outcome failed = shell.run(none + "gdr info --engine gpu:" + name);
    CHECK(failed.status != 0);
    CHECK(failed.err.find("no GPU: " + why) != std::string::npos);
    CHECK(failed.err.find("CUDA: ") == std::string::npos);
  }
  const Outcome forced = shell.run(none + "GDR_GPU_BACKEND=cuda gdr info --engine gpu");
  CHECK(forced.err.find("no GPU: CUDA: " + of_cuda) != std::string::npos);
  const Outcome unknown = shell.run("GDR_GPU_BACKEND=metal gdr info");
  CHECK(unknown.status == 2);
  CHECK(unknown.err.find("GDR_GPU_BACKEND is 'metal', not 'opencl' or 'cuda'") !=
        std::string::npos);
  CHECK(shell.run("gdr info --engine gpus").err.find("not known") != std::string::npos);
  CHECK(shell.run("gdr info --engine native:0").err.find("not known") != std::string::npos);
}

TEST_CASE("gdr info and gdr boards --test tell whether a GPU is exact") {
  const Shell shell;
  const auto gpus = nlohmann::json::parse(shell.run("gdr info --json").out)["host"]["gpus"];
  const auto boards = nlohmann::json::parse(shell.run("gdr boards --test 1 --json").out);
  REQUIRE(boards.size() == gpus.size() + 1);
  for (std::size_t n = 0; n < gpus.size(); ++n) {
    CHECK(gpus[n]["name"] == "gpu:" + std::to_string(n));
    CHECK(gpus[n]["exact"] == gpus[n]["failure"].get<std::string>().empty());
    CHECK(boards[n + 1]["board"] == gpus[n]["name"]);
    CHECK(boards[n + 1]["failure"] == gpus[n]["failure"]);
  }
}

TEST_CASE("gdr info names what multiplies matrices on a GPU") {
  const Shell shell;
  const auto products = [&](const std::string& settings) {
    const auto gpus =
        nlohmann::json::parse(shell.run(settings + "gdr info --json").out)["host"]["gpus"];
    return gpus.empty() ? "" : gpus[0]["products"].get<std::string>();
  };
  const std::string usual = products("");
  if (usual.empty()) return;
  CHECK((usual == "kernels of GDR" || usual.starts_with("CLBlast") || usual.starts_with("cuBLAS")));
  CHECK(products("GDR_GPU_BLAS=own ") == "kernels of GDR");
  const Outcome text = shell.run("GDR_GPU_BLAS=own gdr info");
  CHECK(contains(text.out, "; matrix products: kernels of GDR"));
  CHECK(contains(products("GDR_GPU_BLAS=library GDR_CLBLAST_LIBRARY=/nowhere/x.so "),
                 "GDR_CLBLAST_LIBRARY"));
  CHECK(contains(products("GDR_GPU_BLAS=both "), "GDR_GPU_BLAS is 'both'"));
}

TEST_CASE("an OpenCL device can be divided into parts, which share calculations") {
  const Shell shell;
  const std::string opencl = "GDR_GPU_BACKEND=opencl ";
  const auto devices = [&](const std::string& settings) {
    return nlohmann::json::parse(
        shell.run(opencl + settings + "gdr info --json").out)["host"]["gpus"];
  };
  const auto whole = devices(""), parts = devices("GDR_OPENCL_PARTS=2 ");
  if (parts.size() == whole.size()) {
    WARN("no OpenCL device can be divided");
    return;
  }
  CHECK(parts.size() > whole.size());
  for (const auto& part : parts) CHECK(part["failure"] == "");
  std::string particles;
  for (int n = 0; n < 300; ++n) particles += fmt::format("1 {} {} {} 0 0 0\n", n, n % 7, n % 5);
  shell.write("particles.txt", particles);
  const auto force = [&](const std::string& engine) {
    const Outcome run =
        shell.run(opencl + "GDR_OPENCL_PARTS=2 GDR_GPU_PAIRS=0 gdr force particles.txt" +
                  " --eps 0.1 --output forces.txt --engine " + engine);
    INFO(run.err);
    CHECK(run.status == 0);
    return shell.read("forces.txt");
  };
  for (const std::string engine : {"gpu", "gpu-float", "gpu-exact"})
    CHECK(force(engine + ":all") == force(engine + ":0"));
  const Outcome wrong = shell.run(opencl + "GDR_OPENCL_PARTS=0 gdr info");
  CHECK(wrong.status == 2);
  CHECK(contains(wrong.err, "GDR_OPENCL_PARTS is '0', not a number of parts from 1 to 1024"));
}

TEST_CASE("without a GPU gpu-exact is refused, and a folder that is not there for its text") {
  const Shell shell;
  const Outcome none = shell.run(
      "GDR_CUDA_LIBRARY=/nowhere/y.so GDR_OPENCL_LIBRARY=/nowhere/x.so gdr info --engine "
      "gpu-exact");
  CHECK(none.status != 0);
  CHECK(none.err.find("no GPU: OpenCL: the library /nowhere/x.so cannot be opened") !=
        std::string::npos);
  if (nlohmann::json::parse(shell.run("gdr info --json").out)["host"]["gpus"].empty()) return;
  // The self-test is the first program.
  const Outcome refused = shell.run("GDR_GPU_TEXT=/nowhere gdr info --engine gpu-exact");
  CHECK(refused.status != 0);
  CHECK(refused.err.find("GDR_GPU_TEXT: /nowhere/0.cl cannot be written") != std::string::npos);
}

TEST_CASE("a limit for the GPU that is no number is refused by name") {
  const Shell shell;
  if (nlohmann::json::parse(shell.run("gdr info --json").out)["host"]["gpus"].empty()) return;
  for (const std::string limit : {"x", "-1", "1e5x", "nan"}) {
    const Outcome failed = shell.run("GDR_GPU_PAIRS=" + limit + " gdr info --engine gpu");
    CHECK(failed.status != 0);
    CHECK(failed.err.find("GDR_GPU_PAIRS is '" + limit + "'") != std::string::npos);
  }
}

TEST_CASE("gdr info describes other geometries") {
  const Shell shell;
  const auto json = nlohmann::json::parse(shell
                                              .run("gdr info --json --engine reference --device "
                                                   "emulator:blocks=4,pes=8,clock=400e6,boards=2")
                                              .out);
  CHECK(json["device"]["engine"] == "reference");
  CHECK(json["device"]["boards"] == 2);
  CHECK(json["device"]["geometry"]["pes"] == 32);
  CHECK(std::abs(json["device"]["geometry"]["peak_gflops_single"].get<double>() - 25.6) < 1e-9);
}

TEST_CASE("gdr info --bug-report describes build, host, interfaces and tested devices") {
  const Shell shell;
  const Outcome report = shell.run("GDR_JIT=0 OMP_NUM_THREADS=1 gdr info --bug-report");
  CHECK(report.status == 0);
  CHECK(report.err.empty());
  CHECK(report.out.starts_with("```text\nBuild\n"));
  CHECK(report.out.ends_with("```\n"));
  for (const char* label : {"version", "commit", "build type", "compiler", "machine code", "system",
                            "C library", "processor", "features", "instruction sets", "cores",
                            "memory", "MPI", "GPUs", "Python", "chosen"}) {
    INFO(label);
    CHECK(report.out.find(std::string("\n  ") + label + " ") != std::string::npos);
  }
  CHECK(report.out.find("\n  GDR_JIT=0\n") != std::string::npos);
  CHECK(report.out.find("\n  OMP_NUM_THREADS=1\n") != std::string::npos);
  for (const char* engine : {"reference", "vector", "native", "native-float"}) {
    const std::size_t line = report.out.find(std::string("\n  ") + engine + " ");
    REQUIRE(line != std::string::npos);
    const std::string result = report.out.substr(line + 1, report.out.find('\n', line + 1) - line);
    INFO(result);
    CHECK(result.find("emulated board works (") != std::string::npos);
  }
  CHECK(shell.run("gdr info --bug-report --json").status == 2);
}

TEST_CASE("gdr info --bug-report reports a device that cannot be opened") {
  const Shell shell;
  const Outcome report = shell.run("gdr info --bug-report --device board:unix:/no/such/socket");
  CHECK(report.status == 0);
  CHECK(report.out.find("FAILS: ") != std::string::npos);
  CHECK(report.out.find("/no/such/socket") != std::string::npos);
}

TEST_CASE("gdr info --bug-report has no names of people and hosts") {
  const Shell shell;
  // Kernels that the processor's OpenCL device has compiled before are in the real user's folder.
  const Outcome report = shell.run(
      "export POCL_CACHE_DIR=\"${POCL_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pocl/kcache}\"; "
      "mkdir -p home/jdoe && HOME=$PWD/home/jdoe USER=jdoe HOSTNAME=secretive "
      "GDR_CACHE_DIR=$PWD/home/jdoe/kernels GDR_SOCKET=/home/other/gdr.socket "
      "GDR_DEV=/run/user/4711/dev GDR_SYSFS=/srv/jdoe@secretive/sys gdr info --bug-report");
  CHECK(report.status == 0);
  CHECK(report.out.find("GDR_CACHE_DIR=~/kernels\n") != std::string::npos);
  CHECK(report.out.find("GDR_SOCKET=/home/<user>/gdr.socket\n") != std::string::npos);
  CHECK(report.out.find("GDR_DEV=/run/user/<uid>/dev\n") != std::string::npos);
  CHECK(report.out.find("GDR_SYSFS=/srv/<user>@<host>/sys\n") != std::string::npos);
  for (const char* secret : {"jdoe", "secretive", "other/", "4711"})
    CHECK(report.out.find(secret) == std::string::npos);
  const std::string host = shell.run("uname -n").out;
  CHECK(report.out.find(host.substr(0, host.find('\n'))) == std::string::npos);
}

TEST_CASE("private words are replaced as whole words") {
  const cli::PrivateWords words = {{"/home/ann", "~"}, {"ann", "<user>"}, {"sun", "<host>"}};
  CHECK(cli::anonymous("/home/ann/x of ann", words) == "~/x of <user>");
  CHECK(cli::anonymous("annual planning on sun", words) == "annual planning on <host>");
  CHECK(cli::anonymous("ann", words) == "<user>");
  CHECK(cli::anonymous("/home/bob:/Users/eve/lib", {}) == "/home/<user>:/Users/<user>/lib");
}

TEST_CASE("gdr bench compares measurements with requirements") {
  const Shell shell;
  const auto json =
      nlohmann::json::parse(shell.run("gdr bench clocks force-call --json --seed 7").out);
  CHECK(json["seed"] == 7);
  CHECK(json["figures"].size() == 2);
  CHECK(json["figures"][0]["at_most"] == 32.0);
  CHECK(json["figures"][0]["met"] == true);
  CHECK(json["figures"][1]["value"].get<double>() > 0);
  CHECK(shell.run("gdr bench --list").out.find("gravity ") != std::string::npos);
}

TEST_CASE("gdr bench checks the output file before it measures") {
  const Shell shell;
  const auto refused = shell.run("gdr bench -o no/such/folder/results.json");
  CHECK(refused.status != 0);
  CHECK(refused.err.find("no/such/folder") != std::string::npos);
  CHECK(refused.out.empty());
}

TEST_CASE("gdr bench names missing data files") {
  const Shell shell;
  const Outcome result = shell.run("gdr bench accuracy --data nowhere");
  CHECK(result.status == 1);
  CHECK(result.err.find("nowhere/plummer_1024.hdf5") != std::string::npos);
}

TEST_CASE("gdr bench outside of a source tree names what is missing, or generates it") {
  const Shell shell;  // in an empty folder
  const Outcome refused = shell.run("gdr bench clocks energy");
  CHECK(refused.status == 1);
  CHECK(refused.err.find("'examples/data/plummer_1024.hdf5' is not there: run from the source "
                         "folder, or name the folder of the example snapshots with --data") !=
        std::string::npos);
  CHECK(refused.out.empty());  // before it measures
}

}  // namespace gdr::test
