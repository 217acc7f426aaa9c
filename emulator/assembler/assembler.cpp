// Assembly of a text: parsing, then layout, limits and idle clocks of the whole program.
#include "emulator/assembler/assembler.hpp"

#include <algorithm>
#include <filesystem>

#include "emulator/assembler/front/files.hpp"
#include "emulator/assembler/front/parser.hpp"
#include "emulator/assembler/object.hpp"
#include "emulator/assembler/time/schedule.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace assembly {
namespace {

// --- layout

/// Span for messages about the whole program: the first line.
SourceSpan whole_program() noexcept { return {0, 1, 0, 1}; }

/// The size of a part of the broadcast memory, in shorts.
std::uint32_t size_of(Assembly& a, Space space, const char* what) {
  const BroadcastPart& part = a.layout.part(space);
  const std::uint32_t even = (part.need + 1) / 2 * 2;
  if (part.given < 0) return even;
  if (part.given >= part.need && !(part.holds_long && part.given % 2 != 0)) {
    return static_cast<std::uint32_t>(part.given);
  }
  a.report.error(Code::LayoutTooSmall, part.given_at,
                 std::string("the size of ") + what + " is too small or odd",
                 "needs " + std::to_string(part.holds_long ? even : part.need) + " shorts",
                 "remove the directive to use the required size");
  // The larger size, rounded up, avoids further errors.
  return std::max(even, static_cast<std::uint32_t>(part.given + 1) / 2 * 2);
}

void check_extents(Assembly& a, Space space, std::uint32_t item, const char* what) {
  const std::vector<Extent>& extents = a.layout.part(space).extents;
  // Unchecked: the address with its item must still be valid; operands of item 0 are as written.
  const std::uint64_t size = a.unchecked ? max_field + 1 : std::uint64_t{item} * a.program.group;
  for (std::size_t k = a.unchecked ? 1 : 0; k < extents.size(); ++k) {
    const std::uint64_t end = k * item + extents[k].need;
    if (end <= size) continue;
    a.report.error(
        Code::BeyondGroup, extents[k].span, std::string("the transfer exceeds the ") + what,
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
  p.item_shorts = size_of(a, Space::BmSource, "a j-item");
  p.output_shorts = size_of(a, Space::BmOutput, "an output item");
  BroadcastPart& fixed = l.part(Space::Bm);
  if (fixed.given < 0) fixed.need = std::max(fixed.need, l.fixed_extent);
  p.fixed_shorts = size_of(a, Space::Bm, "the fixed part of the broadcast memory");
  check_extents(a, Space::BmSource, p.item_shorts, "group of j-items");
  check_extents(a, Space::BmOutput, p.output_shorts, "group of output items");
  check_broadcast_memory(a);
  for (Variable& v : p.variables) v.pad_is_copy = v.pad_is_copy && p.group > 1;
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

/// The keys of indices, now that all variables are declared.
void find_keys(Assembly& a) {
  std::vector<Variable>& variables = a.program.variables;
  for (const Assembly::KeyName& k : a.keys) {
    const auto found = std::ranges::find(variables, k.key, &Variable::name);
    if (found == variables.end()) {
      a.report.error(Code::UnknownName, k.span, in_quotes(k.key) + " is not declared", {},
                     "the key of an index is a result with reduction fmin or fmax");
    } else if (found->kind != VarKind::Result ||
               (found->reduce != Reduce::Fmin && found->reduce != Reduce::Fmax)) {
      a.report.error(Code::ReductionMisplaced, k.span, in_quotes(k.key) + " cannot be a key", {},
                     "the key of an index is a result with reduction fmin or fmax");
    } else {
      variables[k.index].key = static_cast<std::int32_t>(found - variables.begin());
    }
  }
}

/// Whether the body writes to the stream, so that NAME@K affects the waits of its transfers.
bool writes_to_stream(const Program& program) {
  return std::ranges::any_of(program.section(Section::Body), [](const Instruction& i) {
    return i.move.op == Op::Bput && i.move.bm.space != Space::Bm;
  });
}

void check_size(Assembly& a, std::uint64_t count) {
  const std::uint64_t have = a.options.geometry.instruction_words;
  if (count <= have || a.stopped) return;  // the size of an incomplete text is unknown
  a.report.error(
      Code::InstructionMemory, whole_program(), "the program exceeds the instruction memory",
      "needs " + std::to_string(count) + " instructions, available: " + std::to_string(have),
      "shorten repeats, or use a larger geometry (instructions=N)");
}

// --- idle clocks

bool reads(const Operand& x, const Access& access, unsigned element) noexcept {
  switch (access.what) {
    case Access::What::Register:
      return x.space == Space::Register && x.at(element) == access.address;
    case Access::What::Local:
      return x.space == Space::LocalByT ||
             (x.space == Space::Local && x.at(element) == access.address);
    case Access::What::T:
      return x.space == Space::T || x.space == Space::LocalByT;
    default:
      return false;
  }
}

/// Source span of the operand that makes an access.
SourceSpan span_of(const InstructionSpans& spans, const Access& access, unsigned element) {
  if (access.slot == 3) return spans.predicate;
  for (const InstructionSpans::Source& x : spans.sources) {
    if (x.slot != access.slot) continue;
    if (x.slot == 2 || reads(x.operand, access, element)) return x.span;
  }
  return spans.whole;
}

std::string clocks_text(unsigned clocks) {
  return clocks == 1 ? "one clock" : std::to_string(clocks) + " clocks";
}

/// Section and index of the reading instruction; for stalls at the end of Start it is in the body.
InstructionPlace reader_of(const Assembly& a, std::size_t section, const Pad& pad) {
  if (pad.index < a.program.sections[section].size())
    return {static_cast<std::uint8_t>(section), pad.index};
  return {static_cast<std::uint8_t>(Section::Body), pad.stall.reader};
}

void report_stall(Assembly& a, std::size_t section, const Pad& pad) {
  const InstructionPlace reader = reader_of(a, section, pad);
  const InstructionPlace producer = pad.stall.producer;
  const InstructionSpans& at = a.instruction_spans[reader.section][reader.index];
  const InstructionSpans& from = a.instruction_spans[producer.section][producer.index];
  const SourceSpan span = span_of(at, pad.stall.read, pad.stall.element);
  const std::string& text = a.sources[span.source].text;
  const std::string operand = text.substr(span.offset, span.length);
  std::string label = "line " + std::to_string(from.whole.line) + " writes it";
  if (producer.section != reader.section) {
    label += std::string(" at the end of .").append(section_names[producer.section]);
  } else if (producer.index >= reader.index) {
    label += producer.section == static_cast<std::uint8_t>(Section::Body)
                 ? " in the iteration before"
                 : " in the run before";
  }
  a.report.error(
      Code::ReadTooEarly, span,
      in_quotes(operand) + " is read " + clocks_text(pad.stall.clocks) + " before it is ready",
      label + "; it can be read " + std::to_string(result_latency) + " clocks later",
      "let the assembler insert idle clocks, or insert independent instructions");
  a.report.note(from.whole, "written here");
}

void insert_idle_clocks(Assembly& a) {
  SectionPads linear;
  for (std::size_t s = 0; s < section_count; ++s) linear[s] = a.clocks[s].pads();
  const bool stale =
      !a.fixups[static_cast<std::size_t>(Section::Body)].empty() && writes_to_stream(a.program);
  const SectionPads pads =
      schedule(a.program, a.options.geometry, linear, stale, a.options.stall_is_error);
  if (a.options.stall_is_error) {
    for (std::size_t s = 0; s < section_count; ++s) {
      for (const Pad& pad : pads[s]) report_stall(a, s, pad);
    }
    return;
  }
  const auto& body_lines = a.program.lines[static_cast<std::size_t>(Section::Body)];
  const SourceLine first_body_line = body_lines.empty() ? SourceLine{} : body_lines.front();
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

/// Check and complete the whole program. Errors are added to the report.
void finish(Assembly& a) {
  lay_out(a);
  name_files(a);
  if (!a.unchecked && a.instructions > a.options.geometry.instruction_words) {
    check_size(a, a.instructions);
    return;
  }
  if (a.report.errors() != 0) return;
  fix_items(a);
  find_keys(a);
  if (!a.unchecked) insert_idle_clocks(a);
}

}  // namespace
}  // namespace assembly

namespace {

AssembleResult assemble_program(std::string_view text, const std::string& file_name,
                                const AssembleOptions& options) {
  assembly::Assembly a(options);
  const std::string name = std::filesystem::path(file_name).lexically_normal().string();
  assembly::add_source(a, name, std::string(text));
  a.open_files.push_back(0);
  a.program.name = std::filesystem::path(file_name).stem().string();
  assembly::LineReader reader(a.sources.front().text, 0);
  assembly::parse_lines(a, reader);
  assembly::finish(a);

  AssembleResult result;
  result.diagnostics.error_count = a.report.errors();
  result.diagnostics.list = a.report.release();
  for (SourceText& source : a.sources) result.diagnostics.sources.push_back(std::move(source));
  if (result.diagnostics.error_count == 0) result.program = std::move(a.program);
  return result;
}

/// Where the line `.longs` begins; npos if there is none.
std::size_t find_longs(std::string_view text) {
  constexpr std::string_view directive = ".longs";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    line = line.substr(0, line.find('#'));
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r'))
      line.remove_suffix(1);
    if (line == directive) return at;
    at = end + 1;
  }
  return std::string_view::npos;
}

void refuse_longs(AssembleResult& result, std::uint32_t line, const std::string& why) {
  Diagnostic refusal;
  refusal.code = static_cast<std::uint16_t>(Code::DirectiveValue);
  refusal.range = {0, line, 1, 7};
  refusal.message = "`.longs` is not followed by the same kernel in longs: " + why;
  result.diagnostics.list.push_back(refusal);
  ++result.diagnostics.error_count;
  result.program.reset();
}

}  // namespace

AssembleResult assemble(std::string_view text, const std::string& file_name,
                        const AssembleOptions& options) {
  const std::size_t at = find_longs(text);
  if (at == std::string_view::npos) return assemble_program(text, file_name, options);
  AssembleResult result = assemble_program(text.substr(0, at), file_name, options);
  if (!result.ok()) return result;
  result.diagnostics.sources.front().text = text;
  const auto line = static_cast<std::uint32_t>(std::ranges::count(text.substr(0, at), '\n'));
  const std::string_view rest = text.substr(std::min(text.find('\n', at), text.size()));
  if (find_longs(rest) != std::string_view::npos) {
    refuse_longs(result, line + 1, "`.longs` is given twice");
    return result;
  }
  // In its lines of the whole text.
  AssembleResult longs = assemble_program(std::string(line, '\n').append(rest), file_name, options);
  if (!longs.ok()) return longs;
  result.program->in_longs.push_back(std::move(*longs.program));
  if (const std::string wrong = validate_program(*result.program); !wrong.empty())
    refuse_longs(result, line + 1, wrong);
  return result;
}

AssembleResult assemble_file(const std::string& path, const AssembleOptions& options) {
  const auto text = assembly::read_text(path);
  if (!text) {
    throw Error(
        ErrorCategory::Io,
        path + ": the source file cannot be read; check that it exists and is a regular file");
  }
  return assemble(*text, path, options);
}

}  // namespace gdr
