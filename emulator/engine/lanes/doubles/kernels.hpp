// The table of kernels on doubles, made from a host's exact steps: included by one file for each
// instruction set.
#pragma once

#include <cstdint>

#include "emulator/engine/lanes/doubles/conversions.hpp"
#include "emulator/engine/lanes/doubles/extremes.hpp"
#include "emulator/engine/lanes/doubles/integers.hpp"
#include "emulator/engine/lanes/doubles/moves.hpp"
#include "emulator/engine/lanes/doubles/op.hpp"
#include "emulator/engine/lanes/doubles/products.hpp"
#include "emulator/engine/lanes/doubles/state.hpp"
#include "emulator/engine/lanes/doubles/sums.hpp"
#include "emulator/engine/lanes/doubles/words.hpp"

namespace gdr {

/// `batch`: rows have a multiple of so many lanes; at least H::width.
template <class H>
constexpr DoublesKernels make_doubles_kernels(std::uint32_t batch) {
  DoublesKernels k{};
  k.batch = batch;
  doubles::Sums<H>::set(k);
  doubles::Products<H>::set(k);
  doubles::Extremes<H>::set(k);
  doubles::Conversions<H>::set(k);
  doubles::Integers<H>::set(k);
  doubles::Moves<H>::set(k);
  doubles::Words<H>::set(k);
  if constexpr (H::holds_lanes) doubles::State<H>::set(k);
  k.leave = H::leave;
  k.failure_flags = H::failure_flags;
  return k;
}

}  // namespace gdr
