// Sections whose numbers are floats.
#pragma once

#include <string>

#include "emulator/engine/native/program/section_contents.hpp"

namespace gdr::native {

/// What became of a section that was asked for in floats.
struct FloatSection {
  bool is_supported = true;  ///< false: its kernels are those among doubles
  std::string remark;        ///< reason for doubles in a loop
  /// Whether floats are compared with each other (CompiledSection::compares_results).
  bool compares_results = false;
};

/// Changes the kernels of a section to those among floats, and adds the words that only these read.
/// `start`: the section that runs before a loop, or null.
FloatSection change_to_floats(SectionContents& contents, Target target, const SectionModel& model,
                              SectionModel* start);

}  // namespace gdr::native
