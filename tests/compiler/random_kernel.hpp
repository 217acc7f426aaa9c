// Random kernels of targets a, b, c, sources p, q, w, a parameter k and results f, g, h, with
// numbers for them; with all forms also of a vector u, a complex number z and a table.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/codegen_support.hpp"

namespace gdr::test {

/// What random kernels consist of: sums of numbers, or also vectors, complex numbers, an
/// interpolated table, minimum images, derivatives and other reductions.
enum class Forms { Numbers, All };

/// Writes kernels whose values stay between about 1e-3 and 1e3, so that nothing but rounding is in
/// the difference: every function of the language occurs.
class RandomKernel {
 public:
  explicit RandomKernel(std::uint64_t seed, Forms forms = Forms::Numbers)
      : random_(seed), all_(forms == Forms::All) {}

  std::string write() {
    std::string text =
        "VARI a, b, c; VARJ p, q, w; CONST k; VARF f, g, h;\n"
        "function sq(x) { return x*x; }\n";
    if (all_)
      text +=
          "VARI vec2 u; VARJ complex z; CONST table t[8];\n"
          "function interpolated(x) {\n"
          "  at = min(sq(x), 6.75);\n  n = int(at);\n  return t[n] + (at - n)*(t[n + 1] - t[n]);\n"
          "}\n";
    const int lines = 2 + below(3);
    for (int i = 0; i < lines; ++i) {
      const std::string name = "t" + std::to_string(i);
      text += (below(8) == 0 ? "long " : "") + name + " = " + expression(3) + ";\n";
      names_.push_back(name);
    }
    const bool skips = below(3) == 0;
    if (skips) text += "skip if (" + names_.front() + " < " + atom() + ");\n";
    for (const char* result : {"f", "g"}) text += contributions(result, 2);
    // Where all sources are left out, a minimum is infinite.
    return text + (all_ && !skips ? reduction(names_.back()) : contributions("h", 2));
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  /// One or more, some of them under conditions.
  std::string contributions(const std::string& result, int depth) {
    if (depth > 0 && below(3) == 0) {
      std::string text = "if (" + condition(1) + ") { " + contributions(result, depth - 1) + "}";
      if (below(2) == 0) text += " else { " + contributions(result, depth - 1) + "}";
      return text + "\n" + (below(2) == 0 ? contributions(result, depth - 1) : "");
    }
    std::string value = names_.back();
    if (all_ && below(3) == 0) value = "0.1*grad(" + value + ", " + input() + ")";
    return result + (below(3) == 0 ? " -= " : " += ") + value + "*" + atom() + ";\n";
  }

  /// To h, of a kind other than a sum.
  std::string reduction(const std::string& x) {
    switch (below(4)) {
      case 0:
        return "VARJ int id; VARF int m; h min= " + x + "*" + atom() + " : m = id;\n";
      case 1:
        return "VARJ int id; VARF int m; h max= " + x + " : m = id;\n";
      case 2:
        return "VARF mean; h logsumexp= 3*tanh(" + x + ") : mean = " + atom() + ";\n";
      default:
        return "h *= 0.5 + rsqrt(sq(" + x + ") + 0.5);\n";
    }
  }

  /// Of inputs: they are what they are, so that no rounding decides.
  std::string condition(int depth) {
    static const char* const all[] = {"a < p", "q < b", "c > w", "p < k", "a*0.5 < k"};
    if (depth > 0 && below(3) == 0)
      return condition(depth - 1) + (below(2) == 0 ? " && " : " || ") + condition(depth - 1);
    return (below(3) == 0 ? "!(" : "(") + std::string(all[below(5)]) + ")";
  }

  std::string input() {
    static const char* const inputs[] = {"a", "b",   "c",   "p",    "q",   "w",
                                         "k", "u.x", "u.y", "z.re", "z.im"};
    return inputs[below(all_ ? 11 : 7)];
  }

  std::string atom() {
    if (!names_.empty() && below(10) < 6)
      return names_[static_cast<std::size_t>(below(static_cast<int>(names_.size())))];
    return input();
  }

  std::string expression(int depth) {
    static const char* const numbers[] = {"0.5", "2", "1.25", "3", "0.1", "-1.5"};
    static const char* const comparisons[] = {"<", ">", "<=", ">="};
    if (depth == 0 || below(7) == 0) return below(7) == 0 ? numbers[below(6)] : atom();
    const auto part = [&] { return expression(depth - 1); };
    switch (below(all_ ? 21 : 18)) {
      case 0:
        return "rsqrt(sq(" + part() + ") + 0.5)";
      case 1:
        return "(" + part() + ")/(sq(" + part() + ") + 1)";
      case 2:
        return "max(" + part() + ", " + part() + ")";
      case 3:
        return "min(" + part() + ", " + part() + ")";
      case 4:
        return "abs(" + part() + ")";
      case 5:
        return "sqrt(sq(" + part() + ") + 0.25)";
      case 6:
        return "exp(-0.1*sq(" + part() + "))";
      case 7:
        return "(" + part() + " " + comparisons[below(4)] + " " + part() + " ? " + part() + " : " +
               part() + ")";
      case 8:
        return function(part());
      case 18:
      case 19:
      case 20:
        return form(part(), part());
      default: {
        static const char* const operators[] = {" + ", " - ", "*"};
        return "(" + part() + operators[below(3)] + part() + ")";
      }
    }
  }

  /// A function of x that does not amplify its relative error; rounded are inputs only.
  std::string function(const std::string& x) {
    switch (below(12)) {
      case 0:
        return "log(sq(" + x + ") + 0.5)";
      case 1:
        return "sin(3*tanh(" + x + "))";
      case 2:
        return "cos(2*tanh(" + x + "))";
      case 3:
        return "atan2(" + x + ", sq(" + atom() + ") + 0.5)";
      case 4:
        return "acos(0.9*tanh(" + x + "))";
      case 5:
        return "cbrt(sq(" + x + ") + 0.1)";
      case 6:
        return "erf(" + x + ")";
      case 7:
        return "erfc(abs(tanh(" + x + ")))";
      case 8:
        return "(boys(0, sq(" + x + ")) + boys(3, sq(" + x + ")))";
      case 9:
        return "pow(sq(" + x + ") + 0.5, 0.3)";
      case 10:
        return "(floor(4*a)*0.25 + round(8*p)*0.125)";
      default:
        return "tan(asin(0.5*tanh(" + x + ")))";
    }
  }

  /// Numbers from vectors, complex numbers, the table and a box.
  std::string form(const std::string& x, const std::string& y) {
    switch (below(10)) {
      case 0:
        return "norm(vec3(" + x + ", " + y + ", 0.5))";
      case 1:
        return "0.3*dot(vec3(" + x + ", u.x, 1.5), vec3(" + y + ", " + atom() + ", " + x + "))";
      case 2:
        return "0.3*cross(vec2(" + x + ", " + y + "), u)";
      case 3:
        return "abs(complex(" + x + ", 0.5))";
      case 4:
        return "real(exp(complex(-0.1*sq(" + x + "), 3*tanh(" + y + ")))*conj(z))";
      case 5:
        return "imag(z/complex(" + x + ", 1.5))";
      case 6:
        return "arg(complex(sq(" + x + ") + 0.5, " + y + "))";
      case 7:
        return "minimum_image(" + x + ", 3)";
      case 8:
        return "0.1*trace(outer(vec3(" + x + ", " + y + ", 0.25), vec3(u.y, 1, " + x + ")))";
      default:
        return "interpolated(" + x + ")";
    }
  }

  std::mt19937_64 random_;
  bool all_;
  std::vector<std::string> names_;
};

/// Numbers for the inputs of what a RandomKernel writes.
inline Data random_data(std::uint64_t seed, std::size_t targets, std::size_t sources) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Data data{{"k", {0.75}}};
  for (const char* name : {"a", "b", "c", "u_0", "u_1"})
    for (std::size_t i = 0; i < targets; ++i) data[name].push_back(normal(random));
  for (const char* name : {"p", "q", "w", "z_0", "z_1"})
    for (std::size_t i = 0; i < sources; ++i) data[name].push_back(normal(random));
  for (std::size_t i = 0; i < sources; ++i) data["id"].push_back(static_cast<double>(i));
  for (int element = 0; element < 8; ++element)
    data["t_" + std::to_string(element)] = {normal(random)};
  return data;
}

}  // namespace gdr::test
