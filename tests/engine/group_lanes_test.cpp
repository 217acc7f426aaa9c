// Words of records to lanes, eight at a time, against the conversions of one word.
#include <algorithm>
#include <random>

#include "emulator/engine/native/conversion_avx512.hpp"
#include "emulator/engine/native/graph.hpp"
#include "emulator/host/isa.hpp"
#include "emulator/port/port_words.hpp"
#include "support/catch.hpp"

namespace gdr::test {

using namespace native;

namespace {

std::uint64_t one_lane(WordConversion way, std::uint64_t bits) {
  switch (way) {
    case WordConversion::Long:
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

TEST_CASE("converting eight words at a time gives the same lanes as one by one") {
  const std::vector<Isa> isas = host_isas();
  if (std::ranges::find(isas, Isa::Avx512) == isas.end()) return;
  std::mt19937_64 random(1);
  for (unsigned trial = 0; trial < 300; ++trial) {
    const auto from_words = static_cast<std::uint32_t>(1 + random() % 40);
    std::vector<GroupWord> words(1 + random() % 40);
    for (GroupWord& word : words) {
      word.conversion = static_cast<WordConversion>(random() % 3);
      word.from = static_cast<std::uint32_t>(random() % from_words);
    }
    const std::size_t groups = random() % 150;
    std::vector<std::uint64_t> from(groups * from_words);
    for (auto& word : from) word = any_bits(random);
    constexpr std::uint64_t untouched = 0x1234567890abcdef;
    std::vector<std::uint64_t> lanes(groups * words.size() + 8, untouched), expected(lanes);
    for (std::size_t g = 0; g < groups; ++g) {
      for (std::size_t w = 0; w < words.size(); ++w)
        expected[g * words.size() + w] =
            one_lane(words[w].conversion, from[g * from_words + words[w].from]);
    }
    GroupLanes(words, from_words).convert(from.data(), groups, lanes.data());
    REQUIRE(lanes == expected);
  }
}

}  // namespace gdr::test
