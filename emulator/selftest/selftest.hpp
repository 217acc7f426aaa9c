// Runs cases of every kind on engines, against the reference, until a time is up.
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
#include "emulator/selftest/divergence.hpp"

namespace gdr::selftest {

/// Kinds of cases, by name: "operations", "programs", "loops", "kernels".
std::span<const std::string_view> category_names() noexcept;

struct Options {
  std::uint64_t seed = 1;            ///< case n of a category has seed + n
  double seconds = 10;               ///< how long to draw new cases
  std::uint64_t cases = 0;           ///< of every category, instead of a time; 0: as many as fit
  std::string_view category;         ///< only this one; empty: all
  unsigned threads = 0;              ///< host threads; 0: one for each core
  std::span<const Program> kernels;  ///< of the library; without them there is no "kernels"
  /// Told now and then how many seconds (or cases) have gone by; never by two threads at once.
  std::function<void(double)> progress;
};

/// What was compared in a category.
struct Count {
  std::string_view category;
  std::uint64_t cases = 0;
  std::uint64_t operations = 0;  ///< results of single operations, on each engine
};

/// A case on which an engine left another state than the reference.
struct Failure {
  std::string_view category;
  std::uint64_t seed =
      0;               ///< of the case: a run of this category with it, and one case, repeats it
  std::string engine;  ///< of the engine that is wrong
  Isa isa = Isa::Portable;
  std::string what;  ///< the case in a line
  Divergence first;  ///< in the case as drawn
  Case shrunk;
  Divergence in_shrunk;
};

struct Outcome {
  std::vector<Count> counts;
  std::optional<Failure> failure;  ///< the first that was found; the run ends with it
};

/// Throws gdr::Error (Usage) for a category that there is not.
Outcome run(const std::vector<std::unique_ptr<Engine>>& engines, const Options& options);

/// A failure for people: where the engines part, and the shrunk program as text that assembles.
std::string failure_text(const Failure& failure);

}  // namespace gdr::selftest
