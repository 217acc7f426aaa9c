// A loaded program: validated for the geometry, with its variables as port fields and the layout of
// j-items in the broadcast memory.
#pragma once

#include <array>
#include <vector>

#include "emulator/host/isa.hpp"
#include "emulator/port/port.hpp"

namespace gdr {

/// The two halves of the moving part of the broadcast memory. Each holds `groups` groups of j-items
/// and, behind them, as many groups of output items.
struct BmHalves {
  std::array<std::uint32_t, 2> source_base{}, output_base{};  ///< in shorts
  std::uint32_t source_step = 0, output_step = 0;             ///< shorts of a group
  std::uint64_t groups = 0;  ///< groups per half; unlimited if groups have no words
};
constexpr std::uint64_t unlimited_groups = ~std::uint64_t{0};
/// Throws gdr::Error (Program) if a group or the fixed part does not fit.
BmHalves place_halves(const Program& program, const Geometry& geometry);

struct LoadedProgram {
  Program program;
  LinkLayout layout;
  std::vector<PortField> targets, sources, results, params, outputs;
  BmHalves halves;
  std::vector<std::uint64_t> pad_item;  ///< shorts of an item that fills up a group
  bool puts_to_halves = false;          ///< an instruction may write to the halves
  bool packs_results = false;           ///< some results take half a word of the link
  bool exact = true;  ///< the machine's numerics; else those of the host's doubles
};

/// `isa`: the host instruction set that conversions at the port use; the bits are always the same.
/// `exact`: the numerics of the engine that runs it, which the reduction network follows.
/// Throws gdr::Error (Program) if the program does not fit the geometry.
LoadedProgram load_program(Program program, const Geometry& geometry, Isa isa, bool exact = true);

}  // namespace gdr
