#include <fmt/core.h>

#include <array>
#include <iterator>
#include <string_view>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/instruction_text.hpp"

namespace gdr {
namespace {

constexpr std::array<std::string_view, 5> kind_names{"ivar", "jvar", "fvar", "param", "ovar"};
constexpr std::array<std::string_view, 10> reduce_names{"pass", "fadd", "fmax", "fmin", "iadd",
                                                        "imax", "imin", "iand", "ior",  "ixor"};
constexpr std::size_t comment_column = 56;
constexpr unsigned vlen_at_start = 4;

using Out = std::back_insert_iterator<std::string>;

/// A quoted string; braces (which would be expanded) and non-ASCII characters become `\xHH`.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte > 0x7e || c == '{' || c == '}') {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string conversion_text(Conversion c) {
  const std::string name{conversion_name(c)};
  return c.machine == MachineFormat::Fixed ? fmt::format("{}.{}", name, c.point) : name;
}

void write_head(Out out, const Program& p, bool unchecked) {
  fmt::format_to(out, "# Disassembled; assembles to the same object.\n.kernel {}\n",
                 quoted(p.name));
  if (unchecked)
    fmt::format_to(out, ".unchecked  # exceeds limits of the chip or reads results too early\n");
  fmt::format_to(out, ".flops {}\n.elements {}\n.group {}\n", p.flops, p.elements, p.group);
  fmt::format_to(out, ".fixed {}\n.item {}\n.output {}\n", p.fixed_shorts, p.item_shorts,
                 p.output_shorts);
  for (std::size_t f = 0; f < p.files.size(); ++f) {
    fmt::format_to(out, ".file {} {}\n", f, quoted(p.files[f]));
  }
  // Without a `.line` directive the assembler creates its own line table.
  fmt::format_to(out, ".line 0 0\n");
}

void write_declarations(Out out, const Program& p) {
  if (!p.variables.empty()) fmt::format_to(out, "\n");
  for (const Variable& v : p.variables) {
    const bool reduced = v.kind == VarKind::Result || v.kind == VarKind::Output;
    fmt::format_to(out, "{:<5} {:<5} {} {}", kind_names[static_cast<std::size_t>(v.kind)],
                   v.location.width == Width::Long ? "long" : "short", name_text(v.name),
                   conversion_text(v.conversion));
    if (reduced) fmt::format_to(out, " {}", reduce_names[static_cast<std::size_t>(v.reduce)]);
    fmt::format_to(out, " at {}", location_text(v.location));
    // A group requires at least one explicit pad, so zeros are written too.
    if (v.kind == VarKind::Source) fmt::format_to(out, " pad 0x{:016x}", v.pad);
    fmt::format_to(out, "\n");
  }
  if (!p.symbols.empty()) fmt::format_to(out, "\n");
  for (const Symbol& s : p.symbols) {
    fmt::format_to(out, ".symbol {} {}\n", name_text(s.name), location_text(s.location));
  }
}

/// Writes the sections, tracking the state that continues from one to the next.
class SectionWriter {
 public:
  SectionWriter(std::string& text, const Program& program)
      : text_(text), out_(text), program_(program), names_(program) {}

  void write(unsigned s) {
    const auto& section = program_.sections[s];
    if (section.empty()) return;
    fmt::format_to(out_, "\n.{}  # {} instructions, {} clocks\n", section_names[s], section.size(),
                   program_.clocks(static_cast<Section>(s)));
    std::uint64_t clock = 0;
    for (std::size_t i = 0; i < section.size(); ++i) {
      const auto& lines = program_.lines[s];
      write_state(section[i].vlen, lines.empty() ? SourceLine{} : lines[i]);
      write_instruction(section[i], clock);
      clock += section[i].clocks();
    }
  }

 private:
  void write_state(unsigned vlen, SourceLine line) {
    if (line != line_) fmt::format_to(out_, "  .line {} {}\n", line.file, line.line);
    if (vlen != vlen_) fmt::format_to(out_, "  vlen {}\n", vlen);
    line_ = line;
    vlen_ = vlen;
  }

  void write_instruction(const Instruction& instruction, std::uint64_t clock) {
    const std::size_t start = text_.size();
    text_ += "    " + instruction_text(instruction, names_);
    const std::size_t width = text_.size() - start;
    text_.append(width < comment_column ? comment_column - width : 1, ' ');
    fmt::format_to(out_, "# clock {}\n", clock);
  }

  std::string& text_;
  Out out_;
  const Program& program_;
  OperandNames names_;
  unsigned vlen_ = vlen_at_start;
  SourceLine line_;
};

std::string write_program(const Program& program, bool unchecked) {
  std::string text;
  write_head(Out(text), program, unchecked);
  write_declarations(Out(text), program);
  SectionWriter sections(text, program);
  for (unsigned s = 0; s < section_count; ++s) sections.write(s);
  return text;
}

}  // namespace

std::string disassemble(const Program& program) {
  // Only the assembler can tell whether the program obeys all rules: try it.
  const std::string text = write_program(program, false);
  const AssembleResult again = assemble(text, "disassembly");
  Program expected = program;
  for (unsigned s = 0; s < section_count; ++s)
    expected.lines[s].resize(expected.sections[s].size());
  if (again.ok() && *again.program == expected) return text;
  return write_program(program, true);
}

}  // namespace gdr
