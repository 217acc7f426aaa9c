// A test case: a program, its initial state, and the run; generators of cases.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/engine/api/engine.hpp"
#include "emulator/selftest/operands.hpp"
#include "emulator/selftest/rng.hpp"

namespace gdr::selftest {

/// Every section that has instructions runs: Init, Start, Body for the iterations of `run`, End.
/// Programs have no source lines.
struct Case {
  std::string what;  ///< kind of program and numbers, in a line for messages
  Geometry geometry;
  Program program;
  BlockState state;
  BlockRun run;             ///< `section` is ignored
  std::uint64_t split = 0;  ///< the body runs this many times, then the rest: two runs
  /// Request a fused run of Start, Body and End where supported.
  bool fused = false;
};

/// The state that an engine leaves. Throws gdr::Error if the engine refuses the program.
BlockState run_case(const Engine& engine, const Case& test);

/// True if both engines leave the same state, flags included.
bool agree(const Engine& reference, const Engine& other, const Case& test);

/// A case of the category "operations", "programs" or "loops". Throws gdr::Error (Usage) for
/// another name.
Case random_case(std::string_view category, std::uint64_t seed);

/// A hash of all memories and flags of a state, as 16 hexadecimal digits: the same on every host.
std::string hash_text(const BlockState& state);

/// Results of single operations that a case computes: slots times elements times PEs.
std::uint64_t operations_of(const Case& test) noexcept;

/// A block of a geometry with all memories zero.
BlockState empty_block(const Geometry& geometry);

// --- kinds of cases, each a function of its seed

/// Some dozens of instructions of one kind: an operation, the widths of its operands and of its
/// result, a vector length, with a predicate or without; each on operands of its own.
Case operation_case(std::uint64_t seed);

/// Up to some dozens of random instructions of all units on a small or odd machine, four times over
/// at most, that use each other's results, overlap and access every memory; all in section Body.
Case program_case(std::uint64_t seed);
/// The same with or without port limits, on numbers of any distribution.
Case program_case(std::uint64_t seed, bool keep_ports);

/// A loop like those of kernels: items from the broadcast memory, temporaries, sums in longs, over
/// up to hundreds of iterations, on numbers that mostly stay in range.
Case loop_case(std::uint64_t seed);

/// A kernel on random values of its variables, from one item to a full memory.
Case kernel_case(const Program& kernel, std::uint64_t seed);

/// True if two results of an element go to the same location.
bool writes_twice(const Instruction& instruction, const Geometry& geometry);

/// Fills every memory, T and the masks with random words. Half of the lower shorts belong to longs,
/// the others are independent shorts.
void randomize(BlockState& block, Rng& rng, OperandDistribution distribution);

/// Writes boundary words to `count` words of the PEs' memories.
void insert_boundary_words(BlockState& block, Rng& rng, unsigned count);

}  // namespace gdr::selftest
