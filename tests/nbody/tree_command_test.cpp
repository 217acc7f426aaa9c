// The commands `gdr nbody` and `gdr force` with --accuracy: errors, energies, restarts, reports.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "command.hpp"
#include "libgdr/io/hdf5.hpp"
#include "libgdr/io/snapshot.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace gdr::test {
namespace {

using Words = std::vector<std::string>;

/// Three uniform numbers on a sphere of this radius.
void append_direction(std::vector<double>& to, double radius, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const double v[] = {normal(random), normal(random), normal(random)};
  const double scale = radius / std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (const double x : v) to.push_back(scale * x);
}

/// A Plummer sphere of mass 1 and virial radius 1 in equilibrium, without its outermost stars.
void write_sphere(const std::string& path, std::size_t n) {
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> uniform;
  constexpr double scale = 0.5890486225480862;  // 3 pi / 16
  Snapshot s;
  s.type_counts = {0, n, 0, 0, 0, 0};
  for (std::size_t i = 0; i < n; ++i) {
    const double r = 1 / std::sqrt(std::pow(0.98 * uniform(random) + 1e-3, -2.0 / 3) - 1);
    double q = 0, y = 1;
    while (y > q * q * std::pow(1 - q * q, 3.5)) {
      q = uniform(random);
      y = 0.1 * uniform(random);
    }
    append_direction(s.position, scale * r, random);
    const double escape = std::sqrt(2 / scale) * std::pow(1 + r * r, -0.25);
    append_direction(s.velocity, q * escape, random);
    s.mass.push_back(1.0 / static_cast<double>(n));
    s.id.push_back(i + 1);
  }
  write_snapshot(path, s, SnapshotFormat::Hdf5);
}

nlohmann::json run_json(Words words) {
  words.push_back("--json");
  const Outcome outcome = run_gdr(words);
  INFO(outcome.errors);
  REQUIRE(outcome.status == 0);
  return nlohmann::json::parse(outcome.output);
}

TEST_CASE("forces to an accuracy have the error that the report says") {
  const TemporaryFolder folder;
  const std::string file = folder.file("sphere.hdf5");
  write_sphere(file, 20000);
  const Words force = {"force", file, "--eps", "0.01", "-o"};
  const auto with = [&](const std::string& out, const Words& more) {
    Words words = force;
    words.push_back(folder.file(out));
    words.insert(words.end(), more.begin(), more.end());
    return run_json(words);
  };
  with("direct.hdf5", {});
  const auto json = with("tree.hdf5", {"--accuracy", "2e-3"});
  const auto& tree = json.at("tree");
  CHECK(tree.at("accuracy") == 2e-3);
  CHECK(tree.at("direct_sums") == 0);
  CHECK(tree.at("error") <= 2e-3);
  CHECK(tree.at("samples") == 128);
  CHECK(json.at("interactions") < 20000.0 * 20000 / 2);
  const hdf5::Reader right(folder.file("direct.hdf5")), found(folder.file("tree.hdf5"));
  CHECK(found.attribute("/", "error")->front() == double(tree.at("error")));
  CHECK(found.attribute("/", "accuracy")->front() == 2e-3);
  CHECK_FALSE(right.attribute("/", "accuracy").has_value());
  const auto a = found.doubles("Acceleration"), b = right.doubles("Acceleration");
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); i += 3)
    sum += (std::pow(a[i] - b[i], 2) + std::pow(a[i + 1] - b[i + 1], 2) +
            std::pow(a[i + 2] - b[i + 2], 2)) /
           (b[i] * b[i] + b[i + 1] * b[i + 1] + b[i + 2] * b[i + 2]);
  CHECK(std::sqrt(3 * sum / static_cast<double>(a.size())) < 2.5e-3);
}

TEST_CASE("a run to an accuracy conserves energy as one with direct sums, and says how") {
  const TemporaryFolder folder;
  const std::string file = folder.file("sphere.hdf5");
  write_sphere(file, 20000);
  const Words run = {"nbody",   file,      "--eps", "0.02",  "--dt",
                     "0.03125", "--t-end", "0.25",  "--out", folder.path()};
  Words accurate = run;
  accurate.insert(accurate.end(), {"--accuracy", "1e-3"});
  const auto direct = run_json(run), tree = run_json(accurate);
  CHECK_FALSE(direct.contains("tree"));
  CHECK(tree.at("tree").at("force_calculations") == 9);
  CHECK(tree.at("tree").at("direct_sums") == 0);
  CHECK(tree.at("tree").at("error") <= 1e-3);
  CHECK(tree.at("tree").at("error") > 1e-4);
  CHECK(double(tree.at("interactions")) < double(direct.at("interactions")) / 2);
  CHECK_FALSE(tree.contains("one_chip"));  // which would take direct sums
  const double energy = direct.at("energies").back().at("total");
  CHECK(double(tree.at("energies").back().at("total")) == Approx(energy).epsilon(2e-4));
  CHECK(double(tree.at("largest_energy_error")) < 2e-4);
  accurate[7] = "0.0625";
  const Outcome text = run_gdr(accurate);
  CHECK(contains(text.output, "eps 0.02, accuracy of forces 0.001"));
  CHECK(contains(text.output, "multipoles of degree 2, theta 0."));
  CHECK(contains(text.output, "asked for: 0.001"));
  CHECK(contains(text.output, "with the potentials of the tree"));
}

TEST_CASE("a restarted run to an accuracy has the bits of an uninterrupted one") {
  const std::string accuracy = GENERATE("3e-3", "3e-5");
  const TemporaryFolder folder;
  const std::string file = folder.file("sphere.hdf5"), parts = folder.file("parts");
  write_sphere(file, 12000);
  const auto run = [&](const std::string& from, const Words& more, const std::string& out) {
    Words words = {"nbody", from, "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    Outcome outcome = run_gdr(words);
    INFO(outcome.errors);
    REQUIRE(outcome.status == 0);
    return outcome;
  };
  // The choice is made again in step 32.
  const Words options = {"--eps", "0.02", "--dt", "0.015625", "--accuracy", accuracy, "--t-end"};
  Words whole = options, first = options;
  whole.push_back("0.546875");
  first.push_back("0.203125");
  run(file, whole, folder.file("whole"));
  const Words formats = accuracy == "3e-3" ? Words{"hdf5", "text"} : Words{"hdf5"};
  for (const std::string& format : formats) {
    const std::string extension = format == "hdf5" ? ".hdf5" : ".txt";
    Words begin = first;
    begin.insert(begin.end(), {"--format", format});
    run(file, begin, parts);
    const Outcome rest =
        run(parts + "/snapshot_00000013" + extension, {"--t-end", "0.546875"}, parts);
    CHECK(contains(rest.output, "continuing from step 13"));
    const Snapshot end = read_snapshot(parts + "/snapshot_00000035" + extension);
    const Snapshot straight = read_snapshot(folder.file("whole") + "/snapshot_00000035.hdf5");
    CHECK(end.position == straight.position);
    CHECK(end.velocity == straight.velocity);
    CHECK(end.run->accuracy == std::stod(accuracy));
    CHECK(end.run->tree_method > 0);
  }
  const Outcome direct = run(folder.file("whole") + "/snapshot_00000035.hdf5",
                             {"--t-end", "0.5625", "--accuracy", "0"}, folder.file("direct"));
  CHECK_FALSE(contains(direct.output, "continuing"));
  CHECK_FALSE(contains(direct.output, "accuracy"));
}

TEST_CASE("hermite4 to an accuracy restarts with the same bits, and reports the steps of trees") {
  const TemporaryFolder folder;
  const std::string file = folder.file("sphere.hdf5"), parts = folder.file("parts");
  write_sphere(file, 12000);
  const Words start = {"--integrator", "hermite4",   "--eps", "0.05",     "--dt",
                       "0.03125",      "--accuracy", "1e-3",  "--engine", "native"};
  const auto run = [&](const std::string& from, const Words& more, const std::string& out) {
    Words words = {"nbody", from, "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    return run_json(words);
  };
  Words whole = start, first = start;
  whole.insert(whole.end(), {"--t-end", "0.0625"});
  first.insert(first.end(), {"--t-end", "0.03125"});
  const auto json = run(file, whole, folder.file("whole"));
  CHECK(json.at("accuracy") == 1e-3);
  CHECK(json.at("blocks").at("tree_steps") >= 24000);
  CHECK(json.at("blocks").at("tree_error") <= 1e-3);
  CHECK(json.at("largest_energy_error") < 3e-4);
  for (const std::string format : {"hdf5", "text"}) {
    const std::string extension = format == "hdf5" ? ".hdf5" : ".txt";
    Words begin = first;
    begin.insert(begin.end(), {"--format", format});
    run(file, begin, parts);
    run(parts + "/snapshot_00000001" + extension, {"--t-end", "0.0625", "--engine", "native"},
        parts);
    const Snapshot end = read_snapshot(parts + "/snapshot_00000002" + extension);
    const Snapshot straight = read_snapshot(folder.file("whole") + "/snapshot_00000002.hdf5");
    CHECK(end.position == straight.position);
    CHECK(end.run->tree_theta > 0);
    CHECK(*end.hermite == *straight.hermite);
  }
}

TEST_CASE("few particles have direct sums at any accuracy, in a command") {
  const TemporaryFolder folder;
  const std::string file = example("plummer_1024.hdf5");
  const auto json = run_json({"nbody", file, "--eps", "0.01", "--dt", "0.03125", "--t-end",
                              "0.0625", "--accuracy", "0.01", "--out", folder.path()});
  CHECK(json.at("tree").at("direct_sums") == 3);
  CHECK(json.at("tree").at("error") == 0);
  const Outcome text =
      run_gdr({"force", file, "--eps", "0.01", "--accuracy", "0.01", "-o", folder.file("f.hdf5")});
  CHECK(contains(text.output, "not used: direct sums are faster"));
}

TEST_CASE("an accuracy that no tree has, or for other forces, is refused") {
  const TemporaryFolder folder;
  const std::string file = example("plummer_1024.hdf5"), out = folder.file("f.hdf5");
  const auto refused = [](const Words& words, const std::string& message) {
    const Outcome outcome = run_gdr(words);
    INFO(outcome.errors);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.errors, message));
  };
  const Words force = {"force", file, "--eps", "0.01", "-o", out, "--accuracy"};
  const Words nbody = {"nbody", file, "--eps", "0.01", "--dt", "0.1", "--t-end", "1", "--accuracy"};
  const auto plus = [](Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  for (const char* const wrong : {"0", "1", "-1e-3", "nan"})
    refused(plus(force, {wrong}), "--accuracy");
  for (const char* const wrong : {"1", "-1e-3", "nan"}) refused(plus(nbody, {wrong}), "--accuracy");
  refused(plus(force, {"1e-3", "--kernel", "gravity_jerk"}), "trees are for the kernel gravity");
}

}  // namespace
}  // namespace gdr::test
