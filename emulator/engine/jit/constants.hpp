// Constants of a function.
#pragma once

#include <cstring>
#include <map>
#include <vector>

#include "emulator/engine/jit/ir.hpp"

namespace gdr::jit {

/// Memory of constants: on AVX-512 a lane of each, for embedded broadcasts; on AVX2 a vector.
class ConstantPool {
 public:
  /// `base`: of the memory that will hold the bytes.
  ConstantPool(VectorTarget target, std::uint8_t base) : target_(target), base_(base) {}

  /// Where the constant with a lane's bits stands.
  Place place(std::uint64_t lane) {
    const auto [at, is_new] = known_.try_emplace(lane, static_cast<std::int32_t>(known_.size()));
    return {base_, target_.avx512, at->second * static_cast<std::int32_t>(stride())};
  }
  std::vector<std::uint8_t> bytes() const {
    std::vector<std::uint8_t> all(known_.size() * stride());
    for (const auto& [lane, number] : known_) {
      for (std::uint32_t at = 0; at < stride(); at += target_.lane_bytes()) {
        std::memcpy(&all[static_cast<std::size_t>(number) * stride() + at], &lane,
                    target_.lane_bytes());
      }
    }
    return all;
  }

 private:
  std::uint32_t stride() const {
    return target_.avx512 ? target_.lane_bytes() : target_.vector_bytes();
  }
  VectorTarget target_;
  std::uint8_t base_;
  std::map<std::uint64_t, std::int32_t> known_;
};

}  // namespace gdr::jit
