// The segments of a kernel for a target, before code generation.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/engine/native/codegen/code.hpp"

namespace gdr::native {

/// A kernel with some uniform words as zeros: a bit set, by their index.
Kernel with_zero_words(const Kernel& kernel, std::uint64_t zero_words, const WordTable& uniforms);

/// Lowers the segments of a kernel. Throws Unsupported where the target lacks operations.
KernelCode make_kernel_code(const Kernel& kernel, bool loops, Target target);

std::array<const Segment*, 4> segments_of(const KernelCode& code);

/// By slot: whether code reads an input, or an iteration changes it. Others may hold what floats
/// cannot represent.
std::vector<bool> used_inputs(const Kernel& kernel, const KernelCode& code);

}  // namespace gdr::native
