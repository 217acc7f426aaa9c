// Annotated listing: every instruction with address, clock, source line and encoding.
#include <fmt/core.h>

#include <unordered_map>

#include "emulator/assembler/assembler.hpp"
#include "emulator/isa/encoding.hpp"

namespace gdr {
namespace {

/// Lines of a source text.
std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    begin = end + 1;
  }
  return lines;
}

/// Source lines by the program's file index; empty for files without text.
class SourceLines {
 public:
  SourceLines(const Program& program, const Diagnostics& sources) : files_(program.files.size()) {
    std::unordered_map<std::string_view, const SourceText*> by_name;
    for (const SourceText& source : sources.sources) by_name.emplace(source.name, &source);
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const auto found = by_name.find(program.files[i]);
      if (found != by_name.end()) files_[i] = split_lines(found->second->text);
    }
  }
  std::string_view at(SourceLine where) const noexcept {
    if (where.file >= files_.size() || where.line == 0) return {};
    const auto& lines = files_[where.file];
    return where.line <= lines.size() ? lines[where.line - 1] : std::string_view{};
  }

 private:
  std::vector<std::vector<std::string_view>> files_;
};

/// Without leading blanks and control characters.
std::string tidy(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  std::string out(first == std::string_view::npos ? std::string_view{} : text.substr(first));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return out;
}

/// An instruction word as two rows of hexadecimal digits, word 0 first.
void append_encoding(std::string& out, const Instruction& instruction) {
  const EncodedInstruction word = encode(instruction);
  for (std::size_t row = 0; row < word.size(); row += 4) {
    out += fmt::format("{:14}{:016x} {:016x} {:016x} {:016x}\n", "", word[row], word[row + 1],
                       word[row + 2], word[row + 3]);
  }
}

std::string source_text(const Instruction& instruction, SourceLine where,
                        const SourceLines& lines) {
  const std::string text = tidy(lines.at(where));
  const bool inserted = instruction.idle() && text.find("nop") == std::string::npos;
  if (!inserted) return text;
  return fmt::format("nop, {} idle clocks: the next instruction waits for a result",
                     instruction.vlen);
}

void append_section(std::string& out, const Program& program, unsigned s, const SourceLines& lines,
                    std::size_t& address) {
  const auto& section = program.sections[s];
  if (section.empty()) return;
  out += fmt::format("\n.{}  {} instructions, {} clocks\n", section_names[s], section.size(),
                     program.clocks(static_cast<Section>(s)));
  out += fmt::format("  addr   clock  line  source\n");
  std::uint64_t clock = 0;
  for (std::size_t i = 0; i < section.size(); ++i, ++address) {
    const SourceLine where = i < program.lines[s].size() ? program.lines[s][i] : SourceLine{};
    out += fmt::format("  {:04x} {:7} {:5}  {}\n", address, clock, where.line,
                       source_text(section[i], where, lines));
    append_encoding(out, section[i]);
    clock += section[i].clocks();
  }
}

}  // namespace

std::string listing(const Program& program, const Diagnostics& sources) {
  const SourceLines lines(program, sources);
  std::string out;
  std::size_t count = 0;
  for (const auto& section : program.sections) count += section.size();
  out += fmt::format("kernel {}: {} instructions; body {} clocks, {:.4g} clocks per interaction\n",
                     program.name.empty() ? "(no name)" : program.name, count,
                     program.clocks(Section::Body), program.clocks_per_interaction());
  out += fmt::format(
      "broadcast memory, in shorts: fixed {}, j-item {}, output item {}; groups of {}\n",
      program.fixed_shorts, program.item_shorts, program.output_shorts, program.group);
  std::size_t address = 0;
  for (unsigned s = 0; s < section_count; ++s) append_section(out, program, s, lines, address);
  return out;
}

}  // namespace gdr
