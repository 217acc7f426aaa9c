// Ewald: a CutoffSum in real space, a job for the structure factors of the waves, and one for their
// fields.
#include "gdr/ewald.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/host/float_mode.hpp"
#include "emulator/host/hash.hpp"
#include "gdr/error.hpp"
#include "libgdr/ewald/cell.hpp"
#include "libgdr/ewald/parameters.hpp"
#include "libgdr/pairs/cutoff_sum.hpp"
#include "libgdr/ranks/equal_calls.hpp"
#include "libgdr/ranks/gathered.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {
namespace {

using ewald::Cell;
using ewald::Columns;
using ewald::Vector;

constexpr double pi = std::numbers::pi;

/// Reach of lists beyond the cut-off: a power of two up to this, relative to it, so that it seldom
/// changes with the box. Less than usual, since a pair takes long.
constexpr double skin_of_cutoff = 0.055;

// All in longs. The field is that at the target; v is the virial of its pairs, without its charge.
constexpr const char* real_text = R"(
kernel ewald_real;
precision long;
CONST alpha;
VARI xi, yi, zi as pos;
VARJ xj, yj, zj as pos; VARJ qj;
VARF ex, ey, ez, pot, vxx, vxy, vxz, vyy, vyz, vzz;
dx = xi - xj; dy = yi - yj; dz = zi - zj;
r2 = dx*dx + dy*dy + dz*dz;
rinv = rsqrt(r2);
ar = alpha*(r2*rinv);
p = qj*erfc(ar)*rinv;
f = (p + 1.1283791670955126*(alpha*qj)*exp(-(ar*ar)))*(rinv*rinv);
fx = f*dx; fy = f*dy; fz = f*dz;
ex += fx; ey += fy; ez += fz;
pot += p;
vxx += fx*dx; vxy += fx*dy; vxz += fx*dz; vyy += fy*dy; vyz += fy*dz; vzz += fz*dz;
)";

// Targets are rows of waves, n the first of each; t is its phase in turns, c and s belong to the
// phase of a step to the next wave.
constexpr const char* factors_text = R"(
kernel ewald_factors;
precision long;
VARI n1, n2, n3;
VARJ u1, u2, u3, c, s, q;
VARF cosine[4], sine[4];
t = n1*u1 + n2*u2 + n3*u3;
a = 6.283185307179586*(t - round(t));
x = q*cos(a);
y = q*sin(a);
for k = 0 .. 3 {
  cosine[k] += x;
  sine[k] += y;
  next = x*c - y*s;
  y = x*s + y*c;
  x = next;
}
)";

// Sources are rows of waves with their factors; g is the field in units of the dual vectors, by 2
// pi.
constexpr const char* fields_text = R"(
kernel ewald_fields;
precision long;
VARI u1, u2, u3, c, s;
VARJ n1, n2, n3, cosine[4], sine[4];
VARF g1, g2, g3, pot;
t = n1*u1 + n2*u2 + n3*u3;
a = 6.283185307179586*(t - round(t));
x = cos(a);
y = sin(a);
for k = 0 .. 3 {
  p += cosine[k]*x + sine[k]*y;
  f = cosine[k]*y - sine[k]*x;
  w += f;
  steps += k*f;
  next = x*c - y*s;
  y = x*s + y*c;
  x = next;
}
pot += p;
g1 += w*n1;
g2 += w*n2;
g3 += w*n3 + steps;
)";

/// The integers of the texts.
static_assert(ewald::row_length == 4);

/// A function of the host's library, in more digits than a double, so that the bits of the double
/// do not depend on its variants for instruction sets.
template <typename Function>
double in_double(double x, const Function& f) {
  return static_cast<double>(f(static_cast<long double>(x)));
}

void check_finite_charges(const char* name, std::span<const double> values, std::size_t each) {
  const auto bad = std::ranges::find_if(values, [](double v) { return !std::isfinite(v); });
  if (bad == values.end()) return;
  const auto k = static_cast<std::size_t>(bad - values.begin());
  throw Error(ErrorCategory::Input, std::string(name) + "[" + std::to_string(k / each) + "] is " +
                                        std::to_string(*bad) +
                                        "; positions and charges must be finite");
}

void check_charges(const EwaldCall& call) {
  const std::size_t n = call.charge.size();
  const auto refuse = [&](const char* name, std::size_t size, std::size_t expected) {
    throw Error(ErrorCategory::Usage, std::string(name) + " has " + std::to_string(size) +
                                          " numbers; expected " + std::to_string(expected) +
                                          " for " + std::to_string(n) + " charges");
  };
  if (call.pos.size() != 3 * n) refuse("pos", call.pos.size(), 3 * n);
  if (!call.force.empty() && call.force.size() != 3 * n) refuse("force", call.force.size(), 3 * n);
  if (!call.energy.empty() && call.energy.size() != n) refuse("energy", call.energy.size(), n);
  check_finite_charges("pos", call.pos, 3);
  check_finite_charges("charge", call.charge, 1);
}

/// Potentials, fields and the virial, of one part after the other.
struct ChargeSums {
  std::vector<double> pot;
  Columns field;
  std::array<double, 9> virial{};

  explicit ChargeSums(std::size_t n) : pot(n) {
    for (std::vector<double>& column : field) column.resize(n);
  }
};

/// The charge at the same place as charge i, up to rounding; i if there is none.
std::size_t charge_at(const Columns& u, std::size_t i) {
  std::size_t nearest = i;
  double least = 1e-12;
  for (std::size_t j = 0; j < u[0].size(); ++j) {
    double most = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double d = u[a][i] - u[a][j];
      most = std::max(most, std::abs(d - std::round(d)));
    }
    if (j == i || !(most < least)) continue;
    nearest = j;
    least = most;
  }
  return nearest;
}

/// What a charge adds to the sums over all of them, in real space.
struct RealTerm {
  double charge, pot;
  std::array<double, 6> virial;  ///< xx, xy, xz, yy, yz, zz, without the charge
};

/// Refuses potentials that are not finite, or so large that the cause is a charge at the same
/// place. `usual`: the potential of a pair at the mean distance. `positions` returns those of all
/// charges.
template <typename Positions>
void check_potentials(const Cell& cell, std::span<const RealTerm> terms, double usual,
                      const Positions& positions) {
  std::optional<Columns> fractions;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const double pot = terms[i].pot;
    if (std::abs(pot) <= 1e8 * usual) continue;
    if (!fractions) fractions = ewald::fractions(cell, positions());
    const std::size_t other = charge_at(*fractions, i);
    if (other != i)
      throw CollectiveError(ErrorCategory::Input,
                            "charges " + std::to_string(std::min(i, other)) + " and " +
                                std::to_string(std::max(i, other)) +
                                " are at the same place; their energy is infinite");
    if (!std::isfinite(pot))
      throw CollectiveError(ErrorCategory::Input,
                            "the energy of charge " + std::to_string(i) +
                                " is not finite: charges or distances exceed the range of the "
                                "engine's numbers; scale the units");
  }
}

}  // namespace

struct Ewald::Impl {
  explicit Impl(Device& device)
      : ranks(DeviceRanks::group(device)),
        factors(device.job(Kernel::compile(factors_text, "ewald_factors"))),
        fields(device.job(Kernel::compile(fields_text, "ewald_fields"))),
        real(device, Kernel::compile(real_text, "ewald_real"), {.cutoff = {1}}) {}

  /// Refuses an option that is negative, not finite, or far from what n charges could need.
  static void check_option(const char* name, double value, double scaled) {
    constexpr double farthest = 1e9;
    if (value == 0 || (scaled > 1 / farthest && scaled < farthest)) return;
    throw Error(
        ErrorCategory::Input,
        fmt::format("{} is {}; expected a positive number in the units of the box", name, value));
  }

  /// The options with a unit of length, and back. `charges`: the number of all.
  static ewald::Division division(const EwaldCall& call, const Cell& cell, std::size_t charges) {
    const double n = static_cast<double>(std::max<std::size_t>(1, charges));
    const double unit = std::cbrt(cell.volume / n);
    EwaldOptions scaled = call.options;
    scaled.alpha *= unit;
    scaled.cutoff /= unit;
    scaled.wave_cutoff *= unit;
    check_option("alpha", call.options.alpha, scaled.alpha);
    check_option("cutoff", call.options.cutoff, scaled.cutoff);
    check_option("wave_cutoff", call.options.wave_cutoff, scaled.wave_cutoff);
    const ewald::Division d = ewald::divide(charges, scaled);
    // In few digits, so that they do not depend on variants of the host's functions.
    const auto few = [](double value) { return static_cast<double>(static_cast<float>(value)); };
    const auto chosen = [](double given, double value) { return given > 0 ? given : value; };
    return {chosen(call.options.alpha, few(d.alpha) / unit),
            chosen(call.options.cutoff, few(d.cutoff) * unit),
            chosen(call.options.wave_cutoff, few(d.wave_cutoff) / unit)};
  }

  void prepare_real(const PeriodicBox& box, const ewald::Division& d) {
    real.set_skin(std::ldexp(1, std::ilogb(skin_of_cutoff * d.cutoff)));
    real.set_box(box);
    real.set_cutoff({&d.cutoff, 1});
    real.set("alpha", d.alpha);
  }

  /// Fills potentials and fields of the charges of this rank, and returns the terms of all.
  std::vector<RealTerm> add_real(const EwaldCall& call, ChargeSums& sums) {
    const std::size_t n = call.charge.size();
    std::vector<RealTerm> own(n);
    std::array<std::vector<double>, 6> v;
    for (std::vector<double>& column : v) column.resize(n);
    const std::vector<NamedInput> sources{{"qj", call.charge}};
    const std::vector<NamedResult> results{
        {"ex", sums.field[0]}, {"ey", sums.field[1]}, {"ez", sums.field[2]}, {"pot", sums.pot},
        {"vxx", v[0]},         {"vxy", v[1]},         {"vxz", v[2]},         {"vyy", v[3]},
        {"vyz", v[4]},         {"vzz", v[5]}};
    real.run({.pos = call.pos, .sources = sources, .results = results});
    for (std::size_t i = 0; i < n; ++i) {
      own[i] = {call.charge[i], sums.pot[i], {}};
      for (std::size_t c = 0; c < v.size(); ++c) own[i].virial[c] = v[c][i];
    }
    return terms_of_ranks(own);
  }

  /// The terms of all ranks, in rank order.
  std::vector<RealTerm> terms_of_ranks(const std::vector<RealTerm>& own) const {
    if (ranks == nullptr) return own;
    const std::vector<std::size_t> offsets = offsets_of_ranks(*ranks, own.size());
    std::vector<RealTerm> all;
    collectively(ranks, [&] {
      all.resize(offsets.back());
      std::ranges::copy(own, all.begin() + static_cast<std::ptrdiff_t>(offsets[ranks->rank()]));
    });
    gather_items(*ranks, all.data(), sizeof(RealTerm), offsets);
    return all;
  }

  static void add_virial(std::span<const RealTerm> terms, std::array<double, 9>& virial) {
    static constexpr std::array<std::size_t, 9> place{0, 1, 2, 1, 3, 4, 2, 4, 5};
    for (std::size_t ab = 0; ab < 9; ++ab)
      for (const RealTerm& t : terms) virial[ab] += 0.5 * t.charge * t.virial[place[ab]];
  }

  /// The places of charges in the cell, and the phases of steps of the third integer.
  struct Phases {
    Columns u;
    std::vector<double> c, s;

    Phases(const Cell& cell, std::span<const double> pos) : u(ewald::fractions(cell, pos)) {
      for (const double u3 : u[2]) {
        const double phase = 2 * pi * (u3 - std::round(u3));
        c.push_back(in_double(phase, [](long double x) { return std::cos(x); }));
        s.push_back(in_double(phase, [](long double x) { return std::sin(x); }));
      }
    }
  };

  /// The rows of waves that each rank computes: the first ones, and the number of all.
  std::vector<std::size_t> rows_of_ranks(std::size_t rows) const {
    if (ranks == nullptr) return {0, rows};
    std::vector<std::size_t> offsets;
    for (std::size_t r = 0; r <= ranks->size(); ++r)
      offsets.push_back(part_begin(rows, r, ranks->size()));
    return offsets;
  }

  /// The part of a column that this rank computes.
  std::span<const double> part_of(std::span<const double> column,
                                  std::span<const std::size_t> offsets,
                                  std::size_t each = 1) const {
    const std::size_t r = ranks == nullptr ? 0 : ranks->rank();
    return column.subspan(each * offsets[r], each * (offsets[r + 1] - offsets[r]));
  }

  /// Structure factors of the waves, as the sources of their fields: times 8 pi / (V k^2)
  /// exp(-k^2 / (4 alpha^2)), a factor of two for -k among it; 0 of waves that are too long. Adds
  /// the virial, and returns the number of waves.
  std::size_t structure_factors(const EwaldCall& call, const Cell& cell, const Columns& n,
                                const Phases& phases, const ewald::Division& d,
                                std::array<double, 9>& virial) {
    const std::vector<std::size_t> offsets = rows_of_ranks(n[0].size());
    const std::size_t first = ranks == nullptr ? 0 : offsets[ranks->rank()];
    collectively(ranks, [&] {
      cosine.assign(ewald::row_length * n[0].size(), 0);
      sine.assign(cosine.size(), 0);
    });
    const Columns& u = phases.u;
    const auto own_rows = part_of(n[0], offsets);
    factors.targets(
        own_rows.size(),
        {{"n1", own_rows}, {"n2", part_of(n[1], offsets)}, {"n3", part_of(n[2], offsets)}});
    factors.sources(call.charge.size(), {{"u1", u[0]},
                                         {"u2", u[1]},
                                         {"u3", u[2]},
                                         {"c", phases.c},
                                         {"s", phases.s},
                                         {"q", call.charge}});
    factors.run({{"cosine", std::span(cosine).subspan(ewald::row_length * first,
                                                      ewald::row_length * own_rows.size())},
                 {"sine", std::span(sine).subspan(ewald::row_length * first,
                                                  ewald::row_length * own_rows.size())}});
    if (ranks != nullptr)
      for (std::vector<double>* const all : {&cosine, &sine})
        gather_items(*ranks, all->data(), ewald::row_length * sizeof(double), offsets);
    const double by_alpha = 1 / (4 * d.alpha * d.alpha);
    std::size_t waves = 0;
    for (std::size_t w = 0; w < cosine.size(); ++w) {
      const std::size_t row = w / ewald::row_length, step = w % ewald::row_length;
      const Vector k = cell.wave({n[0][row], n[1][row], n[2][row] + static_cast<double>(step)});
      const double k2 = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
      const bool counts = k2 <= d.wave_cutoff * d.wave_cutoff;
      const double screen = in_double(-k2 * by_alpha, [](long double x) { return std::exp(x); });
      const double weight = counts ? 8 * pi / (cell.volume * k2) * screen : 0;
      const double energy = 0.5 * weight * (cosine[w] * cosine[w] + sine[w] * sine[w]);
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b)
          virial[3 * a + b] += energy * ((a == b ? 1 : 0) - 2 * k[a] * k[b] * (1 / k2 + by_alpha));
      cosine[w] *= weight;
      sine[w] *= weight;
      waves += counts ? 1 : 0;
    }
    return waves;
  }

  /// Adds the part of the waves in rows, and returns their number.
  std::size_t add_waves(const EwaldCall& call, const Cell& cell, const Columns& n,
                        const ewald::Division& d, ChargeSums& sums) {
    if (n[0].empty()) return 0;
    const Phases phases(cell, call.pos);
    const std::size_t number = structure_factors(call, cell, n, phases, d, sums.virial);
    ChargeSums waves(call.charge.size());
    const Columns& u = phases.u;
    fields.targets(call.charge.size(),
                   {{"u1", u[0]}, {"u2", u[1]}, {"u3", u[2]}, {"c", phases.c}, {"s", phases.s}});
    const std::vector<std::size_t> offsets = rows_of_ranks(n[0].size());
    const auto own_rows = part_of(n[0], offsets);
    fields.sources(own_rows.size(), {{"n1", own_rows},
                                     {"n2", part_of(n[1], offsets)},
                                     {"n3", part_of(n[2], offsets)},
                                     {"cosine", part_of(cosine, offsets, ewald::row_length)},
                                     {"sine", part_of(sine, offsets, ewald::row_length)}});
    fields.run({{"g1", waves.field[0]},
                {"g2", waves.field[1]},
                {"g3", waves.field[2]},
                {"pot", waves.pot}});
    for (std::size_t i = 0; i < sums.pot.size(); ++i) {
      sums.pot[i] += waves.pot[i];
      const Vector e = cell.wave({waves.field[0][i], waves.field[1][i], waves.field[2][i]});
      for (std::size_t c = 0; c < 3; ++c) sums.field[c][i] += e[c];
    }
    return number;
  }

  /// The energy of each charge with its own cloud, and of all with the background.
  static void add_constants(const EwaldCall& call, const Cell& cell, double alpha, double total,
                            ChargeSums& sums) {
    const double background = -pi * total / (cell.volume * alpha * alpha);
    for (std::size_t i = 0; i < sums.pot.size(); ++i)
      sums.pot[i] += background - 2 * alpha / std::sqrt(pi) * call.charge[i];
    for (const std::size_t diagonal : {0, 4, 8}) sums.virial[diagonal] += 0.5 * total * background;
  }

  /// Refuses boxes and options that differ between ranks. Collective.
  void require_equal_arguments(const EwaldCall& call) const {
    const EwaldOptions& o = call.options;
    Hash box, options;
    for (std::size_t k = 0; k < 3; ++k)
      box.add(std::span<const double>(call.box.vectors[k])).add(call.box.periodic[k] ? 1 : 0);
    options.add(o.accuracy).add(o.alpha).add(o.cutoff).add(o.wave_cutoff);
    const EqualProperty properties[] = {{box.value(), "another box"},
                                        {options.value(), "other options"}};
    require_equal_properties(*ranks, properties);
  }

  /// The number of charges of all ranks.
  std::size_t total(std::size_t n) const {
    return ranks == nullptr ? n : offsets_of_ranks(*ranks, n).back();
  }

  EwaldResult run(const EwaldCall& call) {
    std::optional<Cell> made;
    collectively(ranks, "Ewald::run", [&] {
      check_charges(call);
      made.emplace(call.box);
    });
    if (ranks != nullptr) require_equal_arguments(call);
    const Cell& cell = *made;
    const std::size_t n = call.charge.size(), all = total(n);
    ewald::Division d{};
    Columns rows;
    collectively(ranks, [&] {
      d = division(call, cell, all);
      prepare_real(cell.box(), d);
      if (all > 0) rows = ewald::wave_rows(cell, d.wave_cutoff);
    });
    EwaldResult result{.alpha = d.alpha, .cutoff = d.cutoff, .wave_cutoff = d.wave_cutoff};
    if (all == 0) return result;
    const double unit = std::cbrt(cell.volume / static_cast<double>(all));
    result.error = std::hypot(ewald::real_error(d.alpha * unit, d.cutoff / unit),
                              ewald::wave_error(d.alpha * unit, d.wave_cutoff * unit));
    ChargeSums sums(n);
    const std::vector<RealTerm> terms = add_real(call, sums);
    double largest = 0, total_charge = 0;
    for (const RealTerm& t : terms) {
      largest = std::max(largest, std::abs(t.charge));
      total_charge += t.charge;
    }
    check_potentials(cell, terms, largest / unit,
                     [&] { return gathered_numbers(ranks, call.pos, 3); });
    add_virial(terms, sums.virial);
    result.waves = add_waves(call, cell, rows, d, sums);
    add_constants(call, cell, d.alpha, total_charge, sums);
    result.virial = sums.virial;
    std::vector<double> energies(n);
    for (std::size_t i = 0; i < n; ++i) {
      energies[i] = 0.5 * call.charge[i] * sums.pot[i];
      for (std::size_t c = 0; c < 3 && !call.force.empty(); ++c)
        call.force[3 * i + c] = call.charge[i] * sums.field[c][i];
    }
    if (!call.energy.empty()) std::ranges::copy(energies, call.energy.begin());
    for (const double energy : gathered_numbers(ranks, energies, 1)) result.energy += energy;
    return result;
  }

  RankGroup* ranks;  ///< ranks of the device; null if it has one process
  Job factors, fields;
  CutoffSum real;
  std::vector<double> cosine, sine;  ///< structure factors
};

Ewald::Ewald(Device& device) : impl_(std::make_unique<Impl>(device)) {}
Ewald::~Ewald() = default;
Ewald::Ewald(Ewald&&) noexcept = default;
Ewald& Ewald::operator=(Ewald&&) noexcept = default;

EwaldResult Ewald::run(const EwaldCall& call) {
  const HostFloatMode mode;
  return impl_->run(call);
}

}  // namespace gdr
