// The commands `gdr profile` and `gdr nbody --trace`.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/json_output.hpp"
#include "cli/shell.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

using nlohmann::json;

bool advises(const json& profile, const std::string& words) {
  return std::ranges::any_of(profile["advice"], [&](const json& text) {
    return text.get<std::string>().find(words) != std::string::npos;
  });
}

double total(const json& time) {
  double sum = 0;
  for (const auto& [name, seconds] : time["parts"].items()) sum += seconds.get<double>();
  return sum;
}

}  // namespace

TEST_CASE("gdr profile says where the time of a job goes, and what to change") {
  const Shell shell;
  const json few = json_of(shell,
                           "gdr profile gravity --targets 16 --sources 20000 --runs 2 --json "
                           "--device emulator:engine=vector");
  // Measured parts make up the time; those of the real board overlap, and none exceeds it.
  CHECK(total(few["measured"]) == Approx(few["measured"]["seconds"].get<double>()).epsilon(1e-9));
  for (const auto& [name, seconds] : few["measured"]["parts"].items()) CHECK(seconds >= 0.0);
  for (const auto& [name, seconds] : few["predicted"]["parts"].items())
    CHECK(seconds <= few["predicted"]["seconds"].get<double>() * (1 + 1e-9));
  // The link dominates; with resident sources it does not, and the advice is gone.
  CHECK(few["predicted"]["parts"]["link to board"] > few["predicted"]["parts"]["chips"]);
  CHECK(advises(few, "sources are given for each run"));
  CHECK(advises(few, "native"));
  const json resident = json_of(shell,
                                "gdr profile gravity --targets 16 --sources 20000 --runs 2 --json "
                                "--resident --device emulator:engine=vector");
  CHECK(resident["predicted"]["parts"]["link to board"] < resident["predicted"]["parts"]["chips"]);
  CHECK_FALSE(advises(resident, "sources are given for each run"));
  CHECK(resident["predicted"]["seconds"] < few["predicted"]["seconds"]);
  // A kernel that waits for its many words.
  CHECK(advises(json_of(shell,
                        "gdr profile gravity_jerk_moving --targets 16 --sources 4000 --runs "
                        "1 --resident --engine native --json"),
                "wait"));
}

TEST_CASE("gdr profile runs kernels of users, and draws") {
  const Shell shell;
  shell.write("spring.gdk",
              "kernel spring; flops 4; CONST k; VARI xi; VARI int tag; VARJ xj; VARF f;\n"
              "if (tag != 1) { f += k*(xj - xi); }\n");
  const Outcome outcome = shell.run(
      "gdr profile spring.gdk --targets 100 --sources 100 --set k=2 --svg out.svg --trace out.json "
      "--engine native");
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  for (const char* words : {"Measured on this host", "Predicted for the real board", "share",
                            "What to change", "100 targets"})
    CHECK(outcome.out.find(words) != std::string::npos);
  const std::string drawn = shell.read("out.svg");
  CHECK(drawn.starts_with("<svg "));
  CHECK(drawn.find("link to board") != std::string::npos);
  CHECK(std::ranges::count(drawn, '\n') > 20);
  CHECK(json::parse(shell.read("out.json"))["traceEvents"].size() > 10);

  CHECK(shell.run("gdr profile gravty").status == 2);
  CHECK(shell.run("gdr profile gravity --targets 0").status == 2);
  CHECK(shell.run("gdr profile gravity --set rc2=1").status == 2);
  CHECK(shell.run("gdr profile gravity --runs 1 --targets 8 --sources 8 --svg no/such/x.svg")
            .status == 1);
}

TEST_CASE("gdr profile and gdr nbody do not overwrite their input with a picture or a trace") {
  const Shell shell;
  const std::string text = "kernel spring; flops 4; VARI xi; VARJ xj; VARF f;\nf += xj - xi;\n";
  shell.write("spring.gdk", text);
  const std::string small = "gdr profile spring.gdk --targets 8 --sources 8 --runs 1 ";
  for (const char* files : {"--svg spring.gdk", "--trace spring.gdk", "--svg a.svg --trace a.svg",
                            "--svg -", "--trace -"}) {
    const Outcome refused = shell.run(small + files);
    INFO(files << "\n" << refused.err);
    CHECK(refused.status == 2);
    CHECK(refused.out.empty());
  }
  CHECK(shell.read("spring.gdk") == text);
  CHECK_FALSE(shell.exists("a.svg"));
  const std::string data = std::string(GDR_SOURCE_DIR) + "/examples/data/plummer_1024.hdf5";
  REQUIRE(shell.run("cp " + data + " mine.hdf5").status == 0);
  const Outcome refused = shell.run(
      "gdr nbody mine.hdf5 --eps 0.1 --dt 0.125 --t-end 0.125 --out run --trace mine.hdf5");
  CHECK(refused.status == 2);
  CHECK(refused.err.find("is the input file") != std::string::npos);
  CHECK(shell.run("cmp mine.hdf5 " + data).status == 0);
}

TEST_CASE("gdr profile advises on sources only where they take the time") {
  const Shell shell;
  // All transfers are of targets.
  const json targets = json_of(shell,
                               "gdr profile gravity --targets 100000 --sources 1 --runs 1 --json "
                               "--engine native");
  CHECK_FALSE(advises(targets, "sources are given for each run"));
  CHECK_FALSE(advises(targets, "wait"));
  // Engines among floats say what they compute in doubles.
  shell.write("boys.gdk", "VARI x; VARJ y; VARF f;\nf += boys(0, (y - x)^2);\n");
  CHECK(advises(json_of(shell,
                        "gdr profile boys.gdk --targets 256 --sources 256 --runs 1 --json "
                        "--engine native-float"),
                "double"));
}

TEST_CASE("gdr nbody --trace writes modelled and measured times on separate tracks") {
  const Shell shell;
  const std::string data = std::string(GDR_SOURCE_DIR) + "/examples/data/plummer_1024.hdf5";
  const std::string run =
      "gdr nbody " + data +
      " --eps 0.015625 --dt 0.0078125 --t-end 0.03125 --engine native --out run --json";
  const json report = json_of(shell, run + " --trace trace.json");
  const json events = json::parse(shell.read("trace.json"))["traceEvents"];
  std::map<std::pair<int, int>, std::string> tracks;
  std::map<int, std::string> processes;
  for (const json& e : events) {
    if (e["ph"] != "M") continue;
    if (e["name"] == "thread_name") tracks[{e["pid"], e["tid"]}] = e["args"]["name"];
    if (e["name"] == "process_name") processes[e["pid"]] = e["args"]["name"];
  }
  std::map<std::string, int> count;
  std::map<std::string, double> end;
  for (const json& e : events) {
    if (e["ph"] != "X") continue;
    CHECK(e["dur"] >= 0.0);
    // Every event belongs to a track, of a process of its clock.
    REQUIRE(tracks.contains({e["pid"], e["tid"]}));
    const std::string process = processes[e["pid"]], clock = e["cat"];
    CHECK(process.find(clock) != std::string::npos);
    ++count[e["name"]];
    end[clock] = std::max(end[clock], e["ts"].get<double>() + e["dur"].get<double>());
  }
  CHECK(count["step"] == 4);
  CHECK(count["snapshot"] == 1);
  CHECK(count["energies"] == 5);
  CHECK(count["command list"] >= 5);  // forces at the start and in each step
  // The modelled clock ends with the predicted time, the measured one with the run.
  CHECK(end["modelled"] == Approx(1e6 * report["predicted_seconds"].get<double>()).epsilon(1e-6));

  const Outcome refused = shell.run(run + " --trace no/such/folder/trace.json");
  CHECK(refused.status == 1);
  CHECK(refused.err.find("no/such/folder") != std::string::npos);
}

}  // namespace gdr::test
