// Minimisation of a failing case.

#include <algorithm>
#include <utility>

#include "emulator/selftest/selftest.hpp"

namespace gdr::selftest {
namespace {

class Shrinker {
 public:
  Shrinker(const Engine& reference, const Engine& other, Case test)
      : reference_(reference), other_(other), test_(std::move(test)) {}

  Case shrink() {
    drop_sections();
    drop_iterations();
    skip_instructions();
    drop_instructions();
    drop_sections();
    drop_iterations();
    for (auto& section : test_.program.sections) {
      const auto s = static_cast<std::size_t>(&section - test_.program.sections.data());
      for (std::size_t n = 0; n < section.size(); ++n) simplify(s, n);
    }
    drop_instructions();
    keep_one_pe();
    return std::move(test_);
  }

 private:
  /// Apply a change to a copy, and keep the copy if the engines still differ on it.
  template <typename Change>
  bool attempt(Change change) {
    Case smaller = test_;
    change(smaller);
    if (agree(reference_, other_, smaller)) return false;
    test_ = std::move(smaller);
    return true;
  }

  void drop_sections() {
    for (unsigned s = 0; s < section_count; ++s) {
      if (test_.program.sections[s].empty()) continue;
      attempt([s](Case& t) { t.program.sections[s].clear(); });
    }
    if (test_.run.collect_flags) attempt([](Case& t) { t.run.collect_flags = false; });
  }

  void drop_iterations() {
    if (test_.split > 0) attempt([](Case& t) { t.split = 0; });
    while (test_.run.iterations > 1) {
      if (attempt([](Case& t) { t.run.iterations /= 2; })) continue;
      if (attempt([](Case& t) { --t.run.iterations; })) continue;
      break;
    }
    for (std::uint64_t n = test_.run.iterations - 1; n > 0; n /= 2) skip_iterations(n);
  }

  /// Begin with the state after `count` iterations of the reference.
  void skip_iterations(std::uint64_t count) {
    if (count >= test_.run.iterations) return;
    attempt([&](Case& t) {
      Case first = t;
      first.run.iterations = count;
      first.program.section(Section::End).clear();
      t.state = run_case(reference_, first);
      for (const Section done : {Section::Init, Section::Start}) t.program.section(done).clear();
      t.run.iterations -= count;
      t.split -= std::min(t.split, count);
      t.run.source_base += static_cast<std::uint32_t>(count) * t.run.source_step;
      t.run.output_base += static_cast<std::uint32_t>(count) * t.run.output_step;
    });
  }

  /// Begin with the state that the reference leaves after as many instructions as possible of the
  /// only section.
  void skip_instructions() {
    for (unsigned s = 0; s < section_count; ++s) {
      if (test_.run.iterations != 1 || !only_section(s)) continue;
      for (std::size_t n = test_.program.sections[s].size() - 1; n > 0; --n) {
        const bool skipped = attempt([&](Case& t) {
          auto& section = t.program.sections[s];
          Case first = t;
          first.program.sections[s].resize(n);
          t.state = run_case(reference_, first);
          section.erase(section.begin(), section.begin() + static_cast<std::ptrdiff_t>(n));
        });
        if (skipped) return;
      }
    }
  }

  bool only_section(unsigned s) const {
    for (unsigned other = 0; other < section_count; ++other) {
      if (test_.program.sections[other].empty() != (other != s)) return false;
    }
    return true;
  }

  /// Runs of instructions, long ones first.
  void drop_instructions() {
    for (unsigned s = 0; s < section_count; ++s) {
      for (std::size_t run = test_.program.sections[s].size(); run > 0; run /= 2) {
        for (std::size_t at = test_.program.sections[s].size(); at > 0;) {
          at -= std::min(at, run);
          attempt([=](Case& t) {
            auto& section = t.program.sections[s];
            const auto first = section.begin() + static_cast<std::ptrdiff_t>(at);
            const std::size_t count = std::min(run, section.size() - at);
            section.erase(first, first + static_cast<std::ptrdiff_t>(count));
          });
        }
      }
    }
  }

  void simplify(std::size_t s, std::size_t n) {
    const auto change = [&](auto edit) {
      return attempt([&](Case& t) { edit(t.program.sections[s][n]); });
    };
    change([](Instruction& i) { i.mul = {}; });
    change([](Instruction& i) { i.alu = {}; });
    change([](Instruction& i) { i.move = {}; });
    change([](Instruction& i) { i.predicate = {}; });
    change([](Instruction& i) { i.alu.mask = {}; });
    change([](Instruction& i) { i.mul.t = TTarget::None; });
    change([](Instruction& i) { i.alu.t = TTarget::None; });
    while (test_.program.sections[s][n].vlen > 1 && change([](Instruction& i) { --i.vlen; })) {
    }
  }

  /// The PE of the first difference alone, as PE 0.
  void keep_one_pe() {
    const auto difference = first_difference(run_case(reference_, test_), run_case(other_, test_));
    if (!difference || test_.state.pes == 1 || difference->memory == "bm") return;
    attempt([pe = difference->pe](Case& t) {
      const std::uint32_t pes = t.state.pes;
      for (auto* memory : {&t.state.registers, &t.state.local, &t.state.t, &t.state.masks}) {
        for (std::size_t row = 0; row < memory->size() / pes; ++row) {
          (*memory)[row] = (*memory)[row * pes + pe];
        }
        memory->resize(memory->size() / pes);
      }
      t.state.pes = t.geometry.pes_per_block = 1;
      for (auto& section : t.program.sections) {
        for (Instruction& i : section) i.move.pe_number = 0;
      }
    });
  }

  const Engine& reference_;
  const Engine& other_;
  Case test_;
};

}  // namespace

Case shrink(const Engine& reference, const Engine& other, Case test) {
  return Shrinker(reference, other, std::move(test)).shrink();
}

}  // namespace gdr::selftest
