// Compares engines with the reference on cases of every kind, for a given time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/selftest/case.hpp"

namespace gdr::selftest {

/// The first difference between two engines: instruction, PE, element and word.
struct Divergence {
  Section section = Section::Body;
  std::uint64_t iteration = 0;  ///< counted from 0
  std::size_t instruction = 0;  ///< index in its section
  std::string text;             ///< the instruction as assembly
  /// The instruction leaves different words even when it runs alone, on the state that the
  /// reference reached. Else only the section as a whole does, and `instruction` is the last one of
  /// the shortest part of it that does.
  bool alone = false;

  std::string memory;  ///< "register", "local", "t", "mask", "bm", "flags"
  std::string place;   ///< the location as an operand, `$lr12`; or as a name, `m3`
  std::uint32_t pe = 0;
  std::uint32_t address = 0;  ///< address in shorts; of "t" two an element, of "mask" four a mask
  int element = -1;           ///< -1: unknown
  Width width = Width::Short;
  Long expected, got;  ///< words of that width; a short in the low bits
  /// Operands of the instruction in this PE and element, before it: `$r4 = 3ff800000 = 1.5`.
  std::vector<std::string> operands;
};

/// Nothing if the engines agree on the case.
std::optional<Divergence> find_divergence(const Engine& reference, const Engine& other,
                                          const Case& test);

/// Fewer PEs, iterations, sections, instructions, slots, destinations and elements, as long as the
/// engines leave different states. `test` must be a case on which they do.
Case shrink(const Engine& reference, const Engine& other, Case test);

/// A word in hex and as a floating-point number: `3ff800000 = 1.5`.
std::string word_text(Long word, Width width);

std::string_view section_name(Section section) noexcept;

struct Options {
  std::uint64_t seed = 1;            ///< case n of a category has seed + n
  double seconds = 10;               ///< duration of the generation of new cases
  std::uint64_t cases = 0;           ///< cases per category, instead of a time; 0: no limit
  std::string_view category;         ///< "operations", "programs", "loops" or "kernels"; empty: all
  unsigned threads = 0;              ///< host threads; 0: one for each core
  std::span<const Program> kernels;  ///< programs of the category "kernels"; empty: none
  /// Called with the elapsed seconds (or cases); never concurrently.
  std::function<void(double)> progress;
};

/// Number of comparisons in a category.
struct Count {
  std::string_view category;
  std::uint64_t cases = 0;
  std::uint64_t operations = 0;  ///< results of single operations, on each engine
};

/// A case on which an engine left another state than the reference.
struct Failure {
  std::string_view category;
  std::uint64_t seed = 0;  ///< seed that reproduces the case in this category
  std::string engine;      ///< name of the wrong engine
  Isa isa = Isa::Portable;
  std::string what;  ///< the case in a line
  Divergence first;  ///< difference in the original case
  Case shrunk;
  Divergence in_shrunk;
};

struct Outcome {
  std::vector<Count> counts;
  std::optional<Failure> failure;  ///< the first; it ends the run
};

/// Throws gdr::Error (Usage) for an unknown category.
Outcome run(const std::vector<std::unique_ptr<Engine>>& engines, const Options& options);

/// Report of a failure: the first difference, and the minimised program as assembly text.
std::string failure_text(const Failure& failure);

}  // namespace gdr::selftest
