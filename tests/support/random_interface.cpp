// The parts of a random program that engines do not use: names, locations, lines, files.
#include <algorithm>
#include <string>

#include "support/random_program.hpp"

namespace gdr::test {
namespace {

constexpr std::uint32_t item_shorts = 24, fixed_shorts = 40;

Conversion random_conversion(Draw& draw) {
  const auto table = conversion_table();
  const ConversionName& row = table[draw.below(table.size())];
  const bool fixed = row.machine == MachineFormat::Fixed;
  return {row.host, row.machine, static_cast<std::uint8_t>(fixed ? draw.below(72) : 0)};
}

Operand random_location(Draw& draw, Space space, bool vector, std::uint32_t shorts) {
  Operand x;
  x.space = space;
  x.width = draw.chance(50) ? Width::Long : Width::Short;
  x.vector = vector;
  x.address = static_cast<std::uint16_t>(draw.below(shorts / 2) * 2);
  if (x.width == Width::Short && draw.chance(50)) ++x.address;
  return x;
}

Variable random_variable(Draw& draw, std::string name) {
  Variable v;
  v.name = std::move(name);
  v.kind = static_cast<VarKind>(draw.below(5));
  v.conversion = random_conversion(draw);
  const Space in_pe = draw.pick({Space::Register, Space::Local});
  switch (v.kind) {
    case VarKind::Target:
      v.location = random_location(draw, in_pe, true, 48);
      break;
    case VarKind::Result:
      v.location = random_location(draw, in_pe, true, 48);
      v.reduce = static_cast<Reduce>(draw.below(10));
      break;
    case VarKind::Param:
      v.location = draw.chance(50) ? random_location(draw, Space::Bm, false, fixed_shorts)
                                   : random_location(draw, in_pe, false, 48);
      break;
    case VarKind::Source:
      v.location = random_location(draw, Space::BmSource, false, item_shorts);
      v.pad = draw.chance(50) ? draw.bits() : 0;
      break;
    case VarKind::Output:
      v.location = random_location(draw, Space::BmOutput, false, item_shorts);
      v.reduce = static_cast<Reduce>(draw.below(10));
      break;
  }
  const bool too_wide = v.conversion.machine == MachineFormat::FloatLong;
  if (too_wide && v.location.width == Width::Short) {
    v.conversion.machine = MachineFormat::FloatShort;
  }
  return v;
}

Operand random_symbol(Draw& draw) {
  switch (draw.below(6)) {
    case 0:
      return {Space::T, Width::Long, false, 0};
    case 1:
      return {Space::T, Width::Short, false, static_cast<std::uint16_t>(draw.below(2))};
    case 2:
      return {draw.pick({Space::PeNumber, Space::BlockNumber}), Width::Long, false, 0};
    case 3: {
      Operand x{Space::LocalByT, draw.pick({Width::Long, Width::Short}), false, 0};
      if (draw.chance(50)) {
        x.range_last = static_cast<std::uint16_t>(draw.between(1, 65535));
        x.range_first = static_cast<std::uint16_t>(draw.between(0, x.range_last));
      }
      return x;
    }
    default:
      return random_location(
          draw,
          draw.pick({Space::Register, Space::Local, Space::Bm, Space::BmSource, Space::BmOutput}),
          draw.chance(50), 60);
  }
}

std::string random_file(Draw& draw) {
  std::string name = draw.pick({"gravity.gds", "/usr/share/gdr/a b.gds", "quo\"te", "back\\slash"});
  if (draw.chance(30)) name += static_cast<char>(draw.between(1, 255));
  return name;
}

}  // namespace

void add_interface(Program& p, Draw& draw) {
  p.name = draw.pick({"gravity", "a", "_k2", "", "any text: \"quoted\""});
  p.elements = draw.between(1, 4);
  p.group = draw.chance(50) ? 1 : draw.between(2, 9);
  p.flops = draw.pick({0.0, 38.0, 0.1, 1e30, 60.5});
  p.item_shorts = std::max(p.item_shorts, item_shorts);
  p.output_shorts = std::max(p.output_shorts, item_shorts);
  p.fixed_shorts = fixed_shorts + draw.below(9);
  for (unsigned n = draw.below(8); n > 0; --n) {
    p.variables.push_back(random_variable(draw, "var" + std::to_string(n)));
  }
  for (unsigned n = draw.below(8); n > 0; --n) {
    p.symbols.push_back({"name" + std::to_string(n), random_symbol(draw)});
  }
  for (unsigned n = draw.below(3); n > 0; --n) p.files.push_back(random_file(draw));
  for (auto& lines : p.lines) {
    SourceLine line;
    for (SourceLine& entry : lines) {
      if (!p.files.empty() && draw.chance(60))
        line = {draw.below(p.files.size()), draw.below(9999)};
      entry = line;
    }
  }
}

}  // namespace gdr::test
