// Fused runs: sections in sequence as one program on rows, with conversions between their
// representations.
#include <algorithm>

#include "emulator/engine/api/check.hpp"
#include "emulator/engine/vector/doubles/row_program.hpp"

namespace gdr {
namespace {

class FusedSections {
 public:
  FusedSections(const Geometry& geometry, const DoublesKernels& kernels)
      : kernels_(kernels),
        numbers_(geometry),
        lanes_(row_lanes(geometry, kernels)),
        inside_(numbers_.count()),
        masks_inside_(mask_registers * max_elements) {
    words_.entry.resize(numbers_.count());
    words_.exit.resize(numbers_.count());
    words_.imported.resize(numbers_.count());
    words_.written.resize(numbers_.count());
    words_.mask_imported.resize(masks_inside_.size());
    words_.mask_written.resize(masks_inside_.size());
  }

  /// Assumptions of the next section.
  std::vector<Surroundings::Granted> granted() const {
    std::vector<Surroundings::Granted> all(words_.exit.size());
    for (std::uint32_t w = 0; w < words_.exit.size(); ++w) {
      if (inside_[w][0] || inside_[w][1]) all[w] = {words_.exit[w].head, words_.exit[w].plus_zero};
    }
    return all;
  }

  /// Appends conversions before a section to `bridge`, the section itself to `ops`.
  void append(const RowSection& section, std::vector<RowOp>& bridge, std::vector<RowOp>& ops) {
    for (std::uint32_t w = 0; w < words_.exit.size(); ++w) {
      const auto& in = section.imported[w];
      const auto& out = section.written[w];
      // The half that is not written keeps its value.
      const bool half_written = out[0] != out[1];
      if (in[0] || in[1] || half_written) prepare(w, in, section.entry[w], bridge);
    }
    for (std::size_t m = 0; m < masks_inside_.size(); ++m) {
      if (section.mask_imported[m] && !masks_inside_[m]) words_.mask_imported[m] = true;
      masks_inside_[m] = masks_inside_[m] || section.mask_imported[m] || section.mask_written[m];
      words_.mask_written[m] = words_.mask_written[m] || section.mask_written[m];
    }
    append_ops(section, ops);
    for (std::uint32_t w = 0; w < words_.exit.size(); ++w) update_word(w, section);
  }

  DoublesSection finish(std::vector<RowOp> before, std::vector<RowOp> iteration,
                        std::vector<RowOp> after, const std::vector<bool>& results) const {
    RowProgram made(words_, numbers_, results);
    made.before = std::move(before);
    made.iteration = std::move(iteration);
    made.after = std::move(after);
    made.repeats = made.fused = true;
    return lay_out(std::move(made), kernels_, lanes_);
  }

 private:
  /// Converts a word to the form that a section expects, if it reads it.
  void prepare(std::uint32_t w, const std::array<bool, 2>& needed, const WordState& wanted,
               std::vector<RowOp>& bridge) {
    WordState& now = words_.exit[w];
    if (!inside_[w][0] && !inside_[w][1]) {
      now = wanted;
      const bool whole = wanted.rep == Rep::Long && (needed[0] || needed[1]);
      for (unsigned half = 0; half < 2; ++half) {
        if (needed[half] || whole) import(w, half);
      }
      return;
    }
    if (wanted.rep == Rep::Long) {
      if (now.rep == Rep::Shorts) join(w, bridge);
      return;
    }
    if (now.rep == Rep::Long) {
      bridge.push_back(op(kernels_.split[now.head ? 0 : 1], both_shorts(w), long_rows(w, 0)));
      now = {};
    }
    for (unsigned half = 0; half < 2; ++half) {
      if (!needed[half]) continue;
      if (!inside_[w][half]) import(w, half);
      if (now.floats[half] && !wanted.floats[half]) check(w, half, bridge);
    }
  }

  void join(std::uint32_t w, std::vector<RowOp>& bridge) {
    for (unsigned half = 0; half < 2; ++half) {
      if (!inside_[w][half]) import(w, half);
      if (words_.exit[w].floats[half]) check(w, half, bridge);
    }
    bridge.push_back(op(kernels_.join, long_rows(w, 0), both_shorts(w)));
    words_.exit[w] = {};
    words_.exit[w].rep = Rep::Long;
  }

  RowSpan both_shorts(std::uint32_t w) const {
    return {short_rows(numbers_, {w, 0}, 0).lanes, short_rows(numbers_, {w, 1}, 0).lanes, true, 0};
  }

  /// Imports a half from the state in the word's current form; no section has written it so far.
  void import(std::uint32_t w, unsigned half) {
    inside_[w][half] = words_.imported[w][half] = true;
    words_.entry[w] = words_.exit[w];
  }

  void check(std::uint32_t w, unsigned half, std::vector<RowOp>& bridge) {
    bridge.push_back(op(kernels_.check, no_rows, short_rows(numbers_, {w, half}, 0)));
    bridge.back().kind = RowOpKind::Check;
    words_.exit[w].floats[half] = false;
  }

  RowOp op(DoublesKernel kernel, const RowSpan& out, const RowSpan& a) const {
    RowOp o{{}, a, no_rows, out};
    o.op.kernel = kernel;
    o.op.elements = 1;
    o.op.lanes = lanes_;
    return o;
  }

  /// Constants are numbered after those of the previous sections.
  void append_ops(const RowSection& section, std::vector<RowOp>& ops) {
    const auto base = static_cast<std::uint32_t>(words_.constants.size());
    words_.constants.insert(words_.constants.end(), section.constants.begin(),
                            section.constants.end());
    const auto move = [base](RowId& row) {
      if (row.kind == RowKind::Constant) row.number += base;
    };
    for (RowOp o : section.ops) {
      for (RowSpan* span : {&o.a, &o.b, &o.out, &o.mask, &o.old}) {
        move(span->lanes);
        move(span->tail);
      }
      ops.push_back(o);
    }
  }

  void update_word(std::uint32_t w, const RowSection& section) {
    const auto& in = section.imported[w];
    const auto& out = section.written[w];
    if (!in[0] && !in[1] && !out[0] && !out[1]) return;
    const WordState before = words_.exit[w];
    words_.exit[w] = section.exit[w];
    for (unsigned half = 0; half < 2; ++half) {
      // A half that the section did not touch is as it was.
      if (!in[half] && !out[half] && words_.exit[w].rep == Rep::Shorts)
        words_.exit[w].floats[half] = before.rep == Rep::Shorts && before.floats[half];
      inside_[w][half] = inside_[w][half] || out[half] || words_.exit[w].rep == Rep::Long;
      words_.written[w][half] = words_.written[w][half] || out[half];
    }
  }

  const DoublesKernels& kernels_;
  WordNumbers numbers_;
  std::uint32_t lanes_;
  /// The words of all sections: states at their import and now.
  RowSection words_;
  Halves inside_;  ///< words in the frame: imported or written so far
  std::vector<bool> masks_inside_;
};

/// Whether the body writes no output items.
bool stores_fixed_words(const Program& program) {
  return std::ranges::all_of(program.section(Section::Body), [](const Instruction& i) {
    return i.move.op != Op::Bput || i.move.bm.space == Space::Bm;
  });
}

/// Addresses of shorts that the sections store to the broadcast memory.
std::vector<std::uint32_t> bm_stores(const Program& program) {
  std::vector<std::uint32_t> all;
  for (const Section section : {Section::Start, Section::Body, Section::End}) {
    for (const Instruction& i : program.section(section)) {
      if (i.move.op != Op::Bput) continue;
      for (std::uint32_t a = i.move.bm.at(0);
           a < i.move.bm.at(i.vlen - 1u) + shorts_in(i.move.bm.width); ++a)
        all.push_back(a);
    }
  }
  return all;
}

/// Words that the host reads after a results-only run, by number: all if the program declares no
/// results. The others are undefined.
std::vector<bool> result_words(const Program& program, const WordNumbers& numbers) {
  std::vector<bool> kept(numbers.count());
  bool declared = false;
  for (const Variable& v : program.variables) {
    if (v.kind != VarKind::Result) continue;
    declared = true;
    for (unsigned e = 0; e < program.elements; ++e)
      kept[word_of(numbers, v.location, e).word] = true;
  }
  if (!declared) kept.assign(kept.size(), true);
  return kept;
}

}  // namespace

DoublesSection translate_program(const Program& program, const Geometry& geometry,
                                 const DoublesKernels& kernels, bool heads) {
  const bool fixed = uses_fixed_words_only(program, Section::Start) &&
                     body_accepts_streams(program) && stores_fixed_words(program) &&
                     uses_fixed_words_only(program, Section::End);
  if (!fixed) return {};
  try {
    FusedSections fused(geometry, kernels);
    const auto rows = [&](Section section, std::span<const Instruction> then = {}) {
      RowSection made = translate_section(program.section(section), geometry, kernels, heads,
                                          {then, fused.granted()});
      for (RowOp& o : made.ops) o.origin.section = section;
      return made;
    };
    std::vector<RowOp> before, iteration, after;
    fused.append(rows(Section::Start, program.section(Section::Body)), before, before);
    fused.append(rows(Section::Body), before, iteration);
    fused.append(rows(Section::End), after, after);
    DoublesSection made = fused.finish(std::move(before), std::move(iteration), std::move(after),
                                       result_words(program, WordNumbers(geometry)));
    made.bm_stores = bm_stores(program);
    made.writes_memory = !made.bm_stores.empty();
    return made;
  } catch (const Untranslatable&) {
    return {};
  }
}

}  // namespace gdr
