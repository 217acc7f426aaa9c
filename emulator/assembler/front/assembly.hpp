// Everything that one run of the assembler knows, as plain data that its parsers share.
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

/// Limits that keep any input from taking unbounded time or memory.
constexpr unsigned deepest_nesting = 64;
constexpr unsigned most_includes = 10000;  ///< each costs a search for the file
constexpr std::uint64_t most_expanded_characters = 512ULL << 20;
constexpr std::size_t longest_expanded_line = 65536;

/// Addresses in shorts, ranges of T and PE numbers are fields of 16 bits.
constexpr std::int64_t largest_field = 65535;

struct Template {
  std::vector<std::string> parameters;
  std::vector<Line> body;
  bool active = false;  ///< being expanded
};

/// Which places of the memories are taken, and how the broadcast memory is laid out.
struct Layout {
  std::vector<bool> local_taken;  ///< short by short
  std::uint32_t local_next = 0;   ///< where the search for a free place goes on
  std::uint32_t fixed_need = 0;   ///< shorts of the BM's fixed part, as declared or named so far
  std::uint32_t fixed_reach = 0;  ///< the same, as named by operands that are not checked
  std::uint32_t item_need = 0;    ///< shorts of an item that declarations take
  std::uint32_t output_need = 0;
  bool elements_used = false;  ///< `.elements` comes too late from here on
  bool pad_given = false;
  bool long_in_item = false, long_in_output = false;
};

/// How far operands reach behind the beginning of item K of a group.
struct Reach {
  std::uint32_t need = 0;
  Place place;
};

/// NAME@K in an instruction: its address is known once the size of an item is.
struct ItemFixup {
  std::uint32_t index = 0;  ///< of the instruction in its section, without padding
  std::uint16_t item = 0;
};

/// Where the operands of an instruction stand in the text.
struct InstructionPlaces {
  Place whole;
  std::array<Place, 2> mul, alu;  ///< a and b
  Place move;                     ///< what the transfer reads
  Place predicate;
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

  // where the text is
  unsigned depth = 0;  ///< of includes, templates and repeats together
  std::uint64_t expanded_lines = 0;
  std::uint64_t expanded_characters = 0;
  unsigned includes = 0;  ///< done so far, of one file as often as it is included
  bool stopped = false;   ///< a limit was reached; the rest is not read
  std::deque<Template> templates;
  std::deque<std::string> scratch;  ///< one expanded line for each level of nesting
  std::vector<std::uint32_t> open_files;

  // what the directives set
  int section = -1;
  unsigned vlen = 4;
  bool kernel_given = false, flops_given = false, elements_given = false, group_given = false;
  bool unchecked = false;  ///< `.unchecked`: no idle clocks, no limits of ports or geometry
  Place group_place;
  struct GivenSize {
    std::int64_t shorts = -1;  ///< not given
    Place place;
  };
  GivenSize fixed_given, item_given, output_given;
  bool tool_lines = false;  ///< `.file` or `.line` occurred: the line table is what they say
  SourceLine tool_line;
  std::vector<std::string> tool_files;

  // what waits for the end
  std::array<SectionClock, section_count> clocks;
  InstructionAccesses accesses;                                      ///< of the instruction at hand
  std::array<std::vector<InstructionPlaces>, section_count> places;  ///< where stalls are errors
  std::array<std::vector<ItemFixup>, section_count> fixups;
  struct LaterSymbol {
    std::uint32_t index;
    std::uint16_t item;
  };
  std::vector<LaterSymbol> symbol_fixups;
  struct AutomaticPlace {
    std::uint32_t first, last;  ///< shorts of local memory, inclusive
    const Name* name;
  };
  std::vector<AutomaticPlace> automatic;
  std::vector<Reach> source_reach, output_reach;  ///< by item of the group
  std::uint64_t instructions = 0;                 ///< also those beyond what is kept
};

}  // namespace gdr::assembly
