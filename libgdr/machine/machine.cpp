// Single-stepping: every instruction is prepared as a program of its own for the engine when it is
// first executed. Locations of sources and filling of the broadcast memory's halves are as on a
// board.
#include "gdr/machine.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "emulator/assembler/instruction_text.hpp"
#include "emulator/chip/reduction.hpp"
#include "emulator/chip/state.hpp"
#include "emulator/engine/blockwise/transfers.hpp"
#include "emulator/engine/engine.hpp"
#include "emulator/isa/program.hpp"
#include "emulator/port/loaded_program.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/arrays.hpp"
#include "libgdr/device/names.hpp"

namespace gdr {
namespace {

[[noreturn]] void usage(const std::string& message) { throw Error(ErrorCategory::Usage, message); }

constexpr std::array stepped{Section::Start, Section::Body, Section::End};

/// A program of one instruction of another program.
Program single_instruction_program(const Program& program, const Instruction& instruction) {
  Program one = program;
  for (auto& section : one.sections) section.clear();
  for (auto& lines : one.lines) lines.clear();
  one.section(Section::Body) = {instruction};
  one.lines[static_cast<unsigned>(Section::Body)] = {SourceLine{}};
  return one;
}

LaneMemory BlockState::*lanes_of(MachineMemory memory) {
  constexpr std::array all{&BlockState::registers, &BlockState::local, &BlockState::t,
                           &BlockState::masks, &BlockState::bm};
  return all[static_cast<std::size_t>(memory)];
}

}  // namespace

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

  const LoadedProgram& program() const {
    if (!loaded) usage("no program is loaded");
    return *loaded;
  }
  const BlockState& block(std::size_t number) const {
    if (number >= geometry.blocks)
      usage("block " + std::to_string(number) + ": the chip has " +
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

  void enter_section(std::size_t where);
  void fill_half();
  const Executable& executable();
  void execute();
  void advance();
};

/// Goes to the first instruction at or after the start of a section, skipping empty sections.
void Machine::Impl::enter_section(std::size_t where) {
  pass = next = 0;
  for (section = where; !at_end() && (code().empty() || passes() == 0);) ++section;
  if (!at_end() && stepped[section] == Section::Body) fill_half();
}

/// Fills a half of every block's broadcast memory, at the first group of the half.
void Machine::Impl::fill_half() {
  const LoadedProgram& p = *loaded;
  if (p.sources.empty()) return;
  const bool first =
      plan.groups_per_half == unlimited_groups ? pass == 0 : pass % plan.groups_per_half == 0;
  if (!first) return;
  const GroupRange groups{pass, std::min(plan.groups_per_half, plan.groups - pass)};
  std::vector<std::uint64_t> shorts(groups.count * p.halves.source_step), scratch;
  load_sources(p, plan, memory, {}, groups, shorts.data(), scratch);
  for (BlockState& block : chip.blocks)
    std::ranges::copy(shorts, block.bm.begin() + p.halves.source_base[half()]);
}

const Executable& Machine::Impl::executable() {
  auto& prepared = executables[static_cast<unsigned>(stepped[section])];
  prepared.resize(code().size());
  if (!prepared[next])
    prepared[next] =
        engine->prepare(single_instruction_program(loaded->program, code()[next]), geometry);
  return *prepared[next];
}

void Machine::Impl::execute() {
  const BmHalves& halves = loaded->halves;
  const std::uint64_t group =
      plan.groups_per_half == unlimited_groups || pass == 0 ? 0 : pass % plan.groups_per_half;
  BlockRun run;
  run.section = Section::Body;
  run.collect_flags = true;
  run.source_base =
      halves.source_base[half()] + static_cast<std::uint32_t>(group) * halves.source_step;
  run.output_base =
      halves.output_base[half()] + static_cast<std::uint32_t>(group) * halves.output_step;
  const Executable& one = executable();
  for (BlockState& block : chip.blocks) one.run(block, run);
  clock += code()[next].clocks();
}

void Machine::Impl::advance() {
  if (++next < code().size()) return;
  next = 0;
  if (++pass < passes()) return fill_half();
  enter_section(section + 1);
}

Machine::Machine(std::string_view name) : impl_(std::make_unique<Impl>()) {
  const DeviceName device = parse_device_name(name, {});
  if (device.kind != "emulator")
    usage("only the device \"emulator\" can be stepped, not \"" + device.kind + "\"");
  impl_->geometry = device.geometry;
  impl_->geometry.chips_per_board = 1;
  impl_->engine = make_engine(device.options.engine, device.options.isa);
  if (!impl_->engine->exact())
    throw Error(ErrorCategory::Unsupported,
                "the engine \"" + std::string(impl_->engine->name()) +
                    "\" cannot be stepped: it does not keep machine words; use \"vector\" or "
                    "\"reference\"");
  impl_->chip = make_chip(impl_->geometry);
}
Machine::~Machine() = default;
Machine::Machine(Machine&&) noexcept = default;
Machine& Machine::operator=(Machine&&) noexcept = default;

void Machine::load(const Kernel& kernel) {
  Impl& m = *impl_;
  const Program& p = kernel.program();
  const auto executable = m.engine->prepare(p, m.geometry);
  m.loaded = load_program(p, m.geometry, m.engine->isa(), m.engine->exact());
  m.names = OperandNames(p);
  m.executables = {};
  m.target_group = link_group(p, VarKind::Target);
  m.source_group = link_group(p, VarKind::Source);
  m.result_group = link_group(p, VarKind::Result);
  m.param_group = link_group(p, VarKind::Param);
  m.target_count = 0;
  clear(m.chip);
  initialise_blocks(m.chip, *m.loaded, *executable);
  m.memory = BoardMemory(0);
  m.plan = make_plan(*m.loaded, m.geometry, ChipPartition::TargetsOverBlocks, 0);
  restart();
}

void Machine::set(std::string_view name, double value) {
  const LoadedProgram& p = impl_->program();
  const auto [k, bits] = param_bits(impl_->param_group, name, {&value, 1}).front();
  std::array<std::uint64_t, 2> record{};
  put_host_bits(p.params[k], bits, record.data());
  for (BlockState& block : impl_->chip.blocks)
    load_param(p.params[k], p.program.elements, block, record.data());
}

void Machine::sources(std::size_t n, std::span<const NamedInput> arrays) {
  Impl& m = *impl_;
  const LoadedProgram& p = m.program();
  check_count(n, m.source_group.words, "sources");
  check_inputs(m.source_group, n, arrays, true);
  std::vector<std::uint64_t> words;
  pack(m.source_group, n, arrays, true, words, 1);
  m.memory = BoardMemory(words.size());
  m.memory.write(0, words);
  m.plan = make_plan(p, m.geometry, ChipPartition::TargetsOverBlocks, n);
  restart();
}

std::size_t Machine::target_slots() const {
  return impl_->program().program.elements * impl_->geometry.pes();
}

std::size_t Machine::target_count() const noexcept { return impl_->target_count; }

void Machine::targets(std::size_t n, std::span<const NamedInput> arrays) {
  Impl& m = *impl_;
  if (n > target_slots())
    usage(std::to_string(n) + " targets do not fit the chip, which holds " +
          std::to_string(target_slots()));
  check_inputs(m.target_group, n, arrays, true);
  std::vector<std::uint64_t> words;
  pack(m.target_group, n, arrays, true, words, 1);
  m.target_count = n;
  for (BlockState& block : m.chip.blocks)
    load_targets(*m.loaded, block, {ChipPartition::TargetsOverBlocks, 0, n}, words.data());
  restart();
}

void Machine::restart() {
  impl_->program();
  impl_->clock = 0;
  for (BlockState& block : impl_->chip.blocks) block.flags = no_flags;
  impl_->enter_section(0);
}

bool Machine::step() {
  impl_->program();
  if (impl_->at_end()) return false;
  impl_->execute();
  impl_->advance();
  return true;
}

std::uint64_t Machine::run(std::uint64_t most_instructions) {
  std::uint64_t done = 0;
  while (done < most_instructions && step()) ++done;
  return done;
}

MachinePosition Machine::position() const {
  const Impl& m = *impl_;
  m.program();
  MachinePosition position;
  position.clock = m.clock;
  if (m.at_end()) return position;
  const Program& p = m.loaded->program;
  const auto number = static_cast<unsigned>(stepped[m.section]);
  position.section = section_names[number];
  position.pass = m.pass;
  position.instruction = m.next;
  position.text = instruction_text(m.code()[m.next], m.names);
  if (m.next < p.lines[number].size()) {
    const SourceLine line = p.lines[number][m.next];
    position.line = line.line;
    if (line.file < p.files.size()) position.file = p.files[line.file];
  }
  return position;
}

std::vector<std::string> Machine::instructions(std::string_view section) const {
  const LoadedProgram& p = impl_->program();
  const auto* const found = std::ranges::find(section_names, section);
  if (found == section_names.end())
    usage(unknown_name("section", section, {section_names.begin(), section_names.end()}));
  std::vector<std::string> texts;
  for (const Instruction& i :
       p.program.section(static_cast<Section>(found - section_names.begin())))
    texts.push_back(instruction_text(i, impl_->names));
  return texts;
}

void Machine::results(std::span<const NamedResult> arrays) const {
  const Impl& m = *impl_;
  const LoadedProgram& p = m.program();
  const std::size_t n = m.target_count;
  std::vector<ResultBinding> bindings;
  bind_results(m.result_group, n, arrays, bindings);
  std::vector<std::uint64_t> words(n * m.result_group.words, 0);
  for (const BlockState& block : m.chip.blocks)
    store_results(p, block, {ChipPartition::TargetsOverBlocks, 0, n}, words.data());
  unpack(m.result_group, bindings, 0, n, words.data(), 1);
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

void Machine::set_memory(MachineMemory memory, std::size_t block, std::size_t address,
                         std::size_t pe, std::uint64_t word) {
  impl_->block(block);  // checks the number
  LaneMemory& lanes = impl_->chip.blocks[block].*lanes_of(memory);
  const bool shared = memory == MachineMemory::Broadcast;
  const std::size_t width = shared ? 1 : pes();
  if (!shared && pe >= pes())
    usage("PE " + std::to_string(pe) + ": a block has " + std::to_string(pes()));
  if (address >= lanes.size() / width)
    usage("address " + std::to_string(address) + " is out of range; the memory has " +
          std::to_string(lanes.size() / width));
  if (word > (memory == MachineMemory::Masks ? 1 : Short::mask))
    usage("the word has too many bits for the location");
  const bool mask = memory == MachineMemory::Masks;
  lanes[address * width + (shared ? 0 : pe)] = mask ? std::uint64_t{0} - word : word;
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
    usage(unknown_name("reduction", operation, {names.begin(), names.end()}));
  if (memory == MachineMemory::Masks) usage("masks do not pass the reduction network");
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
