// Helpers that assemble a text in a test and examine the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emulator/assembler/assembler.hpp"
#include "support/assembled.hpp"
#include "support/catch.hpp"

namespace gdr::test {

/// The only instruction of a line in the body.
inline Instruction instruction_of(const std::string& line, const std::string& before = {}) {
  const Program program = assembled(before + "\n.body\n" + line + "\n");
  REQUIRE(program.section(Section::Body).size() == 1);
  return program.section(Section::Body).front();
}

/// The codes of all diagnostics of a text, in order.
inline std::vector<unsigned> codes_of(std::string_view text, const AssembleOptions& options = {}) {
  std::vector<unsigned> codes;
  for (const Diagnostic& d : assemble(text, "test.gds", options).diagnostics.list)
    codes.push_back(d.code);
  return codes;
}

/// A section as text: one letter an instruction (I, or the idle clocks as a digit).
inline std::string shape_of(const Program& program, Section section) {
  std::string out;
  for (const Instruction& i : program.section(section)) {
    out += i.idle() ? static_cast<char>('0' + i.vlen) : 'I';
  }
  return out;
}

}  // namespace gdr::test
