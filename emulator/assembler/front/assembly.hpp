// State of one run of the assembler, as plain data shared by its parsers.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/front/number.hpp"
#include "emulator/assembler/front/report.hpp"
#include "emulator/assembler/front/text.hpp"
#include "emulator/assembler/time/schedule.hpp"

namespace gdr::assembly {

/// Limits that bound time and memory for any input.
constexpr unsigned max_nesting = 64;
constexpr unsigned max_includes = 10000;  ///< each requires a file lookup
constexpr std::uint64_t max_expanded_characters = 512ULL << 20;
constexpr std::size_t max_expanded_line = 65536;

/// Short addresses, ranges of T and PE numbers are 16-bit fields.
constexpr std::int64_t max_field = 65535;

/// A location of a name or operand.
struct Location {
  Operand operand;
  std::uint16_t elements = 0;  ///< declared number of elements for NAME[K]; 0: unlimited
  std::uint16_t item = 0;  ///< K of NAME@K: item of the group, added once the item size is known
};

enum class NameKind : std::uint8_t { None, Location, Constant, Template };

struct Name {
  std::string name;
  NameKind kind = NameKind::None;  ///< None: out of scope
  Location location;
  Value value;
  std::uint32_t template_index = 0;
  SourceSpan declared;
};

/// Symbol table: locations, constants and templates share one namespace. References to names stay
/// valid.
class NameTable {
 public:
  /// Null if the name is not declared or out of scope.
  Name* find(std::string_view text) noexcept {
    const auto found = by_text_.find(text);
    return found != by_text_.end() && found->second->kind != NameKind::None ? found->second
                                                                            : nullptr;
  }
  /// The entry of an unused name.
  Name& add(std::string_view text) {
    if (const auto old = by_text_.find(text); old != by_text_.end()) return *old->second;
    Name& name = names_.emplace_back(Name{std::string(text), NameKind::None, {}, {}, 0, {}});
    by_text_.emplace(name.name, &name);
    return name;
  }
  const std::deque<Name>& all() const noexcept { return names_; }

 private:
  std::deque<Name> names_;
  std::unordered_map<std::string_view, Name*> by_text_;
};

struct Template {
  std::vector<std::string> parameters;
  std::vector<Line> body;
  bool active = false;  ///< during its expansion
};

/// End of operands relative to the beginning of item K of a group.
struct Extent {
  std::uint32_t need = 0;
  SourceSpan span;
};

/// A part of the broadcast memory: the fixed part, a j-item or an output item.
struct BroadcastPart {
  std::uint32_t need = 0;       ///< shorts used by declarations; fixed part: and by operands
  bool holds_long = false;      ///< whether it holds a long, which makes its size even
  std::int64_t given = -1;      ///< size in shorts that a directive sets; -1: none
  SourceSpan given_at;          ///< the directive
  std::vector<Extent> extents;  ///< extents of transfers, by item of the group
};

/// Memory allocation, and layout of the broadcast memory.
struct Layout {
  std::vector<bool> local_taken;   ///< whether a short is taken, by address
  std::uint32_t local_next = 0;    ///< start of the search for free space
  std::uint32_t fixed_extent = 0;  ///< shorts of the fixed part used by unchecked operands
  std::array<BroadcastPart, 3> parts;
  bool elements_used = false;  ///< `.elements` is no longer allowed
  bool pad_given = false;

  BroadcastPart& part(Space space) noexcept {
    return parts[static_cast<std::size_t>(space) - static_cast<std::size_t>(Space::Bm)];
  }
};

/// NAME@K in an instruction: its address depends on the final item size.
struct ItemFixup {
  std::uint32_t index = 0;  ///< instruction in its section, without idle clocks
  std::uint16_t item = 0;
};

/// Source spans of an instruction and of the operands that it reads.
struct InstructionSpans {
  struct Source {
    SourceSpan span;
    std::uint8_t slot;  ///< slot, as in Access
    Operand operand;
  };
  SourceSpan whole;
  SourceSpan predicate;
  std::vector<Source> sources;
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
  LineReader* reader = nullptr;  ///< reader of the current line
  unsigned depth = 0;            ///< nesting of includes, templates and repeats
  std::uint64_t expanded_lines = 0;
  std::uint64_t expanded_characters = 0;
  unsigned includes = 0;  ///< number of includes so far
  bool stopped = false;   ///< whether a limit was exceeded; the rest is not read
  std::deque<Template> templates;
  std::vector<std::uint32_t> open_files;

  // state set by directives
  int section = -1;
  unsigned vlen = 4;
  bool kernel_given = false, flops_given = false, elements_given = false, group_given = false;
  bool unchecked = false;  ///< `.unchecked`: no idle clocks, no checks of ports and memory sizes
  SourceSpan group_span;
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
  struct KeyName {
    std::uint32_t index;  ///< variable with reduction Index
    std::string key;
    SourceSpan span;
  };
  std::vector<KeyName> keys;  ///< may be declared after their indices
  struct AutomaticAllocation {
    std::uint32_t first, last;  ///< shorts of local memory, inclusive
    const Name* name;
  };
  std::vector<AutomaticAllocation> automatic;
  std::uint64_t instructions = 0;  ///< including those beyond the limit
};

}  // namespace gdr::assembly
