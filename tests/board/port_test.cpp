// The port's fast loops against the definition of every conversion.
#include "emulator/port/port.hpp"

#include <array>
#include <bit>
#include <limits>
#include <random>
#include <span>
#include <utility>

#include "emulator/port/memory.hpp"
#include "support/catch.hpp"

using namespace gdr;

namespace {

/// Doubles that cause rounding, carries, overflow and underflow, and special values.
std::vector<std::uint64_t> edge_doubles() {
  std::vector<std::uint64_t> v;
  for (const std::uint64_t sign : {0ULL, 1ULL << 63}) {
    for (const std::uint64_t exponent : {0ULL, 1ULL, 2ULL, 895ULL, 896ULL, 897ULL, 1022ULL, 1023ULL,
                                         1024ULL, 1150ULL, 1151ULL, 2045ULL, 2046ULL, 2047ULL}) {
      for (const std::uint64_t fraction :
           {0ULL, 1ULL, (1ULL << 27) - 1, 1ULL << 27, (1ULL << 27) + 1, 3ULL << 27,
            (3ULL << 27) - 1, 1ULL << 28, (1ULL << 52) - 1, (1ULL << 52) - (1ULL << 27),
            (1ULL << 52) - (1ULL << 28), 1ULL << 51}) {
        v.push_back(sign | exponent << 52 | fraction);
      }
    }
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) v.push_back(random());
  return v;
}

std::vector<Long> edge_longs() {
  std::vector<Long> v;
  for (const std::uint64_t d : edge_doubles()) {
    for (const unsigned tail : {0U, 1U, 127U, 128U, 129U, 255U})
      v.push_back({(u128{d} << 8) | tail});
  }
  return v;
}

constexpr std::array all_conversions{Conversion{HostType::F64, MachineFormat::FloatLong, 0},
                                     Conversion{HostType::F64, MachineFormat::FloatShort, 0},
                                     Conversion{HostType::F32, MachineFormat::FloatLong, 0},
                                     Conversion{HostType::F32, MachineFormat::FloatShort, 0},
                                     Conversion{HostType::I64, MachineFormat::Integer, 0},
                                     Conversion{HostType::F64, MachineFormat::Fixed, 20},
                                     Conversion{HostType::Raw, MachineFormat::Raw, 0}};

PortField field_of(Conversion c, Width width, std::uint32_t half_word) {
  PortField f;
  f.conversion = c;
  f.width = width;
  f.half_word = half_word;
  return f;
}

}  // namespace

TEST_CASE("port_load agrees with to_machine", "[board]") {
  const auto doubles = edge_doubles();
  for (const Conversion c : all_conversions) {
    for (const Width width : {Width::Short, Width::Long}) {
      // A float in the upper half of the second word: records of four words.
      const std::uint32_t at = c.host == HostType::F32 ? 3 : 2;
      const PortField field = field_of(c, width, at);
      std::vector<std::uint64_t> words(doubles.size() * 4, 0x5555555555555555U);
      std::vector<std::uint64_t> shorts(doubles.size() * 3, 99);
      for (std::size_t i = 0; i < doubles.size(); ++i) {
        words[4 * i + 1] = doubles[i];
        words[4 * i + 2] = doubles[i] >> 7;
      }
      port_load(field, {words.data(), 4}, doubles.size(), {shorts.data(), 3, 1});
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < doubles.size(); ++i) {
        u128 host = doubles[i];
        if (c.host == HostType::F32) host = doubles[i] >> 32;
        if (c.host == HostType::Raw && width == Width::Long) host |= u128{doubles[i] >> 7} << 64;
        Flags flags = no_flags;
        const u128 expected = to_machine(c, width, host, flags);
        if (width == Width::Long) {
          wrong += join(Short{shorts[3 * i]}, Short{shorts[3 * i + 1]}) != Long{expected};
          wrong += shorts[3 * i + 2] != 99;
        } else {
          wrong += shorts[3 * i] != static_cast<std::uint64_t>(expected) || shorts[3 * i + 1] != 99;
        }
      }
      CAPTURE(conversion_name(c), static_cast<int>(width));
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("every instruction set converts rows of words alike", "[board]") {
  const auto doubles = edge_doubles();
  const auto longs = edge_longs();
  const std::size_t n = doubles.size(), m = longs.size();
  for (const Isa isa : host_isas()) {
    for (const Conversion c : all_conversions) {
      for (const Width width : {Width::Short, Width::Long}) {
        PortField field = field_of(c, width, 2);
        CAPTURE(isa_name(isa), conversion_name(c), static_cast<int>(width));
        std::vector<std::uint64_t> records(3 * std::max(n, m), 0);
        for (std::size_t i = 0; i < n; ++i) records[3 * i + 1] = doubles[i];
        std::vector<std::uint64_t> expected(2 * n, 7), got(2 * n, 7);
        for (std::size_t i = 0; i < n; ++i)
          port_load(field, {records.data() + 3 * i, 3}, 1, {expected.data() + i, 2, n});
        field.isa = isa;
        port_load(field, {records.data(), 3}, n, {got.data(), 1, n});
        REQUIRE(got == expected);

        std::vector<std::uint64_t> words(2 * m);
        for (std::size_t i = 0; i < m; ++i) {
          words[i] = upper_half(longs[i]).bits;
          words[m + i] = lower_half(longs[i]).bits;
        }
        std::vector<std::uint64_t> one_by_one(4 * m, 0), rows(4 * m, 0);
        for (std::size_t i = 0; i < m; ++i)
          port_store(field, {words.data() + i, 2, m}, 1, {one_by_one.data() + 4 * i, 4});
        port_store(field, {words.data(), 1, m}, m, {rows.data(), 4});
        REQUIRE(rows == one_by_one);
      }
    }
  }
}

TEST_CASE("adjacent words load like single ones", "[board]") {
  const auto doubles = edge_doubles();
  constexpr std::size_t stride = adjacent_words + 3;
  const std::size_t n = doubles.size() / stride;
  for (const Isa isa : host_isas()) {
    for (const Conversion c : all_conversions) {
      for (const Width width : {Width::Short, Width::Long}) {
        CAPTURE(isa_name(isa), conversion_name(c), static_cast<int>(width));
        std::vector<PortField> fields;
        for (std::uint32_t k = 0; k < adjacent_words; ++k) {
          fields.push_back(field_of(c, width, 2 * (k + 2)));
          fields.back().isa = isa;
        }
        const bool whole = c.host != HostType::F32 && c.machine != MachineFormat::Fixed &&
                           c.machine != MachineFormat::Raw &&
                           !(width == Width::Long && c.machine == MachineFormat::FloatShort);
        REQUIRE(begins_with_adjacent_words(fields) == whole);
        REQUIRE(!begins_with_adjacent_words(std::span(fields).first(adjacent_words - 1)));
        if (!whole) continue;
        std::vector<std::uint64_t> expected(2 * n * adjacent_words, 7), got = expected;
        std::array<std::uint64_t*, adjacent_words> upper;
        const LinkIn from{doubles.data(), stride};
        for (std::size_t k = 0; k < adjacent_words; ++k) {
          port_load(fields[k], from, n, {expected.data() + 2 * n * k, 1, n});
          upper[k] = got.data() + 2 * n * k;
        }
        port_load_words(fields, from, n, upper, n);
        REQUIRE(got == expected);
        std::swap(fields[1], fields[2]);
        REQUIRE(!begins_with_adjacent_words(fields));
      }
    }
  }
}

TEST_CASE("port_store agrees with to_host", "[board]") {
  const auto longs = edge_longs();
  for (const Conversion c : all_conversions) {
    for (const Width width : {Width::Short, Width::Long}) {
      const PortField field = field_of(c, width, c.host == HostType::F32 ? 1 : 2);
      std::vector<std::uint64_t> shorts;
      for (const Long w : longs) {
        shorts.push_back(upper_half(w).bits);
        shorts.push_back(lower_half(w).bits);
      }
      std::vector<std::uint64_t> words(longs.size() * 3, 0);
      port_store(field, {shorts.data(), 2, 1}, longs.size(), {words.data(), 3});
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < longs.size(); ++i) {
        Flags flags = no_flags;
        const u128 word = width == Width::Long ? longs[i].bits : u128{upper_half(longs[i]).bits};
        const u128 host = to_host(c, width, word, flags);
        std::array<std::uint64_t, 3> expected{};
        const auto low = static_cast<std::uint64_t>(host);
        if (c.host == HostType::F32) {
          expected[0] = low << 32;
        } else {
          expected[1] = low;
        }
        if (c.host == HostType::Raw && width == Width::Long) {
          expected[2] = static_cast<std::uint64_t>(host >> 64);
        }
        wrong += !std::equal(expected.begin(), expected.end(),
                             words.begin() + static_cast<std::ptrdiff_t>(3 * i));
      }
      CAPTURE(conversion_name(c), static_cast<int>(width));
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("the network widens short words to long ones", "[board]") {
  PortField f = field_of({HostType::F64, MachineFormat::FloatShort, 0}, Width::Short, 0);
  Flags flags = no_flags;
  const Short tenth = upper_half(short_from_double(0.1, flags));
  f.reduce = Reduce::Fadd;
  REQUIRE(network_word(f, tenth.bits) == widen_float(tenth));
  // The sum has long width: bits beyond those of a short reach the host.
  const Long sum = fadd(widen_float(tenth), long_from_double(1e6), Width::Long, flags);
  REQUIRE(network_to_host(f, sum) == std::bit_cast<std::uint64_t>(double_from_long(sum, flags)));
  f = field_of({HostType::I64, MachineFormat::Integer, 0}, Width::Short, 0);
  f.reduce = Reduce::Iadd;
  const Long minus_two = network_word(f, Short::mask - 1);
  REQUIRE(minus_two == long_from_int(-2));
  REQUIRE(network_to_host(f, long_from_int(-3'000'000'000'000)) ==
          static_cast<std::uint64_t>(-3'000'000'000'000));
  f = field_of({HostType::Raw, MachineFormat::Raw, 0}, Width::Short, 0);
  f.reduce = Reduce::Ixor;
  REQUIRE(network_to_host(f, network_word(f, 0x812345678)) == 0x812345678);
  f.reduce = Reduce::Fmax;
  REQUIRE(network_to_host(f, network_word(f, tenth.bits)) == tenth.bits);
}

TEST_CASE("board memory is zero until written, across chunk boundaries", "[board]") {
  constexpr std::uint64_t chunk = 1 << 16;
  BoardMemory memory(5 * chunk + 3);
  std::vector<std::uint64_t> scratch;
  std::vector<std::uint64_t> words(2 * chunk + 2);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = i + 1;
  memory.write(chunk - 1, words);
  std::vector<std::uint64_t> all(memory.size(), 77);
  memory.read(0, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool inside = i >= chunk - 1 && i < 3 * chunk + 1;
    if (all[i] != (inside ? i - (chunk - 1) + 1 : 0)) FAIL("word " << i << " is " << all[i]);
  }
  REQUIRE(memory.view(chunk + 5, 4, scratch)[3] == chunk + 5 + 3 - (chunk - 1) + 1);
  REQUIRE(memory.view(2 * chunk - 2, 4, scratch)[3] == 2 * chunk - 2 + 3 - (chunk - 1) + 1);
  REQUIRE(memory.view(5 * chunk + 2, 1, scratch)[0] == 0);
  memory.reserve(4 * chunk, chunk + 3);
  memory.read(0, all);
  REQUIRE(all.back() == 0);
}

TEST_CASE("ranges of two memories are equal if their words are, whatever the rest is", "[board]") {
  constexpr std::uint64_t chunk = 1 << 16;
  BoardMemory one(3 * chunk), other(3 * chunk);
  const std::vector<std::uint64_t> words{1, 2, 3}, zeros(3, 0);
  const std::uint64_t at = chunk - 1;  // across a boundary
  CHECK(one.equals(other, 0, 3 * chunk));
  one.write(at, words);
  CHECK_FALSE(one.equals(other, at, 3));
  CHECK_FALSE(other.equals(one, at + 2, 1));
  CHECK(one.equals(other, 0, at));
  CHECK(one.equals(other, at + 3, chunk));
  other.write(2 * chunk, words);
  other.write(at, words);
  CHECK(one.equals(other, at, 3));
  CHECK_FALSE(one.equals(other, 0, 3 * chunk));
  other.write(2 * chunk, zeros);
  CHECK(one.equals(other, 0, 3 * chunk));
}

TEST_CASE("memories that differ only within a range are equal except there", "[board]") {
  constexpr std::uint64_t chunk = 1 << 16;
  constexpr std::uint64_t size = 6 * chunk + 5;
  const std::vector<std::uint64_t> words{1, 2, 3};
  for (const std::uint64_t at : {std::uint64_t{0}, chunk - 2, 3 * chunk + 9, size - 3}) {
    INFO("address " << at);
    BoardMemory one(size), other(size);
    CHECK(one.equals_except(other, at, 0));
    one.write(at, words);
    CHECK(one.equals_except(other, at, 3));
    CHECK(other.equals_except(one, at, 3));
    CHECK_FALSE(one.equals_except(other, at, 2));
    CHECK_FALSE(one.equals_except(other, at + 1, 2));
    CHECK_FALSE(one.equals_except(other, at + 3, 0));
    other.write(at, words);
    CHECK(one.equals_except(other, 2 * chunk, chunk));
  }
  // A comparison of many words takes more time than the write.
  BoardMemory one(size), other(size);
  const std::vector<std::uint64_t> ones(3 * chunk, 1);
  one.write(0, ones);
  other.write(0, ones);
  CHECK_FALSE(one.equals_except(other, 5 * chunk, 1));
  CHECK(one.equals_except(other, 0, 2 * chunk));
}

TEST_CASE("shared chunks of a board's memory separate on write", "[board]") {
  constexpr std::uint64_t chunk = 1 << 16, chunks = 9;
  BoardMemory first(chunks * chunk), second(chunks * chunk);
  const std::vector<std::uint64_t> ones(chunks * chunk, 1), two(1, 2);
  first.write(0, ones);
  second.share_chunks(first, 0, chunks * chunk);
  {
    BoardMemory third(chunks * chunk);
    third.share_chunks(first, 3 * chunk, 2 * chunk);
    third.write(4 * chunk + 5, two);
    second.share_chunks(third, 4 * chunk, chunk);
  }
  first.write(6 * chunk, two);
  std::vector<std::uint64_t> a(chunks * chunk), b(chunks * chunk), expected = ones;
  first.read(0, a);
  second.read(0, b);
  expected[4 * chunk + 5] = 2;
  REQUIRE(b == expected);
  expected = ones;
  expected[6 * chunk] = 2;
  REQUIRE(a == expected);
}
