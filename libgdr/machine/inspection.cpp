// What a user sees of a machine between two instructions: its code, variables and memories.
#include <algorithm>
#include <utility>

#include "emulator/chip/reduction.hpp"
#include "emulator/isa/program.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/machine/state.hpp"

namespace gdr {
namespace {

LaneMemory BlockState::*lanes_of(MachineMemory memory) {
  constexpr std::array all{&BlockState::registers, &BlockState::local, &BlockState::t,
                           &BlockState::masks, &BlockState::bm};
  return all[static_cast<std::size_t>(memory)];
}

}  // namespace

std::size_t MachineSnapshot::bytes() const noexcept {
  std::size_t words = 0;
  if (data_ != nullptr)
    for (const BlockState& block : data_->chip.blocks)
      for (const NamedMemory& memory : block_memories) words += (block.*memory.lanes).size();
  return words * sizeof(std::uint64_t);
}

MachineInstruction Machine::Impl::instruction(unsigned which, std::size_t number) const {
  const Program& p = loaded->program;
  const Instruction& code = p.sections[which][number];
  MachineInstruction out{instruction_text(code, names), {}, 0, code.clocks()};
  if (number < p.lines[which].size()) {
    const SourceLine line = p.lines[which][number];
    out.line = line.line;
    if (line.file < p.files.size()) out.file = p.files[line.file];
  }
  return out;
}

/// Nothing for a location without an address: through T, or a fixed input.
std::optional<MachineVariable> Machine::Impl::variable(const std::string& name,
                                                       const Operand& location) const {
  MachineVariable out;
  out.name = name;
  out.kind = "name";
  out.is_long = location.width == Width::Long;
  out.address = location.address;
  out.step = shorts_in(location.width);
  if (location.vector) out.count = loaded->program.elements;
  switch (location.space) {
    case Space::Register:
      out.memory = MachineMemory::Registers;
      break;
    case Space::Local:
      out.memory = MachineMemory::Local;
      break;
    case Space::T:
      out.memory = MachineMemory::T;
      out.count = max_elements;
      out.step = 2;
      break;
    case Space::Bm:
      out.memory = MachineMemory::Broadcast;
      break;
    case Space::BmSource:
      out.memory = MachineMemory::Broadcast;
      out.address += source_base();
      break;
    case Space::BmOutput:
      out.memory = MachineMemory::Broadcast;
      out.address += output_base();
      break;
    default:
      return std::nullopt;
  }
  return out;
}

std::vector<MachineInstruction> Machine::listing(std::string_view section) const {
  const LoadedProgram& p = impl_->program();
  const auto* const found = std::ranges::find(section_names, section);
  if (found == section_names.end())
    usage_error(unknown_name("section", section, {section_names.begin(), section_names.end()}));
  const auto number = static_cast<unsigned>(found - section_names.begin());
  std::vector<MachineInstruction> list;
  for (std::size_t k = 0; k < p.program.sections[number].size(); ++k)
    list.push_back(impl_->instruction(number, k));
  return list;
}

std::vector<std::string> Machine::instructions(std::string_view section) const {
  std::vector<std::string> texts;
  for (MachineInstruction& i : listing(section)) texts.push_back(std::move(i.text));
  return texts;
}

std::vector<MachineVariable> Machine::variables() const {
  const Program& p = impl_->program().program;
  std::vector<MachineVariable> list;
  for (const Variable& v : p.variables)
    if (std::optional<MachineVariable> found = impl_->variable(v.name, v.location)) {
      found->kind = variable_keywords[static_cast<unsigned>(v.kind)];
      found->conversion = conversion_name(v.conversion);
      if (v.conversion.machine == MachineFormat::Fixed)
        found->conversion += "." + std::to_string(v.conversion.point);
      if (v.kind == VarKind::Result || v.kind == VarKind::Output)
        found->reduction = reduce_names[static_cast<unsigned>(v.reduce)];
      list.push_back(std::move(*found));
    }
  for (const Symbol& s : p.symbols)
    if (std::optional<MachineVariable> found = impl_->variable(s.name, s.location))
      list.push_back(std::move(*found));
  return list;
}

std::size_t Machine::blocks() const noexcept { return impl_->geometry.blocks; }
std::size_t Machine::pes() const noexcept { return impl_->geometry.pes_per_block; }

std::vector<std::uint64_t> Machine::memory(MachineMemory memory, std::size_t block) const {
  const LaneMemory& lanes = impl_->block(block).*lanes_of(memory);
  std::vector<std::uint64_t> words(lanes.begin(), lanes.end());
  if (memory == MachineMemory::Masks)
    for (std::uint64_t& word : words) word &= 1;
  return words;
}

std::size_t Machine::memory_size(MachineMemory memory) const noexcept {
  const std::size_t width = memory == MachineMemory::Broadcast ? 1 : pes();
  return (impl_->chip.blocks.front().*lanes_of(memory)).size() / width;
}

std::size_t Machine::Impl::lane(MachineMemory which, std::size_t number, std::size_t address,
                                std::size_t pe) const {
  const LaneMemory& lanes = block(number).*lanes_of(which);
  const bool shared = which == MachineMemory::Broadcast;
  const std::size_t width = shared ? 1 : geometry.pes_per_block;
  if (!shared && pe >= width)
    usage_error("PE " + std::to_string(pe) + ": a block has " + std::to_string(width));
  if (address >= lanes.size() / width)
    usage_error("address " + std::to_string(address) + " is out of range; the memory has " +
                std::to_string(lanes.size() / width));
  return address * width + (shared ? 0 : pe);
}

std::uint64_t Machine::word(MachineMemory memory, std::size_t block, std::size_t address,
                            std::size_t pe) const {
  const std::size_t lane = impl_->lane(memory, block, address, pe);
  const std::uint64_t word = (impl_->chip.blocks[block].*lanes_of(memory))[lane];
  return memory == MachineMemory::Masks ? word & 1 : word;
}

void Machine::set_memory(MachineMemory memory, std::size_t block, std::size_t address,
                         std::size_t pe, std::uint64_t word) {
  const std::size_t lane = impl_->lane(memory, block, address, pe);
  const bool mask = memory == MachineMemory::Masks;
  if (word > (mask ? 1 : Short::mask)) usage_error("the word has too many bits for the location");
  (impl_->chip.blocks[block].*lanes_of(memory))[lane] = mask ? std::uint64_t{0} - word : word;
}

MachineFlags Machine::flags(std::size_t block) const {
  const Flags flags = impl_->block(block).flags;
  return {(flags & flag_invalid) != 0, (flags & flag_overflow) != 0, (flags & flag_underflow) != 0};
}

std::vector<std::uint64_t> Machine::reduced(MachineMemory memory,
                                            std::string_view operation) const {
  constexpr std::size_t operations = reduce_names.size() - 1;  // the last one, index, needs a key
  const std::span names = std::span(reduce_names).first<operations>();
  const auto found = std::ranges::find(names, operation);
  if (found == names.end())
    usage_error(unknown_name("reduction", operation, {names.begin(), names.end()}));
  if (memory == MachineMemory::Masks) usage_error("masks do not pass the reduction network");
  const auto op = static_cast<Reduce>(found - names.begin());
  const auto lanes = lanes_of(memory);
  const std::size_t width = memory == MachineMemory::Broadcast ? 1 : pes();
  std::vector<std::uint64_t> out((impl_->chip.blocks.front().*lanes).size());
  std::vector<Long> leaves(blocks());
  Flags ignored = no_flags;
  for (std::size_t upper = 0; upper + width < out.size(); ++upper) {
    if (upper / width % 2 != 0) continue;
    for (std::size_t b = 0; b < leaves.size(); ++b) {
      const LaneMemory& words = impl_->chip.blocks[b].*lanes;
      leaves[b] = join(Short{words[upper]}, Short{words[upper + width]});
    }
    const Long all = reduce_tree(op, leaves, ignored);
    out[upper] = upper_half(all).bits;
    out[upper + width] = lower_half(all).bits;
  }
  return out;
}

}  // namespace gdr
