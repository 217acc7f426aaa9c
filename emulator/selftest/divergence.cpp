// The first difference between two engines.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/instruction_text.hpp"
#include "emulator/selftest/selftest.hpp"

namespace gdr::selftest {
namespace {

constexpr std::array all_sections{Section::Init, Section::Start, Section::Body, Section::End};

/// A case of a single instruction, in one iteration of its section.
Case one_instruction(const Case& test, Section section, std::uint64_t iteration,
                     const Instruction& instruction) {
  Case one = test;
  one.program.sections = {};
  one.program.section(section) = {instruction};
  one.run.iterations = 1;
  if (section == Section::Body) {
    one.run.source_base += static_cast<std::uint32_t>(iteration) * test.run.source_step;
    one.run.output_base += static_cast<std::uint32_t>(iteration) * test.run.output_step;
  }
  return one;
}

/// The element of an operand that is at an address; -1 if none is.
int element_at(const Operand& x, Space memory, std::uint32_t address, unsigned vlen) {
  if (x.space != memory) return -1;
  for (int k = static_cast<int>(vlen) - 1; k >= 0; --k) {
    const unsigned at = x.at(static_cast<unsigned>(k));
    if (at <= address && address < at + shorts_in(x.width)) return k;
  }
  return -1;
}

Long word_at(const LaneMemory& memory, std::uint32_t address, std::size_t lanes, std::uint32_t pe,
             Width width) {
  const Short first{memory[address * lanes + pe]};
  if (width == Width::Short) return {first.bits};
  return join(first, Short{memory[(address + 1) * lanes + pe]});
}

const LaneMemory& memory_of(const BlockState& block, std::string_view name) {
  return block.*std::ranges::find(block_memories, name, &NamedMemory::name)->lanes;
}

Space space_of(std::string_view memory) {
  return memory == "register" ? Space::Register
         : memory == "local"  ? Space::Local
         : memory == "t"      ? Space::T
                              : Space::Bm;
}

/// Element and width of the result of an instruction at the location of a difference.
void locate(const Instruction& i, Divergence& d) {
  const Space space = space_of(d.memory);
  if (d.memory == "mask") d.element = static_cast<int>(d.address % max_elements);
  if (space == Space::T) {
    d.element = static_cast<int>(d.address / 2);
    if (i.mul.t == TTarget::Whole || i.alu.t == TTarget::Whole) d.width = Width::Long;
  }
  for (const Operand* x : {&i.mul.dst, &i.alu.dst, &i.move.pe}) {
    if (x->space == Space::T && space == Space::T) d.width = x->width;
    if (x->space == Space::LocalByT && space == Space::Local) d.width = x->width;
    if (!in_pe_memory(space)) continue;
    const int element = element_at(*x, space, d.address, i.vlen);
    if (element < 0) continue;
    d.element = element;
    d.width = x->width;
  }
}

/// The place as an operand of the assembly language.
std::string place_text(const Divergence& d) {
  if (d.memory == "flags") return "sticky flags";
  if (d.memory == "mask") return fmt::format("m{}", d.address / max_elements);
  Operand x;
  x.width = d.width;
  x.space = space_of(d.memory);
  x.address = static_cast<std::uint16_t>(d.memory == "t" ? d.address % 2 : d.address);
  return location_text(x);
}

void describe_words(const StateDifference& found, const BlockState& expected, const BlockState& got,
                    Divergence& d) {
  if (d.memory == "mask" || d.memory == "flags") {
    d.expected = {found.first & Short::mask};
    d.got = {found.second & Short::mask};
  } else {
    if (d.width == Width::Long) d.address -= d.address % 2;
    const std::size_t lanes = d.memory == "bm" ? 1 : expected.pes;
    d.expected = word_at(memory_of(expected, d.memory), d.address, lanes, d.pe, d.width);
    d.got = word_at(memory_of(got, d.memory), d.address, lanes, d.pe, d.width);
  }
  d.place = place_text(d);
}

/// Operand values in the PE and element of a difference.
std::vector<std::string> operand_texts(const Instruction& i, const Divergence& d,
                                       const BlockState& before) {
  std::vector<std::string> list;
  if (d.memory == "bm" || d.memory == "flags" || d.element < 0) return list;
  for (const Arithmetic* slot : {&i.mul, &i.alu}) {
    for (const Operand* x : {&slot->a, &slot->b}) {
      if (x->space < Space::Register || x->space > Space::T) continue;
      const Long word{read_location(before, *x, d.pe, static_cast<unsigned>(d.element))};
      const std::string text = fmt::format("{} = {}", location_text(*x), word_text(word, x->width));
      if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
    }
  }
  return list;
}

/// The difference between two states after an instruction that began in `before`.
Divergence describe(const Instruction& i, const BlockState& before, const BlockState& expected,
                    const BlockState& got) {
  const auto found = first_difference(expected, got);
  Divergence d;
  d.text = fmt::format("vlen {}; {}", i.vlen, to_text(i));
  d.memory = found->memory;
  d.pe = found->pe;
  d.address = found->address;
  locate(i, d);
  describe_words(*found, expected, got, d);
  d.operands = operand_texts(i, d, before);
  return d;
}

/// Runs instruction by instruction, both engines from the state of the reference.
std::optional<Divergence> alone(const Engine& reference, const Engine& other, const Case& test) {
  BlockState state = test.state;
  for (const Section section : all_sections) {
    const auto& instructions = test.program.section(section);
    const std::uint64_t iterations = section == Section::Body ? test.run.iterations : 1;
    for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
      for (std::size_t n = 0; n < instructions.size(); ++n) {
        Case one = one_instruction(test, section, iteration, instructions[n]);
        one.state = std::move(state);
        state = run_case(reference, one);
        const BlockState got = run_case(other, one);
        if (got == state) continue;
        Divergence d = describe(instructions[n], one.state, state, got);
        d.section = section;
        d.iteration = iteration;
        d.instruction = n;
        d.alone = true;
        return d;
      }
    }
  }
  return std::nullopt;
}

/// The shortest beginning of a case that differs, whole iterations first, then instructions.
std::optional<Divergence> together(const Engine& reference, const Engine& other, const Case& test) {
  Case part = test;
  part.program.sections = {};
  for (const Section section : all_sections) {
    const auto& instructions = test.program.section(section);
    if (instructions.empty()) continue;
    auto& prefix = part.program.section(section);
    prefix = instructions;
    const std::uint64_t iterations = section == Section::Body ? test.run.iterations : 1;
    std::uint64_t iteration = 0;
    for (; iteration < iterations; ++iteration) {
      if (section == Section::Body) part.run.iterations = iteration + 1;
      if (!agree(reference, other, part)) break;
    }
    if (iteration == iterations) continue;
    for (std::size_t n = 1; iteration == 0 && n < instructions.size(); ++n) {
      prefix.assign(instructions.begin(), instructions.begin() + static_cast<std::ptrdiff_t>(n));
      if (!agree(reference, other, part)) break;
      prefix = instructions;
    }
    Divergence d =
        describe(prefix.back(), test.state, run_case(reference, part), run_case(other, part));
    d.operands.clear();  // their values are unknown here
    d.section = section;
    d.iteration = iteration;
    d.instruction = prefix.size() - 1;
    return d;
  }
  return std::nullopt;
}

}  // namespace

std::string_view section_name(Section section) noexcept {
  return section_names[static_cast<std::size_t>(section)];
}

std::string word_text(Long word, Width width) {
  Flags flags = no_flags;
  const double value = double_from_long(widen_float(word, width), flags);
  if (width == Width::Short) return fmt::format("{:09x} = {:.9g}", lower_half(word).bits, value);
  return fmt::format("{:09x}{:09x} = {:.17g}", upper_half(word).bits, lower_half(word).bits, value);
}

std::optional<Divergence> find_divergence(const Engine& reference, const Engine& other,
                                          const Case& test) {
  if (auto d = alone(reference, other, test)) return d;
  return together(reference, other, test);
}

}  // namespace gdr::selftest
