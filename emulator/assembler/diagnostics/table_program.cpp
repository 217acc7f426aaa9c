// Diagnostics 4xxx (ports and time) and 5xxx (what does not fit the machine), and the whole table.
#include <vector>

#include "emulator/assembler/diagnostics/table_parts.hpp"

namespace gdr {
namespace assembly {
namespace {

constexpr DiagnosticInfo rows[] = {
    {number(Code::PortLimit), "port limit exceeded",
     "An element of the instruction accesses a memory more often than its ports allow per clock: "
     "the register file two reads and one write, local memory one access, T one read and one "
     "write, the broadcast memory one access; twice as many in the two clocks of a dmul.",
     ".body\n  fadd $lr0v $lm0v $lm8v\n"},
    {number(Code::DuplicateWrite), "two results in one location",
     "Two operations of an instruction write the same or overlapping locations.",
     ".body\n  dmul $lr0 $lr2 $lr4 ; fadd $lr0 $lr2 $lr6\n"},
    {number(Code::ReadTooEarly), "read before the result is ready",
     "Only with `--stalls error`: an operand is read less than 4 clocks after the issue of the "
     "element that writes it. Without the option the assembler inserts the minimum number of idle "
     "clocks.",
     ".body\n  vlen 1\n  fadd $lr0 $lr2 $lr4\n  fmul $lr6 $lr0 $lr4\n"},
    {number(Code::InstructionMemory), "instruction memory is full",
     "The program, including idle clocks, exceeds the instruction memory of the control processor.",
     ".body\n  .repeat k = 1, 16385\n    nop\n  .endrepeat\n"},
    {number(Code::RegisterFile), "outside the register file",
     "A register, or an element of a register vector, is outside the register file.",
     ".body\n  fadd $lr60v $lr0v $lr8v\n"},
    {number(Code::LocalMemory), "outside the local memory",
     "A location is outside the local memory, or no space is left for a variable.",
     ".body\n  fadd $lm512 $lr0 $lr2\n"},
    {number(Code::BroadcastMemory), "outside the broadcast memory",
     "A word is outside the broadcast memory, or the fixed part and one group of items exceed it.",
     ".body\n  bget $lr0 $lb2048\n"},
    {number(Code::BeyondGroup), "transfer beyond the group of items",
     "A vector operand extends beyond the last item of the group; at the end of the stream there "
     "is no data.",
     "jvar long x y f64to72\n.body\n  bget $lr0v x.v\n"},
};

}  // namespace

std::span<const DiagnosticInfo> program_diagnostics() noexcept { return rows; }

}  // namespace assembly

std::span<const DiagnosticInfo> diagnostic_table() noexcept {
  static const std::vector<DiagnosticInfo> all = [] {
    std::vector<DiagnosticInfo> joined;
    for (const auto part : {assembly::text_diagnostics(), assembly::declaration_diagnostics(),
                            assembly::instruction_diagnostics(), assembly::program_diagnostics()}) {
      joined.insert(joined.end(), part.begin(), part.end());
    }
    return joined;
  }();
  return all;
}

}  // namespace gdr
