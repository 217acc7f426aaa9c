// Executable kernels: machine code that is generated at run time, or the interpreter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "emulator/engine/jit/list_rows.hpp"
#include "emulator/engine/native/translate/blocked_sums.hpp"
#include "emulator/engine/native/translate/target.hpp"
#include "emulator/engine/native/translate/unguarded_loop.hpp"

namespace gdr::native {

/// Memory layout of a work item (one vector of lanes of an instance): inputs, two sets of
/// loop-carried values, outputs, totals of blocked sums, in slots of one vector each; and the
/// addresses of its lists (ListRows).
struct ItemLayout {
  std::uint32_t vector_bytes = 64;
  std::uint32_t inputs = 0, carried = 0, outputs = 0, totals = 0, lists = 0;

  std::uint32_t input(std::uint32_t n) const noexcept { return n * vector_bytes; }
  std::uint32_t set(std::uint32_t number) const noexcept {
    return (inputs + number * carried) * vector_bytes;
  }
  std::uint32_t output(std::uint32_t n) const noexcept {
    return (inputs + 2 * carried + n) * vector_bytes;
  }
  std::uint32_t total(std::uint32_t n) const noexcept { return output(outputs + n); }
  std::uint32_t list(std::uint32_t n) const noexcept { return total(totals) + n * list_bytes(); }
  std::uint32_t list_bytes() const noexcept {
    const auto bytes = static_cast<std::uint32_t>(sizeof(jit::ListRows));
    return (bytes + vector_bytes - 1) / vector_bytes * vector_bytes;
  }
  std::uint32_t bytes() const noexcept { return list(lists); }
};

/// The broadcast memory words that a section reads, by index. The delay of a key is ignored.
struct WordTable {
  std::vector<LeafKey> words;
  /// Index of a word; the number of words if it is absent.
  std::uint32_t number(LeafKey key) const {
    key.delay = 0;
    return static_cast<std::uint32_t>(std::ranges::find(words, key) - words.begin());
  }
  void add(LeafKey key) {
    key.delay = 0;
    if (number(key) == words.size()) words.push_back(key);
  }
};

/// The tables that a section reads, by their interpretation: lanes that lie behind the uniform
/// words, one for each element and for those that are repeated. The delay of a key is ignored.
struct LookupTables {
  struct Lookup {
    LeafKey key;
    std::uint32_t size = 0;   ///< number of elements, a power of two
    std::uint32_t first = 0;  ///< lanes of the tables before it
  };
  std::vector<Lookup> tables;

  std::uint32_t lanes() const noexcept {
    return tables.empty() ? 0 : tables.back().first + tables.back().size + repeated_elements;
  }
  void add(LeafKey key, std::uint32_t size) {
    key.delay = 0;
    if (std::ranges::find(tables, key, &Lookup::key) == tables.end())
      tables.push_back({key, size, lanes()});
  }
  /// The lane that a Lookup reads for the index zero.
  std::uint32_t first_lane(LeafKey key) const {
    const std::uint32_t behind = std::exchange(key.delay, 0);
    return std::ranges::find(tables, key, &Lookup::key)->first + behind;
  }
};

/// Base pointers of a kernel's code.
enum Base : std::uint8_t {
  base_items,     ///< the work items
  base_source,    ///< the group of source words of this iteration
  base_uniforms,  ///< invariant words, then tables
  base_spills,
  base_carried,  ///< set of loop-carried values to read
  base_next,     ///< the set to write
  base_constants,
  base_count
};

/// A location relative to a base pointer.
struct Location {
  Base base = base_items;
  std::int32_t offset = 0;  ///< offset from the base, bytes
};

/// The segments of a kernel, ready for code generation.
struct KernelCode {
  ItemLayout layout;
  bool loops = false;
  bool reads_tables = false;
  /// Whether iterations before the last one have effects: carried values, or appends to lists.
  bool has_effects() const noexcept { return !carried_slot.empty() || layout.lists != 0; }
  Segment once, first, loop, last;
  bool has_roots() const noexcept { return once.has_roots || loop.has_roots; }
  UnguardedLoop unguarded;  ///< the loop without rare conditions
  BlockedSums sums;         ///< sums of floats, which the loop adds up in blocks
  /// For a GPU: the loop only adds up terms, so that threads can share its iterations.
  bool can_share_iterations = false;
  std::vector<std::uint32_t> carried_slot;  ///< input slot of each loop-carried location
  std::vector<std::uint32_t> input_offset;  ///< initial offset of an input in a work item

  /// Whether iterations are divided into runs.
  bool has_runs() const noexcept { return unguarded.usable || sums.count > 0; }
};

/// A kernel with its target and the words of its section. The word tables are complete: groups of
/// source words are consecutive.
struct CodeContext {
  const KernelCode& kernel;
  Target target;
  const WordTable& source_words;
  const WordTable& uniform_words;
  const LookupTables& lookups;

  std::uint32_t group_bytes() const noexcept {
    return static_cast<std::uint32_t>(source_words.words.size()) * target.source_bytes();
  }
  /// The number of the loop-carried location of an input slot, if it is one.
  std::optional<std::uint32_t> carried_number(std::uint32_t slot) const {
    const auto found = std::ranges::find(kernel.carried_slot, slot);
    if (found == kernel.carried_slot.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - kernel.carried_slot.begin());
  }
  static Location item(std::uint32_t offset) {
    return {base_items, static_cast<std::int32_t>(offset)};
  }
  Location carried(Base set, std::uint32_t number) const {
    return {set, static_cast<std::int32_t>(number * kernel.layout.vector_bytes)};
  }
  /// Whether the location of an Input, Source or Uniform has a value for each lane, or one for all.
  bool has_lanes(const Node& node) const noexcept {
    return node.op == NodeOp::Input || (node.op == NodeOp::Source && target.source_vectors);
  }
  /// The location of an Input, Source or Uniform. Slots after the inputs are totals.
  Location leaf(const Node& node) const {
    const LeafKey key = LeafKey::unpack(node.bits);
    const auto word = [](std::uint32_t number, std::uint32_t bytes) {
      return static_cast<std::int32_t>(number * bytes);
    };
    if (node.op == NodeOp::Source) {
      const auto delay = static_cast<std::int32_t>(key.delay * group_bytes());
      return {base_source, word(source_words.number(key), target.source_bytes()) - delay};
    }
    if (node.op == NodeOp::Uniform)
      return {base_uniforms, word(uniform_words.number(key), target.lane_bytes())};
    if (const auto number = carried_number(key.place)) return carried(base_carried, *number);
    const ItemLayout& layout = kernel.layout;
    return item(key.place < layout.inputs ? layout.input(key.place)
                                          : layout.total(key.place - layout.inputs));
  }
  /// What a Lookup reads for the index zero.
  Location table(const Node& node) const {
    const std::size_t lane =
        uniform_words.words.size() + lookups.first_lane(LeafKey::unpack(node.bits));
    return {base_uniforms, static_cast<std::int32_t>(lane * target.lane_bytes())};
  }
  /// The ListRows of a list.
  Location list(std::uint32_t number) const {
    return {base_items, static_cast<std::int32_t>(kernel.layout.list(number))};
  }
  /// The destination of a store; `set`: for carried values.
  Location destination(const Store& store, Base set) const {
    if (store.area == Store::Area::Output) return item(kernel.layout.output(store.slot));
    if (store.area == Store::Area::Total) return item(kernel.layout.total(store.slot));
    return carried(set, store.slot);
  }
};

/// items: `copies` consecutive work items; source: words of the first group, or row; uniforms:
/// invariant words; iterations: 1 or more; spills: spill area; runs: schedule of iterations 1 ..
/// iterations - 2 for kernels with runs (plan_loop_runs). All but the words are aligned to the
/// vector size.
using KernelFunction = void (*)(std::byte* items, const std::byte* source,
                                const std::byte* uniforms, std::uint64_t iterations,
                                std::byte* spills, const LoopRun* runs);

/// A function in executable memory, freed with the last owner.
struct CompiledKernel {
  KernelFunction function = nullptr;
  std::uint32_t copies = 1;  ///< work items per call
  std::size_t bytes = 0;
  std::size_t spill_bytes = 0;
  std::shared_ptr<const void> owner;
};

/// Maximum number of work items per call.
constexpr std::uint32_t max_copies = 2;

/// As a KernelFunction, for one work item on the portable path.
using InterpretedKernel = std::function<void(std::byte* item, const std::byte* source,
                                             const std::byte* uniforms, std::uint64_t iterations)>;
InterpretedKernel interpret_kernel(const CodeContext& context);

/// Generates machine code for Avx2 or Avx512 (the host need not support it). `copies`: work items
/// per call; 0: the fastest number. Results do not depend on it. Throws Unsupported if the
/// operating system gives no executable memory.
CompiledKernel compile_kernel(const CodeContext& context, std::uint32_t copies = 0);

}  // namespace gdr::native
