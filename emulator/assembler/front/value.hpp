// Value of a literal, constant or expression.
#pragma once

#include "emulator/assembler/front/number.hpp"

namespace gdr::assembly {

struct Value {
  bool real = false;
  i128 integer = 0;  ///< value if not real
  Binary binary;     ///< value if real
  /// Form of a literal, which operands depend on; lost by arithmetic.
  std::uint8_t hex_digits = 0;  ///< number of digits after 0x
  char suffix = 0;              ///< 's' or 'l'

  Binary as_binary() const noexcept { return real ? binary : binary_from_integer(integer); }
  long double as_host() const noexcept {
    return real ? host_from_binary(binary) : static_cast<long double>(integer);
  }
};

inline Value integer_value(i128 x) noexcept {
  Value v;
  v.integer = x;
  return v;
}
inline Value real_value(long double x) noexcept {
  Value v;
  v.real = true;
  v.binary = binary_from_host(x);
  return v;
}

}  // namespace gdr::assembly
