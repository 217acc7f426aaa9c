// Bodies that are matrix products: the matrix kernels against the instructions.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "board/matmul_cases.hpp"
#include "emulator/engine/matmul/cpu/functions.hpp"
#include "emulator/engine/matmul/pattern/pattern.hpp"
#include "kernels/builtin.hpp"
#include "support/catch.hpp"
#include "support/iterations.hpp"

using namespace gdr;
using namespace gdr::test;
using namespace gdr::test::matmul;

namespace {

std::vector<const char*> fast_isas() {
  std::vector<const char*> names;
  for (const Isa isa : host_isas())
    if (isa != Isa::Portable) names.push_back(isa_name(isa).data());
  return names;
}

void compare_engines(const Program& program, const std::vector<Shape>& shapes) {
  for (std::uint64_t round = 0; round < test::test_iterations(1); ++round) {
    for (const auto& [name, sample] : samplers) {
      for (const Shape& shape : shapes) {
        const auto run = [&, &sample = sample](const char* isa, bool at_once) {
          return results(program, shape, "vector", isa, sample, 7 + shape.items + round, at_once);
        };
        // Instructions have the same bits on all instruction sets, and take longest.
        const auto right = run(best_isa(), false);
        for (const char* const isa : fast_isas()) {
          CAPTURE(isa, name, shape.chips, shape.blocks, shape.items, round);
          REQUIRE(run(isa, true) == right);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("a matrix product has the same bits as the body's instructions") {
  compare_engines(assembled(small_product()), {{1, 1, 32, 40}, {3, 5, 10, 61}, {4, 16, 16, 7}});
}

TEST_CASE("a matrix product of doubles has the same bits as the kernel's instructions") {
  compare_engines(dgemm(), {{2, 3, 32, 23}, {1, 16, 32, 9}});
}

TEST_CASE("a matrix product of floats has the same bits as the kernel's instructions") {
  compare_engines(sgemm(), {{2, 3, 32, 23}, {1, 16, 32, 9}});
}

TEST_CASE("a matrix product keeps all bits of small sums next to large ones") {
  const Program program = dgemm();
  constexpr Shape shape{1, 2, 32, 21};
  for (const char* const isa : fast_isas()) {
    for (int slope = 1; slope < 8; ++slope) {
      CAPTURE(isa, slope);
      const auto run = [&](bool at_once) {
        return results(program, shape, "vector", isa, uniform, 5, at_once, slope);
      };
      REQUIRE(run(true) == run(false));
    }
  }
}

TEST_CASE(
    "a matrix product joins blocks of different magnitudes, and blocks that cancel, like the "
    "network") {
  // Numbers decrease from block to block by a factor 2^slope. In every second block, and in every
  // second PE of all blocks, products cancel in pairs to 2^-left of their magnitude: around the
  // limit below which the blocks' sums do not share a grid (2^-19 with 2048 products), and to zero.
  const Program program = dgemm();
  constexpr std::size_t depth = 32, words = 64, slots = 32 * 4;  // of a block
  constexpr Shape shapes[] = {{4, 16, 32, 7}, {2, 3, 32, 12}};
  std::mt19937_64 random(11);
  for (const Shape& shape : shapes) {
    for (const int slope : {0, 1, 4}) {
      for (const int left : {5, 14, 18, 21, 24, 30, 50, 99}) {
        Numbers numbers;
        for (unsigned c = 0; c < shape.chips; ++c) {
          std::vector<double> targets(shape.blocks * slots * words), items;
          for (std::size_t i = 0; i < targets.size(); ++i) {
            const std::size_t block = c * shape.blocks + i / (slots * words);
            const bool cancels = block % 2 != 0 || i / words / program.elements % 2 != 0;
            const bool second = cancels && i % 2 != 0;
            targets[i] = second ? targets[i - 1] * (std::ldexp(uniform(random), -left) - 1)
                                : std::ldexp(uniform(random), -slope * static_cast<int>(block));
          }
          for (std::size_t i = 0; i < shape.items * shape.blocks * depth; ++i)
            items.push_back(i % 2 != 0 ? items.back() : uniform(random));
          numbers.targets.push_back(std::move(targets));
          numbers.items.push_back(std::move(items));
        }
        const auto right = results(program, shape, "vector", best_isa(), numbers, false);
        for (const char* const isa : fast_isas()) {
          CAPTURE(isa, shape.chips, slope, left);
          REQUIRE(results(program, shape, "vector", isa, numbers, true) == right);
        }
      }
    }
  }
}

TEST_CASE("a matrix product keeps the bits of a sum that cancels far below its products") {
  // Products x - 2^-59 and -x, x half way between two points of the grid of heads: fifteen of them
  // sum to 15 grid steps in the heads, as many in the tails, and 15 2^-59 in total. A product of
  // 2^30 in the next PE sets the grid.
  const Program program = dgemm();
  const double x = 1 + std::ldexp(1.5, -15), little = std::ldexp(1.0, -45);
  constexpr Shape shape{1, 1, 32, 12};
  Numbers numbers{{std::vector<double>(32 * 4 * 64)}, {}};
  std::vector<double> item(32);
  double* const first = numbers.targets[0].data();     // PE 0, element 0
  double* const second = first + std::size_t{4} * 64;  // PE 1
  for (std::size_t k = 0; k < 30; k += 2) {
    first[k] = 1 - little;
    item[k] = x + little;
    first[k + 1] = -1;
    item[k + 1] = x;
  }
  second[31] = item[31] = std::ldexp(1.0, 15);
  numbers.items.emplace_back();
  for (std::size_t n = 0; n < shape.items; ++n)
    numbers.items[0].insert(numbers.items[0].end(), item.begin(), item.end());
  for (const char* const isa : fast_isas()) {
    CAPTURE(isa);
    const auto at_once = results(program, shape, "vector", isa, numbers, true);
    REQUIRE(at_once == results(program, shape, "vector", isa, numbers, false));
    REQUIRE(real(at_once[256]) == std::ldexp(-15.0, -59));
    REQUIRE(real(at_once[256 + 8]) == std::ldexp(1.0, 30));
  }
}

TEST_CASE("outputs before the first sums of a matrix product are those of Start") {
  // Results of the first item are 3 + 0, then, one item later, those of the sums.
  std::string text = small_product();
  text.replace(text.find("upass $lr16v 0\n"), 15, "upass $lr16v 3.0\n");
  const Program program = assembled(text);
  REQUIRE(match_matmul(program));
  CHECK_FALSE(match_matmul(program)->begins_with_zeros);
  compare_engines(program, {{1, 1, 32, 40}, {3, 5, 10, 61}});
  const auto first =
      results(program, {1, 1, 32, 40}, "vector", fast_isas().front(), uniform, 1, true);
  CHECK(real(first[0]) == 3);
}

TEST_CASE("a matrix product keeps an infinity next to very small numbers") {
  const Program program = dgemm();
  constexpr Shape shape{1, 2, 32, 12};
  Numbers numbers{{std::vector<double>(2 * 32 * 4 * 64, 3.0)}, {}};
  numbers.targets[0][5] = std::numeric_limits<double>::infinity();
  numbers.items.emplace_back(shape.items * shape.blocks * 32, 0x1p-600);
  for (const char* const isa : fast_isas()) {
    CAPTURE(isa);
    const auto at_once = results(program, shape, "vector", isa, numbers, true);
    REQUIRE(at_once == results(program, shape, "vector", isa, numbers, false));
    CHECK(real(at_once[256]) == std::numeric_limits<double>::infinity());
  }
}

TEST_CASE("a fast matrix product is close to the exact one") {
  const Program program = GENERATE(0, 1) == 0 ? dgemm() : sgemm();
  const char* const best = isa_name(host_isas().front()).data();
  for (const Isa of_fast : host_isas()) {
    const char* const isa = isa_name(of_fast).data();
    for (const std::size_t items : {8, 13, 30}) {
      const Shape shape{3, 5, 32, items};
      const auto exact = results(program, shape, "vector", best, uniform, 3, true);
      const auto fast = results(program, shape, "native", isa, uniform, 3, true);
      REQUIRE(exact.size() == fast.size());
      double worst = 0;
      for (std::size_t i = 0; i < exact.size(); ++i)
        worst = std::max(worst, std::abs(real(exact[i]) - real(fast[i])));
      CAPTURE(isa, items);
      REQUIRE(worst < 1e-13);
      // Infinities and NaN do not become finite.
      const auto a = results(program, shape, "vector", best, special, 4, true);
      const auto b = results(program, shape, "native", isa, special, 4, true);
      std::size_t odd = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        REQUIRE(std::isfinite(real(a[i])) == std::isfinite(real(b[i])));
        if (!std::isfinite(real(a[i]))) ++odd;
      }
      REQUIRE(odd > 0);
    }
  }
}

namespace {

/// The same command lists on an engine with fast numerics and on the reference engine.
struct Pair {
  static constexpr unsigned chips = 2, blocks = 2, pes = 32;
  explicit Pair(const char* isa, unsigned threads)
      : fast(whole_memories(), "native", threads, isa), exact(whole_memories()) {}
  static Geometry whole_memories() {
    Geometry geometry = small_geometry(chips, blocks, pes);
    const Geometry chip;
    geometry.local_words = chip.local_words;
    geometry.register_words = chip.register_words;
    geometry.broadcast_words = chip.broadcast_words;
    return geometry;
  }
  template <typename Do>
  void both(Do&& on) {
    on(fast);
    on(exact);
  }
  /// Executes the lists; results may differ by rounding only.
  void execute() {
    const auto a = fast.execute(), b = exact.execute();
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(std::abs(real(a[i]) - real(b[i])) < 1e-12);
  }
  /// Checks that all words of the local memories have the same bits.
  void look() {
    for (unsigned c = 0; c < chips; ++c)
      for (unsigned b = 0; b < blocks; ++b)
        REQUIRE((std::as_const(fast.board).chip(c).blocks[b].local ==
                 std::as_const(exact.board).chip(c).blocks[b].local));
  }
  Rig fast, exact;
};

}  // namespace

TEST_CASE("a fast matrix product leaves the written targets in the PEs' state") {
  const Program program = GENERATE(0, 1) == 0 ? dgemm() : sgemm();
  constexpr std::uint64_t all = (1U << Pair::chips) - 1, lanes = Pair::pes * 4;
  constexpr std::size_t target_words = 64, items = 5, item_words = Pair::blocks * 32;
  std::mt19937_64 random(3);
  const auto any = [&](std::uint64_t from, std::uint64_t to) {
    return std::uniform_int_distribution<std::uint64_t>(from, to)(random);
  };
  const auto numbers = [&](std::size_t words, Sampler sample) {
    std::vector<double> x(words * (of_floats(program) ? 2 : 1));
    for (double& v : x) v = sample(random);
    return of_floats(program) ? packed(x) : x;
  };
  const std::vector<const char*> isas = fast_isas();
  for (std::size_t round = 0; round < 2 * isas.size(); ++round) {
    Pair pair(isas[round % isas.size()], 1 + round / isas.size() % 2);
    const auto load = [&] {
      pair.both([&](Rig& rig) { rig.load(program); });
      for (unsigned c = 0; c < Pair::chips; ++c) {
        const auto words = numbers(items * item_words, uniform);
        pair.both([&](Rig& rig) { rig.write(std::uint64_t{1} << c, 5, words); });
      }
    };
    const auto write = [&](std::uint64_t chips, ChipPartition partition, std::uint64_t first,
                           std::uint64_t count) {
      const auto words = numbers(count * target_words, uniform);
      pair.both([&](Rig& rig) {
        rig.targets(chips, partition, words, first);
        rig.list.commands.back().count = count;
      });
    };
    const auto run = [&](std::uint64_t chips, std::uint32_t flags) {
      pair.both([&](Rig& rig) {
        rig.run(chips, ChipPartition::PartsOverBlocks, 5, items,
                run_start | run_end | run_return | flags);
      });
    };
    load();
    for (int step = 0; step < 40; ++step) {
      const std::uint64_t chips = any(1, all);
      switch (any(0, 11)) {
        case 0:  // words that a double cannot represent, and that are not read
          pair.execute();
          pair.both([&, c = static_cast<unsigned>(any(0, 1)), word = any(0, 255 * 32),
                     bits = any(0, 255)](Rig& rig) {
            rig.board.chip(c).blocks[1].local[word + 32 * (1 - word / 32 % 2)] ^= bits;
          });
          break;
        case 1:
          write(chips, ChipPartition::TargetsOverBlocks, any(0, lanes), any(1, lanes));
          break;
        case 2:
          write(chips, ChipPartition::SourcesOverBlocks, 0, lanes);
          break;
        case 3:
          pair.execute();
          if (any(0, 2) == 0) load();
          break;
        case 4:
          run(chips, 0);
          break;
        case 5:
          pair.execute();
          pair.look();
          break;
        case 6: {
          const auto first = any(0, Pair::blocks - 1);
          write(chips, ChipPartition::TargetsOverBlocks, first * lanes,
                any(1, Pair::blocks - first) * lanes);
          break;
        }
        case 7:
          write(chips, ChipPartition::TargetsOverBlocks, 0, Pair::blocks * lanes);
          [[fallthrough]];
        default:
          run(any(0, 2) == 0 ? chips : all, run_results_only);
      }
    }
    pair.execute();
    pair.look();
  }
}

TEST_CASE("a matrix product of few rows has the same bits as the instructions") {
  const Program program = GENERATE(0, 1) == 0 ? dgemm() : sgemm();
  constexpr Shape shape{2, 2, 32, 13};
  for (const std::size_t rows : {0, 1, 9, 64, 255})
    for (const double beyond : {0.0, -0.0, -3.0, std::numeric_limits<double>::infinity()}) {
      const Numbers numbers = short_tile(program, shape, rows, 70, beyond, 3);
      const auto right = results(program, shape, "vector", best_isa(), numbers, false);
      for (const char* const isa : fast_isas()) {
        CAPTURE(isa, rows, beyond);
        REQUIRE(results(program, shape, "vector", isa, numbers, true) == right);
      }
    }
}

TEST_CASE("a fast matrix product of few rows and inner indices equals that of full tiles") {
  const Program program = GENERATE(0, 1) == 0 ? dgemm() : sgemm();
  constexpr Shape shape{2, 10, 32, 30};
  const std::size_t depth = shape.chips * shape.blocks * (of_floats(program) ? 64 : 32);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr std::pair<std::size_t, std::size_t> sizes[] = {
      {0, 0},   {1, 256},   {8, 130},  {9, 99},
      {30, 64}, {256, 131}, {255, 50}, {17, 256}};  // 256ths of depth
  for (const char* const isa : fast_isas()) {
    for (const auto& [rows, part] : sizes) {
      for (const double beyond : {0.0, -0.0, 3.0, infinity, std::nan("")}) {
        CAPTURE(isa, rows, part, beyond);
        const Numbers numbers = short_tile(program, shape, rows, depth * part / 256, beyond, 7);
        const auto exact = results(program, shape, "vector", isa, numbers, true);
        const auto fast = results(program, shape, "native", isa, numbers, true);
        REQUIRE(exact.size() == fast.size());
        const auto same = [](std::uint64_t a, std::uint64_t b) {
          return a == b || std::abs(real(a) - real(b)) < 1e-12;
        };
        REQUIRE(std::ranges::equal(exact, fast, same));
        const auto odd = std::ranges::count_if(
            fast, [](std::uint64_t word) { return !std::isfinite(real(word)); });
        // Every row of every seventh column, in the chips whose tile has zeros there.
        REQUIRE((odd > 0) == (part < 250 && !std::isfinite(beyond)));
      }
    }
  }
}

TEST_CASE("a fast matrix product accepts columns at any distance") {
  std::mt19937_64 random(1);
  for (const Isa isa : host_isas()) {
    const FastMatmulFunctions& kernels = fast_matmul_of(isa);
    for (const std::size_t depth : {1, 7, 64, 203, 256}) {
      for (const std::size_t columns : {1, 2, 5, 12, 13, 29}) {
        for (const std::size_t panels : {1, 2, 5}) {
          CAPTURE(isa_name(isa), depth, columns, panels);
          const auto draw = [&](std::size_t n) {
            std::vector<double> x(n);
            for (double& v : x) v = uniform(random);
            return x;
          };
          const auto numbers = draw(panels * depth * fast_lanes), even = draw(columns * depth);
          const auto before = draw(columns * panels * fast_lanes);
          std::vector<double> scratch(fast_scratch), scattered(columns * (depth + columns));
          std::vector<const double*> in_place, anywhere;
          for (std::size_t j = 0; j < columns; ++j) {
            in_place.push_back(even.data() + j * depth);
            // In irregular order, at irregular distances.
            const std::size_t slot = (columns - 1 - j) ^ (columns % 2 == 1 ? 0 : 1);
            double* const to = scattered.data() + slot * (depth + 1) + slot * slot / 2;
            std::copy_n(in_place[j], depth, to);
            anywhere.push_back(to);
          }
          FastTask task{numbers.data(), panels, depth, depth * fast_lanes};
          task.columns = task.items_known = columns;
          task.before = before.data();
          task.before_step = task.sums_step = panels * fast_lanes;
          task.scratch = scratch.data();
          const auto sums = [&](const std::vector<const double*>& items) {
            std::vector<double> to(before.size());
            task.items = items.data();
            task.sums = to.data();
            kernels.macro_kernel(task);
            return to;
          };
          const auto got = sums(in_place);
          REQUIRE(got == sums(anywhere));
          for (std::size_t j = 0; j < columns; ++j) {
            for (std::size_t lane = 0; lane < panels * fast_lanes; ++lane) {
              const std::size_t at = j * panels * fast_lanes + lane;
              double expected = before[at];
              for (std::size_t i = 0; i < depth; ++i)
                expected +=
                    even[j * depth + i] *
                    numbers[(lane / fast_lanes * depth + i) * fast_lanes + lane % fast_lanes];
              REQUIRE(std::abs(got[at] - expected) < 1e-12);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("bodies that are matrix products are recognised, with all their factors") {
  const auto found = match_matmul(assembled(small_product()));
  REQUIRE(found);
  CHECK(found->depth == 3);
  CHECK(found->delay == 1);
  REQUIRE(found->rows.size() == 2);
  REQUIRE(found->outputs.size() == 6);
  for (unsigned n = 0; n < 6; ++n) {
    CHECK(found->outputs[n].row == n % 2);
    CHECK(found->outputs[n].pe == std::array{0U, 3U, 9U}[n / 2]);
  }
  CHECK(found->begins_with_zeros);
  CHECK(match_matmul(dgemm())->begins_with_zeros);
  CHECK(match_matmul(dgemm())->depth == 32);
  CHECK(match_matmul(dgemm())->rows.size() == 8);
  CHECK(match_matmul(dgemm())->width == Width::Long);
  CHECK(match_matmul(sgemm())->depth == 64);
  CHECK(match_matmul(sgemm())->rows.size() == 8);
  CHECK(match_matmul(sgemm())->width == Width::Short);
}

TEST_CASE("bodies with other operations are not recognised as matrix products") {
  const auto known = [](const std::string& text) {
    return match_matmul(assembled(text)).has_value();
  };
  const auto changed = [](std::string_view from, std::string_view to) {
    std::string text = small_product();
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  REQUIRE(known(small_product()));
  CHECK_FALSE(known(changed("fadd $lr24v $lr16v $t", "fsub $lr24v $lr16v $t")));
  CHECK_FALSE(known(changed("dmul $t a0 $lr0", "fmul $t a0 $lr0")));
  CHECK_FALSE(known(changed("dmul $t a0 $lr0", "dmul $t a0 a0")));
  CHECK_FALSE(known(changed("dmul $t a0 $lr0", "dmul $t a0 $lr2")));
  // A sum over items, and one that begins with the result of an earlier run.
  CHECK_FALSE(known(changed("upass $lr16v $t", "fadd $lr16v $lr16v $t")));
  CHECK_FALSE(known(changed("upass $lr16v 0\n", "")));
  CHECK_FALSE(known(small_product() + ".end\nvlen 2\nupass $lr16v 0\n"));
  CHECK_FALSE(known(changed(".start\n", "fvar long kept f64to72 fadd at $lr16v\n.start\n")));
}

TEST_CASE("words that are used as long and as short are not recognised as factors") {
  const std::string text(dense_kernel("sgemm"));
  const auto known = [&](std::string_view from, std::string_view to) {
    std::string other = text;
    const std::size_t at = other.find(from);
    REQUIRE(at != std::string::npos);
    return match_matmul(assembled(other.replace(at, from.size(), to))).has_value();
  };
  REQUIRE(known("fmul $t u0 $r{column}", "fmul $t u0 $r{column}"));
  CHECK(known("fmul $t u0 $r{column}", "dmul $t u0 $r{column}"));
  CHECK_FALSE(known("fmul $t u0 $r{column}", "fmul $t u0 $lr{column}"));
  CHECK_FALSE(known("fmul $t u0 $r{column}", "fmul $t u0 $r{column + 1}"));
  CHECK_FALSE(known("    upass lower 0\n", "    upass lower 0\n    upass $lm4 0\n"));
}
