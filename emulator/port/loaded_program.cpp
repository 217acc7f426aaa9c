#include "emulator/port/loaded_program.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "gdr/error.hpp"

namespace gdr {
namespace {

[[noreturn]] void refuse(const Program& program, const std::string& why) {
  throw Error(ErrorCategory::Program,
              "kernel " + program.name + " does not fit the machine: " + why);
}

std::uint64_t round_up_even(std::uint64_t x) noexcept { return x + x % 2; }

/// Shorts of a half with n groups; output items begin at an even address, as longs must.
std::uint64_t half_shorts(const BmHalves& halves, std::uint64_t n) noexcept {
  return round_up_even(n * halves.source_step) + n * halves.output_step;
}

}  // namespace

BmHalves place_halves(const Program& p, const Geometry& g) {
  const std::uint64_t all = std::uint64_t{g.broadcast_words} * 2;
  const std::uint64_t fixed = round_up_even(p.fixed_shorts);
  const std::uint64_t source_step = std::uint64_t{p.item_shorts} * p.group;
  const std::uint64_t output_step = std::uint64_t{p.output_shorts} * p.group;
  if (p.fixed_shorts > all) {
    refuse(p, "its fixed part takes " + std::to_string(p.fixed_shorts) + " of the " +
                  std::to_string(all) + " shorts of the broadcast memory");
  }
  BmHalves halves;
  const std::uint64_t room = (all - std::min(fixed, all)) / 4 * 2;  // of a half; even
  if (source_step + output_step == 0) {
    halves.groups = unlimited_groups;
    return halves;
  }
  if (round_up_even(source_step) + output_step > room) {
    refuse(p, "a group of " + std::to_string(p.group) + " items takes " +
                  std::to_string(source_step + output_step) +
                  " shorts, half of the broadcast memory "
                  "has " +
                  std::to_string(room));
  }
  halves.source_step = static_cast<std::uint32_t>(source_step);
  halves.output_step = static_cast<std::uint32_t>(output_step);
  halves.groups = room / (source_step + output_step);
  if (half_shorts(halves, halves.groups) > room) --halves.groups;
  for (unsigned h = 0; h < 2; ++h) {
    const std::uint64_t base = fixed + h * room;
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
      if (end > step) {
        refuse(p, std::string("an instruction addresses short ") + std::to_string(end - 1) +
                      " of a group of " + (source ? "j-items" : "output items") + " of " +
                      std::to_string(step) + " shorts");
      }
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
      refuse(p, "variable " + v.name + " stands where the host cannot reach it");
  }
  const bool in_bm =
      x.space == Space::BmSource || x.space == Space::BmOutput || x.space == Space::Bm;
  const bool fits_kind = v.kind == VarKind::Source   ? x.space == Space::BmSource
                         : v.kind == VarKind::Output ? x.space == Space::BmOutput
                         : v.kind == VarKind::Param  ? !in_bm || x.space == Space::Bm
                                                     : !in_bm;
  if (!fits_kind) refuse(p, "variable " + v.name + " stands in a memory that its kind cannot use");
  if (end > size) {
    refuse(p, "variable " + v.name + " ends at short " + std::to_string(end) + " of a memory of " +
                  std::to_string(size));
  }
}

void check_sizes(const Program& p) {
  if (p.elements < 1 || p.elements > max_elements) refuse(p, "elements must be 1 to 4");
  if (p.group < 1) refuse(p, "a group holds at least one item");
}

std::vector<PortField> port_fields(const Program& p, const std::vector<LinkLayout::Field>& fields,
                                   Isa isa) {
  std::vector<PortField> out;
  for (const auto& field : fields) {
    out.push_back(port_field(p.variables[field.variable], field));
    out.back().isa = isa;
  }
  return out;
}

std::vector<std::uint64_t> make_pad_item(const Program& p) {
  std::vector<std::uint64_t> item(p.item_shorts, 0);
  for (const Variable& v : p.variables) {
    if (v.kind != VarKind::Source) continue;
    const PortField field{v.conversion, v.location.width, v.reduce, v.location, 0, {}};
    const std::uint64_t record[2] = {v.pad, 0};
    port_load(field, {record, 2}, 1, {item.data() + v.location.address, p.item_shorts, 1});
  }
  return item;
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
  check_sizes(program);
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
  loaded.pad_item = make_pad_item(program);
  loaded.program = std::move(program);
  return loaded;
}

}  // namespace gdr
