// State of one run of the assembler, as plain data shared by its parsers.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/front/names.hpp"
#include "emulator/assembler/front/report.hpp"
#include "emulator/assembler/front/text.hpp"
#include "emulator/assembler/time/section_clock.hpp"

namespace gdr::assembly {

/// Limits that bound time and memory for any input.
constexpr unsigned max_nesting = 64;
constexpr unsigned max_includes = 10000;  ///< each requires a file lookup
constexpr std::uint64_t max_expanded_characters = 512ULL << 20;
constexpr std::size_t max_expanded_line = 65536;

/// Short addresses, ranges of T and PE numbers are 16-bit fields.
constexpr std::int64_t max_field = 65535;

struct Template {
  std::vector<std::string> parameters;
  std::vector<Line> body;
  bool active = false;  ///< during its expansion
};

/// Memory allocation, and layout of the broadcast memory.
struct Layout {
  std::vector<bool> local_taken;  ///< by short
  std::uint32_t local_next = 0;   ///< start of the search for free space
  std::uint32_t fixed_need =
      0;  ///< shorts of the fixed part used by declarations and checked operands
  std::uint32_t fixed_extent = 0;  ///< shorts of the fixed part used by unchecked operands
  std::uint32_t item_need = 0;     ///< shorts of an item used by declarations
  std::uint32_t output_need = 0;
  bool elements_used = false;  ///< `.elements` is no longer allowed
  bool pad_given = false;
  bool long_in_item = false, long_in_output = false;
};

/// End of operands relative to the beginning of item K of a group.
struct Extent {
  std::uint32_t need = 0;
  SourceSpan span;
};

/// NAME@K in an instruction: its address depends on the final item size.
struct ItemFixup {
  std::uint32_t index = 0;  ///< instruction in its section, without idle clocks
  std::uint16_t item = 0;
};

/// Source spans of the operands of an instruction.
struct InstructionSpans {
  SourceSpan whole;
  std::array<SourceSpan, 2> mul, alu;  ///< operands a and b
  SourceSpan move;                     ///< source operand of the transfer
  SourceSpan predicate;
};

struct Assembly {
  explicit Assembly(const AssembleOptions& given)
      : options(given), report(sources, given.max_errors) {
    layout.local_taken.resize(given.geometry.local_words * std::size_t{2});
  }

  const AssembleOptions& options;
  std::deque<SourceText> sources;
  Report report;
  NameTable names;
  Program program;
  Layout layout;

  // position in the text
  unsigned depth = 0;  ///< nesting of includes, templates and repeats
  std::uint64_t expanded_lines = 0;
  std::uint64_t expanded_characters = 0;
  unsigned includes = 0;  ///< number of includes so far
  bool stopped = false;   ///< a limit was exceeded; the rest is not read
  std::deque<Template> templates;
  std::deque<std::string> scratch;  ///< expanded lines by nesting depth
  std::vector<std::uint32_t> open_files;

  // state set by directives
  int section = -1;
  unsigned vlen = 4;
  bool kernel_given = false, flops_given = false, elements_given = false, group_given = false;
  bool unchecked = false;  ///< `.unchecked`: no idle clocks, no checks of ports and memory sizes
  SourceSpan group_span;
  struct GivenSize {
    std::int64_t shorts = -1;  ///< -1: not given
    SourceSpan span;
  };
  GivenSize fixed_given, item_given, output_given;
  bool tool_lines = false;  ///< `.file` or `.line` defines the line table
  SourceLine tool_line;
  std::vector<std::string> tool_files;

  // data for the final phase
  std::array<SectionClock, section_count> clocks;
  InstructionAccesses accesses;  ///< accesses of the current instruction
  std::array<std::vector<InstructionSpans>, section_count>
      instruction_spans;  ///< set if stalls are errors
  std::array<std::vector<ItemFixup>, section_count> fixups;
  struct SymbolFixup {
    std::uint32_t index;
    std::uint16_t item;
  };
  std::vector<SymbolFixup> symbol_fixups;
  struct AutomaticAllocation {
    std::uint32_t first, last;  ///< shorts of local memory, inclusive
    const Name* name;
  };
  std::vector<AutomaticAllocation> automatic;
  std::vector<Extent> source_extent, output_extent;  ///< by item of the group
  std::uint64_t instructions = 0;                    ///< including those beyond the limit
};

}  // namespace gdr::assembly
