#include "selftest/defects.hpp"

#include <array>
#include <utility>
#include <vector>

namespace gdr::test {
namespace {

class DefectiveExecutable final : public Executable {
 public:
  DefectiveExecutable(const Engine& good, const Program& program, const Geometry& geometry,
                      Defect defect)
      : program_(program), defect_(std::move(defect)) {
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
        steps_[s][i]->run(block, once);
        defect_(program_.sections[s][i], block);
      }
      once.source_base += run.source_step;
      once.output_base += run.output_step;
    }
  }

 private:
  Program program_;
  Defect defect_;
  std::array<std::vector<std::shared_ptr<const Executable>>, section_count> steps_;
};

}  // namespace

DefectiveEngine::DefectiveEngine(Defect defect, Isa isa) : defect_(std::move(defect)), isa_(isa) {}

std::shared_ptr<const Executable> DefectiveEngine::prepare(const Program& program,
                                                           const Geometry& geometry) const {
  const auto good = make_engine("vector", isa_name(isa_));
  return std::make_shared<DefectiveExecutable>(*good, program, geometry, defect_);
}

}  // namespace gdr::test
