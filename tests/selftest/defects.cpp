#include "selftest/defects.hpp"

#include <array>
#include <utility>
#include <vector>

#include "emulator/engine/runners/blockwise.hpp"
#include "emulator/isa/table.hpp"

namespace gdr::test {
namespace {

Long as_float(u128 word, Width width) {
  return width == Width::Long ? Long{word} : widen_float(Short{static_cast<std::uint64_t>(word)});
}

/// A word of a memory, T or immediate as a float.
Long operand_of(const BlockState& state, const Arithmetic& slot, const Operand& x, unsigned pe,
                unsigned k) {
  if (x.space == Space::Immediate) return as_float(slot.immediate.bits, x.width);
  return x.used() ? as_float(read_location(state, x, pe, k), x.width) : Long{};
}

bool has_words(const Operand& x) {
  return !x.used() || x.space == Space::Immediate ||
         (x.space >= Space::Register && x.space <= Space::T);
}

/// Whether the results of a float operation can be read and changed after the instruction.
bool observable(const Arithmetic& slot) {
  return slot.used() && info(slot.op).unit != Unit::Integer && has_words(slot.a) &&
         has_words(slot.b) && (slot.dst.space == Space::Register || slot.dst.space == Space::Local);
}

/// Applies a wrong result to one slot of an instruction: operands are read before it runs.
class WrongSlot {
 public:
  WrongSlot(const Arithmetic& slot, const Instruction& i, const BlockState& before)
      : slot_(slot), predicate_(i.predicate), vlen_(observable(slot) ? i.vlen : 0U) {
    for (unsigned k = 0; k < vlen_; ++k) {
      for (unsigned pe = 0; pe < before.pes; ++pe) {
        operands_.push_back({operand_of(before, slot, slot.a, pe, k),
                             operand_of(before, slot, slot.b, pe, k), enabled(before, pe, k)});
      }
    }
  }

  void apply(BlockState& state, const WrongResult& wrong) const {
    for (unsigned k = 0; k < vlen_; ++k) {
      for (unsigned pe = 0; pe < state.pes; ++pe) {
        const Lane& lane = operands_[k * state.pes + pe];
        if (!lane.enabled) continue;
        const Long right = as_float(read_location(state, slot_.dst, pe, k), slot_.width);
        const Long word = wrong(slot_, lane.a, lane.b, right);
        if (word.bits == right.bits) continue;
        write_location(state, slot_.dst, pe, k,
                       slot_.width == Width::Long ? word.bits : u128{upper_half(word).bits});
      }
    }
  }

 private:
  struct Lane {
    Long a, b;
    bool enabled;
  };

  bool enabled(const BlockState& state, unsigned pe, unsigned k) const {
    if (!predicate_.used) return true;
    const std::size_t row = std::size_t{predicate_.mask} * max_elements + k;
    return (state.masks[row * state.pes + pe] != 0) == predicate_.value;
  }

  const Arithmetic& slot_;
  Predicate predicate_;
  unsigned vlen_;
  std::vector<Lane> operands_;
};

class DefectiveExecutable final : public BlockwiseExecutable {
 public:
  DefectiveExecutable(const Engine& good, const Program& program, const Geometry& geometry,
                      Defect defect, WrongResult wrong)
      : program_(program), defect_(std::move(defect)), wrong_(std::move(wrong)) {
    for (unsigned s = 0; s < section_count; ++s) {
      for (const Instruction& i : program.sections[s]) {
        Program one;
        one.section(Section::Body) = {i};
        steps_[s].push_back(good.prepare(one, geometry));
      }
    }
  }

  void run(BlockState& block, const BlockRun& run) const override {
    const auto s = static_cast<unsigned>(run.section);
    BlockRun once = run;
    once.section = Section::Body;
    once.iterations = 1;
    for (std::uint64_t n = 0; n < run.iterations; ++n) {
      for (std::size_t i = 0; i < steps_[s].size(); ++i) {
        step(program_.sections[s][i], *steps_[s][i], block, once);
      }
      once.source_base += run.source_step;
      once.output_base += run.output_step;
    }
  }

 private:
  void step(const Instruction& i, const Executable& good, BlockState& block,
            const BlockRun& once) const {
    if (defect_) {
      good.run(block, once);
      defect_(i, block);
      return;
    }
    const WrongSlot mul(i.mul, i, block), alu(i.alu, i, block);
    good.run(block, once);
    mul.apply(block, wrong_);
    alu.apply(block, wrong_);
  }

  Program program_;
  Defect defect_;
  WrongResult wrong_;
  std::array<std::vector<std::shared_ptr<const Executable>>, section_count> steps_;
};

}  // namespace

DefectiveEngine::DefectiveEngine(Defect defect, Isa isa) : defect_(std::move(defect)), isa_(isa) {}

DefectiveEngine::DefectiveEngine(WrongResult wrong, Isa isa)
    : wrong_(std::move(wrong)), isa_(isa) {}

std::shared_ptr<const Executable> DefectiveEngine::prepare(const Program& program,
                                                           const Geometry& geometry) const {
  const auto good = make_engine("vector", isa_name(isa_));
  return std::make_shared<DefectiveExecutable>(*good, program, geometry, defect_, wrong_);
}

}  // namespace gdr::test
