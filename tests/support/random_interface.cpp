// The parts of a random program that engines do not use: names, locations, lines, files.
#include <algorithm>
#include <string>

#include "support/random_program.hpp"

namespace gdr::test {
namespace {

constexpr std::uint32_t item_shorts = 24, fixed_shorts = 40;

Conversion random_conversion(Rng& rng) {
  const auto table = conversion_table();
  const ConversionName& row = table[rng.below(table.size())];
  const bool fixed = row.machine == MachineFormat::Fixed;
  return {row.host, row.machine, static_cast<std::uint8_t>(fixed ? rng.below(72) : 0)};
}

Operand random_location(Rng& rng, Space space, bool vector, std::uint32_t shorts) {
  Operand x;
  x.space = space;
  x.width = rng.chance(50) ? Width::Long : Width::Short;
  x.vector = vector;
  x.address = static_cast<std::uint16_t>(rng.below(shorts / 2) * 2);
  if (x.width == Width::Short && rng.chance(50)) ++x.address;
  return x;
}

Variable random_variable(Rng& rng, std::string name) {
  Variable v;
  v.name = std::move(name);
  v.kind = static_cast<VarKind>(rng.below(5));
  v.conversion = random_conversion(rng);
  const Space in_pe = rng.pick({Space::Register, Space::Local});
  switch (v.kind) {
    case VarKind::Target:
      v.location = random_location(rng, in_pe, true, 48);
      break;
    case VarKind::Result:
      v.location = random_location(rng, in_pe, true, 48);
      v.reduce = static_cast<Reduce>(rng.below(10));
      break;
    case VarKind::Param:
      v.location = rng.chance(50) ? random_location(rng, Space::Bm, false, fixed_shorts)
                                  : random_location(rng, in_pe, false, 48);
      break;
    case VarKind::Source:
      v.location = random_location(rng, Space::BmSource, false, item_shorts);
      v.pad = rng.chance(50) ? rng.bits() : 0;
      break;
    case VarKind::Output:
      v.location = random_location(rng, Space::BmOutput, false, item_shorts);
      v.reduce = static_cast<Reduce>(rng.below(10));
      break;
  }
  const bool too_wide = v.conversion.machine == MachineFormat::FloatLong;
  if (too_wide && v.location.width == Width::Short) {
    v.conversion.machine = MachineFormat::FloatShort;
  }
  return v;
}

Operand random_symbol(Rng& rng) {
  switch (rng.below(6)) {
    case 0:
      return {Space::T, Width::Long, false, 0};
    case 1:
      return {Space::T, Width::Short, false, static_cast<std::uint16_t>(rng.below(2))};
    case 2:
      return {rng.pick({Space::PeNumber, Space::BlockNumber}), Width::Long, false, 0};
    case 3: {
      Operand x{Space::LocalByT, rng.pick({Width::Long, Width::Short}), false, 0};
      if (rng.chance(50)) {
        x.range_last = static_cast<std::uint16_t>(rng.between(1, 65535));
        x.range_first = static_cast<std::uint16_t>(rng.between(0, x.range_last));
      }
      return x;
    }
    default:
      return random_location(
          rng,
          rng.pick({Space::Register, Space::Local, Space::Bm, Space::BmSource, Space::BmOutput}),
          rng.chance(50), 60);
  }
}

std::string random_file(Rng& rng) {
  std::string name = rng.pick({"gravity.gds", "/usr/share/gdr/a b.gds", "quo\"te", "back\\slash"});
  if (rng.chance(30)) name += static_cast<char>(rng.between(1, 255));
  return name;
}

/// What the host passes in some of the inputs.
void add_quantity(Variable& v, Rng& rng) {
  if (is_input(v.kind) && rng.chance(40)) {
    v.quantity = rng.pick({"pos", "id", "as", "default"});
    v.squared = rng.chance(30);
  }
  if (takes_default(v) && rng.chance(50))
    v.default_value = static_cast<std::int64_t>(rng.below(9)) - 4;
}

/// A cut-off, if there are variables for it.
void add_cutoff(Program& p, Rng& rng) {
  std::vector<std::uint32_t> targets, sources;
  for (std::uint32_t k = 0; k < p.variables.size(); ++k) {
    const Variable& v = p.variables[k];
    if (v.conversion.host != HostType::F64) continue;
    if (v.kind == VarKind::Target) targets.push_back(k);
    if (v.kind == VarKind::Source) sources.push_back(k);
  }
  if (targets.empty() || sources.empty() || rng.chance(30)) return;
  const auto one_of = [&](const std::vector<std::uint32_t>& some) {
    return some[rng.below(static_cast<std::uint32_t>(some.size()))];
  };
  Cutoff cutoff;
  cutoff.radius2 = one_of(targets);
  for (std::uint32_t& v : cutoff.target) v = one_of(targets);
  for (std::uint32_t& v : cutoff.source) v = one_of(sources);
  p.cutoff = cutoff;
}

/// One or two arrays, with equal variables as elements, and names of the host.
void add_arrays(Program& p, Rng& rng) {
  for (unsigned n = rng.below(3); n > 0; --n) {
    VariableArray array{
        "array" + std::to_string(n), static_cast<std::uint32_t>(p.variables.size()), {}};
    for (unsigned k = rng.between(1, 3); k > 0; --k) array.sizes.push_back(rng.between(1, 3));
    array.complex = array.sizes.back() == 2 && rng.chance(50);
    const Variable element = random_variable(rng, {});
    for (std::uint32_t k = 0; k < array.count(); ++k) {
      p.variables.push_back(element);
      p.variables.back().name = array.element(k);
    }
    if (rng.chance(50)) p.host_names.push_back({array.name, rng.pick({"x", "x y", "\"\\"})});
    p.arrays.push_back(std::move(array));
  }
  for (const Variable& v : p.variables)
    if (rng.chance(10)) p.host_names.push_back({v.name, "of " + v.name});
}

}  // namespace

void add_interface(Program& p, Rng& rng) {
  p.name = rng.pick({"gravity", "a", "_k2", "", "any text: \"quoted\""});
  p.elements = rng.between(1, 4);
  p.group = rng.chance(50) ? 1 : rng.between(2, 9);
  p.flops = rng.pick({0.0, 38.0, 0.1, 1e15, 60.5});
  p.item_shorts = std::max(p.item_shorts, item_shorts);
  p.output_shorts = std::max(p.output_shorts, item_shorts);
  p.fixed_shorts = fixed_shorts + rng.below(9);
  for (unsigned n = rng.below(8); n > 0; --n) {
    p.variables.push_back(random_variable(rng, "var" + std::to_string(n)));
  }
  for (Variable& v : p.variables) add_quantity(v, rng);
  for (Variable& v : p.variables)
    v.pad_is_copy = p.group > 1 && v.kind == VarKind::Source && v.pad == 0 && rng.chance(50);
  for (unsigned n = rng.below(8); n > 0; --n) {
    p.symbols.push_back({"name" + std::to_string(n), random_symbol(rng)});
  }
  for (unsigned n = rng.below(3); n > 0; --n) p.files.push_back(random_file(rng));
  for (unsigned s = 0; s < section_count; ++s) {
    SourceLine line;
    p.lines[s].resize(p.sections[s].size());
    for (SourceLine& entry : p.lines[s]) {
      if (!p.files.empty() && rng.chance(60)) line = {rng.below(p.files.size()), rng.below(9999)};
      entry = line;
    }
  }
  add_arrays(p, rng);
  add_cutoff(p, rng);
}

}  // namespace gdr::test
