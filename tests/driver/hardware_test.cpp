// Bus interface of the board: register table and checksums.
#include "emulator/board/hardware/hardware.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

#include "driver/server_process.hpp"
#include "emulator/board/hardware/checksum.hpp"
#include "support/catch.hpp"

using namespace driver_test;
using namespace gdr;

TEST_CASE("docs/internals/driver.md lists all registers of the board") {
  std::ifstream file(std::string(GDR_SOURCE_DIR) + "/docs/internals/driver.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  INFO(register_page());
  CHECK(contains(page, register_page()));
}

TEST_CASE("registers do not overlap and are grouped by writer") {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges;
  for (const RegisterRow& row : register_table()) {
    const auto begin = static_cast<std::uint32_t>(row.reg);
    ranges.emplace_back(begin, begin + 8 * row.words);
  }
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t k = 1; k < ranges.size(); ++k) CHECK(ranges[k - 1].second <= ranges[k].first);
  CHECK(ranges.back().second <= bar_bytes);
  constexpr unsigned last = GeometryLimits::chips - 1;
  CHECK(static_cast<std::uint32_t>(of_chip(Register::ChipRefused, last)) < host_registers);
  CHECK(static_cast<std::uint32_t>(of_chip(Register::ChipDoorbell, last)) < bar_bytes);
}

TEST_CASE("a checksum detects every single-bit change and swapped words") {
  std::mt19937_64 random(1);
  for (const std::size_t n : {1, 2, 3, 4, 5, 17, 64}) {
    std::vector<std::uint64_t> words(n), copy(n);
    for (auto& w : words) w = random();
    const std::uint64_t sum = checksum(words);
    CHECK(copy_and_sum(words.data(), copy.data(), n) == sum);
    CHECK(copy == words);
    for (std::size_t bit = 0; bit < 64 * n; ++bit) {
      words[bit / 64] ^= std::uint64_t{1} << (bit % 64);
      if (checksum(words) == sum) FAIL("bit " << bit << " of " << n << " words is not detected");
      words[bit / 64] ^= std::uint64_t{1} << (bit % 64);
    }
    for (std::size_t k = 1; k < n; ++k) {
      std::swap(words[0], words[k]);
      CHECK(checksum(words) != sum);
      std::swap(words[0], words[k]);
    }
    words.push_back(0);
    CHECK(checksum(words) != sum);
  }
}
