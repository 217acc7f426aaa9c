// A program as a board holds it: checked against the geometry, prepared for the engine, with its
// variables as the port sees them and the place of j-items in the broadcast memory.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "emulator/board/port.hpp"
#include "emulator/engine/engine.hpp"
#include "emulator/engine/products/find.hpp"
#include "emulator/engine/products/kernels.hpp"

namespace gdr {

/// The two halves of the moving part of the broadcast memory. Each holds `groups` groups of j-items
/// and, behind them, as many groups of output items.
struct BmHalves {
  std::array<std::uint32_t, 2> source_base{}, output_base{};  ///< in shorts
  std::uint32_t source_step = 0, output_step = 0;             ///< shorts of a group
  std::uint64_t groups = 0;  ///< that a half holds; no limit where groups take no place
};
constexpr std::uint64_t unlimited_groups = ~std::uint64_t{0};
/// Throws gdr::Error (Program) if a group, or what does not move, finds no room.
BmHalves place_halves(const Program& program, const Geometry& geometry);

struct LoadedProgram {
  Program program;
  LinkLayout layout;
  std::vector<PortField> targets, sources, results, params, outputs;
  BmHalves halves;
  std::vector<std::uint64_t> pad_item;  ///< shorts of an item that fills up a group
  std::shared_ptr<const Executable> executable;
  /// What the body is, if it and its variables are nothing but sums of products of doubles or
  /// floats, and the engine has kernels for them.
  std::optional<SummedProducts> products;
  const ProductKernels* product_kernels = nullptr;
  bool puts_to_halves = false;  ///< an instruction may write where j-items stand
  bool packs_results = false;   ///< some take half a word of the link
  bool exact = true;            ///< the engine's numerics
};

/// Throws gdr::Error (Program) if the program does not fit the geometry.
LoadedProgram load_program(Program program, const Geometry& geometry, const Engine& engine);

}  // namespace gdr
