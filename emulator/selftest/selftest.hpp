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
#include "emulator/selftest/divergence.hpp"

namespace gdr::selftest {

struct Options {
  std::uint64_t seed = 1;     ///< case n of a category has seed + n
  double seconds = 10;        ///< duration of the generation of new cases
  std::uint64_t cases = 0;    ///< cases per category, instead of a time; 0: no limit
  std::string_view category;  ///< "operations", "programs", "loops" or "kernels"; empty: all
  unsigned threads = 0;       ///< host threads; 0: one for each core
  std::span<const Program>
      kernels;  ///< programs of the category "kernels"; empty: category disabled
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
  std::optional<Failure> failure;  ///< the first that was found; the run ends with it
};

/// Throws gdr::Error (Usage) for an unknown category.
Outcome run(const std::vector<std::unique_ptr<Engine>>& engines, const Options& options);

/// Report of a failure: the first difference, and the minimised program as assembly text.
std::string failure_text(const Failure& failure);

}  // namespace gdr::selftest
