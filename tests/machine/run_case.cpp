#include <fmt/format.h>

#include <memory>

#include "emulator/assembler/assembler.hpp"
#include "emulator/chip/reduction.hpp"
#include "gdr/error.hpp"
#include "machine/case.hpp"

namespace gdr::test {
namespace {

void put_mask(BlockState& block, const Cell& cell, unsigned pe, unsigned element, u128 bit) {
  block.masks[(cell.location.address * max_elements + element) * block.pes + pe] =
      bit != 0 ? ~std::uint64_t{0} : 0;
}

void put_bm(BlockState& block, const Cell& cell) {
  for (unsigned k = 0; k < (cell.location.vector ? max_elements : 1); ++k) {
    if (k >= cell.values.size() && cell.values.size() > 1) return;
    write_bm(block, cell.location.at(k), cell.location.width,
             cell.values.size() == 1 ? cell.values[0] : cell.values[k]);
  }
}

/// Writes a cell's words into a state; one value is for all elements.
void put(BlockState& block, const Cell& cell) {
  if (cell.location.space == Space::Bm) return put_bm(block, cell);
  const bool elements = cell.mask || cell.location.vector || cell.location.space == Space::T;
  const std::size_t count = !elements                 ? 1
                            : cell.values.size() == 1 ? max_elements
                                                      : cell.values.size();
  for (unsigned pe = 0; pe < block.pes; ++pe) {
    if (cell.pe >= 0 && static_cast<unsigned>(cell.pe) != pe) continue;
    for (unsigned k = 0; k < count; ++k) {
      const u128 word = cell.values.size() == 1 ? cell.values[0] : cell.values[k];
      if (cell.mask) {
        put_mask(block, cell, pe, k, word);
      } else {
        write_location(block, cell.location, pe, k, word);
      }
    }
  }
}

void put_all(ChipState& chip, const std::vector<Cell>& cells) {
  for (const Cell& cell : cells) {
    for (BlockState& block : chip.blocks) {
      if (cell.block < 0 || static_cast<unsigned>(cell.block) == block.number) put(block, cell);
    }
  }
}

/// The expected state: that before the program, changed by the `.expect` lines.
ChipState expected_state(const MachineCase& test, const ChipState& before) {
  ChipState chip = before;
  put_all(chip, test.after);
  for (const FlagsCell& cell : test.flags) {
    for (BlockState& block : chip.blocks) {
      if (cell.block < 0 || static_cast<unsigned>(cell.block) == block.number) {
        block.flags = cell.flags;
      }
    }
  }
  return chip;
}

/// Runs the sections in order, the body for the iterations of the case.
void run_program(const Engine& engine, const Program& program, const MachineCase& test,
                 ChipState& chip) {
  const auto executable = engine.prepare(program, test.geometry);
  for (BlockState& block : chip.blocks) {
    for (const Section section : {Section::Init, Section::Start, Section::Body, Section::End}) {
      BlockRun run = test.run;
      run.section = section;
      if (!test.source_given) {
        run.source_base = program.fixed_shorts;
        run.source_step = program.item_shorts * program.group;
      }
      if (section != Section::Body) run.iterations = 1;
      executable->run(block, run);
    }
  }
}

std::string compare(const MachineCase& test, const ChipState& expected, const ChipState& found) {
  for (std::size_t b = 0; b < expected.blocks.size(); ++b) {
    const auto d = first_difference(expected.blocks[b], found.blocks[b]);
    if (!d) continue;
    return fmt::format("{} address {} of PE {}, block {}: {:#011x} is expected, found {:#011x}",
                       d->memory, d->address, d->pe, d->block, d->first, d->second);
  }
  for (const ReduceCell& cell : test.reduced) {
    std::vector<Long> leaves;
    for (const BlockState& block : found.blocks) {
      leaves.push_back(Long{read_bm(block, cell.address, Width::Long)});
    }
    Flags flags = no_flags;
    const Long value = reduce_tree(cell.op, leaves, flags);
    if (value.bits == cell.value) continue;
    return fmt::format("line {}: the network gives {:09x}{:09x}", cell.line, upper_half(value).bits,
                       lower_half(value).bits);
  }
  return {};
}

std::vector<std::unique_ptr<Engine>> all_engines() {
  std::vector<std::unique_ptr<Engine>> engines;
  engines.push_back(make_engine("reference"));
  for (const Isa isa : host_isas()) engines.push_back(make_engine("vector", isa_name(isa)));
  return engines;
}

}  // namespace

std::string run_machine_case(const MachineCase& test) {
  const std::string where = fmt::format("{}:{}: {}: ", test.file, test.line, test.name);
  AssembleOptions options;
  options.geometry = test.geometry;
  const AssembleResult result = assemble(test.program, test.file, options);
  if (!test.refused.empty()) {
    if (result.ok()) return where + "the program was not refused";
    const std::string message = result.diagnostics.render();
    return message.find(test.refused) != std::string::npos ? "" : where + message;
  }
  if (!result.ok()) return where + "does not assemble\n" + result.diagnostics.render();
  if (test.after.empty() && test.reduced.empty() && test.flags.empty()) {
    return where + "expects nothing";
  }

  ChipState before = make_chip(test.geometry);
  put_all(before, test.before);
  const ChipState expected = expected_state(test, before);
  for (const auto& engine : all_engines()) {
    ChipState chip = before;
    run_program(*engine, *result.program, test, chip);
    const std::string wrong = compare(test, expected, chip);
    if (!wrong.empty()) {
      return fmt::format("{}{} {}: {}", where, engine->name(), isa_name(engine->isa()), wrong);
    }
  }
  return {};
}

}  // namespace gdr::test
