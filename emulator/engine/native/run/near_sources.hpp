// The sources that a program's cut-off leaves to a few neighbouring targets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "emulator/engine/native/run/kernel_calls.hpp"
#include "emulator/port/loaded_program.hpp"

namespace gdr::native {

/// Where the variables of a program's cut-off lie: words of the records of targets, and of the
/// lanes of a source.
struct CutoffWords {
  std::array<std::size_t, 3> target_position{}, source_position{};
  std::size_t radius2 = 0;
  std::size_t target_words = 0;  ///< words of a target's record
  std::size_t source_words = 0;  ///< words of a source's lanes
};

/// None for a program without a cut-off, or whose loop takes several sources at a time, or does not
/// read their positions as doubles.
std::optional<CutoffWords> cutoff_words(const LoadedProgram& loaded, const CompiledSection& body);

/// Leaves out the sources beyond the cut-off of all targets of some vectors: they contribute
/// nothing, so that results keep their bits. In a liquid a vector of neighbouring targets needs a
/// third of the sources that 128 targets share. One for each thread.
class NearSources {
 public:
  /// Goes on to the sources of targets, whose records are given.
  void begin(const CutoffWords& words, const std::uint64_t* targets, std::size_t target_count,
             const LoopSources& all);
  /// The sources for targets from `first` on, valid until the next call: at least one, unless there
  /// is none at all.
  LoopSources select(std::size_t first, std::size_t count);

 private:
  void set_box(std::size_t first, std::size_t count);

  const CutoffWords* words_ = nullptr;
  const std::uint64_t* targets_ = nullptr;
  std::size_t target_count_ = 0;
  LoopSources all_;
  std::array<std::vector<double>, 3> at_;  ///< positions of all sources
  std::vector<std::uint64_t> near_;        ///< whether each is near
  LaneBytes groups_;
  std::array<double, 3> low_{}, high_{};
  double radius2_ = 0;
};

}  // namespace gdr::native
