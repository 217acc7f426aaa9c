// A program compiled for host numbers: its sections as kernels, with their state transfers.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "emulator/engine/native/program/compiled_section.hpp"

namespace gdr::native {

/// A program: compiled sections, and for the others the reason.
struct CompiledProgram {
  CompiledProgram(const Program& program, const Geometry& geometry, Target target, Gpus gpus = {});

  struct Part {
    std::unique_ptr<CompiledSection>
        section;  ///< compiled section; null: it runs on the exact engine
    std::string reason;
  };
  CellMap map;
  Target target;  ///< target on the host
  Gpus gpus;      ///< GPUs for loops over sources of packed targets; empty: none
  std::array<Part, section_count> parts;
  /// Whether Start, body and End can run fused: all are compiled, Start computes nothing, and Start
  /// and End access only fixed words of the broadcast memory.
  bool fusable = false;

  /// Null if it runs on the exact engine.
  const CompiledSection* section(Section s) const noexcept {
    return parts[static_cast<unsigned>(s)].section.get();
  }
};

}  // namespace gdr::native
