// Bodies that are matrix products, random factors, and runs with the matrix kernels or without.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "board/programs.hpp"
#include "kernels/builtin.hpp"

namespace gdr::test::matmul {

inline Program dgemm() { return assembled(dense_kernel("dgemm")); }
inline Program sgemm() { return assembled(dense_kernel("sgemm")); }

/// Three products in each of two elements; results of an item leave with the next.
inline std::string small_product(std::string_view last = "fadd $lr24v $lr16v $t") {
  return R"(.elements 2
ivar long a0 f64to72
ivar long a1 f64to72
ivar long a2 f64to72
jvar long b0 f64to72
jvar long b1 f64to72
jvar long b2 f64to72
.repeat n = 0, 5
ovar long c{n} f64to72 fadd
.endrepeat
.start
vlen 2
upass $lr16v 0
upass $lr24v 0
upass $t 0
.body
vlen 2
)" + std::string(last) +
         R"(
bget $lr0 b0
bget $lr2 b1
bget $lr4 b2
dmul $t a0 $lr0
upass $lr16v $t
dmul $t $lr2 a1
fadd $lr16v $t $lr16v
dmul $t a2 $lr4
bput c0.v $lr24v 0
bput c2.v $lr24v 3
bput c4.v $lr24v 9
)";
}

inline const char* best_isa() { return isa_name(host_isas().front()).data(); }

/// A distribution of random factors.
using Sampler = double (*)(std::mt19937_64&);
inline double uniform(std::mt19937_64& r) { return std::uniform_real_distribution<>(-1, 1)(r); }
inline double wide(std::mt19937_64& r) {
  return std::ldexp(uniform(r), std::uniform_int_distribution<>(-30, 30)(r));
}
inline double extreme(std::mt19937_64& r) {
  return std::ldexp(uniform(r), std::uniform_int_distribution<>(-1060, 1000)(r));
}
inline double integers(std::mt19937_64& r) {
  return static_cast<double>(std::uniform_int_distribution<>(-4, 4)(r));
}
inline double powers(std::mt19937_64& r) {
  return std::ldexp(uniform(r) < 0 ? -1.0 : 1.0, std::uniform_int_distribution<>(-3, 3)(r));
}
/// Exponents around the limits at which the summation algorithm changes.
template <int Spread>
inline double spread(std::mt19937_64& r) {
  return std::ldexp(uniform(r), std::uniform_int_distribution<>(-Spread, Spread)(r));
}
/// Few bits at both ends: sums that cancel, ties, and values just below a power of two.
inline double edges(std::mt19937_64& r) {
  std::uniform_int_distribution<> bit(0, 49);
  const double x = 1 + (uniform(r) < 0 ? 1 : -1) * std::ldexp(1.0, -bit(r)) +
                   (uniform(r) < 0 ? std::ldexp(1.0, -bit(r)) : 0);
  return uniform(r) < 0 ? -x : x;
}
/// Magnitudes on both sides of the smallest normal float.
inline double tiny(std::mt19937_64& r) {
  return std::ldexp(uniform(r), std::uniform_int_distribution<>(-132, -120)(r));
}
/// Exponents around `Center`: products of such factors, or sums of these, are near a limit of the
/// verified range of doubles, or of all doubles.
template <int Center>
inline double near(std::mt19937_64& r) {
  return std::ldexp(uniform(r), Center + std::uniform_int_distribution<>(-2, 2)(r));
}
/// Mostly ordinary numbers; one in many is near such a limit.
inline double seldom(std::mt19937_64& r) {
  constexpr int ends[] = {-1022, -970, -511, -401, -52, 52, 401, 511, 970, 1023};
  const double x = uniform(r);
  return std::uniform_int_distribution<>(0, 40)(r) != 0
             ? x
             : std::ldexp(x, ends[std::uniform_int_distribution<>(0, 9)(r)]);
}
inline double special(std::mt19937_64& r) {
  const double u = uniform(r);
  if (u < -0.99) return std::numeric_limits<double>::infinity();
  if (u < -0.98) return -std::numeric_limits<double>::infinity();
  if (u < -0.97) return std::numeric_limits<double>::quiet_NaN();
  if (u < -0.5) return -0.0;
  if (u < 0) return 0.0;
  if (u < 0.02) return std::numeric_limits<double>::denorm_min();
  return u;
}
inline constexpr std::pair<const char*, Sampler> samplers[] = {
    {"uniform", uniform},
    {"wide", wide},
    {"extreme", extreme},
    {"integers", integers},
    {"powers", powers},
    {"edges", edges},
    {"special", special},
    {"spread 5", spread<5>},
    {"spread 7", spread<7>},
    {"spread 9", spread<9>},
    {"spread 12", spread<12>},
    {"spread 60", spread<60>},
    {"tiny", tiny},
    {"products near 2^-1022", near<-511>},
    {"products near 2^-800", near<-400>},
    {"products near 2^800", near<400>},
    {"products near 2^1023", near<511>},
    {"numbers near 2^-1022", near<-1020>},
    {"numbers near 2^-969", near<-969>},
    {"one at an end", seldom},
};

/// Whether factors are transferred as floats.
inline bool of_floats(const Program& program) {
  return program.variables.front().conversion.host == HostType::F32;
}
/// Packs numbers as floats, two to a word.
inline std::vector<double> packed(const std::vector<double>& numbers) {
  std::vector<double> words;
  const auto bits = [&](std::size_t i) {
    return std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(numbers[i]))};
  };
  for (std::size_t i = 0; i < numbers.size(); i += 2)
    words.push_back(std::bit_cast<double>(bits(i) | bits(i + 1) << 32));
  return words;
}

struct Shape {
  unsigned chips, blocks, pes;
  std::size_t items;
};

/// Contents of the PEs and of the memory of each chip.
struct Numbers {
  std::vector<std::vector<double>> targets, items;
};

/// A board that was used before for the same geometry, engine and instruction set, if there is one.
/// Whatever is in its memories has no influence on results.
inline Rig& known_rig(const Geometry& geometry, const std::string& engine, const std::string& isa) {
  constexpr std::size_t most = 12;
  static std::map<std::tuple<unsigned, unsigned, unsigned, std::string, std::string>,
                  std::unique_ptr<Rig>>
      rigs;
  if (rigs.size() > most) rigs.clear();
  std::unique_ptr<Rig>& rig =
      rigs[{geometry.chips_per_board, geometry.blocks, geometry.pes_per_block, engine, isa}];
  if (!rig) rig = std::make_unique<Rig>(geometry, engine.c_str(), 2, isa.c_str());
  return *rig;
}

/// Results of a run, with the matrix kernels (`at_once`) or without, and the engine's statistics.
inline std::vector<std::uint64_t> results(const Program& program, const Shape& shape,
                                          const char* engine, const char* isa,
                                          const Numbers& numbers, bool at_once,
                                          EngineStats* stats = nullptr) {
  Geometry geometry = small_geometry(shape.chips, shape.blocks, shape.pes);
  const Geometry chip;
  geometry.local_words = chip.local_words;
  geometry.register_words = chip.register_words;
  geometry.broadcast_words = chip.broadcast_words;
  // Boards compile a program once; statistics are those of a new one, and GPUs are chosen when it
  // is made.
  std::unique_ptr<Rig> own;
  if (stats != nullptr || std::string_view(engine).starts_with("gpu"))
    own = std::make_unique<Rig>(geometry, engine, 2, isa);
  Rig& rig = own ? *own : known_rig(geometry, engine, isa);
  rig.load(program);
  for (unsigned c = 0; c < shape.chips; ++c) {
    const std::uint64_t one = std::uint64_t{1} << c;
    rig.targets(one, ChipPartition::TargetsOverBlocks, numbers.targets[c]);
    rig.list.commands.back().count = std::size_t{shape.blocks} * shape.pes * program.elements;
    rig.write(one, 5, numbers.items[c]);
  }
  rig.run((std::uint64_t{1} << shape.chips) - 1, ChipPartition::PartsOverBlocks, 5, shape.items,
          run_start | run_end | run_return | (at_once ? run_results_only : 0U));
  auto words = rig.execute();
  if (stats != nullptr) *stats = rig.board.engine_stats();
  return words;
}

/// The same with random numbers; within every eight PEs, numbers decrease from one PE to the next
/// by a factor 2^slope.
inline std::vector<std::uint64_t> results(const Program& program, const Shape& shape,
                                          const char* engine, const char* isa, Sampler sample,
                                          std::uint64_t seed, bool at_once, int slope = 0,
                                          EngineStats* stats = nullptr) {
  const auto count = [&](VarKind kind) {
    return static_cast<std::size_t>(std::ranges::count(program.variables, kind, &Variable::kind));
  };
  std::mt19937_64 random(seed);
  const auto some = [&](std::size_t n) {
    std::vector<double> all(n);
    for (double& x : all) x = sample(random);
    return all;
  };
  Numbers numbers;
  for (unsigned c = 0; c < shape.chips; ++c) {
    const std::size_t slots = std::size_t{shape.blocks} * shape.pes * program.elements;
    const std::size_t words = count(VarKind::Target);
    numbers.targets.push_back(some(slots * words));
    for (std::size_t i = 0; i < slots * words; ++i)
      numbers.targets[c][i] *=
          std::ldexp(1.0, -slope * static_cast<int>(i / words / program.elements % 8));
    numbers.items.push_back(some(shape.items * shape.blocks * count(VarKind::Source)));
    if (!of_floats(program)) continue;
    numbers.targets[c] = packed(numbers.targets[c]);
    numbers.items[c] = packed(numbers.items[c]);
  }
  return results(program, shape, engine, isa, numbers, at_once, stats);
}

/// A tile of `rows` rows and `depth` inner indices. Elements beyond them are zero, except for
/// `beyond` in every `step`-th item, at inner indices where the tile has zeros.
inline Numbers short_tile(const Program& program, const Shape& shape, std::size_t rows,
                          std::size_t depth, double beyond, std::size_t step) {
  const std::size_t in_block = of_floats(program) ? 64 : 32, in_chip = shape.blocks * in_block;
  std::mt19937_64 random(rows + depth);
  Numbers numbers;
  for (std::size_t chip = 0; chip < shape.chips; ++chip) {
    std::vector<double> targets, items;
    for (std::size_t block = 0; block < shape.blocks; ++block)
      for (std::size_t slot = 0; slot < shape.pes * std::size_t{4}; ++slot)
        for (std::size_t half = 0; half < 2; ++half)
          for (std::size_t k = 0; k < in_block; ++k) {
            const bool there = slot / 4 * 8 + half * 4 + slot % 4 < rows &&
                               chip * in_chip + block * in_block + k < depth;
            targets.push_back(there ? uniform(random) : 0);
          }
    for (std::size_t i = 0; i < shape.items; ++i)
      for (std::size_t k = 0; k < in_chip; ++k) {
        const bool odd = i % step == 0 && k == in_chip - 1 - i % in_block;
        items.push_back(chip * in_chip + k < depth ? uniform(random) : odd ? beyond : 0);
      }
    numbers.targets.push_back(of_floats(program) ? packed(targets) : targets);
    numbers.items.push_back(of_floats(program) ? packed(items) : items);
  }
  return numbers;
}

}  // namespace gdr::test::matmul
