#include "libgdr/chemistry/kernel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "gdr/chemistry.hpp"
#include "gdr/error.hpp"

namespace gdr::chemistry {
namespace {

/// Names an auxiliary derivative S^n_tuv in the text.
std::string name_of(const Order& o, unsigned n) {
  return fmt::format("s{}_{}{}{}", n, o[0], o[1], o[2]);
}

/// Derivatives S^n_tuv of the recursion of McMurchie and Davidson (J. Comput. Phys. 26, 218, 1978),
///   S^n_{t+1} = X S^{n+1}_t - t S^{n+1}_{t-1},   X = Q - P,   S^n_0 = (2 alpha)^n F_n,
/// in the order in which they can be computed.
class Derivatives {
 public:
  void require(const Order& o, unsigned n) {
    if (!known_.insert({o, n}).second) return;
    const std::size_t axis = axis_of(o);
    if (axis == 3) return;
    Order lower = o;
    lower[axis] -= 1;
    require(lower, n + 1);
    std::string statement =
        fmt::format("{} = {}*{}", name_of(o, n), "XYZ"[axis], name_of(lower, n + 1));
    if (const unsigned factor = lower[axis]; factor > 0) {
      lower[axis] -= 1;
      require(lower, n + 1);
      statement += factor == 1 ? " - " : fmt::format(" - {}*", factor);
      statement += name_of(lower, n + 1);
    }
    text_ += statement + ";\n";
  }
  const std::string& text() const { return text_; }

 private:
  /// The coordinate that the recursion lowers: one of order 1, whose second term vanishes, else
  /// any; 3 for the function itself.
  static std::size_t axis_of(const Order& o) {
    for (std::size_t a = 3; a-- > 0;)
      if (o[a] == 1) return a;
    for (std::size_t a = 3; a-- > 0;)
      if (o[a] > 0) return a;
    return 3;
  }

  std::set<std::pair<Order, unsigned>> known_;
  std::string text_;
};

/// A polynomial in u by Horner's rule.
std::string polynomial(std::span<const double> c) {
  std::string text(c.size() - 2, '(');
  text += fmt::format("{:.17g}*u", c.back());
  for (std::size_t i = c.size() - 1; i-- > 1;) text += fmt::format(" + {:.17g})*u", c[i]);
  return text + fmt::format(" + {:.17g}", c.front());
}

/// The functions (2 alpha)^n F_n(alpha r2)/sqrt(p + q) for n = 0 to `order`. The highest comes
/// from its approximation; the others follow by downward recursion, whose terms are all positive:
///   F_n(T) = (2 T F_{n+1}(T) + e^-T)/(2 n + 1).
std::string boys_functions(unsigned order, Accuracy accuracy) {
  const BoysFit& fit = boys_fit(order, accuracy);
  std::string text = "sum = p + q;\nproduct = p*q;\n";
  text += "distance = product*r2;\n";
  text += fmt::format("scaled = {:.17g}*sum;\nw = rsqrt(distance + scaled);\n", fit.c);
  text += "w2 = w*w;\nu = (scaled - distance)*w2;\n";
  text += fmt::format("numerator = {};\ndenominator = {};\n", polynomial(fit.p), polynomial(fit.q));
  std::string power = "w";
  if (order > 0) {
    text += "h = 2*product*w2;\n";
    power = fmt::format("w*h^{}", order);
  }
  text += fmt::format("{} = {}*numerator*recip(denominator);\n", name_of({0, 0, 0}, order), power);
  if (order == 0) return text;
  text += "root = rsqrt(sum);\nalpha = product*root*root;\ne0 = root*exp(-alpha*r2);\n";
  if (order > 1) text += "alpha2 = 2*alpha;\n";
  for (unsigned n = 1; n < order; ++n) text += fmt::format("e{} = alpha2*e{};\n", n, n - 1);
  for (unsigned n = order; n-- > 0;) {
    text += fmt::format("{} = (r2*{} + e{})", name_of({0, 0, 0}, n), name_of({0, 0, 0}, n + 1), n);
    text += n == 0 ? ";\n" : fmt::format("*{:.17g};\n", 1.0 / (2 * n + 1));
  }
  return text;
}

}  // namespace

std::string coulomb_kernel(unsigned li, unsigned lj, std::size_t first, std::size_t last,
                           Accuracy accuracy) {
  const std::vector<Order>& orders = hermite_orders();
  const std::size_t sources = hermite_count(lj);
  std::string text = fmt::format("kernel coulomb_{}_{}_{};\n", li, lj, first);
  text += accuracy == Accuracy::Long ? "precision long;\n" : "precision short;\n";
  text += "VARI long x, y, z, p;\n";
  text += fmt::format("VARJ long xs, ys, zs, q, d[{}];\n", sources);
  text += fmt::format("VARF long v[{}];\n", last - first);
  text += "X = xs - x;\nY = ys - y;\nZ = zs - z;\nr2 = X*X + Y*Y + Z*Z;\n";
  text += boys_functions(li + lj, accuracy);

  Derivatives derivatives;
  std::string sums;
  for (std::size_t k = first; k < last; ++k) {
    sums += fmt::format("v[{}] += ", k - first);
    for (std::size_t n = 0; n < sources; ++n) {
      Order o = orders[k];
      for (std::size_t a = 0; a < 3; ++a) o[a] += orders[n][a];
      derivatives.require(o, 0);
      sums += fmt::format("{}d[{}]*{}", n == 0 ? "" : " + ", n, name_of(o, 0));
    }
    sums += ";\n";
  }
  return text + derivatives.text() + sums;
}

std::string boys_kernel(unsigned order) {
  std::string text = fmt::format("kernel boys_{};\nprecision long;\n", order);
  text += fmt::format("VARI long r2;\nVARJ long p, q;\nVARF long f[{}];\n", order + 1);
  text += boys_functions(order, Accuracy::Long);
  for (unsigned n = 0; n <= order; ++n)
    text += fmt::format("f[{}] += {};\n", n, name_of({0, 0, 0}, n));
  return text;
}

std::string kernel_text(unsigned li, unsigned lj, unsigned part, bool shorts) {
  const std::size_t first = part * max_results;
  if (li > max_pair || lj > max_pair || first >= hermite_count(std::min(li, max_pair)))
    throw Error(ErrorCategory::Usage,
                fmt::format("there is no kernel for angular momenta {} and {}, part {}: they are 0 "
                            "to {}, the part is 0, or 0 or 1 for a first one of {}",
                            li, lj, part, max_pair, max_pair));
  const std::size_t last = std::min(hermite_count(li), first + max_results);
  return coulomb_kernel(li, lj, first, last, shorts ? Accuracy::Short : Accuracy::Long);
}

}  // namespace gdr::chemistry
