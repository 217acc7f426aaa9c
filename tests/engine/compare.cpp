#include "engine/compare.hpp"

#include <fmt/format.h>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/instruction_text.hpp"

namespace gdr::test {
namespace {

std::vector<Instruction>& body_of(RandomCase& test) { return test.program.section(Section::Body); }

RandomCase with_one_instruction(const RandomCase& test, const Instruction& instruction) {
  RandomCase one = test;
  body_of(one) = {instruction};
  one.program.lines[static_cast<unsigned>(Section::Body)].resize(1);
  return one;
}

/// The case as it runs iteration `i` alone.
void to_iteration(RandomCase& test, std::uint64_t i) {
  test.run.iterations = 1;
  test.run.source_base += static_cast<std::uint32_t>(i) * test.run.source_step;
  test.run.output_base += static_cast<std::uint32_t>(i) * test.run.output_step;
}

/// Applies a change to a copy, and keeps the copy if the engines still differ on it.
template <typename Change>
bool keep_if_different(const Engine& reference, const Engine& other, RandomCase& test,
                       Change change) {
  RandomCase smaller = test;
  change(smaller);
  if (agree(reference, other, smaller)) return false;
  test = std::move(smaller);
  return true;
}

/// Which element of an operand stands at an address, for the message; -1 if none does.
int element_at(const Operand& x, Space memory, std::uint32_t address, unsigned vlen) {
  if (x.space != memory) return -1;
  for (int k = static_cast<int>(vlen) - 1; k >= 0; --k) {
    const unsigned at = x.at(static_cast<unsigned>(k));
    if (at <= address && address < at + shorts_in(x.width)) return k;
  }
  return -1;
}

std::string element_text(const Instruction& i, const StateDifference& d) {
  if (d.memory == "t") return fmt::format(", element {}", d.address / 2);
  if (d.memory == "mask") return fmt::format(", element {}", d.address % max_elements);
  const Space memory = d.memory == "register" ? Space::Register : Space::Local;
  for (const Operand* x : {&i.mul.dst, &i.alu.dst, &i.move.pe}) {
    const int element = element_at(*x, memory, d.address, i.vlen);
    if (element >= 0) return fmt::format(", element {}", element);
  }
  return {};
}

/// The words that the operands of a PE's element have before the instruction.
std::string operands_text(const Instruction& i, const StateDifference& d,
                          const BlockState& before) {
  std::string text;
  for (const Arithmetic* slot : {&i.mul, &i.alu}) {
    for (const Operand* x : {&slot->a, &slot->b}) {
      const bool stored = x->space >= Space::Register && x->space <= Space::T;
      if (!stored || d.memory == "bm" || d.memory == "flags") continue;
      text += "  " + location_text(*x) + " is";
      for (unsigned k = 0; k < i.vlen; ++k) {
        const Long word{read_location(before, *x, d.pe, k)};
        text += x->width == Width::Long
                    ? fmt::format(" {:09x}{:09x}", upper_half(word).bits, lower_half(word).bits)
                    : fmt::format(" {:09x}", lower_half(word).bits);
      }
      text += "\n";
    }
  }
  return text;
}

std::string difference_text(const Instruction& i, std::size_t index, std::uint64_t iteration,
                            const StateDifference& d) {
  return fmt::format(
      "instruction {} of iteration {}: vlen {}: {}\n"
      "  {} address {}, PE {}{}: reference {:#x}, other {:#x}\n",
      index, iteration, i.vlen, to_text(i), d.memory, d.address, d.pe, element_text(i, d), d.first,
      d.second);
}

}  // namespace

BlockState run_case(const Engine& engine, const RandomCase& test) {
  BlockState state = test.state;
  engine.prepare(test.program, test.geometry)->run(state, test.run);
  return state;
}

bool agree(const Engine& reference, const Engine& other, const RandomCase& test) {
  return run_case(reference, test) == run_case(other, test);
}

RandomCase shrink(const Engine& reference, const Engine& other, RandomCase test) {
  const auto attempt = [&](auto change) {
    return keep_if_different(reference, other, test, change);
  };
  while (test.run.iterations > 1 && attempt([](RandomCase& t) { --t.run.iterations; })) {
  }
  for (std::size_t n = body_of(test).size(); n-- > 0;) {
    attempt([n](RandomCase& t) {
      body_of(t).erase(body_of(t).begin() + static_cast<std::ptrdiff_t>(n));
      t.program.lines[static_cast<unsigned>(Section::Body)].pop_back();
    });
  }
  for (std::size_t n = 0; n < body_of(test).size(); ++n) {
    attempt([n](RandomCase& t) { body_of(t)[n].mul = {}; });
    attempt([n](RandomCase& t) { body_of(t)[n].alu = {}; });
    attempt([n](RandomCase& t) { body_of(t)[n].move = {}; });
    attempt([n](RandomCase& t) { body_of(t)[n].predicate = {}; });
    attempt([n](RandomCase& t) { body_of(t)[n].alu.mask = {}; });
    while (body_of(test)[n].vlen > 1 && attempt([n](RandomCase& t) { --body_of(t)[n].vlen; })) {
    }
  }
  return test;
}

std::string explain(const Engine& reference, const Engine& other, const RandomCase& test) {
  const auto& body = test.program.section(Section::Body);
  std::string text = fmt::format("{} {}: ", other.name(), isa_name(other.isa()));
  RandomCase step = test;
  bool found = false;
  for (std::uint64_t iteration = 0; iteration < test.run.iterations && !found; ++iteration) {
    for (std::size_t n = 0; n < body.size() && !found; ++n) {
      RandomCase one = with_one_instruction(test, body[n]);
      to_iteration(one, iteration);
      one.state = step.state;
      const BlockState a = run_case(reference, one);
      const BlockState b = run_case(other, one);
      if (const auto d = first_difference(a, b)) {
        text += difference_text(body[n], n, iteration, *d) + operands_text(body[n], *d, step.state);
        found = true;
      }
      step.state = a;
    }
  }
  if (!found) {
    text += "no instruction differs by itself, only the whole program does\n";
    const auto d = first_difference(run_case(reference, test), run_case(other, test));
    if (d) text += difference_text(body.back(), body.size() - 1, test.run.iterations - 1, *d);
  }
  text +=
      fmt::format("{} PEs, {} iterations, flags {}, source {}+{}, output {}+{}, program:\n",
                  test.state.pes, test.run.iterations, test.run.collect_flags, test.run.source_base,
                  test.run.source_step, test.run.output_base, test.run.output_step);
  for (const Instruction& i : body) text += fmt::format("  vlen {}: {}\n", i.vlen, to_text(i));
  return text;
}

}  // namespace gdr::test
