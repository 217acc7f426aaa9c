#include "emulator/port/loaded_program.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "gdr/error.hpp"

namespace gdr {
namespace {

template <typename... Args>
[[noreturn]] void refuse(const Program& program, fmt::format_string<Args...> why, Args&&... args) {
  throw Error(ErrorCategory::Program,
              fmt::format("kernel {} does not fit the machine: ", program.name) +
                  fmt::format(why, std::forward<Args>(args)...));
}

/// Appends a field and advances `half_word`. Fields wider than a float begin a word.
void append(std::vector<LinkLayout::Field>& fields, std::uint32_t variable, const Variable& v,
            std::uint32_t& half_word) {
  const std::uint32_t size = half_words(v.conversion, v.location.width);
  if (size > 1) half_word += half_word % 2;
  fields.push_back({variable, half_word, size});
  half_word += size;
}

std::uint64_t round_up_even(std::uint64_t x) noexcept { return x + x % 2; }

/// Shorts of a half with n groups; output items begin at an even address, as longs must.
std::uint64_t half_shorts(const BmHalves& halves, std::uint64_t n) noexcept {
  return round_up_even(n * halves.source_step) + n * halves.output_step;
}

}  // namespace

LinkLayout link_layout(const Program& program) {
  LinkLayout layout;
  const std::array fields{&layout.targets, &layout.sources, &layout.results, &layout.params,
                          &layout.outputs};
  std::array<std::uint32_t, fields.size()> ends{};
  for (std::uint32_t i = 0; i < program.variables.size(); ++i) {
    const Variable& v = program.variables[i];
    const auto kind = static_cast<std::size_t>(v.kind);
    if (v.kind == VarKind::Param) ends[kind] = 0;  // every param is a group of its own
    append(*fields[kind], i, v, ends[kind]);
  }
  const auto words = [&ends](VarKind kind) {
    return (ends[static_cast<std::size_t>(kind)] + 1) / 2;
  };
  layout.target_words = words(VarKind::Target);
  layout.source_words = words(VarKind::Source);
  layout.result_words = words(VarKind::Result);
  layout.output_words = words(VarKind::Output);
  return layout;
}

std::uint64_t unjoined_words_of_target(const Program& program, std::uint32_t flags) {
  const LinkLayout layout = link_layout(program);
  std::vector<bool> counts(program.variables.size(), false);
  for (const Variable& v : program.variables)
    if (v.reduce == Reduce::Index)
      counts[static_cast<std::size_t>(&v - program.variables.data())] =
          counts[static_cast<std::size_t>(v.key)] = true;
  std::uint64_t words = 0;
  for (const LinkLayout::Field& field : layout.results)
    if (counts[field.variable]) words += (flags & read_raw) != 0 ? 2 : (field.half_words + 1) / 2;
  return words;
}

std::uint64_t output_records(const Program& program, const Geometry& geometry,
                             ChipPartition partition) noexcept {
  if (partition == ChipPartition::SourcesOverBlocks) return 1;
  for (const Variable& v : program.variables) {
    if (v.kind == VarKind::Output && v.reduce == Reduce::Pass) return geometry.blocks;
  }
  return 1;
}

std::uint64_t target_slots(const Program& program, const Geometry& geometry,
                           ChipPartition partition) noexcept {
  const std::uint64_t lanes = std::uint64_t{geometry.pes_per_block} * program.elements;
  return partition == ChipPartition::SourcesOverBlocks ? lanes : lanes * geometry.blocks;
}

BmHalves place_halves(const Program& p, const Geometry& g) {
  const std::uint64_t all = std::uint64_t{g.broadcast_words} * 2;
  const std::uint64_t fixed = round_up_even(p.fixed_shorts);
  const std::uint64_t source_step = std::uint64_t{p.item_shorts} * p.group;
  const std::uint64_t output_step = std::uint64_t{p.output_shorts} * p.group;
  if (p.fixed_shorts > all)
    refuse(p, "its fixed part takes {} of the {} shorts of the broadcast memory", p.fixed_shorts,
           all);
  BmHalves halves;
  const std::uint64_t capacity = (all - std::min(fixed, all)) / 4 * 2;  // of a half; even
  if (source_step + output_step == 0) {
    halves.groups = unlimited_groups;
    return halves;
  }
  if (round_up_even(source_step) + output_step > capacity)
    refuse(p, "a group of {} items takes {} shorts, half of the broadcast memory has {}", p.group,
           source_step + output_step, capacity);
  halves.source_step = static_cast<std::uint32_t>(source_step);
  halves.output_step = static_cast<std::uint32_t>(output_step);
  halves.groups = capacity / (source_step + output_step);
  if (half_shorts(halves, halves.groups) > capacity) --halves.groups;
  for (unsigned h = 0; h < 2; ++h) {
    const std::uint64_t base = fixed + h * capacity;
    halves.source_base[h] = static_cast<std::uint32_t>(base);
    halves.output_base[h] =
        static_cast<std::uint32_t>(base + round_up_even(halves.groups * source_step));
  }
  return halves;
}

namespace {

/// An instruction may access only its own group of items.
void check_moving(const Program& p, const BmHalves& halves) {
  for (const auto& section : p.sections) {
    for (const Instruction& i : section) {
      const Operand& bm = i.move.bm;
      const bool source = bm.space == Space::BmSource;
      if (!source && bm.space != Space::BmOutput) continue;
      const std::uint32_t end = bm.at(i.vlen - 1u) + shorts_in(bm.width);
      const std::uint32_t step = source ? halves.source_step : halves.output_step;
      if (end > step)
        refuse(p, "an instruction addresses short {} of a group of {} of {} shorts", end - 1,
               source ? "j-items" : "output items", step);
    }
  }
}

void check_place(const Program& p, const Variable& v, const Geometry& g) {
  const Operand& x = v.location;
  std::uint64_t end = x.at(x.vector ? p.elements - 1 : 0) + shorts_in(x.width);
  std::uint64_t size = 0;
  switch (x.space) {
    case Space::Register:
      size = std::uint64_t{g.register_words} * 2;
      break;
    case Space::Local:
      size = std::uint64_t{g.local_words} * 2;
      break;
    case Space::T:
      size = 2;
      break;
    case Space::Bm:
      size = p.fixed_shorts;
      break;
    case Space::BmSource:
      size = p.item_shorts;
      break;
    case Space::BmOutput:
      size = p.output_shorts;
      break;
    default:
      refuse(p, "variable {} stands where the host cannot reach it", v.name);
  }
  const bool in_bm =
      x.space == Space::BmSource || x.space == Space::BmOutput || x.space == Space::Bm;
  const bool fits_kind = v.kind == VarKind::Source   ? x.space == Space::BmSource
                         : v.kind == VarKind::Output ? x.space == Space::BmOutput
                         : v.kind == VarKind::Param  ? !in_bm || x.space == Space::Bm
                                                     : !in_bm;
  if (!fits_kind) refuse(p, "variable {} stands in a memory that its kind cannot use", v.name);
  if (end > size) refuse(p, "variable {} ends at short {} of a memory of {}", v.name, end, size);
}

void check_capacities(const Program& p) {
  if (p.elements < 1 || p.elements > max_elements) refuse(p, "elements must be 1 to 4");
  if (p.group < 1) refuse(p, "a group holds at least one item");
}

bool puts_to_halves(const Program& p) {
  for (const auto& section : p.sections) {
    for (const Instruction& i : section) {
      if (i.move.op != Op::Bput) continue;
      const Operand& bm = i.move.bm;
      const std::uint32_t end = bm.at(i.vlen - 1u) + shorts_in(bm.width);
      if (bm.space != Space::Bm || end > p.fixed_shorts) return true;
    }
  }
  return false;
}

}  // namespace

LoadedProgram load_program(Program program, const Geometry& geometry, Isa isa, bool exact) {
  check_capacities(program);
  for (const Variable& v : program.variables) check_place(program, v, geometry);
  LoadedProgram loaded;
  loaded.halves = place_halves(program, geometry);
  check_moving(program, loaded.halves);
  loaded.exact = exact;
  loaded.puts_to_halves = puts_to_halves(program);
  loaded.layout = link_layout(program);
  loaded.targets = port_fields(program, loaded.layout.targets, isa);
  loaded.sources = port_fields(program, loaded.layout.sources, isa);
  loaded.results = port_fields(program, loaded.layout.results, isa);
  loaded.packs_results =
      std::ranges::any_of(loaded.layout.results, [](const auto& f) { return f.half_words < 2; });
  loaded.params = port_fields(program, loaded.layout.params, isa);
  loaded.outputs = port_fields(program, loaded.layout.outputs, isa);
  loaded.program = std::move(program);
  return loaded;
}

void make_pad(const LoadedProgram& loaded, const std::uint64_t* last, std::uint64_t* pad) noexcept {
  std::fill_n(pad, loaded.layout.source_words, 0);
  for (std::size_t k = 0; k < loaded.sources.size(); ++k) {
    const PortField& field = loaded.sources[k];
    const Variable& v = loaded.program.variables[loaded.layout.sources[k].variable];
    put_host_bits(field, v.pad_is_copy ? host_bits(field, last) : u128{v.pad}, pad);
  }
}

LoopPlan make_plan(std::uint32_t group, std::uint64_t groups_per_half, const Geometry& geometry,
                   ChipPartition partition, std::uint64_t items) noexcept {
  LoopPlan plan;
  plan.partition = partition;
  plan.items = items;
  plan.group = group;
  plan.groups = items / plan.group + (items % plan.group != 0 ? 1 : 0);
  plan.groups_per_half = groups_per_half;
  plan.slices = partition == ChipPartition::SourcesOverBlocks ? geometry.blocks : 1;
  plan.parts = partition == ChipPartition::PartsOverBlocks ? geometry.blocks : 1;
  return plan;
}

}  // namespace gdr
