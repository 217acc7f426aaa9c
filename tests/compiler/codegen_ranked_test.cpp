// The k smallest and largest keys with their indices, beside sorted pairs, on every engine.
#include <random>

#include "compiler/codegen_support.hpp"

namespace gdr::test {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
const std::vector<std::string> ranking_engines{"reference", "vector", "native", "native-float"};

struct RankedPair {
  double key, id;
};

/// The first k in order, of equal keys the earlier one, and then those of no source.
std::vector<RankedPair> ranked(std::vector<RankedPair> pairs, std::size_t k, bool least) {
  std::stable_sort(pairs.begin(), pairs.end(), [&](const RankedPair& a, const RankedPair& b) {
    return least ? a.key < b.key : a.key > b.key;
  });
  pairs.resize(k, {least ? infinite : -infinite, -1});
  return pairs;
}

std::string ranking(std::size_t k, bool least, const std::string& key, const std::string& before) {
  const std::string size = "[" + std::to_string(k) + "]";
  return "VARI x, y; VARJ xs, ys; VARJ int id; VARF d" + size + "; VARF int n" + size + ";\n" +
         before + "\nd " + (least ? "smallest= " : "largest= ") + key + " : n = id;\n";
}

void check_ranking(std::size_t k, bool least, std::size_t sources, unsigned seed, bool condition,
                   const std::vector<std::string>& engines = ranking_engines) {
  std::mt19937 random(seed);
  // Few different positions, so that there are equal keys; all are exact in every engine.
  std::uniform_int_distribution<int> position(-9, 9);
  Data data{{"x", {}}, {"y", {}}, {"xs", {}}, {"ys", {}}, {"id", {}}};
  const std::size_t targets = 7;
  for (const char* name : {"x", "y"})
    for (std::size_t t = 0; t < targets; ++t) data[name].push_back(position(random));
  for (std::size_t s = 0; s < sources; ++s) {
    for (const char* name : {"xs", "ys"}) data[name].push_back(position(random));
    data["id"].push_back(static_cast<double>((s * 7 + 3) % 1000));
  }
  const std::string text = ranking(k, least, "(x - xs)*(x - xs) - y*ys",
                                   condition ? "skip if (xs > x && ys < y || xs == -9);" : "");
  INFO(text << sources << " sources, seed " << seed);
  const Kernel kernel(*compiled(text).program);
  for (const std::string& engine : engines) {
    const Data got = run(kernel, data, targets, sources, engine);
    for (std::size_t t = 0; t < targets; ++t) {
      const double x = data["x"][t], y = data["y"][t];
      std::vector<RankedPair> all;
      for (std::size_t s = 0; s < sources; ++s) {
        const double xs = data["xs"][s], ys = data["ys"][s];
        if (condition && ((xs > x && ys < y) || xs == -9)) continue;
        all.push_back({(x - xs) * (x - xs) - y * ys, data["id"][s]});
      }
      const std::vector<RankedPair> want = ranked(all, k, least);
      for (std::size_t r = 0; r < k; ++r) {
        INFO(engine << ", target " << t << ", rank " << r);
        REQUIRE(got.at("d_" + std::to_string(r))[t] == want[r].key);
        REQUIRE(got.at("n_" + std::to_string(r))[t] == want[r].id);
      }
    }
  }
}

}  // namespace

TEST_CASE("the k smallest and largest keys are those of a stable sort, with their indices") {
  unsigned seed = 1;
  for (const std::size_t k : {1UL, 2UL, 3UL, 8UL})
    for (const std::size_t sources : {0UL, 1UL, 2UL, 7UL, 40UL})
      check_ranking(k, (seed & 1) != 0, sources, seed, seed % 3 == 0), ++seed;
}

TEST_CASE("up to 64 keys are kept in order") {
  check_ranking(16, true, 100, 77, true);
  // Compiled code only tests most sources; the interpreter computes all.
  for (unsigned seed = 80; seed < 86; ++seed)
    check_ranking(seed % 2 == 0 ? 7 : 16, seed % 3 == 0, 600, seed, seed % 4 < 2,
                  {"native", "native,isa=portable", "native-float"});
  check_ranking(64, true, 90, 78, false, {"vector", "native"});
  check_ranking(64, false, 30, 79, true, {"vector", "native"});
}

TEST_CASE("keys without an index, of several contributions, are kept in order") {
  const std::string text =
      "VARI x; VARJ xs; VARF near[3], far[2]; d = x - xs;\n"
      "near smallest= d*d; if (d > 0) { near smallest= d; } far largest= -d;\n";
  const Kernel kernel(*compiled(text).program);
  const Data data{{"x", {0, 2.5}}, {"xs", {1, -2, 0.5, 4, -0.25}}};
  for (const std::string& engine : ranking_engines) {
    const Data got = run(kernel, data, 2, 5, engine);
    for (std::size_t t = 0; t < 2; ++t) {
      std::vector<double> near, far;
      for (const double xs : data.at("xs")) {
        const double d = data.at("x")[t] - xs;
        near.push_back(d * d);
        if (d > 0) near.push_back(d);
        far.push_back(-d);
      }
      std::ranges::sort(near);
      std::ranges::sort(far, std::greater());
      INFO(engine << ", target " << t);
      for (std::size_t r = 0; r < 3; ++r) CHECK(got.at("near_" + std::to_string(r))[t] == near[r]);
      for (std::size_t r = 0; r < 2; ++r) CHECK(got.at("far_" + std::to_string(r))[t] == far[r]);
    }
  }
}

TEST_CASE("a key that is not a number has no rank") {
  const std::string text =
      "VARI x; VARJ xs; VARJ int id; VARF d[2]; VARF int n[2];\nd smallest= rsqrt(xs - xs)*xs + x "
      ": n = id;\n"
      "d smallest= xs : n = id;\n";
  const Kernel kernel(*compiled(text).program);
  const Data data{{"x", {0}}, {"xs", {3, 1, 2}}, {"id", {5, 6, 7}}};
  for (const std::string engine : {"reference", "vector", "native"}) {
    INFO(engine);
    const Data got = run(kernel, data, 1, 3, engine);
    CHECK(got.at("d_0")[0] == 1);
    CHECK(got.at("n_0")[0] == 6);
    CHECK(got.at("d_1")[0] == 2);
    CHECK(got.at("n_1")[0] == 7);
  }
}

TEST_CASE("ranked results of a loop or branch that a constant excludes are those of no sources") {
  const std::string text =
      "CONST on = 0; VARI x; VARJ xs; VARJ int id; VARF d[2], p, l, s; VARF int n[2], any, all;\n"
      "if (on > 0) { d smallest= xs : n = id; p *= xs; l logsumexp= xs; any or= xs > 0; "
      "all and= xs > 0; }\ns += xs*x;\n";
  const Kernel kernel(*compiled(text).program);
  const Data data{{"x", {1}}, {"xs", {3, 1, 2}}, {"id", {5, 6, 7}}};
  for (const std::string& engine : ranking_engines) {
    INFO(engine);
    const Data got = run(kernel, data, 1, 3, engine);
    CHECK(got.at("d_1")[0] == infinite);
    CHECK(got.at("n_1")[0] == -1);
    CHECK(got.at("p")[0] == 1);
    CHECK(got.at("l")[0] == -infinite);
    CHECK(got.at("any")[0] == 0);
    CHECK(got.at("all")[0] == 1);
    CHECK(got.at("s")[0] == 6);
  }
}

TEST_CASE(
    "the ranks of a target do not depend on boards and chips, whose sources are not divided") {
  const Kernel kernel(*compiled(ranking(4, true, "(x - xs)*(y - ys)", "")).program);
  CHECK_THROWS_WITH(run(kernel, {{"x", {1}}, {"y", {1}}, {"xs", {2}}, {"ys", {2}}, {"id", {3}}}, 1,
                        1, "vector,partition=sources"),
                    Catch::Matchers::Contains("partition=targets"));
}

}  // namespace gdr::test
