#include "emulator/assembler/front/finish.hpp"

#include <algorithm>

#include "emulator/assembler/front/stalls.hpp"
#include "emulator/assembler/time/schedule.hpp"

namespace gdr::assembly {
namespace {

/// A place for messages about the whole program: the first line.
Place whole_program() noexcept { return {0, 1, 0, 1}; }

std::uint32_t size_or_given(Assembly& a, const Assembly::GivenSize& given, std::uint32_t need,
                            bool holds_long, const char* what) {
  const std::uint32_t even = (need + 1) / 2 * 2;
  if (given.shorts < 0) return even;
  if (given.shorts < need || (holds_long && given.shorts % 2 != 0)) {
    a.report.error(Code::LayoutTooSmall, given.place,
                   std::string("the size of ") + what + " is too small or odd",
                   "needs " + std::to_string(holds_long ? even : need) + " shorts",
                   "leave the directive out, and the assembler chooses the size");
    // The larger of both, rounded up, raises no errors beyond this one.
    return std::max(even, static_cast<std::uint32_t>(given.shorts + 1) / 2 * 2);
  }
  return static_cast<std::uint32_t>(given.shorts);
}

void check_reach(Assembly& a, const std::vector<Reach>& reaches, std::uint32_t item,
                 const char* what) {
  // Unchecked, an address with its item still has to be one; operands of item 0 are, as written.
  const std::uint64_t size =
      a.unchecked ? largest_field + 1 : std::uint64_t{item} * a.program.group;
  for (std::size_t k = a.unchecked ? 1 : 0; k < reaches.size(); ++k) {
    const std::uint64_t end = k * item + reaches[k].need;
    if (end <= size) continue;
    a.report.error(
        Code::PastTheGroup, reaches[k].place, std::string("the transfer reaches past the ") + what,
        "up to short " + std::to_string(end) + "; all items together have " + std::to_string(size),
        "declare another word, or move fewer elements (vlen)");
  }
}

/// The machine's broadcast memory holds the fixed part and a group of items and of output items;
/// unchecked, each of the three is smaller than the largest one possible.
void check_broadcast_memory(Assembly& a) {
  const Program& p = a.program;
  const std::uint64_t items = std::uint64_t{p.group} * p.item_shorts;
  const std::uint64_t outputs = std::uint64_t{p.group} * p.output_shorts;
  const std::uint64_t have = a.unchecked ? 2 * GeometryLimits::memory_words
                                         : a.options.geometry.broadcast_words * std::uint64_t{2};
  const std::uint64_t need = a.unchecked ? std::max({std::uint64_t{p.fixed_shorts}, items, outputs})
                                         : p.fixed_shorts + items + outputs;
  if (need <= have) return;
  a.report.error(Code::BroadcastMemory, a.group_given ? a.group_place : whole_program(),
                 "the fixed part and one group of items do not fit into the broadcast memory",
                 "needs " + std::to_string(need) + " shorts, there are " + std::to_string(have),
                 "declare fewer variables, or lower .group");
}

void lay_out(Assembly& a) {
  Program& p = a.program;
  Layout& l = a.layout;
  p.item_shorts = size_or_given(a, a.item_given, l.item_need, l.long_in_item, "a j-item");
  p.output_shorts =
      size_or_given(a, a.output_given, l.output_need, l.long_in_output, "an output item");
  if (a.fixed_given.shorts < 0) l.fixed_need = std::max(l.fixed_need, l.fixed_reach);
  p.fixed_shorts = size_or_given(a, a.fixed_given, l.fixed_need, false,
                                 "the fixed part of the broadcast memory");
  check_reach(a, a.source_reach, p.item_shorts, "group of j-items");
  check_reach(a, a.output_reach, p.output_shorts, "group of output items");
  check_broadcast_memory(a);
  if (!a.unchecked && p.group > 1 && p.item_shorts != 0 && !l.pad_given) {
    a.report.error(Code::GroupNeedsPad, a.group_place,
                   "a kernel that takes groups of items needs a `pad`", {},
                   "give a jvar the value that makes an item contribute nothing, for example `pad "
                   "0` for a mass");
  }
}

/// Addresses of NAME@K, now that the size of an item is known.
void fix_items(Assembly& a) {
  const auto size_of = [&](const Operand& x) {
    return std::uint64_t{x.space == Space::BmOutput ? a.program.output_shorts
                                                    : a.program.item_shorts};
  };
  const auto shift = [&](Operand& x, unsigned item) {
    x.address = static_cast<std::uint16_t>(x.address + item * size_of(x));
  };
  for (std::size_t s = 0; s < section_count; ++s) {
    for (const ItemFixup& fixup : a.fixups[s])
      shift(a.program.sections[s][fixup.index].move.bm, fixup.item);
  }
  for (const Assembly::LaterSymbol& later : a.symbol_fixups) {
    const Symbol& symbol = a.program.symbols[later.index];
    const std::uint64_t address = symbol.location.address + later.item * size_of(symbol.location);
    if (address > largest_field) {
      a.report.error(Code::PastTheGroup, a.names.find(symbol.name)->declared,
                     in_quotes(symbol.name) + " stands behind the last possible address",
                     "short " + std::to_string(address) + "; the last is 65535");
      continue;
    }
    shift(a.program.symbols[later.index].location, later.item);
  }
}

/// True if the body writes to the stream, so that NAME@K decides what its transfers have to wait
/// for.
bool writes_to_stream(const Program& program) {
  for (const Instruction& i : program.section(Section::Body)) {
    if (i.move.op == Op::Bput && i.move.bm.space != Space::Bm) return true;
  }
  return false;
}

void check_size(Assembly& a, std::uint64_t count) {
  const std::uint64_t have = a.options.geometry.instruction_words;
  if (count <= have || a.stopped) return;  // a text that was cut short has no size
  a.report.error(
      Code::InstructionMemory, whole_program(),
      "the program does not fit into the instruction memory",
      "needs " + std::to_string(count) + " instructions, there are " + std::to_string(have),
      "shorten repeats, or use a larger geometry (instructions=N)");
}

void put_in_idle_clocks(Assembly& a) {
  SectionPads linear;
  for (std::size_t s = 0; s < section_count; ++s) linear[s] = a.clocks[s].pads();
  const bool stale =
      !a.fixups[static_cast<std::size_t>(Section::Body)].empty() && writes_to_stream(a.program);
  const SectionPads pads =
      schedule(a.program, a.options.geometry, linear, stale, a.options.stall_is_error);
  if (a.options.stall_is_error) {
    report_stalls(a, pads);
    return;
  }
  const auto& body_lines = a.program.lines[static_cast<std::size_t>(Section::Body)];
  const std::vector<SourceLine> first_body_line(
      body_lines.begin(), body_lines.empty() ? body_lines.begin() : body_lines.begin() + 1);
  std::uint64_t count = 0;
  for (std::size_t s = 0; s < section_count; ++s) {
    insert_pads(a.program.sections[s], a.program.lines[s], pads[s], first_body_line);
    count += a.program.sections[s].size();
  }
  check_size(a, count);
}

void name_files(Assembly& a) {
  Program& p = a.program;
  if (a.tool_lines) {
    p.files = a.tool_files;
    return;
  }
  for (const SourceText& source : a.sources) p.files.push_back(source.name);
}

}  // namespace

void finish(Assembly& a) {
  lay_out(a);
  name_files(a);
  if (!a.unchecked && a.instructions > a.options.geometry.instruction_words) {
    check_size(a, a.instructions);
    return;
  }
  if (a.report.errors() != 0) return;
  fix_items(a);
  if (!a.unchecked) put_in_idle_clocks(a);
}

}  // namespace gdr::assembly
