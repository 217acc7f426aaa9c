#include "emulator/engine/check.hpp"

#include <array>

#include "emulator/isa/validate.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

std::string out_of_memory(const Operand& x, unsigned vlen, const Geometry& g) {
  std::uint32_t words = 0;
  const char* memory = nullptr;
  switch (x.space) {
    case Space::Register:
      words = g.register_words, memory = "register file";
      break;
    case Space::Local:
      words = g.local_words, memory = "local memory";
      break;
    case Space::Bm:
    case Space::BmSource:
    case Space::BmOutput:
      words = g.broadcast_words, memory = "broadcast memory";
      break;
    default:
      return {};
  }
  const unsigned end = x.at(vlen - 1) + shorts_in(x.width);
  if (end <= words * 2) return {};
  return std::string("address ") + std::to_string(end - 1) + " lies outside the " + memory +
         " of " + std::to_string(words * 2) + " shorts";
}

std::string out_of_memory(const Instruction& i, const Geometry& g) {
  for (const Operand* x :
       {&i.mul.dst, &i.mul.a, &i.mul.b, &i.alu.dst, &i.alu.a, &i.alu.b, &i.move.pe, &i.move.bm}) {
    if (auto why = out_of_memory(*x, i.vlen, g); !why.empty()) return why;
  }
  if (i.move.op == Op::Bput && i.move.pe_number >= g.pes_per_block) {
    return "there is no PE " + std::to_string(i.move.pe_number) + " in a block of " +
           std::to_string(g.pes_per_block);
  }
  return {};
}

}  // namespace

void check_program(const Program& program, const Geometry& geometry) {
  std::size_t total = 0;
  for (unsigned s = 0; s < section_count; ++s) {
    const auto& section = program.sections[s];
    total += section.size();
    for (std::size_t n = 0; n < section.size(); ++n) {
      std::string why = validate(section[n]);
      if (why.empty()) why = out_of_memory(section[n], geometry);
      if (why.empty()) continue;
      throw Error(ErrorCategory::Program, "kernel " + program.name + ", section " +
                                              std::string(section_names[s]) + ", instruction " +
                                              std::to_string(n) + ": " + why);
    }
  }
  if (total > geometry.instruction_words) {
    throw Error(ErrorCategory::Program, "kernel " + program.name + " has " + std::to_string(total) +
                                            " instructions; the control processor holds " +
                                            std::to_string(geometry.instruction_words));
  }
}

}  // namespace gdr
