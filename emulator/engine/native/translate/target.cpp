#include "emulator/engine/native/translate/target.hpp"

#include <bit>

namespace gdr::native {

std::uint64_t constant_lane(const Node& constant, Precision precision) noexcept {
  if (precision == Precision::Double || constant.kind == Kind::Mask) return constant.bits;
  if (constant.kind == Kind::Bits) {
    return static_cast<std::uint32_t>(constant.bits >> short_shift);
  }
  return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(constant.bits)));
}

}  // namespace gdr::native
