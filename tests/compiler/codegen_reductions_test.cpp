// Every reduction with every kind of key, condition and engine, beside values found pair by pair.
#include <functional>

#include "compiler/codegen_support.hpp"

namespace gdr::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double int_limit = 34359738367;

struct Source {
  double e, l, i, id;
};
using Law = std::function<double(const Source&, double x)>;

struct KeyKind {
  std::string text;
  Law value;
};
struct ConditionKind {
  std::string text;
  std::function<bool(const Source&, double x)> counts;
};

const std::vector<KeyKind> keys{
    {"e", [](const Source& s, double) { return s.e; }},
    {"e - x", [](const Source& s, double x) { return s.e - x; }},
    {"-e", [](const Source& s, double) { return -s.e; }},
    {"0.5*e", [](const Source& s, double) { return 0.5 * s.e; }},
    {"long(e)", [](const Source& s, double) { return s.e; }},
    {"long(short(l))", [](const Source& s, double) { return s.l; }},
    {"l - x", [](const Source& s, double x) { return s.l - x; }},
    {"i", [](const Source& s, double) { return s.i; }},
    {"e*e", [](const Source& s, double) { return s.e * s.e; }},
    {"abs(e - x)", [](const Source& s, double x) { return std::abs(s.e - x); }},
    {"max(e, 0)", [](const Source& s, double) { return std::max(s.e, 0.0); }},
    {"-(e*e)", [](const Source& s, double) { return -s.e * s.e; }},
    {"sqrt(e*e)", [](const Source& s, double) { return std::abs(s.e); }},
    {"0.5", [](const Source&, double) { return 0.5; }},
    {"-2", [](const Source&, double) { return -2.0; }},
    {"e - e", [](const Source&, double) { return 0.0; }},
};

const std::vector<ConditionKind> conditions{
    {"", [](const Source&, double) { return true; }},
    {"skip if (1 > 0);", [](const Source&, double) { return false; }},
    {"skip if (0 > 1);", [](const Source&, double) { return true; }},
    {"skip if (0*x < 1);", [](const Source&, double) { return false; }},
    {"skip if (e < x);", [](const Source& s, double x) { return s.e >= x; }},
    {"skip if (id != 4 && id != 2);",
     [](const Source& s, double) { return s.id == 4 || s.id == 2; }},
};

const std::vector<std::vector<double>> key_sets{
    {-3, -1, -2}, {3, 1, 2, 1, 3},     {-1, -1, -5, 4, 4, 0, -5}, {0, -0.0, 0}, {-0.0, -0.0},
    {-7},         {2, -2, 2, -2, 0, 1}};

std::vector<Source> sources_of(const std::vector<double>& set) {
  std::vector<Source> all;
  for (std::size_t k = 0; k < set.size(); ++k)
    all.push_back({set[k], set[k], std::abs(set[k]) < int_limit ? set[k] : 0,
                   static_cast<double>((k * 5 + 2) % 11)});
  return all;
}

Data data_of(const std::vector<Source>& sources, const std::vector<double>& x) {
  Data data{{"x", x}, {"e", {}}, {"l", {}}, {"i", {}}, {"id", {}}};
  for (const Source& s : sources) {
    data["e"].push_back(s.e);
    data["l"].push_back(s.l);
    data["i"].push_back(s.i);
    data["id"].push_back(s.id);
  }
  return data;
}

const std::string reduction_head = "VARI x; VARJ short e; VARJ long l; VARJ int i, id;\n";
const std::vector<std::string> reduction_engines{"reference", "vector", "native", "native-float"};

/// Key and index of a minimum or maximum, among sources of which several may have the same key.
void check_keyed(const KeyKind& key, const ConditionKind& condition, bool least,
                 const std::string& precision = "") {
  const std::string text = precision + reduction_head + "VARF m; VARF int who;\n" + condition.text +
                           "\nm " + (least ? "min= " : "max= ") + key.text + " : who = id;\n";
  const Kernel kernel(*compiled(text).program);
  const std::vector<double> targets{0, 1, -2};
  for (const std::vector<double>& set : key_sets) {
    const std::vector<Source> sources = sources_of(set);
    const Data data = data_of(sources, targets);
    for (const std::string& engine : reduction_engines)
      for (const std::string more : {"", ",partition=sources"}) {
        const Data got = run(kernel, data, targets.size(), sources.size(), engine + more);
        for (std::size_t t = 0; t < targets.size(); ++t) {
          double best = least ? infinity : -infinity;
          for (const Source& s : sources)
            if (condition.counts(s, targets[t])) {
              const double k = key.value(s, targets[t]);
              best = least ? std::min(best, k) : std::max(best, k);
            }
          bool found = std::isinf(best) && got.at("who")[t] == -1;
          for (const Source& s : sources)
            found |= condition.counts(s, targets[t]) && key.value(s, targets[t]) == best &&
                     got.at("who")[t] == s.id;
          INFO(text << engine << more << ", " << set.size() << " sources from " << set[0]
                    << ", target " << t << ": " << got.at("m")[t] << " of " << got.at("who")[t]
                    << " instead of " << best);
          const double m = got.at("m")[t];
          REQUIRE((m == best || std::abs(m - best) <= 1e-6 * std::abs(best)));
          REQUIRE(found);
        }
      }
  }
}

}  // namespace

TEST_CASE("of keys of either sign the least or largest has its own index") {
  for (const KeyKind& key : keys)
    for (const bool least : {true, false}) check_keyed(key, conditions[0], least);
  for (const KeyKind& key : keys)
    if (key.text.find('x') != std::string::npos)
      check_keyed(key, conditions[0], true, "precision long;\n");
}

TEST_CASE("keys under conditions that are constant, or hold for some sources, have their index") {
  for (std::size_t c = 1; c < conditions.size(); ++c)
    for (const std::size_t k : {1UL, 5UL, 8UL, 13UL})
      check_keyed(keys[k], conditions[c], (c + k) % 2 == 0);
}

TEST_CASE("a minimum in a branch or loop that a constant excludes is that of no sources") {
  const std::string text = reduction_head +
                           "CONST on = 0; VARF least, most, both, b[2], sum; VARF int ib[2];\n"
                           "if (on > 0) { least min= e; both min= e; } else { sum += 0*e; }\n"
                           "if (on == 0) { both += e; } else { if (e > x) { most max= l; } }\n"
                           "for k = 1 .. on { b[k - 1] min= e*e : ib[k - 1] = id; }\n";
  const Kernel kernel(*compiled(text).program);
  const Data data = data_of(sources_of({-3, -1, 5}), {1, 2});
  for (const std::string& engine : reduction_engines) {
    INFO(engine);
    const Data got = run(kernel, data, 2, 3, engine);
    for (std::size_t t = 0; t < 2; ++t) {
      CHECK(got.at("least")[t] == infinity);
      CHECK(got.at("most")[t] == -infinity);
      CHECK(got.at("both")[t] == 1);
      CHECK(got.at("b_0")[t] == infinity);
      CHECK(got.at("ib_1")[t] == -1);
    }
  }
}

TEST_CASE("results whose contributions never count are those of no sources") {
  const std::string text = reduction_head +
                           "VARF least, most, sum, a, b; VARF int low, high, count, ia, ib;\n"
                           "VARF list found[3]; skip if (1 > 0);\n"
                           "least min= e; most max= l; sum += e; low min= i; high max= i;\n"
                           "count += 1; a min= e : ia = id; b max= e*e : ib = id;\n"
                           "found append= id;\n";
  const Kernel kernel(*compiled(text).program);
  const Data data = data_of(sources_of({-3, -1, 5}), {1, 2});
  for (const std::string& engine : reduction_engines) {
    INFO(engine);
    const Data got = run(kernel, data, 2, 3, engine);
    for (std::size_t t = 0; t < 2; ++t) {
      CHECK(got.at("least")[t] == infinity);
      CHECK(got.at("most")[t] == -infinity);
      CHECK(got.at("sum")[t] == 0);
      CHECK(got.at("low")[t] == int_limit);
      CHECK(got.at("high")[t] == -int_limit - 1);
      CHECK(got.at("count")[t] == 0);
      CHECK(got.at("a")[t] == infinity);
      CHECK(got.at("ia")[t] == -1);
      CHECK(got.at("b")[t] == -infinity);
      CHECK(got.at("ib")[t] == -1);
      CHECK(got.at("found")[t] == 0);
      CHECK(got.at("found_0")[t] == -1);
    }
  }
}

TEST_CASE("infinite keys are the largest and the least") {
  const std::string text = reduction_head +
                           "VARF a, b, c, d; VARF int ia, ib;\n"
                           "k = e*e*e;\na min= k : ia = id; b max= k - x : ib = id;\n"
                           "c min= l*l*l; d max= l*l*l;\n";
  const Kernel kernel(*compiled(text).program);
  const Data data = data_of(sources_of({1e150, -1, 1e150, -2}), {1});
  const Data few = data_of(sources_of({-1e150, 3, -1e150}), {1});
  for (const std::string& engine : reduction_engines) {
    INFO(engine);
    const Data got = run(kernel, data, 1, 4, engine);
    CHECK(got.at("a")[0] == -8);
    CHECK(got.at("ia")[0] == 6);
    CHECK(got.at("b")[0] == infinity);
    CHECK(got.at("c")[0] == -8);
    CHECK(got.at("d")[0] == infinity);
    const Data low = run(kernel, few, 1, 3, engine);
    CHECK(low.at("a")[0] == -infinity);
    CHECK(low.at("b")[0] == 26);
    CHECK(low.at("ib")[0] == 7);
    CHECK(low.at("c")[0] == -infinity);
    CHECK(low.at("d")[0] == 27);
  }
}

TEST_CASE("sums, minima and maxima without index count what conditions select") {
  for (const ConditionKind& condition : conditions) {
    const std::string text = reduction_head +
                             "VARF least, most, sum, wide; VARF int low, high, count;\n" +
                             condition.text +
                             "\nleast min= e - x; most max= e - x; sum += e; wide -= l - x;\n"
                             "low min= i; high max= i; count += i;\n";
    const Kernel kernel(*compiled(text).program);
    for (const std::vector<double>& set : key_sets) {
      const std::vector<Source> sources = sources_of(set);
      const Data data = data_of(sources, {-2, 0.5});
      for (const std::string& engine : reduction_engines) {
        const Data got = run(kernel, data, 2, sources.size(), engine);
        for (std::size_t t = 0; t < 2; ++t) {
          const double x = data.at("x")[t];
          double least = infinity, most = -infinity, low = int_limit, high = -int_limit - 1;
          double sum = 0, wide = 0;
          for (const Source& s : sources) {
            if (!condition.counts(s, x)) continue;
            least = std::min(least, s.e - x);
            most = std::max(most, s.e - x);
            low = std::min(low, s.i);
            high = std::max(high, s.i);
            sum += s.e;
            wide -= s.l - x;
          }
          INFO(text << engine << ", target " << t << " of " << set.size() << " sources");
          REQUIRE(got.at("least")[t] == least);
          REQUIRE(got.at("most")[t] == most);
          REQUIRE(got.at("low")[t] == low);
          REQUIRE(got.at("high")[t] == high);
          REQUIRE(got.at("sum")[t] == sum);
          REQUIRE(got.at("wide")[t] == wide);
          REQUIRE(got.at("count")[t] == sum);
        }
      }
    }
  }
}

TEST_CASE("an int key with an index is refused with advice") {
  const CompileResult made = compile_kernel("VARJ int e, id; VARF int m, who; m min= e : who = id;",
                                            "test.gdk", CompileOptions{});
  CHECK_FALSE(made.ok());
  const std::string text = made.diagnostics.render();
  INFO(text);
  CHECK(text.find("an int result cannot have an index") != std::string::npos);
  CHECK(text.find("VARF m;") != std::string::npos);
}

}  // namespace gdr::test
