// `gdr info`, `gdr bench` and the generated pages.
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/shell.hpp"
#include "support/catch.hpp"

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
  CHECK(result.err.find("nowhere/plummer_4096.hdf5") != std::string::npos);
}

}  // namespace gdr::test
