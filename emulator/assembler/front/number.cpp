#include "emulator/assembler/front/number.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "emulator/numeric/unpacked.hpp"

namespace gdr::assembly {
namespace {

/// x 2^exponent, with a sticky bit.
Binary normalize(u128 x, std::int64_t exponent, bool sticky) noexcept {
  Binary result;
  if (x == 0) return result;
  const auto width = static_cast<unsigned>(128 - leading_zeros(x));
  if (width > 64) {
    const unsigned cut = width - 64;
    sticky = sticky || (x & ((u128{1} << cut) - 1)) != 0;
    result.significand = static_cast<std::uint64_t>(x >> cut);
    exponent += cut;
  } else {
    result.significand = static_cast<std::uint64_t>(x) << (64 - width);
    exponent -= 64 - width;
  }
  if (sticky) result.significand |= 1;
  result.exponent = static_cast<std::int32_t>(exponent);
  return result;
}

/// An unsigned integer of arbitrary size: 32-bit words, lowest first.
class BigInteger {
 public:
  void multiply_add(std::uint32_t factor, std::uint32_t addend) {
    std::uint64_t carry = addend;
    for (std::uint32_t& word : words_) {
      carry += std::uint64_t{word} * factor;
      word = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) words_.push_back(static_cast<std::uint32_t>(carry));
  }
  /// Truncating division; returns whether there is a remainder.
  bool divide(std::uint32_t divisor) {
    std::uint64_t rest = 0;
    for (std::size_t i = words_.size(); i-- > 0;) {
      rest = (rest << 32) | words_[i];
      words_[i] = static_cast<std::uint32_t>(rest / divisor);
      rest %= divisor;
    }
    while (!words_.empty() && words_.back() == 0) words_.pop_back();
    return rest != 0;
  }
  void shift_words(std::size_t count) { words_.insert(words_.begin(), count, 0); }

  /// The leading 96 to 128 bits as a normalized number; lower words only count as sticky.
  Binary leading(std::int64_t exponent, bool sticky) const {
    const std::size_t n = words_.size();
    const std::size_t taken = std::min<std::size_t>(n, 4);
    u128 top = 0;
    for (std::size_t i = 0; i < taken; ++i) top = (top << 32) | words_[n - 1 - i];
    for (std::size_t i = 0; i + taken < n; ++i) sticky = sticky || words_[i] != 0;
    return normalize(top, exponent + 32 * static_cast<std::int64_t>(n - taken), sticky);
  }

 private:
  std::vector<std::uint32_t> words_;
};

constexpr std::array powers_of_ten = [] {
  std::array<std::uint64_t, 19> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = 10 * powers[i - 1];
  return powers;
}();

/// Scale by 10^exponent10 in steps of one word; exact except for `sticky`. Successive divisions are
/// exact: floor(floor(x/a)/b) = floor(x/(ab)), and the remainder is zero if all partial ones are.
Binary scale_big(BigInteger number, std::int64_t exponent10) {
  if (exponent10 >= 0) {
    for (; exponent10 >= 9; exponent10 -= 9) number.multiply_add(1'000'000'000, 0);
    number.multiply_add(
        static_cast<std::uint32_t>(powers_of_ten[static_cast<std::size_t>(exponent10)]), 0);
    return number.leading(0, false);
  }
  // 10^k < 2^(10k/3 + 1), so this shift leaves at least 96 bits of quotient.
  const auto words = static_cast<std::size_t>(-exponent10 * 10 / 3 / 32 + 4);
  number.shift_words(words);
  bool sticky = false;
  for (; exponent10 <= -9; exponent10 += 9) sticky = number.divide(1'000'000'000) || sticky;
  if (exponent10 != 0) {
    sticky = number.divide(static_cast<std::uint32_t>(
                 powers_of_ten[static_cast<std::size_t>(-exponent10)])) ||
             sticky;
  }
  return number.leading(-32 * static_cast<std::int64_t>(words), sticky);
}

/// An exponent out of range of every format.
constexpr std::int32_t out_of_range = 1 << 20;

}  // namespace

Binary binary_from_decimal(std::string_view digits, std::int64_t exponent10) {
  constexpr std::size_t kept = 900;  // exceeds the digits of any rounding boundary of a double
  std::uint64_t small = 0;
  std::size_t count = 0;
  bool after_point = false;
  std::int64_t scale = std::clamp<std::int64_t>(exponent10, -1'000'000'000, 1'000'000'000);
  bool lost = false;
  for (const char c : digits) {
    if (c == '.') {
      after_point = true;
      continue;
    }
    const auto digit = static_cast<std::uint8_t>(c - '0');
    if (after_point) --scale;
    if (count == 0 && digit == 0) continue;
    if (count >= kept) {
      lost = lost || digit != 0;
      ++scale;
      continue;
    }
    if (count < 19) small = small * 10 + digit;
    ++count;
  }
  if (count == 0) return {};
  const std::int64_t magnitude = scale + static_cast<std::int64_t>(count);
  if (magnitude > 5000) return {false, std::uint64_t{1} << 63, out_of_range};
  if (magnitude < -5000) return {false, std::uint64_t{1} << 63, -out_of_range};
  if (count <= 19 && scale >= 0 && scale <= 18) {
    return normalize(u128{small} * powers_of_ten[static_cast<std::size_t>(scale)], 0, false);
  }
  if (count <= 19 && scale < 0 && scale >= -18) {
    // The quotient keeps 127 - 60 bits or more.
    const unsigned shift = 127U - static_cast<unsigned>(std::bit_width(small));
    const u128 dividend = u128{small} << shift;
    const u128 divisor = powers_of_ten[static_cast<std::size_t>(-scale)];
    return normalize(dividend / divisor, -static_cast<std::int64_t>(shift),
                     dividend % divisor != 0);
  }
  BigInteger number;
  std::size_t left = count;
  for (const char c : digits) {
    if (c == '.' || (left == count && c == '0')) continue;
    if (left-- == 0) break;
    number.multiply_add(10, static_cast<std::uint32_t>(c - '0'));
  }
  if (lost) {  // a final digit as sticky bit
    number.multiply_add(10, 1);
    --scale;
  }
  return scale_big(std::move(number), scale);
}

Binary binary_from_integer(i128 value) noexcept {
  const bool negative = value < 0;
  const u128 magnitude = negative ? u128{0} - static_cast<u128>(value) : static_cast<u128>(value);
  Binary result = normalize(magnitude, 0, false);
  result.negative = negative;
  return result;
}

Binary binary_from_host(long double value) noexcept {
  int exponent = 0;
  const long double fraction = std::frexp(std::fabs(value), &exponent);
  long double scaled = std::ldexp(fraction, 64);
  // Wider numbers of other hosts are rounded as x86-64 rounds, so that programs are the same.
  if constexpr (std::numeric_limits<long double>::digits > 64) {
    scaled = std::nearbyint(scaled);
    if (scaled == 0x1p64L) {
      scaled /= 2;
      ++exponent;
    }
  }
  const auto significand = static_cast<std::uint64_t>(scaled);
  Binary result =
      normalize(significand, exponent - 64, scaled != static_cast<long double>(significand));
  result.negative = std::signbit(value);
  return result;
}

long double host_from_binary(const Binary& number) noexcept {
  const long double value =
      std::ldexp(static_cast<long double>(number.significand), static_cast<int>(number.exponent));
  return number.negative ? -value : value;
}

Rounded round_binary(const Binary& number, unsigned fraction_bits,
                     unsigned exponent_bits) noexcept {
  const u128 sign = u128{number.negative ? 1U : 0U} << (fraction_bits + exponent_bits);
  if (number.significand == 0) return {sign};
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const FloatFormat format{static_cast<int>(fraction_bits) + 1, 1 - bias, bias};
  Flags flags = no_flags;
  const auto r = round_once(number.exponent + 63, u128{number.significand} << 64, format, flags);
  if (r.kind == FloatClass::Zero) return {sign, false, RoundError::TooSmall};
  if (r.kind == FloatClass::Infinity) return {sign, false, RoundError::TooLarge};
  const u128 fraction = r.significand & ((std::uint64_t{1} << fraction_bits) - 1);
  const bool exact = number.significand << (fraction_bits + 1) == 0;
  return {sign | (static_cast<u128>(r.exponent + bias) << fraction_bits) | fraction, exact};
}

Rounded round_binary(const Binary& number, Width width) noexcept {
  return round_binary(number, width == Width::Long ? 60 : 24, 11);
}

}  // namespace gdr::assembly
