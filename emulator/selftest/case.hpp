// A test case: a program, its initial state, and the run.
#pragma once

#include <cstdint>
#include <string>

#include "emulator/engine/engine.hpp"

namespace gdr::selftest {

/// Every section that has instructions runs: Init, Start, Body as often as `run` says, End.
/// Programs have no source lines.
struct Case {
  std::string what;  ///< one line for messages: what kind of program and numbers
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

/// Results of single operations that a case computes: slots times elements times PEs.
std::uint64_t operations_of(const Case& test) noexcept;

/// A block of a geometry with all memories zero.
BlockState empty_block(const Geometry& geometry);

}  // namespace gdr::selftest
