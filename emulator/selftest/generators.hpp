// The kinds of cases of a self-test. Each is a function of its seed alone.
#pragma once

#include <cstdint>

#include "emulator/selftest/case.hpp"
#include "emulator/selftest/draw.hpp"
#include "emulator/selftest/words.hpp"

namespace gdr::selftest {

/// Some dozens of instructions of one kind: an operation, the widths of its operands and of its
/// result, a vector length, with a predicate or without; each on operands of its own.
Case operation_case(std::uint64_t seed);

/// Up to some dozens of random instructions of all units on a small or odd machine, four times over
/// at most, that meet each other's results, overlap and reach every memory; all in section Body.
Case program_case(std::uint64_t seed);
/// The same without port limits, or with them; on numbers of any mood.
Case program_case(std::uint64_t seed, bool keep_ports);

/// A loop as kernels have it: items from the broadcast memory, temporaries, sums in longs, over up
/// to hundreds of iterations, on numbers that mostly stay in range.
Case loop_case(std::uint64_t seed);

/// A kernel of a library on random values of its variables, from one item to a full memory.
Case kernel_case(const Program& kernel, std::uint64_t seed);

/// Fills every memory, T and the masks with random words. Half of the lower shorts are those of
/// longs, the other half shorts in their own right.
void randomize(BlockState& block, Draw& draw, Mood mood);

/// Puts numbers at an edge into `count` words of the PEs' memories.
void plant_edges(BlockState& block, Draw& draw, unsigned count);

}  // namespace gdr::selftest
