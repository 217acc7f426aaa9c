#include "emulator/engine/api/check.hpp"

#include <algorithm>
#include <vector>

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

std::uint32_t end_of(const Instruction& i) noexcept {
  return i.move.bm.at(i.vlen - 1u) + shorts_in(i.move.bm.width);
}

/// True if every pass writes all of its group of output items, or none of it.
bool writes_outputs_whole(const Program& program) {
  std::vector<bool> written(std::size_t{program.output_shorts} * program.group);
  bool any = false;
  for (const Instruction& i : program.section(Section::Body)) {
    if (i.move.op != Op::Bput || i.move.bm.space != Space::BmOutput) continue;
    any = true;
    for (unsigned k = 0; k < i.vlen && !i.predicate.used; ++k) {
      for (unsigned half = 0; half < shorts_in(i.move.bm.width); ++half) {
        const std::size_t at = i.move.bm.at(k) + half;
        if (at < written.size()) written[at] = true;
      }
    }
  }
  return !any || std::ranges::all_of(written, [](bool w) { return w; });
}

bool declares_outputs(const Program& program) {
  return std::ranges::any_of(program.variables,
                             [](const Variable& v) { return v.kind == VarKind::Output; });
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

bool is_fixed_transfer(const Program& program, const Instruction& i) noexcept {
  return i.move.bm.space == Space::Bm && end_of(i) <= program.fixed_shorts;
}

bool uses_fixed_words_only(const Program& program, Section section) noexcept {
  return std::ranges::all_of(program.section(section), [&](const Instruction& i) {
    return !i.move.used() || is_fixed_transfer(program, i);
  });
}

bool body_accepts_streams(const Program& program) {
  const bool outputs = declares_outputs(program) && writes_outputs_whole(program);
  return std::ranges::all_of(program.section(Section::Body), [&](const Instruction& i) {
    if (!i.move.used() || is_fixed_transfer(program, i)) return true;
    return i.move.op == Op::Bget ? i.move.bm.space == Space::BmSource
                                 : i.move.bm.space == Space::BmOutput && outputs;
  });
}

}  // namespace gdr
