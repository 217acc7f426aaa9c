#include "emulator/engine/stream_check.hpp"

#include <algorithm>
#include <vector>

namespace gdr {
namespace {

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
