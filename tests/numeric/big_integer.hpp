// GMP integers with the few operations that the integer oracle needs.
#pragma once

#include <gmp.h>

#include <array>
#include <cstdint>

namespace oracle {

__extension__ using Bits128 = unsigned __int128;

/// An integer of any size; a value type over GMP's mpz_t.
class Integer {
 public:
  Integer(long value = 0) { mpz_init_set_si(z_, value); }
  Integer(const Integer& other) { mpz_init_set(z_, other.z_); }
  Integer& operator=(const Integer& other) {
    mpz_set(z_, other.z_);
    return *this;
  }
  ~Integer() { mpz_clear(z_); }

  static Integer from_bits(Bits128 bits) {
    const std::array<std::uint64_t, 2> parts{static_cast<std::uint64_t>(bits),
                                             static_cast<std::uint64_t>(bits >> 64)};
    Integer result;
    mpz_import(result.z_, 2, -1, sizeof(std::uint64_t), 0, 0, parts.data());
    return result;
  }
  static Integer power_of_two(unsigned exponent) {
    Integer result(1);
    mpz_mul_2exp(result.z_, result.z_, exponent);
    return result;
  }
  /// The value modulo 2^width, as bits.
  Bits128 low_bits(unsigned width) const {
    Integer low;
    mpz_fdiv_r_2exp(low.z_, z_, width);
    std::array<std::uint64_t, 2> parts{};
    mpz_export(parts.data(), nullptr, -1, sizeof(std::uint64_t), 0, 0, low.z_);
    return (Bits128{parts[1]} << 64) | parts[0];
  }
  /// The signed value of `width` bits.
  static Integer from_signed(Bits128 bits, unsigned width) {
    const Integer value = from_bits(bits);
    const Integer limit = power_of_two(width - 1);
    return value < limit ? value : value - limit - limit;
  }

  friend Integer operator+(const Integer& a, const Integer& b) { return apply(mpz_add, a, b); }
  friend Integer operator-(const Integer& a, const Integer& b) { return apply(mpz_sub, a, b); }
  friend Integer operator*(const Integer& a, const Integer& b) { return apply(mpz_mul, a, b); }
  friend Integer operator&(const Integer& a, const Integer& b) { return apply(mpz_and, a, b); }
  friend Integer operator|(const Integer& a, const Integer& b) { return apply(mpz_ior, a, b); }
  friend Integer operator^(const Integer& a, const Integer& b) { return apply(mpz_xor, a, b); }
  /// The quotient rounded down.
  friend Integer floor_divide(const Integer& a, const Integer& b) {
    return apply(mpz_fdiv_q, a, b);
  }
  friend bool operator<(const Integer& a, const Integer& b) { return mpz_cmp(a.z_, b.z_) < 0; }
  friend bool operator==(const Integer& a, const Integer& b) { return mpz_cmp(a.z_, b.z_) == 0; }

 private:
  static Integer apply(void (*operation)(mpz_ptr, mpz_srcptr, mpz_srcptr), const Integer& a,
                       const Integer& b) {
    Integer result;
    operation(result.z_, a.z_, b.z_);
    return result;
  }
  mpz_t z_;
};

}  // namespace oracle
