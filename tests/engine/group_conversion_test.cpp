// Records of sources to lanes, with every instruction set, against the conversions of one word.
#include "emulator/engine/native/words/group_conversion.hpp"

#include <algorithm>
#include <bit>
#include <random>

#include "emulator/engine/native/translate/graph.hpp"
#include "emulator/engine/native/words/word_conversion.hpp"
#include "emulator/host/isa.hpp"
#include "emulator/port/port_words.hpp"
#include "support/catch.hpp"

namespace gdr::test {

using namespace native;

namespace {

std::uint64_t one_lane(WordConversion way, std::uint64_t bits) {
  switch (way) {
    case WordConversion::Long:
    case WordConversion::Rest:  // of the float; among doubles there is none
      return port::canonical(bits);
    case WordConversion::Short:
      return port::double_to_short(bits).upper << short_shift;
    case WordConversion::Integer:
      return port::int_to_short(bits).upper << short_shift;
  }
  return 0;
}

/// Numbers of every exponent, limits of the formats, and small integers.
std::uint64_t any_bits(std::mt19937_64& random) {
  constexpr std::uint64_t ends[] = {0,
                                    1,
                                    std::uint64_t{1} << 63,
                                    0x000fffffffffffff,
                                    0x0010000000000000,
                                    0x7fefffffffffffff,
                                    0x7ff0000000000000,
                                    0xfff0000000000000,
                                    0x7ff0000000000001,
                                    0xffffffffffffffff,
                                    0x3ff0000007ffffff,
                                    0x3ff0000008000000,
                                    0x3ff0000018000000,
                                    (std::uint64_t{1} << 35) - 1,
                                    std::uint64_t{1} << 35,
                                    ~((std::uint64_t{1} << 35) - 1),
                                    ~(std::uint64_t{1} << 35)};
  switch (random() % 4) {
    case 0:
      return ends[random() % std::size(ends)];
    case 1:
      return random() % 100;
    default:
      return random();
  }
}

}  // namespace

namespace {

struct Groups {
  std::uint32_t from_words;
  std::vector<GroupWord> words;
  std::size_t count;
  std::vector<std::uint64_t> from;
  std::uint64_t word(std::size_t group, std::size_t lane) const {
    return from[group * from_words + words[lane].from];
  }
};

Groups any_groups(std::mt19937_64& random) {
  Groups g;
  g.from_words = static_cast<std::uint32_t>(1 + random() % 40);
  g.words.resize(1 + random() % 40);
  for (GroupWord& word : g.words) {
    word.conversion = static_cast<WordConversion>(random() % 4);
    word.from = static_cast<std::uint32_t>(random() % g.from_words);
  }
  g.count = random() % 150;
  g.from.resize(g.count * g.from_words);
  for (auto& word : g.from) word = any_bits(random);
  if (random() % 2 != 0 || g.from.empty()) return g;
  // Words that stay as they are, but for one.
  for (std::size_t k = 0; k < g.from.size(); ++k) {
    const bool integer = std::ranges::any_of(g.words, [&](const GroupWord& w) {
      return w.conversion == WordConversion::Integer && w.from == k % g.from_words;
    });
    g.from[k] = random() % 8 == 0 ? 0
                : integer         ? random() % 1000 - 500
                          : std::bit_cast<std::uint64_t>(static_cast<double>(random()) - 1e19);
  }
  if (random() % 3 != 0) g.from[random() % g.from.size()] = any_bits(random);
  return g;
}

bool convert(const Groups& g, Isa isa, Precision precision, void* lanes) {
  return make_group_conversion({g.words, g.from_words, precision}, isa)
      ->convert(g.from.data(), g.count, static_cast<std::byte*>(lanes));
}

}  // namespace

TEST_CASE("converting groups of records gives the same lanes as word by word") {
  std::mt19937_64 random(1);
  for (unsigned trial = 0; trial < 300; ++trial) {
    const Groups g = any_groups(random);
    const std::size_t width = g.words.size();
    constexpr std::uint64_t untouched = 0x1234567890abcdef;
    const std::vector<std::uint64_t> before(g.count * width + 8, untouched);
    std::vector<std::uint64_t> expected = before;
    for (std::size_t k = 0; k < g.count * width; ++k) {
      const WordConversion way = g.words[k % width].conversion;
      expected[k] = way == WordConversion::Rest ? 0 : one_lane(way, g.word(k / width, k % width));
    }
    for (const Isa isa : host_isas()) {
      std::vector<std::uint64_t> lanes = before;
      convert(g, isa, Precision::Double, lanes.data());
      REQUIRE(lanes == expected);
    }
  }
}

TEST_CASE("converting groups of records to floats gives the same lanes as word by word") {
  std::mt19937_64 random(2);
  unsigned fitted = 0;
  for (unsigned trial = 0; trial < 600; ++trial) {
    Groups g = any_groups(random);
    const std::size_t width = g.words.size();
    if (trial % 2 == 0)  // integers that fit
      for (std::size_t k = 0; k < g.count * width; ++k)
        if (g.words[k % width].conversion == WordConversion::Integer)
          g.from[k / width * g.from_words + g.words[k % width].from] %= 1000;
    constexpr std::uint32_t untouched = 0x12345678;
    const std::vector<std::uint32_t> before(g.count * width + 8, untouched);
    std::vector<std::uint32_t> expected = before;
    bool fits = true;
    for (std::size_t k = 0; k < g.count * width; ++k) {
      const WordConversion way = g.words[k % width].conversion;
      const std::uint64_t wide = one_lane(way, g.word(k / width, k % width));
      if (way == WordConversion::Integer) {
        const std::int64_t value = lane_integer(static_cast<std::int64_t>(wide));
        expected[k] = static_cast<std::uint32_t>(value);
        fits = fits && value == static_cast<std::int32_t>(value);
      } else {
        const auto number = std::bit_cast<double>(wide);
        auto lane = static_cast<float>(number);
        if (way == WordConversion::Rest) lane = static_cast<float>(number - double{lane});
        expected[k] = std::bit_cast<std::uint32_t>(lane);
      }
    }
    for (const Isa isa : host_isas()) {
      std::vector<std::uint32_t> lanes = before;
      REQUIRE(convert(g, isa, Precision::Float, lanes.data()) == fits);
      if (fits) REQUIRE(lanes == expected);
    }
    fitted += fits ? 1 : 0;
  }
  CHECK(fitted > 200);
}

}  // namespace gdr::test
