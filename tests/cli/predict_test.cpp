// The command `gdr predict`.
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/json_output.hpp"
#include "cli/shell.hpp"
#include "libgdr/cli/predict_report.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace gdr::test {
namespace {

/// Checks that a command line is refused with a status and a message.
void refused(const Shell& shell, const std::string& line, int status, const std::string& words) {
  const Outcome outcome = shell.run(line);
  INFO(line << "\n" << outcome.err);
  CHECK(outcome.status == status);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("gdr predict reports time, rate and resources of a job") {
  const Shell shell;
  const Outcome text = shell.run("gdr predict gravity --particles 131072");
  CHECK(text.status == 0);
  for (const char* word : {"Gflops", "bottleneck", "link to board", "clocks per interaction"})
    CHECK(text.out.find(word) != std::string::npos);

  const auto json = json_of(shell, "gdr predict gravity --particles 131072 --json");
  CHECK(json["bottleneck"] == "chip");
  CHECK(json["flops"].get<double>() == 38.0 * 131072 * 131072);
  CHECK(json["gflops"].get<double>() ==
        Approx(1e-9 * json["flops"].get<double>() / json["seconds"].get<double>()));
  for (const char* r : {"chip", "ports", "link to board", "link to host", "host", "network"}) {
    CHECK(json["resources"][r]["share"].get<double>() >= 0);
    CHECK(json["resources"][r]["share"].get<double>() <= 1);
  }
  CHECK(json_of(shell, "gdr predict product --size 51200x51200x2048 --json")["gflops"] > 700.0);
  CHECK(json_of(shell, "gdr predict lu --size 51200 --json")["gflops"] > 450.0);
  CHECK(json_of(shell, "gdr predict hpl --machine cluster64 --json")["gflops"] > 20000.0);
}

TEST_CASE("gdr predict agrees with the counts of the emulated board") {
  const Shell shell;
  const auto predicted =
      json_of(shell, "gdr predict gravity --particles 1024 --set chip.clock=500e6 --json");
  const std::string data = std::string(GDR_SOURCE_DIR) + "/examples/data/plummer_1024.hdf5";
  const auto counted = json_of(
      shell, "gdr force " + data + " --eps 0.015625 --device emulator -o forces.hdf5 --json");
  // The first call of a device differs only by loading the program.
  const double load =
      counted["chip_clocks"].get<double>() - predicted["details"]["chip clocks"].get<double>();
  CHECK(load >= 0);
  CHECK(load < 200);
  CHECK(counted["predicted_seconds"].get<double>() ==
        Approx(predicted["details"]["seconds of the boards"].get<double>()).epsilon(0.05));
}

namespace {

/// A table made by hand: the simulations of the whole one, which tests/predict checks, take half a
/// minute.
predict::PublishedTable some_figures() {
  predict::PublishedTable table;
  table.figures = {
      {"HPL per watt", "cluster64", "Mflops/W", 800, 840, "a list", "board.power", 0, ""},
      {"two streams", "network", "Mbit/s", 10, 9, "a paper", "", 0.2, "queue of 40 packets"}};
  table.kernels = {{{"jerk", 95, 60, 162, 1, 2}, {"gravity_jerk", 38, 60, 400, 1, 2}}};
  return table;
}

/// What is printed about these figures.
std::string report_of(const predict::PublishedTable& table, bool json) {
  const TemporaryFolder folder;
  std::fflush(stdout);
  const int terminal = ::dup(STDOUT_FILENO);
  REQUIRE(std::freopen(folder.file("text").c_str(), "w", stdout) != nullptr);
  cli::report_published(table, json);
  std::fflush(stdout);
  ::dup2(terminal, STDOUT_FILENO);
  ::close(terminal);
  return content_of(folder.file("text"));
}

}  // namespace

TEST_CASE(
    "the text about published figures has deviations, conditions and this library's kernels") {
  const std::string text = report_of(some_figures(), false);
  INFO(text);
  for (const char* words : {"HPL per watt", "+5.0 %  board.power", "-10.0 %",
                            "two streams: queue of 40 packets", "this library's gravity_jerk"})
    CHECK(text.find(words) != std::string::npos);
}

TEST_CASE("the JSON about published figures has all that is known about them") {
  const auto json = nlohmann::json::parse(report_of(some_figures(), true));
  REQUIRE(json["figures"].size() == 2);
  const auto& power = json["figures"][0];
  const auto& streams = json["figures"][1];
  CHECK(power["figure"] == "HPL per watt");
  CHECK(power["machine"] == "cluster64");
  CHECK(power["unit"] == "Mflops/W");
  CHECK(power["published"] == 800.0);
  CHECK(power["predicted"] == 840.0);
  CHECK(power["deviation"].get<double>() == Approx(0.05));
  CHECK(power["tuned"] == "board.power");
  CHECK(power["source"] == "a list");
  CHECK(streams["assumed"] == "queue of 40 packets");
  CHECK(streams["required"] == 0.2);
  CHECK(streams["deviation"].get<double>() == Approx(-0.1));
  REQUIRE(json["kernels"].size() == 1);
  CHECK(json["kernels"][0]["published"]["kernel"] == "jerk");
  CHECK(json["kernels"][0]["ours"]["kernel"] == "gravity_jerk");
}

TEST_CASE("gdr predict reads machines from files and from the command line") {
  const Shell shell;
  CHECK(shell.run("gdr predict machines").out.find("plan4096") != std::string::npos);
  CHECK(shell.run("gdr predict machine --machine cluster64").out.find("tuned: ") !=
        std::string::npos);
  REQUIRE(shell.run("gdr predict machine --machine cluster64 -o mine.json").status == 0);
  const auto file = json_of(shell, "gdr predict hpl --machine mine.json --json");
  const auto name = json_of(shell, "gdr predict hpl --machine cluster64 --json");
  CHECK(file["seconds"] == name["seconds"]);
  const auto faster =
      json_of(shell, "gdr predict hpl --machine mine.json --set network.bandwidth=4e9 --json");
  CHECK(faster["seconds"] < name["seconds"]);

  shell.write("bad.json", "{ \"base\": \"board4\",\n  \"link\": { \"write\": fast } }");
  refused(shell, "gdr predict gravity --particles 10 --machine bad.json", 1, "bad.json:2:");
  shell.write("bad.json", "{ \"base\": \"board4\", \"link\": { \"wrte\": 1 } }");
  refused(shell, "gdr predict gravity --particles 10 --machine bad.json", 1,
          "did you mean \"link.write\"?");
  refused(shell, "gdr predict machine --machine mine.json -o mine.json", 2, "name another");
}

TEST_CASE("gdr predict --scaling writes a table of points") {
  const Shell shell;
  const Outcome outcome = shell.run(
      "gdr predict gravity --particles 50000 --machine cluster64 --scaling --csv points.csv");
  CHECK(outcome.status == 0);
  CHECK(outcome.out.find("stops scaling at") != std::string::npos);
  const std::string csv = shell.read("points.csv");
  CHECK(csv.rfind("chips,", 0) == 0);
  CHECK(csv.find("\n256,1,64,") != std::string::npos);
  const auto json =
      json_of(shell, "gdr predict hpl --size 100000 --machine cluster64 --scaling --json");
  CHECK(json["points"].size() >= 3);
  CHECK(json["points"][0]["efficiency"] == 1.0);
}

TEST_CASE("gdr predict network simulates streams that share a line") {
  const Shell shell;
  const std::string line = "gdr predict network --rate 12.5e6 --rtt 0.1 --loss 1e-4 --seconds 200";
  const auto one = json_of(shell, line + " --json");
  const auto eight = json_of(shell, line + " --streams 8 --json");
  CHECK(one["streams"].size() == 1);
  CHECK(eight["streams"].size() == 8);
  CHECK(eight["bytes_per_second"].get<double>() > 4 * one["bytes_per_second"].get<double>());
  // The formula of Mathis and others, computed by hand: 1460 / 0.1 * sqrt(1.5 / 1e-4) bytes/s.
  CHECK(one["streams"][0]["reno_loss_limit"].get<double>() == Approx(1.788e6).epsilon(1e-3));
  CHECK(one["bytes_per_second"].get<double>() == Approx(1.788e6).epsilon(0.25));
  CHECK(json_of(shell, line + " --json --seed 2")["bytes_per_second"] != one["bytes_per_second"]);

  const auto shares = json_of(
      shell,
      "gdr predict network --rate 12.5e6 --round-robin --queue-bytes 1e8 --seconds 60 --warm-up 30 "
      "--stream window=2e6 --stream window=4e6,rtt=0.05,mtu=9000 --json");
  CHECK(shares["streams"][0]["window_limit"].get<double>() == Approx(2e7));
  CHECK(shares["streams"][1]["mtu"] == 9000);
  CHECK(shares["utilisation"].get<double>() > 0.99);
  const std::string text = shell.run(line + " --window 65535").out;
  for (const char* word : {"utilisation", "largest queue", "5.2", "Closed forms"})
    CHECK(text.find(word) != std::string::npos);
  const auto paced =
      json_of(shell, "gdr predict network --congestion paced --pace 5e6 --seconds 20 --json");
  CHECK(paced["bytes_per_second"].get<double>() == Approx(5e6).epsilon(0.02));
}

TEST_CASE("gdr predict network knows ten congestion controls, pacing and limits of hosts") {
  const Shell shell;
  // Bytes/s of payload without losses but those at the end of slow start, of 11.87e6 on the line.
  // Westwood's mean of the bandwidth is still low then, and its window grows by a segment for each
  // round trip from there.
  const std::pair<const char*, double> controls[] = {
      {"reno", 11.35e6},   {"highspeed", 11.35e6}, {"scalable", 11.35e6}, {"htcp", 11.35e6},
      {"bic", 11.35e6},    {"westwood", 4.27e6},   {"cubic", 11.35e6},    {"fast", 11.35e6},
      {"griddt", 11.35e6}, {"paced", 11.2e6}};
  for (const auto& [name, rate] : controls) {
    const nlohmann::json r = json_of(
        shell,
        std::string("gdr predict network --rate 12.5e6 --seconds 20 --json --congestion ") + name);
    CHECK(r["streams"][0]["congestion"] == name);
    CHECK(r["bytes_per_second"].get<double>() == Approx(rate).epsilon(0.01));
  }
  const nlohmann::json limited = json_of(
      shell,
      "gdr predict network --rate 12.5e6 --host-rate 2e6 --pacing --seconds 60 --warm-up 20 "
      "--json");
  CHECK(limited["bytes_per_second"].get<double>() == Approx(2e6).epsilon(0.02));
  CHECK(limited["streams"][0]["pacing"] == true);
  refused(shell, "gdr predict network --response --rtt 1", 2, "conditions are fixed");
  refused(shell, "gdr predict network --csv points.csv", 2, "--csv requires --response");
  refused(shell, "gdr predict network --stream pacing=2", 2, "must be 0 or 1");
  refused(shell, "gdr predict network --periodic-loss", 2, "--periodic-loss: needs --loss");
  refused(shell, "gdr predict network --host-rate 1e6 --rtt 1e-4", 2, "at least 10 segments");
}

TEST_CASE("gdr predict of a job on a remote board includes the network") {
  const Shell shell;
  const std::string line =
      "gdr predict gravity --particles 65536 --set remote.rate=125e6 --set remote.rtt=0.2 --json";
  const auto local = json_of(shell, "gdr predict gravity --particles 65536 --json");
  const auto all = json_of(shell, line), resident = json_of(shell, line + " --resident");
  CHECK(all["seconds"].get<double>() > local["seconds"].get<double>() + 0.2);
  CHECK(resident["seconds"] < all["seconds"]);
  CHECK(all["resources"]["network"]["seconds"].get<double>() > 0);
  CHECK(json_of(shell, line + " --no-overlap")["seconds"] > all["seconds"]);
  CHECK(json_of(shell, line + " --set remote.window=65535")["seconds"].get<double>() > 10);
}

TEST_CASE("gdr predict reports invalid command lines") {
  const Shell shell;
  refused(shell, "gdr predict gravty --particles 10", 2, "did you mean \"gravity\"?");
  refused(shell, "gdr predict gravity", 2, "--particles N");
  refused(shell, "gdr predict gravity --particles -5", 2, "a whole number");
  refused(shell, "gdr predict gravity --particles 1e30", 2, "a whole number");
  refused(shell, "gdr predict gravity --particles 10 --size 5", 2, "--size does not apply");
  refused(shell, "gdr predict gravity --particles 10 --clocks 0", 2, "0 clocks");
  refused(shell, "gdr predict gravity --particles 10 --clocks 56.1", 2, "a multiple of 0.25");
  refused(shell, "gdr predict gravity --particles 10 --partition all", 2, "known: auto");
  refused(shell, "gdr predict gravity --particles 10 --machine bord4", 2, "board4");
  refused(shell, "gdr predict gravity --particles 10 --set chip.clok=1", 2, "chip.clock");
  refused(shell, "gdr predict gravity --particles 10 --set chip.clock=0", 2, "chip.clock = 0");
  refused(shell, "gdr predict gravity_neighbours --particles 10 --partition sources", 2, "pass");
  refused(shell, "gdr predict product", 2, "--size");
  refused(shell, "gdr predict product --size 5x5", 2, "MxNxK");
  refused(shell, "gdr predict lu --size 5x5", 2, "one number");
  refused(shell, "gdr predict lu --size 10 --machine cluster64", 2, "hpl");
  refused(shell, "gdr predict hpl --machine cluster64 --grid 9x9", 2, "does not fit");
  refused(shell, "gdr predict hpl --machine cluster64 --grid 8", 2, "ROWSxCOLUMNS");
  refused(shell, "gdr predict hpl --machine cluster64 --size 500000", 2,
          "the largest recommended matrix");
  refused(shell, "gdr predict hpl --csv points.csv", 2, "--scaling");
  refused(shell, "gdr predict published --machine chip", 2, "--machine does not apply");
  refused(shell, "gdr predict network --particles 5", 2, "--particles does not apply");
  refused(shell, "gdr predict gravity --particles 10 --rtt 1", 2, "--rtt does not apply");
  refused(shell, "gdr predict network --rtt 0", 2, "rtt = 0");
  refused(shell, "gdr predict network --congestion rano", 2, "did you mean \"reno\"?");
  refused(shell, "gdr predict network --pace 1e6", 2, "--congestion paced");
  refused(shell, "gdr predict network --streams 2 --stream rtt=1", 2, "not both");
  refused(shell, "gdr predict network --stream rt=1", 2, "did you mean \"rtt\"?");
  refused(shell, "gdr predict network --stream rtt", 2, "--stream");
  refused(shell, "gdr predict network --streams 0", 2, "a whole number");
  refused(shell, "gdr predict network --seconds 10 --warm-up 20", 2, "warm-up");
  refused(shell, "gdr predict lu --size 10 --set remote.rate=1e8", 2, "remote boards");
  refused(shell, "gdr predict hpl --scaling --csv no/such/folder/points.csv", 1, "no/such/folder");
}

TEST_CASE("gdr predict --host tells how long a calculation takes here") {
  const Shell shell;
  const nlohmann::json found = json_of(shell, "gdr predict gravity --particles 300 --host --json");
  CHECK(found["pairs"] == 90000.0);
  CHECK(found["low"] > 0.0);
  CHECK(found["low"] <= found["seconds"]);
  CHECK(found["seconds"] <= found["high"]);
  CHECK(found["tree"] == false);
  const Outcome text =
      shell.run("gdr predict gravity --targets 10 --sources 300 --host --accuracy 1e-3 --exact");
  INFO(text.err);
  CHECK(text.status == 0);
  CHECK(text.out.find("no tree is faster at this accuracy") != std::string::npos);
  CHECK(text.out.find("vector engine") != std::string::npos);
  for (const char* wrong :
       {"gdr predict hpl --host", "gdr predict gravity --particles 10 --exact",
        "gdr predict gravity --particles 10 --accuracy 1e-3", "gdr predict gravity --host",
        "gdr predict gravity --particles 10 --host --machine board4",
        "gdr predict gravity --particles 10 --host --accuracy 2",
        "gdr predict lennard_jones --particles 10 --host --accuracy 1e-3"}) {
    INFO(wrong);
    CHECK(shell.run(wrong).status != 0);
  }
}

}  // namespace gdr::test
