// What a Machine knows: its chip, the program, the sources and the position in it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/assembler/instruction_text.hpp"
#include "emulator/chip/state.hpp"
#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/runners/transfers.hpp"
#include "emulator/port/loaded_program.hpp"
#include "gdr/machine.hpp"
#include "libgdr/device/arrays.hpp"
#include "libgdr/device/usage_error.hpp"

namespace gdr {

/// The sections that are stepped, in their order.
constexpr std::array stepped{Section::Start, Section::Body, Section::End};

struct MachineSnapshotData {
  ChipState chip;
  MachinePlace place;
  std::uint64_t inputs = 0;  ///< Impl::inputs
};

struct Machine::Impl {
  Geometry geometry;
  std::shared_ptr<const Engine> engine;
  ChipState chip;
  std::optional<LoadedProgram> loaded;
  OperandNames names;
  std::array<std::vector<std::shared_ptr<const Executable>>, section_count> executables;
  LinkGroup target_group, source_group, result_group, param_group;

  BoardMemory memory{0};  ///< memory of the control processor, with the sources
  std::size_t target_count = 0;
  LoopPlan plan;

  std::size_t section = stepped.size();  ///< index in `stepped`
  std::uint64_t pass = 0, clock = 0;
  std::size_t next = 0;
  /// Identifies program and sources among those of all machines.
  std::uint64_t inputs = 0;

  const LoadedProgram& program() const {
    if (!loaded) usage_error("no program is loaded");
    return *loaded;
  }
  const BlockState& block(std::size_t number) const {
    if (number >= geometry.blocks)
      usage_error("block " + std::to_string(number) + ": the chip has " +
                  std::to_string(geometry.blocks));
    return chip.blocks[number];
  }
  bool at_end() const noexcept { return section == stepped.size(); }
  const std::vector<Instruction>& code() const { return loaded->program.section(stepped[section]); }
  std::uint64_t passes() const noexcept {
    return stepped[section] == Section::Body ? plan.groups : 1;
  }
  unsigned half() const noexcept {
    return plan.groups_per_half == unlimited_groups
               ? 0
               : static_cast<unsigned>(pass / plan.groups_per_half % 2);
  }

  /// Number of the current group in its half of the broadcast memory.
  std::uint32_t group_in_half() const noexcept {
    return plan.groups_per_half == unlimited_groups
               ? 0
               : static_cast<std::uint32_t>(pass % plan.groups_per_half);
  }
  std::uint32_t source_base() const noexcept {
    return loaded->halves.source_base[half()] + group_in_half() * loaded->halves.source_step;
  }
  std::uint32_t output_base() const noexcept {
    return loaded->halves.output_base[half()] + group_in_half() * loaded->halves.output_step;
  }

  /// Index of a location in the lanes of its memory.
  std::size_t lane(MachineMemory which, std::size_t block, std::size_t address,
                   std::size_t pe) const;
  void load_param_bits(std::size_t param, std::uint64_t low, std::uint64_t high);
  MachineInstruction instruction(unsigned which, std::size_t number) const;
  std::optional<MachineVariable> variable(const std::string& name, const Operand& location) const;
  void enter_section(std::size_t where);
  void fill_half();
  const Executable& executable();
  void execute();
  void advance();
};

}  // namespace gdr
