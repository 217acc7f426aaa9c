// Single-stepping: every instruction is prepared as a program of its own for the engine when it is
// first executed. Locations of sources and filling of the broadcast memory's halves are as on a
// board.
#include "gdr/machine.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "emulator/assembler/instruction_text.hpp"
#include "emulator/chip/reduction.hpp"
#include "emulator/chip/state.hpp"
#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/runners/transfers.hpp"
#include "emulator/isa/program.hpp"
#include "emulator/port/loaded_program.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/arrays.hpp"
#include "libgdr/device/default_engines.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/device/usage_error.hpp"

namespace gdr {
namespace {

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

struct MachineSnapshotData {
  ChipState chip;
  MachinePlace place;
  std::uint64_t inputs = 0;  ///< Impl::inputs
};

std::size_t MachineSnapshot::bytes() const noexcept {
  std::size_t words = 0;
  if (data_ != nullptr)
    for (const BlockState& block : data_->chip.blocks)
      for (const NamedMemory& memory : block_memories) words += (block.*memory.lanes).size();
  return words * sizeof(std::uint64_t);
}

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
  BlockRun run;
  run.section = Section::Body;
  run.collect_flags = true;
  run.source_base = source_base();
  run.output_base = output_base();
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

void Machine::Impl::load_param_bits(std::size_t param, std::uint64_t low, std::uint64_t high) {
  std::array<std::uint64_t, 2> record{};
  put_host_bits(loaded->params[param], (u128{high} << 64) | low, record.data());
  for (BlockState& block : chip.blocks)
    load_param(loaded->params[param], loaded->program.elements, block, record.data());
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

namespace {

std::uint64_t next_inputs() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

Machine::Machine(std::string_view name, const DeviceOptions& options)
    : impl_(std::make_unique<Impl>()) {
  const DeviceName device = parse_device_name(name, options);
  if (device.kind != "emulator")
    usage_error("only the device \"emulator\" can be stepped, not \"" + device.kind + "\"");
  if (device.options.partition == Partition::SourcesOverBlocks)
    usage_error(
        "every block of a machine that is stepped processes all sources: leave out "
        "\"partition=sources\", which would sum them over the blocks");
  impl_->geometry = device.geometry;
  impl_->geometry.chips_per_board = 1;
  impl_->engine = make_engine(
      chosen_engine(device.options.engine, default_engine(EngineUse::Machine)), device.options.isa);
  if (!impl_->engine->capabilities().exact())
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
  m.loaded = load_program(p, m.geometry, m.engine->isa(), m.engine->capabilities().exact());
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
  m.inputs = next_inputs();
  restart();
}

void Machine::set(std::string_view name, double value) {
  impl_->program();
  std::vector<std::uint64_t> words(2 * impl_->param_group.fields.size());
  const std::size_t k = set_params(impl_->param_group, name, {&value, 1}, words);
  impl_->load_param_bits(k, words[2 * k], 0);
}

void Machine::set_param(const NamedInput& value) {
  impl_->program();
  const LinkGroup& group = impl_->param_group;
  check_inputs(group, 1, {&value, 1}, false);
  const std::span<const LinkField> fields = fields_named(group, value.name);
  if (fields.size() != 1)
    usage_error("param \"" + std::string(value.name) + "\" has " + std::to_string(fields.size()) +
                " elements: set them one by one");
  const auto k = static_cast<std::size_t>(fields.data() - group.fields.data());
  // A group of its own, whose record begins with the value.
  LinkGroup single{group.role, {fields.front()}, {}, 2};
  single.fields.front().half_word = 0;
  const NamedInput named{fields.front().name, value.array};
  LinkWords record;
  pack(single, 1, {&named, 1}, true, record, 1);
  impl_->load_param_bits(k, record.at(0), record.at(1));
}

void Machine::sources(std::size_t n, std::span<const NamedInput> arrays) {
  Impl& m = *impl_;
  const LoadedProgram& p = m.program();
  check_count(n, m.source_group.words, "sources");
  check_inputs(m.source_group, n, arrays, true);
  LinkWords words;
  pack(m.source_group, n, arrays, true, words, 1);
  m.memory = BoardMemory(words.size());
  m.memory.write(0, words);
  m.plan = make_plan(p, m.geometry, ChipPartition::TargetsOverBlocks, n);
  m.inputs = next_inputs();
  restart();
}

std::size_t Machine::target_slots() const {
  return impl_->program().program.elements * impl_->geometry.pes();
}

std::size_t Machine::target_count() const noexcept { return impl_->target_count; }

std::uint64_t Machine::passes() const noexcept { return impl_->plan.groups; }

void Machine::targets(std::size_t n, std::span<const NamedInput> arrays) {
  Impl& m = *impl_;
  if (n > target_slots())
    usage_error(std::to_string(n) + " targets do not fit the chip, which holds " +
                std::to_string(target_slots()));
  check_inputs(m.target_group, n, arrays, true);
  LinkWords words;
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

std::uint64_t Machine::run(std::uint64_t max_instructions) {
  std::uint64_t done = 0;
  while (done < max_instructions && step()) ++done;
  return done;
}

MachinePosition Machine::position() const {
  const Impl& m = *impl_;
  m.program();
  MachinePosition position;
  position.clock = m.clock;
  if (m.at_end()) return position;
  const auto number = static_cast<unsigned>(stepped[m.section]);
  const MachineInstruction instruction = m.instruction(number, m.next);
  position.section = section_names[number];
  position.pass = m.pass;
  position.instruction = m.next;
  position.text = instruction.text;
  position.line = instruction.line;
  position.file = instruction.file;
  return position;
}

MachinePlace Machine::place() const {
  const Impl& m = *impl_;
  m.program();
  const auto section = m.at_end() ? section_count : static_cast<unsigned>(stepped[m.section]);
  return {section, m.pass, m.next, m.clock};
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

MachineSnapshot Machine::snapshot() const {
  MachineSnapshot snapshot;
  snapshot.data_ = std::make_shared<const MachineSnapshotData>(
      MachineSnapshotData{impl_->chip, place(), impl_->inputs});
  return snapshot;
}

void Machine::restore(const MachineSnapshot& snapshot) {
  Impl& m = *impl_;
  m.program();
  if (snapshot.data_ == nullptr || snapshot.data_->inputs != m.inputs)
    usage_error("the snapshot is of another program, or of other sources");
  const MachineSnapshotData& data = *snapshot.data_;
  m.chip = data.chip;
  m.section = data.place.section - static_cast<unsigned>(stepped.front());
  m.pass = data.place.pass;
  m.next = data.place.instruction;
  m.clock = data.place.clock;
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
