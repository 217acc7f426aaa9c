// The mathematical functions of the language on every engine, against MPFR: random arguments from
// the whole range, and arguments where something changes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "compiler/codegen_support.hpp"
#include "emulator/host/isa.hpp"
#include "support/iterations.hpp"
#include "support/mpfr_functions.hpp"

namespace gdr::test {
namespace {

constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::min();

/// A function and its domain.
struct Function {
  std::string name;
  double from, to;  ///< arguments; `log`: their magnitudes are distributed logarithmically
  bool log, both_signs;
  std::vector<double> edges;
  double near_zero = 0;  ///< longs: 1e-14 of this is the allowed error where the result is less
  int order = 0;
};

const std::vector<Function>& functions() {
  static const std::vector<Function> all{
      {"round", 1e-3, 8e6, true, true, {0, 0.5, 1.5, 2.5, -0.5, 8388607, 0.49999997, 1e-300}},
      {"floor", 1e-3, 8e6, true, true, {0, 1, -1, -1e-20, 3, -3, 0.99999994, 8388607, -8388607}},
      {"ceil", 1e-3, 8e6, true, true, {0, 1, -1, 1e-20, 3, -3, 0.99999994, 8388607, -8388607}},
      {"trunc", 1e-3, 8e6, true, true, {0, 1, -1, 1e-20, 3, -3, 0.99999994, 8388607, -8388607}},
      {"exp", -700, 700, false, false, {0, 1, -1, 0.34657359, 0.3465736, 700, -700}},
      {"exp", -2, 2, false, false, {}},
      {"log",
       1e-290,
       1e308,
       true,
       false,
       {1, 1e-290, 1e308, 0.70710677, 0.7071068, 1.4142135, 1.4142137, 1 - 0x1p-25, 1 + 0x1p-24},
       1},
      {"log", 0.5, 2, false, false, {}, 1},
      {"sin",
       1e-8,
       2.6e7,
       true,
       true,
       {0, 1e-300, smallest, 3.1415927, 1.5707964, 2.6e7, -19697711.990716595},
       1},
      {"sin", -20, 20, false, false, {}, 1},
      {"cos",
       1e-8,
       2.6e7,
       true,
       true,
       {0, 1e-300, smallest, 3.1415927, 1.5707964, 2.6e7, 19576975.887175336,
        6.338385719573125e-05},
       1},
      {"cos", -20, 20, false, false, {}, 1},
      {"tan", 1e-8, 1.3e7, true, true, {0, smallest, 3.1415927, 1.5707964, 0.78539816, 1.3e7}, 1},
      {"tan", -5, 5, false, false, {}, 1},
      {"asin", 1e-8, 1, true, true, {0, smallest, 0.5, 1, -1, 0.50000006, 0.99999997, -0.5}},
      {"asin", 0, 1, false, true, {}},
      {"acos", 1e-8, 1, true, true, {0, smallest, 0.5, 1, -1, 0.50000006, 0.99999997, -0.5}, 1},
      {"acos", 0, 1, false, true, {}, 1},
      {"atan", 1e-250, 1e250, true, true, {0, 1, -1, 0.41421354, 0.4142136, 2.4142134, 1e-290}},
      {"atan", 0, 4, false, true, {}},
      {"tanh", 1e-9, 30, true, true, {0, smallest, 0.17328679, 0.1732868, largest, -largest}},
      {"tanh", 0, 3, false, true, {}},
      {"cbrt", 1e-290, 1e300, true, true, {0, 1, 8, -27, 1e-290, largest}},
      {"cbrt", 0.9, 9, false, true, {}},
      {"erf", 1e-9, 7, true, true, {0, smallest, 1, 4, 5.9, 6, 30, largest}},
      {"erf", 0, 5, false, true, {}},
      {"erfc", 1e-9, 26.5, true, true, {0, smallest, 1, 4, 6, -6, largest, 26.5}},
      {"erfc", 0, 27, false, true, {}},
  };
  return all;
}

/// Precisions of argument and result.
enum class Precision : std::uint8_t { Shorts, ShortOfLong, Longs };

std::string kernel_text(const Function& f, Precision precision) {
  const std::string call =
      f.name == "boys" ? "boys(" + std::to_string(f.order) + ", a)" : f.name + "(a)";
  switch (precision) {
    case Precision::Shorts:
      return "VARI short x; VARJ short s; VARF r; a = x + s; r += " + call + ";";
    case Precision::ShortOfLong:
      return "VARI long x; VARJ s; VARF r; a = x; r += " + call + " + s;";
    default:
      return "VARI long x; VARJ long s; VARF r; long a = x + s; r += " + call + ";";
  }
}

double to_short(double x) {
  const int exponent = std::ilogb(x);
  if (!std::isfinite(x) || x == 0) return x;
  if (std::fabs(x) > 0x1.ffffffp1023) return std::copysign(0x1.ffffffp1023, x);
  return std::ldexp(std::nearbyint(std::ldexp(x, 24 - exponent)), exponent - 24);
}

std::vector<double> arguments(const Function& f, Precision precision, std::size_t random_ones,
                              std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> x = f.edges;
  const double low = f.log ? std::log(f.from) : f.from, high = f.log ? std::log(f.to) : f.to;
  std::uniform_real_distribution<double> place(low, high);
  while (x.size() < random_ones + f.edges.size()) {
    double value = f.log ? std::exp(place(random)) : place(random);
    value = f.both_signs && random() % 2 == 0 ? -value : value;
    x.push_back(f.log ? std::clamp(value, -f.to, f.to) : value);
  }
  if (precision == Precision::Shorts) std::ranges::transform(x, x.begin(), to_short);
  return x;
}

/// The vector engine has the same bits on all instruction sets.
std::vector<std::string> function_engines() {
  std::vector<std::string> all{"reference", "vector"};
  for (const Isa isa : host_isas()) {
    const std::string name = ",isa=" + std::string(isa_name(isa));
    all.push_back("native" + name);
    all.push_back("native-float" + name);
  }
  return all;
}

bool is_float(const std::string& engine) { return engine.starts_with("native-float"); }

/// The largest error that the documentation allows.
long double bound(const Function& f, Precision precision, const std::string& engine,
                  long double value) {
  const long double size = std::fabs(value);
  if (is_float(engine)) return 1e-6L * std::max(size, static_cast<long double>(f.near_zero));
  if (precision != Precision::Longs) return 2 * 0x1p-25L * size;
  // The error of an argument of a million turns shows where the tangent is large.
  const long double large = f.name == "tan" ? std::max(1.0L, size / 1000) : 1.0L;
  return 1e-14L * large * std::max(size, static_cast<long double>(f.near_zero));
}

/// The functions, each with all its ranges of arguments, for which it is compiled once.
std::vector<std::vector<Function>> by_name() {
  std::vector<std::vector<Function>> all;
  for (const Function& f : functions()) {
    if (all.empty() || all.back().front().name != f.name) all.emplace_back();
    all.back().push_back(f);
  }
  return all;
}

/// Arguments of a function and its values.
struct Exact {
  std::vector<double> x;
  std::vector<long double> values;
};
Exact exact_values(const Function& f, std::vector<double> x) {
  Exact exact{std::move(x), {}};
  for (const double a : exact.x) exact.values.push_back(mpfr_function(f.name, a, 0, f.order));
  return exact;
}

}  // namespace

TEST_CASE("functions agree with MPFR") {
  const std::size_t count = test::test_iterations(200);
  for (const std::vector<Function>& ranges : by_name()) {
    const Function& f = ranges.front();
    for (const Precision precision :
         {Precision::Shorts, Precision::ShortOfLong, Precision::Longs}) {
      const std::string text = kernel_text(f, precision);
      CAPTURE(text);

      const CompileResult made = compiled(text);
      const Kernel kernel(*made.program);
      std::vector<double> given;
      for (const Function& range : ranges) {
        const std::vector<double> x = arguments(range, precision, count, test::first_seed());
        given.insert(given.end(), x.begin(), x.end());
      }
      std::vector<double> floats = given;
      std::ranges::transform(floats, floats.begin(), [](double v) {
        return std::fabs(v) > 1e38 || std::fabs(v) < 1e-37 ? 0.75 : double(float(v));
      });
      const Exact of_doubles = exact_values(f, given), of_floats = exact_values(f, floats);
      for (const std::string& engine : function_engines()) {
        const auto& [x, values] = is_float(engine) ? of_floats : of_doubles;
        const Data got = run(kernel, {{"x", x}, {"s", {0}}}, x.size(), 1, engine);
        long double worst = 0;
        double worst_x = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          const long double exact = values[i];
          const double value = got.at("r")[i];
          if (std::isnan(exact) || std::isinf(exact) || value == exact) {
            const bool same = std::isnan(exact) ? std::isnan(value) : value == exact;
            INFO(engine << ": " << value << " for " << x[i]);
            CHECK(same);
            continue;
          }
          const long double allowed = bound(f, precision, engine, exact);
          const long double ratio = std::fabs(value - exact) / (allowed + 1e-307L);
          if (!(ratio <= worst)) worst = ratio, worst_x = x[i];
        }

        INFO(engine << ": the error is " << static_cast<double>(worst) << " of the allowed one at "
                    << worst_x);
        CHECK(worst <= 1);
      }
    }
  }
}

namespace {

/// Arguments of functions of two numbers.
struct Pairs {
  std::vector<double> x, y;
};

Pairs random_pairs(std::size_t count, double decades, bool signs, bool shorts) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> exponent(-decades, decades);
  Pairs pairs;
  const auto number = [&](bool negative) {
    const double magnitude = std::pow(10.0, exponent(random));
    const double value = negative && random() % 2 == 0 ? -magnitude : magnitude;
    return shorts ? to_short(value) : value;
  };
  for (std::size_t i = 0; i < count; ++i) {
    pairs.x.push_back(number(signs));
    pairs.y.push_back(number(true));
  }
  return pairs;
}

std::vector<long double> exact_values(const std::string& name, const Pairs& pairs) {
  std::vector<long double> values;
  for (std::size_t i = 0; i < pairs.x.size(); ++i)
    values.push_back(mpfr_function(name, pairs.x[i], pairs.y[i]));
  return values;
}

void check_pairs(const std::string& name, const Pairs& pairs, bool shorts) {
  const std::string type = shorts ? "short" : "long";
  const std::string text = "VARI " + type + " x, y; VARJ " + type + " s; VARF r;\n" + type +
                           " a = x + s;\n" + type + " b = y + s;\nr += " + name + "(a, b);";
  CAPTURE(text);
  const CompileResult made = compiled(text);
  const Kernel kernel(*made.program);
  Pairs floats = pairs;
  const auto limited = [](double v) {
    return static_cast<double>(static_cast<float>(std::clamp(v, -1e30, 1e30)));
  };
  std::ranges::transform(floats.x, floats.x.begin(), limited);
  std::ranges::transform(floats.y, floats.y.begin(), limited);
  const std::vector<long double> of_doubles = exact_values(name, pairs),
                                 of_floats = exact_values(name, floats);
  for (const std::string& engine : function_engines()) {
    const Pairs& given = is_float(engine) ? floats : pairs;
    const std::vector<long double>& values = is_float(engine) ? of_floats : of_doubles;
    const Data got =
        run(kernel, {{"x", given.x}, {"y", given.y}, {"s", {0}}}, given.x.size(), 1, engine);
    long double worst = 0;
    for (std::size_t i = 0; i < given.x.size(); ++i) {
      const double x = given.x[i], y = given.y[i];
      const double least = std::min(std::fabs(x), std::fabs(y));
      if (is_float(engine) && least < 1e-30) continue;
      const long double exact = values[i];
      const double value = got.at("r")[i];
      long double allowed = is_float(engine) ? 1e-6L : shorts ? 2 * 0x1p-25L : 1e-14L;
      allowed *= std::fabs(exact);
      // Where the results end: those of floats, of powers in shorts, and the machine's numbers.
      const double end = is_float(engine) ? 1e37 : 1.2e308;
      const double first = is_float(engine) ? 1e-37 : shorts ? 1e-307 : smallest;
      if (exact == 0 || std::fabs(exact) > end || std::fabs(exact) < first) continue;
      INFO(engine << ", " << x << " " << y << ": " << value << " instead of "
                  << static_cast<double>(exact));
      const long double ratio = std::fabs(value - exact) / allowed;
      worst = ratio <= worst ? worst : ratio;
      CHECK(ratio <= 1);
    }
  }
}

}  // namespace

TEST_CASE("functions of two numbers agree with MPFR") {
  const std::size_t count = test::test_iterations(200);
  for (const bool shorts : {true, false}) {
    for (const double decades : {0.5, 100.0}) {
      check_pairs("atan2", random_pairs(count, decades, true, shorts), shorts);
    }
    for (const double decades : {0.5, 2.5}) {
      check_pairs("pow", random_pairs(count, decades, false, shorts), shorts);
    }
  }
}

namespace {

/// Powers between `smallest` and 1.2e308, of numbers of all sizes and near 1: the logarithms of the
/// base and of the result are distributed evenly, or those of their distances from 1.
Pairs large_powers(std::size_t count, bool shorts) {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> unit(-1, 1), decades(-15, 0);
  Pairs pairs;
  const auto add = [&](double x, double log_of_result) {
    x = shorts ? to_short(x) : x;
    const double y = log_of_result / std::log(x);
    if (x == 1 || !std::isfinite(y)) return;
    pairs.x.push_back(x);
    pairs.y.push_back(shorts ? to_short(y) : y);
  };
  while (pairs.x.size() < count) {
    const double end = unit(random) < 0 ? -708.3 : 709.4;
    const double near_one = 1 + unit(random) * std::pow(10, decades(random));
    add(std::exp(667 * unit(random)), 708 * unit(random));
    add(near_one, 708 * unit(random));
    add(near_one, end);
    add(std::exp2(unit(random)), end);
    add(M_SQRT2 + unit(random) * 1e-5, end);
    add(M_SQRT1_2 + unit(random) * 1e-5, end);
    add(std::exp(667 * unit(random)), unit(random) * 1e-12);
  }
  return pairs;
}

}  // namespace

TEST_CASE("powers keep their accuracy up to the ends of the range of numbers") {
  const std::size_t count = test::test_iterations(1000);
  for (const bool shorts : {true, false}) check_pairs("pow", large_powers(count, shorts), shorts);
}

TEST_CASE("sets of Boys functions agree with MPFR") {
  const std::size_t count = test::test_iterations(60);
  for (const int order : {0, 3, 8, 12, 16}) {
    for (const bool shorts : {true, false}) {
      const std::string type = shorts ? "short" : "long", m = std::to_string(order);
      const std::string text = "VARI " + type + " x; VARJ " + type + " s; VARF r[" + m +
                               " + 1];\n" + type + " t = x + s;\nfor k = 0 .. " + m +
                               " { r[k] += boys(k, t); }\n";
      CAPTURE(text);
      // The native engines take the unscheduled program of a text. A section of a pipelined one may
      // run on the exact engine, with its rounding.
      CompileOptions unscheduled;
      unscheduled.pipeline = false;
      const Kernel scheduled_kernel(*compiled(text).program),
          unscheduled_kernel(*compile_kernel(text, "test.gdk", unscheduled).program);
      std::mt19937_64 random(3);
      std::uniform_real_distribution<double> exponent(-6, 4), place(0, order + 20);
      std::vector<double> t{0, order + 8.0, std::nextafter(order + 8.0, 0), 1e4, 1e-300};
      while (t.size() < count)
        t.push_back(t.size() % 2 == 0 ? std::pow(10.0, exponent(random)) : place(random));
      if (shorts) std::ranges::transform(t, t.begin(), to_short);
      std::vector<std::vector<long double>> exact(static_cast<std::size_t>(order) + 1);
      for (std::size_t k = 0; k < exact.size(); ++k)
        for (const double x : t)
          exact[k].push_back(mpfr_function("boys", x, 0, static_cast<int>(k)));
      for (const std::string& engine : function_engines()) {
        if (is_float(engine)) continue;
        const Kernel& kernel = engine.starts_with("native") ? unscheduled_kernel : scheduled_kernel;
        const Data got = run(kernel, {{"x", t}, {"s", {0}}}, t.size(), 1, engine);
        long double worst = 0;
        double worst_t = 0;
        int worst_k = 0;
        for (int k = 0; k <= order; ++k) {
          const std::vector<double>& values = got.at("r_" + std::to_string(k));
          for (std::size_t i = 0; i < t.size(); ++i) {
            const long double right = exact[static_cast<std::size_t>(k)][i];
            const long double in_longs = engine.starts_with("native") ? 4e-15L : 1e-14L;
            const long double allowed = (shorts ? 2 * 0x1p-25L : in_longs) * right;
            const long double ratio = std::fabs(values[i] - right) / allowed;
            if (!(ratio <= worst)) worst = ratio, worst_t = t[i], worst_k = k;
          }
        }

        INFO(engine << ": order " << worst_k << " at " << worst_t);
        CHECK(worst <= 1);
      }
    }
  }
}

TEST_CASE("numbers become ints as in C") {
  const std::size_t count = test::test_iterations(300);
  for (const std::string type : {"short", "long"}) {
    const std::string text = "VARI " + type + " x; VARJ " + type + " s; VARF int n, m;\n" + type +
                             " a = x + s; n += int(a); m += int(round(a));";
    CAPTURE(text);
    const CompileResult made = compiled(text);
    const Kernel kernel(*made.program);
    std::mt19937_64 random(4);
    std::uniform_real_distribution<double> exponent(-2, 23);
    std::vector<double> x{0, 1, -1, 0.99999994, -0.99999994, 8388607, -8388607, 2.5, 3.5, -2.5};
    if (type == "long")
      x.insert(x.end(), {34359738367.0, -34359738367.0, 34359738366.75, 0x1p34 + 0.5});
    while (x.size() < count)
      x.push_back(to_short(std::exp2(exponent(random))) * (random() % 2 == 0 ? 1 : -1));
    for (const std::string& engine : function_engines()) {
      const Data got = run(kernel, {{"x", x}, {"s", {0}}}, x.size(), 1, engine);
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (is_float(engine) && x[i] != static_cast<double>(static_cast<float>(x[i]))) continue;
        INFO(engine << ": " << x[i]);
        CHECK(got.at("n")[i] == std::trunc(x[i]));
        CHECK(got.at("m")[i] == std::nearbyint(x[i]));
      }
    }
  }
}

TEST_CASE("ints are divided by constants as in C") {
  const std::size_t count = test::test_iterations(200);
  std::mt19937_64 random(5);
  std::vector<double> n{0, 1, -1, 6, 7, -6, -7, 34359738367.0, -34359738368.0};
  while (n.size() < count) {
    const auto bits = static_cast<std::int64_t>(random() >> (29 + random() % 30));
    n.push_back(static_cast<double>(random() % 2 == 0 ? bits : -bits));
  }
  for (const std::int64_t divisor : {1, 2, 3, 7, 8, 10, 1000, 1023, 65536, 67108863, -5, -16}) {
    const std::string d = "(" + std::to_string(divisor) + ")";
    const std::string text = "VARI int n; VARJ int s; VARF int q, r;\nint k = n + s;\nq += k/" + d +
                             "; r += k % " + d + ";";
    CAPTURE(text);
    const CompileResult made = compiled(text);
    const Kernel kernel(*made.program);
    for (const std::string& engine : function_engines()) {
      const Data got = run(kernel, {{"n", n}, {"s", {0}}}, n.size(), 1, engine);
      for (std::size_t i = 0; i < n.size(); ++i) {
        const auto value = static_cast<std::int64_t>(n[i]);
        INFO(engine << ": " << value);
        CHECK(got.at("q")[i] == static_cast<double>(value / divisor));
        CHECK(got.at("r")[i] == static_cast<double>(value % divisor));
      }
    }
  }
}

TEST_CASE("functions of zero, infinities and NaN") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  struct Special {
    std::string call;
    double at_zero, at_infinity, at_minus_infinity;
  };
  const double half_pi = std::acos(0.0);
  const Special all[] = {
      {"log(a + 1)", 0, inf, nan},
      {"round(a)", 0, nan, nan},
      {"floor(a)", 0, nan, nan},
      {"log(a)", -inf, inf, nan},
      {"sin(a)", 0, nan, nan},
      {"cos(a)", 1, nan, nan},
      {"tan(a)", 0, nan, nan},
      {"asin(a)", 0, half_pi, -half_pi},
      {"acos(a)", half_pi, 0, 2 * half_pi},
      {"atan(a)", 0, half_pi, -half_pi},
      {"tanh(a)", 0, 1, -1},
      {"erf(a)", 0, 1, -1},
      {"erfc(a)", 1, 0, 2},
      {"pow(a, 1.25)", 0, inf, nan},
      {"pow(a, -1.25)", inf, 0, nan},
      {"pow(a, 1.25 + 0*s)", 0, inf, nan},
      {"atan2(a, -1)", 2 * half_pi, half_pi, -half_pi},
      {"sin(a + 3e7)", nan, nan, nan},
      {"boys(3, abs(a))", 1.0 / 7, nan, nan},
  };
  for (const Special& f : all) {
    for (const std::string type : {"short", "long"}) {
      const std::string text = "VARI x; VARJ s; VARF r, bad;\n" + type + " b = x*s;\n" + type +
                               " a = b*s;\nr += " + f.call +
                               ";\na = s*s; a = a - a;\nbad += " + f.call + ";";
      CAPTURE(text);
      // Values do not depend on the schedule, for which other tests of functions search.
      CompileOptions unscheduled;
      unscheduled.pipeline = false;
      const Kernel kernel(*compile_kernel(text, "test.gdk", unscheduled).program);
      for (const std::string& engine : function_engines()) {
        if (is_float(engine)) continue;
        const Data got = run(kernel, {{"x", {0, 1, -1}}, {"s", {1e300}}}, 3, 1, engine);
        const double expected[] = {f.at_zero, f.at_infinity, f.at_minus_infinity};
        for (std::size_t i = 0; i < 3; ++i) {
          const double value = got.at("r")[i];
          INFO(engine << ": " << value << " instead of " << expected[i]);
          const double tolerance = type == "short" ? 1e-7 : 1e-14;
          const bool same = std::isnan(expected[i])   ? !std::isfinite(value)
                            : std::isinf(expected[i]) ? value == expected[i]
                                                      : std::fabs(value - expected[i]) <= tolerance;
          CHECK(same);
          CHECK(std::isnan(got.at("bad")[i]));
        }
      }
    }
  }
}

TEST_CASE("functions outside of their ranges give what the reference page says") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const double half_pi = std::acos(0.0);
  struct Outside {
    std::string call;
    double x, value;
    double tolerance = 1e-14;  ///< of longs, relative
    double y = 1;              ///< b
  };
  const Outside all[] = {
      {"exp(a)", 701, std::exp(700.0)},
      {"exp(a)", 1e300, std::exp(700.0)},
      {"exp(a)", -800, std::exp(-700.0)},
      {"sin(a)", 2.7e7, nan},
      {"sin(a)", -1e300, nan},
      {"cos(a)", -2.7e7, nan},
      {"cos(a)", 1e300, nan},
      {"tan(a)", 1.35e7, nan},
      {"tan(a)", -1e300, nan},
      {"asin(a)", 1.0000001, half_pi},
      {"asin(a)", -1e300, -half_pi},
      {"acos(a)", 2, 0},
      {"acos(a)", -1e300, 2 * half_pi},
      {"atan(a)", 1e305, half_pi},
      {"log(a)", -1e-300, nan},
      {"log(a)", -0.5, nan},
      {"cbrt(a)", 1e-300, 1e-100, 6e-8},
      {"cbrt(a)", -1e-300, -1e-100, 6e-8},
      {"round(a)", 3e15, 3e15, 0x1p-48},
      {"floor(a)", -7e20, -7e20, 0x1p-48},
      {"trunc(a)", 1e300, 1e300, 0x1p-48},
      {"pow(a, b)", -2, nan},
      {"pow(a, b)", -1e-300, nan},
      {"pow(a, b)", 10, inf, 1e-14, 400},
      {"pow(a, b)", 10, inf, 1e-14, 308.25},
      {"pow(a, b)", 10, 0, 1e-14, -400},
      {"pow(a, b)", 10, std::pow(10.0, -307.625), 1e-14, -307.625},
      {"pow(a, b)", 10, 0, 1e-14, -308.125},
      {"pow(a, b)", 0, inf, 1e-14, -1},
      {"pow(a, b)", 0, nan, 1e-14, 0},
  };
  std::map<std::string, std::vector<Outside>> by_call;
  for (const Outside& f : all) by_call[f.call].push_back(f);
  for (const auto& [call, cases] : by_call) {
    Data data{{"x", {}}, {"y", {}}, {"s", {1}}};
    for (const Outside& f : cases) data["x"].push_back(f.x), data["y"].push_back(f.y);
    for (const std::string type : {"short", "long"}) {
      const bool shorts = type == "short";
      const std::string text = "VARI " + type + " x, y; VARJ " + type + " s; VARF r;\n" + type +
                               " b = y + (s - 1);\n" + type + " a = x + (s - 1);\nr += " + call +
                               " + 0*b;";
      CAPTURE(text);
      const CompileResult made = compiled(text);
      const Kernel kernel(*made.program);
      for (const std::string& engine : function_engines()) {
        if (is_float(engine)) continue;
        const Data got = run(kernel, data, cases.size(), 1, engine);
        for (std::size_t i = 0; i < cases.size(); ++i) {
          const Outside& f = cases[i];
          if (shorts && f.value != 0 && std::fabs(f.value) < 1e-307) continue;
          const double value = got.at("r")[i];
          INFO(engine << ": " << value << " instead of " << f.value << " for " << f.x);
          const double tolerance = shorts ? std::max(0x1p-23, f.tolerance) : f.tolerance;
          const bool same = std::isnan(f.value)   ? std::isnan(value)
                            : std::isinf(f.value) ? value == f.value
                                                  : std::fabs(value - f.value) <=
                                                        tolerance * std::fabs(f.value) + 1e-322;
          CHECK(same);
        }
      }
    }
  }
}

}  // namespace gdr::test
