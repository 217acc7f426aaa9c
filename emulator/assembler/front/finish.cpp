#include "emulator/assembler/front/finish.hpp"

#include <algorithm>

#include "emulator/assembler/front/stalls.hpp"
#include "emulator/assembler/time/schedule.hpp"

namespace gdr::assembly {
namespace {

/// Span for messages about the whole program: the first line.
SourceSpan whole_program() noexcept { return {0, 1, 0, 1}; }

std::uint32_t size_or_given(Assembly& a, const Assembly::GivenSize& given, std::uint32_t need,
                            bool holds_long, const char* what) {
  const std::uint32_t even = (need + 1) / 2 * 2;
  if (given.shorts < 0) return even;
  if (given.shorts < need || (holds_long && given.shorts % 2 != 0)) {
    a.report.error(Code::LayoutTooSmall, given.span,
                   std::string("the size of ") + what + " is too small or odd",
                   "needs " + std::to_string(holds_long ? even : need) + " shorts",
                   "remove the directive to use the required size");
    // The larger size, rounded up, avoids further errors.
    return std::max(even, static_cast<std::uint32_t>(given.shorts + 1) / 2 * 2);
  }
  return static_cast<std::uint32_t>(given.shorts);
}

void check_extent(Assembly& a, const std::vector<Extent>& reaches, std::uint32_t item,
                  const char* what) {
  // Unchecked: the address with its item must still be valid; operands of item 0 are as written.
  const std::uint64_t size = a.unchecked ? max_field + 1 : std::uint64_t{item} * a.program.group;
  for (std::size_t k = a.unchecked ? 1 : 0; k < reaches.size(); ++k) {
    const std::uint64_t end = k * item + reaches[k].need;
    if (end <= size) continue;
    a.report.error(
        Code::BeyondGroup, reaches[k].span, std::string("the transfer exceeds the ") + what,
        "it ends at short " + std::to_string(end) + ", the group at " + std::to_string(size),
        "declare another word, or transfer fewer elements (vlen)");
  }
}

/// The broadcast memory holds the fixed part, a group of items and a group of output items;
/// unchecked, each of them is limited by the largest possible memory.
void check_broadcast_memory(Assembly& a) {
  const Program& p = a.program;
  const std::uint64_t items = std::uint64_t{p.group} * p.item_shorts;
  const std::uint64_t outputs = std::uint64_t{p.group} * p.output_shorts;
  const std::uint64_t have = a.unchecked ? 2 * GeometryLimits::memory_words
                                         : a.options.geometry.broadcast_words * std::uint64_t{2};
  const std::uint64_t need = a.unchecked ? std::max({std::uint64_t{p.fixed_shorts}, items, outputs})
                                         : p.fixed_shorts + items + outputs;
  if (need <= have) return;
  a.report.error(Code::BroadcastMemory, a.group_given ? a.group_span : whole_program(),
                 "the fixed part and one group of items exceed the broadcast memory",
                 "needs " + std::to_string(need) + " shorts, available: " + std::to_string(have),
                 "declare fewer variables, or lower .group");
}

void lay_out(Assembly& a) {
  Program& p = a.program;
  Layout& l = a.layout;
  p.item_shorts = size_or_given(a, a.item_given, l.item_need, l.long_in_item, "a j-item");
  p.output_shorts =
      size_or_given(a, a.output_given, l.output_need, l.long_in_output, "an output item");
  if (a.fixed_given.shorts < 0) l.fixed_need = std::max(l.fixed_need, l.fixed_extent);
  p.fixed_shorts = size_or_given(a, a.fixed_given, l.fixed_need, false,
                                 "the fixed part of the broadcast memory");
  check_extent(a, a.source_extent, p.item_shorts, "group of j-items");
  check_extent(a, a.output_extent, p.output_shorts, "group of output items");
  check_broadcast_memory(a);
  if (!a.unchecked && p.group > 1 && p.item_shorts != 0 && !l.pad_given) {
    a.report.error(Code::GroupNeedsPad, a.group_span, "a kernel with groups of items needs a `pad`",
                   {},
                   "add a value to a jvar with which an item contributes nothing, for example `pad "
                   "0` to a mass");
  }
}

/// Addresses of NAME@K, now that the item size is known.
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
  for (const Assembly::SymbolFixup& later : a.symbol_fixups) {
    const Symbol& symbol = a.program.symbols[later.index];
    const std::uint64_t address = symbol.location.address + later.item * size_of(symbol.location);
    if (address > max_field) {
      a.report.error(Code::BeyondGroup, a.names.find(symbol.name)->declared,
                     in_quotes(symbol.name) + " exceeds the address range",
                     "short " + std::to_string(address) + ", the limit is 65535");
      continue;
    }
    shift(a.program.symbols[later.index].location, later.item);
  }
}

/// Whether the body writes to the stream, so that NAME@K affects the waits of its transfers.
bool writes_to_stream(const Program& program) {
  for (const Instruction& i : program.section(Section::Body)) {
    if (i.move.op == Op::Bput && i.move.bm.space != Space::Bm) return true;
  }
  return false;
}

void check_size(Assembly& a, std::uint64_t count) {
  const std::uint64_t have = a.options.geometry.instruction_words;
  if (count <= have || a.stopped) return;  // the size of an incomplete text is unknown
  a.report.error(
      Code::InstructionMemory, whole_program(), "the program exceeds the instruction memory",
      "needs " + std::to_string(count) + " instructions, available: " + std::to_string(have),
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
