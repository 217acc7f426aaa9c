// The kernels of this host, if its exception flags can be trusted.
#pragma once

#include <cstdint>

#include "emulator/engine/lanes/doubles/op.hpp"
#include "emulator/host/isa.hpp"

namespace gdr {

/// The kernels for rows of a multiple of `batch` lanes, if the host has them and raises and
/// suppresses exception flags as verification needs (some emulators and debuggers do not); else
/// null. Tested once for each instruction set.
const DoublesKernels* verified_doubles_kernels(Isa isa, std::uint32_t batch = wide_batch);

/// The host's exception flags, at the bits of MXCSR.
unsigned raised_flags() noexcept;
void clear_flags() noexcept;

}  // namespace gdr
