// The command `gdr force`: accuracy against the references, output files, and errors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "io/foreign_file.hpp"
#include "libgdr/io/hdf5.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace gdr::test {
namespace {

struct Errors {
  double rms = 0, largest = 0;
};

/// Relative errors of n vectors of `width` components.
Errors errors_of(const std::vector<double>& found, const std::vector<double>& expected,
                 std::size_t width) {
  REQUIRE(found.size() == expected.size());
  Errors errors;
  for (std::size_t i = 0; i < found.size(); i += width) {
    double difference = 0, size = 0;
    for (std::size_t k = i; k < i + width; ++k) {
      difference += std::pow(found[k] - expected[k], 2);
      size += std::pow(expected[k], 2);
    }
    errors.rms += difference / size;
    errors.largest = std::max(errors.largest, std::sqrt(difference / size));
  }
  errors.rms = std::sqrt(errors.rms / static_cast<double>(found.size() / width));
  return errors;
}

TEST_CASE("forces of the Plummer spheres agree with REBOUND") {
  const TemporaryFolder folder;
  for (const std::string name : {"plummer_1024", "plummer_4096"}) {
    INFO(name);
    const hdf5::Reader reference(example(name + "_reference.hdf5"));
    const double eps = reference.attribute("/", "softening")->front();
    const std::string out = folder.file(name + ".hdf5");
    const Outcome outcome =
        run_gdr({"force", example(name + ".hdf5"), "--eps", fmt::format("{}", eps), "-o", out});
    INFO(outcome.errors);
    REQUIRE(outcome.status == 0);
    const hdf5::Reader found(out);
    CHECK(found.number_class("Acceleration") == hdf5::NumberClass::Float);
    const Errors a = errors_of(found.doubles("Acceleration"), reference.doubles("Acceleration"), 3);
    const Errors p = errors_of(found.doubles("Potential"), reference.doubles("Potential"), 1);
    INFO("accelerations: rms " << a.rms << ", largest " << a.largest);
    INFO("potentials: rms " << p.rms << ", largest " << p.largest);
    CHECK(a.rms <= 6e-8);
    CHECK(a.largest <= 2e-6);
    CHECK(p.rms <= 6e-8);
    CHECK(found.attribute("/", "softening")->front() == eps);
    CHECK(found.attribute("/", "G")->front() == 1);
    const hdf5::Reader snapshot(example(name + ".hdf5"));
    CHECK(found.integers("ParticleIDs", false) ==
          snapshot.integers("PartType1/ParticleIDs", false));
  }
}

/// Three particles of two types, without velocities.
std::string small_file(const TemporaryFolder& folder) {
  const std::string path = folder.file("small.hdf5");
  ForeignFile file(path);
  file.group("PartType4");
  file.doubles("PartType4/Coordinates", {1, 3}, {0, 0, 2});
  file.doubles("PartType4/Masses", {1}, {8});
  file.ids("PartType4/ParticleIDs", {-1}, H5T_STD_I64LE);
  file.group("PartType0");
  file.doubles("PartType0/Coordinates", {2, 3}, {0, 0, 0, 0, 0, 1}, H5T_IEEE_F32LE);
  file.doubles("PartType0/Masses", {2}, {1, 2}, H5T_IEEE_F32LE);
  file.ids("PartType0/ParticleIDs", {7, 5}, H5T_STD_I64LE);
  return path;
}

TEST_CASE("three particles have the correct order, signs and gravitational constant") {
  const TemporaryFolder folder;
  const std::string out = folder.file("out.hdf5");
  const Outcome outcome =
      run_gdr({"force", small_file(folder), "--eps", "0", "--G", "2", "-o", out, "--json"});
  INFO(outcome.errors);
  REQUIRE(outcome.status == 0);
  const hdf5::Reader found(out);
  const std::vector<double> a = found.doubles("Acceleration"), p = found.doubles("Potential");
  const double az[] = {2 * (2 + 8 / 4.0), 2 * (8 - 1.0), -2 * (1 / 4.0 + 2)};
  const double potential[] = {-2 * (2 + 8 / 2.0), -2 * (1 + 8.0), -2 * (1 / 2.0 + 2)};
  REQUIRE(a.size() == 9);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(a[3 * i] == 0);
    CHECK(a[3 * i + 1] == 0);
    CHECK(a[3 * i + 2] == Approx(az[i]).epsilon(1e-6));
    CHECK(p[i] == Approx(potential[i]).epsilon(1e-6));
  }
  CHECK(found.integers("ParticleIDs", true) ==
        std::vector<std::uint64_t>{7, 5, static_cast<std::uint64_t>(-1)});
  CHECK(found.number_class("ParticleIDs") == hdf5::NumberClass::Signed);
  CHECK(found.attribute("/", "NumPart_ThisFile") == std::vector<double>{2, 0, 0, 0, 1, 0});

  const auto json = nlohmann::json::parse(outcome.output);
  CHECK(json.at("particles") == 3);
  CHECK(json.at("interactions") == 9);
  CHECK(json.at("kernel") == "gravity");
  CHECK(json.at("chip_clocks") > 0);
}

TEST_CASE("jerk, snap and user-defined results of two particles are correct") {
  const TemporaryFolder folder;
  const std::string out = folder.file("out.hdf5");
  // A circular orbit: radius 1 each, speed 1/2, acceleration 1/4.
  const std::string stars = folder.make("stars.txt", "1  1 0 0  0 0.5 0\n1  -1 0 0  0 -0.5 0\n");
  Outcome outcome = run_gdr({"force", stars, "--eps", "0", "--kernel", "gravity_snap", "-o", out});
  INFO(outcome.errors);
  REQUIRE(outcome.status == 0);
  {
    const hdf5::Reader found(out);
    CHECK(found.doubles("Acceleration")[0] == Approx(-0.25).epsilon(1e-6));
    CHECK(found.doubles("Jerk")[1] == Approx(-0.125).epsilon(1e-6));
    CHECK(found.doubles("Snap")[0] == Approx(0.0625).epsilon(1e-6));
    CHECK(found.doubles("Potential")[1] == Approx(-0.5).epsilon(1e-6));
    CHECK(found.attribute("/", "softening") == std::vector<double>{0});
  }
  const std::string own = folder.make("spring.gdk",
                                      "kernel spring; CONST k; VARI xi as pos; VARI hi;\n"
                                      "VARJ xj as pos; VARJ mj as mass;\n"
                                      "VARF stretch; VARF int others;\n"
                                      "stretch += k*mj*(xj - xi) + hi; others += 1;\n");
  outcome = run_gdr({"force", stars, "--eps", "0", "--G", "2", "--kernel", own, "--set", "k=3",
                     "--set", "hi=0.5", "-o", out, "--json"});
  INFO(outcome.errors);
  REQUIRE(outcome.status == 0);
  const hdf5::Reader found(out);
  CHECK(found.doubles("stretch")[0] == Approx(-3 * 2 * 2 + 2 * 0.5).epsilon(1e-6));
  CHECK(found.integers("others", true) == std::vector<std::uint64_t>{2, 2});
  CHECK(nlohmann::json::parse(outcome.output).at("kernel") == "spring");
}

TEST_CASE("gdr force fills the variables of a kernel by the quantities that it declares") {
  const TemporaryFolder folder;
  const std::string out = folder.file("out.hdf5");
  const std::string stars = folder.make("stars.txt", "2  1 2 3  4 5 6\n3  -1 0 1  7 8 9\n");
  const std::string own = folder.make(
      "own.gdk",
      "kernel own; VARI vec3 here as pos; VARI int number as id; VARJ p, q, r as vel;\n"
      "VARJ weight as mass; VARJ int k as index; CONST soft as eps; CONST soft2 as eps^2;\n"
      "VARF place, moved, at, sizes; VARF int numbers;\n"
      "place += here.z; moved += weight*(p + 10*q + 100*r); sizes += soft + soft2;\n"
      "numbers += 10*number + k; at += here.x;\n");
  const Outcome outcome = run_gdr({"force", stars, "--eps", "0.5", "--kernel", own, "-o", out});
  INFO(outcome.errors);
  REQUIRE(outcome.status == 0);
  const hdf5::Reader found(out);
  CHECK(found.doubles("place") == std::vector<double>{6, 2});
  CHECK(found.doubles("at") == std::vector<double>{2, -2});
  CHECK(found.doubles("moved")[0] == 2 * 654 + 3 * 987);
  CHECK(found.doubles("sizes")[0] == 2 * 0.75);
  CHECK(found.integers("numbers", true) == std::vector<std::uint64_t>{1, 21});
}

TEST_CASE("lists and arrays of a kernel are written as datasets with one row per particle") {
  const TemporaryFolder folder;
  const std::string out = folder.file("out.hdf5");
  const std::string line =
      folder.make("line.txt", "1  0 0 0  0 0 0\n1  1 0 0  0 0 0\n1  3 0 0  0 0 0\n");
  Outcome outcome = run_gdr({"force", line, "--eps", "0", "--kernel", "gravity_neighbours", "--set",
                             "hi2=4.5", "-o", out});
  INFO(outcome.errors);
  REQUIRE(outcome.status == 0);
  {
    const hdf5::Reader found(out);
    CHECK(found.integers("near", true) == std::vector<std::uint64_t>{1, 2, 1});
    REQUIRE(found.shape("near_list") == hdf5::Reader::Shape{3, 128});
    const std::vector<std::uint64_t> list = found.integers("near_list", true);
    const auto nobody = static_cast<std::uint64_t>(-1);
    CHECK(list[0] == 1);
    CHECK(list[1] == nobody);
    CHECK(list[128] == 0);
    CHECK(list[129] == 2);
    CHECK(list[256] == 1);
    CHECK(list[3 * 128 - 1] == nobody);
  }
  outcome = run_gdr({"force", line, "--eps", "0", "--kernel", "gravity_jerk_neighbours", "--set",
                     "h2i=4.5", "-o", out});
  INFO(outcome.errors);
  REQUIRE(outcome.status == 0);
  {
    const hdf5::Reader found(out);
    REQUIRE(found.shape("near_list") == hdf5::Reader::Shape{3, 200});
    const std::vector<std::uint64_t> list = found.integers("near_list", true);
    CHECK(list[0] == 1);
    CHECK(list[200] == 0);
    CHECK(list[201] == 2);
    CHECK(list[400] == 1);
  }
  const std::string own =
      folder.make("moments.gdk",
                  "kernel moments; VARI xi as pos; VARJ xj as pos; VARF f[2]; VARF least[2];\n"
                  "d = xj - xi; f[0] += d; f[1] += d*d;\n"
                  "if (d > 10) { least[0] min= d; }\nleast[1] min= d;\n");
  outcome = run_gdr({"force", line, "--eps", "0", "--kernel", own, "-o", out});
  INFO(outcome.errors);
  REQUIRE(outcome.status == 0);
  const hdf5::Reader found(out);
  CHECK(found.shape("f") == hdf5::Reader::Shape{3, 2});
  CHECK(found.doubles("f") == std::vector<double>{4, 10, 1, 5, -5, 13});
  CHECK(std::isinf(found.doubles("least")[0]));
  CHECK(found.doubles("least")[1] == 0);
}

TEST_CASE("output files of exact engines are independent of engine and number of threads") {
  const TemporaryFolder folder;
  const std::string first = folder.file("a.hdf5"), second = folder.file("b.hdf5");
  const auto force = [&](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "force", example("plummer_1024.hdf5"), "--eps", "0.01", "--device", "exact", "-o", out};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_gdr(words);
    INFO(outcome.errors);
    REQUIRE(outcome.status == 0);
    return content_of(out);
  };
  const std::string bytes = force(first, {});
  CHECK(force(second, {"--isa", "portable"}) == bytes);
  CHECK(force(second, {"--threads", "1"}) == bytes);
}

TEST_CASE("errors of gdr force set status and message and write no file") {
  const TemporaryFolder folder;
  const std::string out = folder.file("out.hdf5"), input = example("plummer_1024.hdf5");
  const auto fails = [&](int status, const std::string& word,
                         const std::vector<std::string>& words) {
    std::vector<std::string> all = {"force"};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = run_gdr(all);
    INFO(outcome.errors);
    CHECK(outcome.status == status);
    CHECK(outcome.errors.find(word) != std::string::npos);
    CHECK(outcome.output.empty());
    CHECK_FALSE(std::filesystem::exists(out));
  };
  fails(2, "--eps", {input, "--eps", "-1", "-o", out});
  fails(2, "--eps", {input, "--eps", "nan", "-o", out});
  fails(2, "unknown option '--softening'", {input, "--eps", "1", "-o", out, "--softening", "1"});
  fails(1, "No such file", {folder.file("none"), "--eps", "1", "-o", out});
  fails(1, "not an HDF5 file", {folder.make("x.hdf5", "text"), "--eps", "1", "-o", out});
  fails(1, "line.txt:2:7",
        {folder.make("line.txt", "1 0 0 0 0 0 0\n1 0 0 nan 0 0 0\n"), "--eps", "1", "-o", out});
  fails(1, "No such file", {input, "--eps", "1", "-o", folder.file("no/out.hdf5")});
  const auto with = [&](const std::string& kernel, const std::string& setting) {
    return std::vector<std::string>{input,      "--eps", "1",     "-o",   out,
                                    "--kernel", kernel,  "--set", setting};
  };
  fails(2, "did you mean \"gravity_jerk\"", with("gravity_jrk", "a=1"));
  fails(2, "has no parameter, target or source variable 'a'", with("gravity_jerk", "a=1"));
  fails(2, "requires cinv2, which a snapshot does not contain", with("gravity_1pn", "eps2=1"));
  fails(2, "requires qj", with("coulomb", "xi=1"));
  fails(1, "own.gdk", with(folder.make("own.gdk", "VARI x"), "x=1"));
  // No name means a quantity, not even the usual ones.
  const std::string undeclared = folder.make("undeclared.gdk",
                                             "CONST eps2, k; VARI xi; VARJ xj, mj; VARF f;\n"
                                             "f += k*mj*(xj - xi)*eps2;\n");
  fails(2, "requires xj, mj, xi, eps2, which", with(undeclared, "k=1"));
  fails(2, "`VARI xi, yi, zi as pos;`, `VARJ mj as mass;`, `CONST eps2 as eps^2;`",
        with(undeclared, "k=1"));
  const std::string copy = folder.file("copy.hdf5");
  std::filesystem::copy_file(input, copy);
  fails(2, "is the input file", {copy, "--eps", "1", "-o", copy});
  CHECK(content_of(copy) == content_of(input));
  if (std::filesystem::exists("/dev/full"))
    fails(1, "No space left", {input, "--eps", "1", "-o", "/dev/full"});
  const Outcome full = run_gdr_on_full_disk({"force", input, "--eps", "1", "-o", out}, 10000);
  CHECK(full.status == 1);
  CHECK(full.errors.find(out) != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace gdr::test
