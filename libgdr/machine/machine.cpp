// A chip for single steps: opening, programs, sources, targets and results.
#include "gdr/machine.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "emulator/isa/program.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/default_engines.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/machine/state.hpp"

namespace gdr {

void Machine::Impl::load_param_bits(std::size_t param, std::uint64_t low, std::uint64_t high) {
  std::array<std::uint64_t, 2> record{};
  put_host_bits(loaded->params[param], (u128{high} << 64) | low, record.data());
  for (BlockState& block : chip.blocks)
    load_param(loaded->params[param], loaded->program.elements, block, record.data());
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

}  // namespace gdr
