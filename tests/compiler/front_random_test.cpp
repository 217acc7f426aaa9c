// Random kernels, run directly while they are written, against the graph that the compiler builds.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "compiler/front_support.hpp"

namespace gdr::test {
namespace {

using Number = long double;

/// A text and its value: small integers, so that every sum and product is exact.
struct Written {
  std::string text;
  Number value;
};

/// Writes a kernel with inputs a, b (VARI), c (VARJ), ints n, m, results f, g, r, s and temporaries
/// t0 to t4, and does what the text says as it goes: `running` is false in branches that are not
/// taken and behind a skip that applies.
class TextAuthor {
 public:
  explicit TextAuthor(std::uint64_t seed) : random_(seed) {
    for (const char* name : {"a", "b", "c", "n", "m"}) inputs_[name] = below(7) - 3;
    for (int i = 0; i < 5; ++i) {
      const Written w = number(2);
      line("t" + std::to_string(i) + " = " + w.text + ";");
      temporaries_["t" + std::to_string(i)] = w.value;
    }
    block(12, true, 0);
  }

  std::string text() const {
    return "VARI a, b; VARJ c; VARI int n; VARJ int m; VARF f, g, r, s;\n"
           "function twice(x) { y = x + x; return y; }\n"
           "function larger(x, y) { if (x > y) { z = x; } else { z = y; } return z; }\n" +
           text_;
  }

  std::map<std::string, Number> inputs_, temporaries_;
  std::map<std::string, Number> results_{{"f", 0}, {"g", 0}, {"r", HUGE_VALL}, {"s", -HUGE_VALL}};

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  void line(const std::string& s) { text_ += s + "\n"; }

  std::string any_temporary() { return "t" + std::to_string(below(5)); }

  Written number(int depth) {
    switch (depth == 0 ? below(3) : below(12)) {
      case 0: {
        const int x = below(9);
        return {std::to_string(x), static_cast<Number>(x)};
      }
      case 1: {
        const std::string name(1, "abcnm"[below(5)]);
        return {name, inputs_[name]};
      }
      case 2: {
        const std::string name = any_temporary();
        const auto it = temporaries_.find(name);
        return it == temporaries_.end() ? number(0) : Written{name, it->second};
      }
      case 3: {
        const Written x = number(depth - 1), y = number(depth - 1);
        return {x.text + " + " + y.text, x.value + y.value};
      }
      case 4: {
        const Written x = number(depth - 1), y = number(depth - 1);
        return {x.text + " - (" + y.text + ")", x.value - y.value};
      }
      case 5: {
        const Written x = number(0), y = number(depth - 1);
        const std::string factor = std::to_string(below(3));
        return {"(" + x.text + ")*0.5*(" + y.text + ")*" + factor,
                x.value * 0.5L * y.value * std::stoi(factor)};
      }
      case 6: {
        const Written x = number(depth - 1);
        return {"-(" + x.text + ")", -x.value};
      }
      case 7: {
        const Written x = number(depth - 1), y = number(depth - 1);
        return {"max(" + x.text + ", " + y.text + ")", std::max(x.value, y.value)};
      }
      case 8: {
        const Written x = number(depth - 1);
        return {"abs(" + x.text + ")", std::fabs(x.value)};
      }
      case 9: {
        const Written k = condition(depth - 1), x = number(depth - 1), y = number(depth - 1);
        return {"(" + k.text + " ? " + x.text + " : " + y.text + ")",
                k.value != 0 ? x.value : y.value};
      }
      case 10: {
        const Written x = number(depth - 1);
        return {"twice(" + x.text + ")", 2 * x.value};
      }
      default: {
        const Written x = number(depth - 1), y = number(depth - 1);
        return {"larger(" + x.text + ", " + y.text + ")", std::max(x.value, y.value)};
      }
    }
  }

  Written condition(int depth) {
    if (depth > 0 && below(3) == 0) {
      const Written x = condition(depth - 1), y = condition(depth - 1);
      const bool both = below(2) == 0;
      const bool a = x.value != 0, not_b = y.value == 0;
      return {"(" + x.text + (both ? " && " : " || ") + "!(" + y.text + "))",
              (both ? a && not_b : a || not_b) ? 1.0L : 0.0L};
    }
    static constexpr const char* ops[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
    const int op = below(6);
    const Written x = number(std::max(depth, 0)), y = number(std::max(depth, 0));
    const Number a = x.value, b = y.value;
    const bool values[] = {a<b, a <= b, a> b, a >= b, a == b, a != b};
    return {"(" + x.text + ")" + ops[op] + "(" + y.text + ")", values[op] ? 1.0L : 0.0L};
  }

  void block(int statements, bool running, int depth) {
    for (int i = 0; i < statements; ++i) statement(running, depth);
  }

  void statement(bool running, int depth) {
    switch (below(depth < 3 ? 9 : 6)) {
      case 0:
      case 1:
        return assign(running);
      case 2:
      case 3:
        return contribute(running);
      case 4: {
        const Written w = number(2);
        const bool minimum = below(2) == 0;
        line(std::string(minimum ? "r min= " : "s max= ") + w.text + ";");
        if (!running || skipped_) return;
        Number& r = results_[minimum ? "r" : "s"];
        r = minimum ? std::min(r, w.value) : std::max(r, w.value);
        return;
      }
      case 5: {
        const Written c = condition(1);
        line("skip if (" + c.text + ");");
        if (running && c.value != 0) skipped_ = true;
        return;
      }
      case 6:
      case 7:
        return branch(running, depth);
      default:
        return loop(running);
    }
  }

  void assign(bool running) {
    const std::string name = any_temporary();
    const Written w = number(3);
    const int op = below(3);
    line(name + (op == 0 ? " = " : op == 1 ? " += " : " -= ") + w.text + ";");
    if (!running) return;
    Number& t = temporaries_[name];
    t = op == 0 ? w.value : op == 1 ? t + w.value : t - w.value;
  }

  void contribute(bool running) {
    const std::string name = below(2) == 0 ? "f" : "g";
    const Written w = number(3);
    const bool minus = below(3) == 0;
    line(name + (minus ? " -= " : " += ") + w.text + ";");
    if (running && !skipped_) results_[name] += minus ? -w.value : w.value;
  }

  void branch(bool running, int depth) {
    const Written c = condition(2);
    const bool yes = c.value != 0;
    line("if (" + c.text + ") {");
    // Each branch is written with the values that it would see; what is not taken is undone.
    const auto before = temporaries_;
    block(1 + below(3), running && yes, depth + 1);
    if (below(2) == 0) {
      line("} else {");
      block(1 + below(3), running && !yes, depth + 1);
    }
    line("}");
    if (!running) temporaries_ = before;
  }

  void loop(bool running) {
    const std::string name = any_temporary();
    const int first = below(3), last = below(4);
    line("for k = " + std::to_string(first) + " .. " + std::to_string(last) + " { " + name +
         " += k*2; f += k; }");
    for (int k = first; k <= last; ++k) {
      if (!running) continue;
      temporaries_[name] += 2 * k;
      if (!skipped_) results_["f"] += k;
    }
  }

  std::mt19937_64 random_;
  std::string text_;
  bool skipped_ = false;
};

}  // namespace

TEST_CASE("random kernels give the expected graph values") {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    TextAuthor author(seed);
    INFO("seed " << seed << "\n" << author.text());
    const kc::Graph g = graph_of(author.text());
    std::vector<Given> given;
    for (const auto& [name, value] : author.inputs_) given.push_back({name, {value}});
    auto results = kc::empty_results<long double>(g);
    kc::reduce_terms(g, terms_of(g, given), results);
    for (std::size_t i = 0; i < g.variables.size(); ++i) {
      if (g.variables[i].kind != VarKind::Result) continue;
      const bool any = std::any_of(
          g.contributions.begin(), g.contributions.end(),
          [&](const kc::Contribution& c) { return c.result == static_cast<std::int32_t>(i); });
      INFO(g.variables[i].name);
      if (any) CHECK(results[i] == author.results_[g.variables[i].name]);
    }
  }
}

}  // namespace gdr::test
