#include "emulator/engine/native/run/lane_targets.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "emulator/engine/api/check.hpp"
#include "emulator/host/for_each_isa.hpp"
#include "emulator/port/port_words.hpp"

namespace gdr::native {
namespace {

/// Lanes of doubles in the widest vectors.
constexpr std::size_t max_lanes = Target{}.lanes();
static_assert(LaneTargets::max_targets % max_lanes == 0);
constexpr std::size_t max_targets = LaneTargets::max_targets;

/// Fields whose conversion to a lane and back is simple.
enum class FieldKind : std::uint8_t { Double, RoundedDouble, Integer, General };

FieldKind kind_of(const PortField& f) {
  const bool is_double =
      f.conversion.host == HostType::F64 && (f.conversion.machine == MachineFormat::FloatLong ||
                                             f.conversion.machine == MachineFormat::FloatShort);
  if (f.width == Width::Short) {
    if (is_double) return FieldKind::RoundedDouble;
    return f.conversion.machine == MachineFormat::Integer ? FieldKind::Integer : FieldKind::General;
  }
  return is_double && f.conversion.machine == MachineFormat::FloatLong ? FieldKind::Double
                                                                       : FieldKind::General;
}

/// The key of a field's word in element 0.
LeafKey key_of(const CellMap& map, const PortField& field) {
  const WordType type = field.width == Width::Long ? WordType::Long : WordType::Bits;
  return {type, map.cell(field.location, 0), 0};
}

/// Whether a word that was written as one type is the other's when it is read.
bool is_read_as(WordType written, WordType read) {
  const auto is_short = [](WordType type) {
    return type == WordType::Short || type == WordType::Bits;
  };
  return written == read || (is_short(written) && is_short(read));
}

/// Lanes of a vector, as bits: the compiler's vector types, whose operators apply to each lane.
template <std::size_t lanes>
using Bits [[gnu::vector_size(lanes * sizeof(std::uint64_t))]] = std::uint64_t;
template <std::size_t lanes>
using Signed [[gnu::vector_size(lanes * sizeof(std::int64_t))]] = std::int64_t;

/// Conversions of all lanes. Those of single words are in port_words.hpp.
struct Unchanged {
  template <std::size_t n>
  [[gnu::always_inline]] static void convert(Bits<n>&) {}
};
struct Canonical {
  template <std::size_t n>
  [[gnu::always_inline]] static void convert(Bits<n>& bits) {
    const auto magnitude = (Signed<n>)(bits & ~port::double_sign);
    const auto least = static_cast<std::int64_t>(std::uint64_t{1} << 52);
    bits = magnitude < least ? bits & port::double_sign : bits;
    bits = magnitude > static_cast<std::int64_t>(port::double_infinity)
               ? bits * 0 + port::double_nan
               : bits;
  }
};
/// A short's bits are at the top of a lane.
struct Rounded {
  template <std::size_t n>
  [[gnu::always_inline]] static void convert(Bits<n>& bits) {
    Canonical::convert<n>(bits);
    const auto odd = (bits >> port::below_short) & 1;
    bits = (bits + (port::below_short_mask >> 1) + odd) & short_mask;
  }
};
struct IntegerToLane {
  template <std::size_t n>
  [[gnu::always_inline]] static void convert(Bits<n>& bits) {
    constexpr std::int64_t most = (std::int64_t{1} << (Short::bit_count - 1)) - 1;
    auto value = (Signed<n>)bits;
    value = value > most ? value * 0 + most : value;
    value = value < -most - 1 ? value * 0 - most - 1 : value;
    bits = (Bits<n>)value << short_shift;
  }
};
struct LaneToInteger {
  template <std::size_t n>
  [[gnu::always_inline]] static void convert(Bits<n>& bits) {
    bits = (Bits<n>)((Signed<n>)bits >> short_shift);
  }
};
struct ShortBits {
  template <std::size_t n>
  [[gnu::always_inline]] static void convert(Bits<n>& bits) {
    bits &= short_mask;
  }
};

/// A slot of consecutive work items, whose lanes belong to consecutive targets.
struct LaneRow {
  std::byte* first = nullptr;
  std::size_t item = 0;   ///< distance of work items, bytes
  std::size_t lanes = 0;  ///< lanes of a work item: 4, 8 or 32
};

template <std::size_t lanes>
using AllLanes = std::make_index_sequence<lanes>;
template <std::size_t lanes, std::size_t... k>
[[gnu::always_inline]] inline void gather(const std::uint64_t* from, std::size_t stride,
                                          Bits<lanes>& all, std::index_sequence<k...>) {
  all = Bits<lanes>{from[k * stride]...};
}
template <std::size_t lanes, std::size_t... k>
[[gnu::always_inline]] inline void scatter(const Bits<lanes>& all, std::uint64_t* to,
                                           std::size_t stride, std::index_sequence<k...>) {
  ((to[k * stride] = all[k]), ...);
}

/// Converts words, `stride` apart, to the first n lanes, and stores zeros behind them: vectors are
/// read whole. `item`: bytes from one vector to the next.
template <typename Conversion, std::size_t lanes>
[[gnu::always_inline]] inline void set_lanes(const std::uint64_t* from, std::size_t stride,
                                             std::size_t n, std::byte* to, std::size_t item) {
  for (std::size_t i = 0; i < n; i += lanes, to += item) {
    Bits<lanes> all{};
    if (i + lanes <= n)
      gather<lanes>(from + i * stride, stride, all, AllLanes<lanes>());
    else
      for (std::size_t k = 0; i + k < n; ++k) all[k] = from[(i + k) * stride];
    Conversion::template convert<lanes>(all);
    std::memcpy(to, &all, sizeof all);
  }
}

/// Converts the first n lanes to words.
template <typename Conversion, std::size_t lanes>
[[gnu::always_inline]] inline void get_lanes(const std::byte* from, std::size_t item, std::size_t n,
                                             std::uint64_t* to, std::size_t stride) {
  for (std::size_t i = 0; i < n; i += lanes, from += item) {
    Bits<lanes> all;
    std::memcpy(&all, from, sizeof all);
    Conversion::template convert<lanes>(all);
    if (i + lanes <= n)
      scatter<lanes>(all, to + i * stride, stride, AllLanes<lanes>());
    else
      for (std::size_t k = 0; i + k < n; ++k) to[(i + k) * stride] = all[k];
  }
}

/// Converts the first n lanes to those of another slot, and stores zeros behind them.
template <typename Conversion, std::size_t lanes>
[[gnu::always_inline]] inline void copy_lanes(const std::byte* from, std::size_t from_item,
                                              std::size_t n, std::byte* to, std::size_t to_item) {
  for (std::size_t i = 0; i < n; i += lanes, from += from_item, to += to_item) {
    Bits<lanes> all;
    std::memcpy(&all, from, sizeof all);
    Conversion::template convert<lanes>(all);
    for (std::size_t k = n - i; k < lanes; ++k) all[k] = 0;
    std::memcpy(to, &all, sizeof all);
  }
}

/// Calls work with the number of lanes as a constant: loops over lanes are then vector
/// instructions.
template <typename Work>
[[gnu::always_inline]] inline void with_lanes(std::size_t lanes, Work work) {
  static_assert(max_lanes == 32);
  if (lanes == 8) return work(std::integral_constant<std::size_t, 8>());
  if (lanes == 4) return work(std::integral_constant<std::size_t, 4>());
  work(std::integral_constant<std::size_t, 32>());
}
template <typename Conversion>
[[gnu::always_inline]] inline void set_row(const std::uint64_t* from, std::size_t stride,
                                           std::size_t n, const LaneRow& row) {
  with_lanes(
      row.lanes, [&](auto lanes) __attribute__((always_inline)) {
        set_lanes<Conversion, lanes.value>(from, stride, n, row.first, row.item);
      });
}
template <typename Conversion>
[[gnu::always_inline]] inline void get_row(const LaneRow& row, std::size_t n, std::uint64_t* to,
                                           std::size_t stride) {
  with_lanes(
      row.lanes, [&](auto lanes) __attribute__((always_inline)) {
        get_lanes<Conversion, lanes.value>(row.first, row.item, n, to, stride);
      });
}
template <typename Conversion>
[[gnu::always_inline]] inline void copy_row(const LaneRow& from, std::size_t n, const LaneRow& to) {
  with_lanes(
      from.lanes, [&](auto lanes) __attribute__((always_inline)) {
        copy_lanes<Conversion, lanes.value>(from.first, from.item, n, to.first, to.item);
      });
}

[[gnu::always_inline]] inline void fill_row(const LaneRow& row, std::uint64_t lane, std::size_t n) {
  with_lanes(
      row.lanes, [&](auto lanes) __attribute__((always_inline)) {
        const Bits<lanes.value> all = Bits<lanes.value>{} + lane;
        std::byte* at = row.first;
        for (std::size_t i = 0; i < n; i += lanes.value, at += row.item)
          std::memcpy(at, &all, sizeof all);
      });
}

/// The words of a field and its lanes, whatever their types.
using TaskWords = std::array<std::uint64_t, 2 * max_targets>;

[[gnu::always_inline]] inline void load_field(const PortField& field, WordType type, Target target,
                                              const std::uint64_t* records, std::size_t stride,
                                              std::size_t n, const LaneRow& row) {
  const std::uint64_t* const from = records + field.half_word / 2;
  switch (kind_of(field)) {
    case FieldKind::Double:
      return set_row<Canonical>(from, stride, n, row);
    case FieldKind::RoundedDouble:
      return set_row<Rounded>(from, stride, n, row);
    case FieldKind::Integer:
      return set_row<IntegerToLane>(from, stride, n, row);
    case FieldKind::General:
      break;
  }
  TaskWords words;
  std::array<std::uint64_t, max_targets> lanes;
  port_load(field, {records, stride}, n, {words.data(), 1, max_targets});
  row_conversion(target, type)
      .to_lanes(words.data(), words.data() + (is_long(type) ? max_targets : 0), n,
                reinterpret_cast<std::byte*>(lanes.data()));
  set_row<Unchanged>(lanes.data(), 1, n, row);
}

[[gnu::always_inline]] inline void store_field(const PortField& field, WordType type, Target target,
                                               const LaneRow& row, std::size_t n,
                                               std::uint64_t* records, std::size_t stride) {
  std::uint64_t* const to = records + field.half_word / 2;
  const FieldKind kind = kind_of(field);
  if (kind == FieldKind::Double) return get_row<Canonical>(row, n, to, stride);
  if (kind == FieldKind::RoundedDouble && type == WordType::Short)
    return get_row<Rounded>(row, n, to, stride);
  if (kind == FieldKind::Integer && type == WordType::Bits)
    return get_row<LaneToInteger>(row, n, to, stride);
  std::array<std::uint64_t, max_targets> lanes;
  get_row<Unchanged>(row, n, lanes.data(), 1);
  TaskWords words;
  row_conversion(target, type)
      .from_lanes(reinterpret_cast<const std::byte*>(lanes.data()), n,
                  {words.data(), words.data() + (is_long(type) ? max_targets : 0)});
  port_store(field, {words.data(), 1, max_targets}, n, {records, stride});
}

/// What lanes are after they were stored as words of a type.
[[gnu::always_inline]] inline void copy(WordType type, const LaneRow& from, std::size_t n,
                                        const LaneRow& to) {
  switch (type) {
    case WordType::Long:
      return copy_row<Canonical>(from, n, to);
    case WordType::Short:
      return copy_row<Rounded>(from, n, to);
    case WordType::Bits:
      return copy_row<ShortBits>(from, n, to);
    default:
      return copy_row<Unchanged>(from, n, to);
  }
}

/// The work items of a section's kernels.
struct Items {
  std::vector<LaneRow> kernels;  ///< `first`: of the whole item
  LaneRow row(std::size_t kernel, std::uint32_t offset) const {
    LaneRow row = kernels[kernel];
    row.first += offset;
    return row;
  }
};

/// Places the items of so many vectors of each kernel.
void place_items(const CompiledKernels& code, std::size_t vectors, LaneBytes& bytes, Items& items) {
  std::size_t all = 0;
  for (const CompiledKernels::Entry& entry : code.kernels)
    all += vectors * entry.code.layout.bytes();
  grow(bytes, all);
  items.kernels.clear();
  std::byte* at = bytes.data();
  for (const CompiledKernels::Entry& entry : code.kernels) {
    const std::size_t item = entry.code.layout.bytes();
    items.kernels.push_back({at, item, code.target.lanes()});
    at += vectors * item;
  }
}

/// As of adjacent doubles.
bool has_no_value(const LaneRow& row, std::size_t n, Isa isa) {
  const std::byte* item = row.first;
  for (std::size_t done = 0; done < n; done += row.lanes, item += row.item)
    if (native::has_no_value(item, std::min(row.lanes, n - done), isa)) return true;
  return false;
}

/// Records of n targets, which lanes are loaded from.
struct LoadedTargets {
  const LoadedProgram& loaded;
  const std::uint64_t* records;
  std::size_t n;
};

/// Inputs of a kernel: fields of targets, uniform words, and outputs of earlier sections. All rows
/// at once, since the choice among instruction sets is a call through a table.
template <typename Inputs, typename LaneOf>
GDR_FOR_EACH_ISA void load_inputs(const Inputs& inputs, const LoadedTargets& targets, Target target,
                                  const std::array<Items, 3>& items, std::size_t section,
                                  std::size_t kernel, LaneOf lane_of) {
  const Items& own = items[section];
  for (const auto& input : inputs.fields)
    load_field(targets.loaded.targets[input.field], input.type, target, targets.records,
               targets.loaded.layout.target_words, targets.n, own.row(kernel, input.offset));
  for (const auto& input : inputs.uniforms)
    fill_row(own.row(kernel, input.offset), lane_of(input), targets.n);
  for (const auto& input : inputs.copied)
    copy(input.type, items[input.section].row(input.kernel, input.from), targets.n,
         own.row(kernel, input.offset));
}
template <typename Outputs>
GDR_FOR_EACH_ISA void store_fields(const Outputs& outputs, const LoadedProgram& loaded,
                                   const std::array<Target, 3>& targets,
                                   const std::array<Items, 3>& items, std::size_t n,
                                   std::uint64_t* records) {
  for (const auto& output : outputs)
    store_field(loaded.results[output.field], output.type, targets[output.section],
                items[output.section].row(output.kernel, output.offset), n, records,
                loaded.layout.result_words);
}

}  // namespace

/// Buffers of one thread.
struct LaneTargets::Scratch {
  std::array<LaneBytes, sections> bytes;  ///< work items by section
  std::array<Items, sections> items;
  CallBuffers calls;
};

LaneTargets::LaneTargets(const CompiledProgram& compiled, const LoadedProgram& loaded,
                         const PackedPlan& plan)
    : compiled_(compiled), loaded_(loaded), may_run_(may_run(plan)) {}

bool LaneTargets::may_run(const PackedPlan& plan) const {
  return plan.usable && plan.folded && std::ranges::all_of(all_sections, [&](std::size_t number) {
           const CompiledSection& s = section(number);
           return s.precision() == Precision::Double && s.lookups().tables.empty() &&
                  (number == start || s.bm_stores().empty()) &&
                  std::ranges::all_of(s.kernels(), [](const Kernel& k) { return k.lists.empty(); });
         });
}

// --- the plan

void LaneTargets::set_word(LeafKey key, Origin origin, Origins& origins) {
  origin.type = key.type;
  for (const StatePlace& place : places_of(key)) {
    origins[place] = origin;
    ++origin.half;
  }
}

/// Words that a section has written at its end: results, copies and constants.
void LaneTargets::set_outputs(std::size_t number, const CompiledKernels& code,
                              Origins& origins) const {
  for (std::size_t k = 0; k < code.kernels.size(); ++k)
    for (const RowTransfer& out : code.kernels[k].out)
      if (out.instance == 0 && out.key.delay == 0)
        set_word(out.key, {Origin::Kind::Output, {}, 0, k, number, out.offset, {}}, origins);
  for (const MovedShort& move : section(number).moves()) {
    Origin& origin = origins[{false, move.to}] = {};
    if (move.from == NodeOp::Input) continue;
    origin.kind = Origin::Kind::Uniform;
    (move.from == NodeOp::Source ? origin.word.of_source : origin.word.address) = move.place;
    origin.word.before_start = number == start;
  }
  for (const ConstantRoot& constant : section(number).constants()) {
    if (constant.key.delay != 0) continue;
    const std::vector<StatePlace> places = places_of(constant.key);
    for (std::size_t k = 0; k < places.size(); ++k) {
      Origin& origin = origins[places[k]] = {};
      origin.kind = Origin::Kind::Uniform;
      origin.word.given = true;
      origin.word.word = k == 0 ? constant.upper : constant.lower;
    }
  }
}

LaneTargets::KernelInputs LaneTargets::inputs_of(const CompiledKernels::Entry& entry,
                                                 const Origins& origins) {
  KernelInputs inputs;
  for (const RowTransfer& in : entry.in) {
    if (in.instance != 0) continue;
    std::vector<const Origin*> from;
    for (const StatePlace& place : places_of(in.key)) {
      const auto found = origins.find(place);
      from.push_back(found == origins.end() ? nullptr : &found->second);
    }
    const auto is_uniform = [](const Origin* o) {
      return o == nullptr || o->kind == Origin::Kind::Uniform;
    };
    if (std::ranges::all_of(from, is_uniform)) {
      const auto word = [](const Origin* o) { return o == nullptr ? UniformWord{} : o->word; };
      inputs.uniforms.push_back({in.key, word(from.front()), word(from.back()), in.offset});
      continue;
    }
    const Origin* const first = from.front();
    for (std::size_t k = 0; k < from.size(); ++k)
      if (from[k] == nullptr || from[k]->kind != first->kind || from[k]->half != k ||
          from[k]->section != first->section || from[k]->number != first->number ||
          from[k]->offset != first->offset)
        throw Unsupported("a word is read in parts");
    if (first->kind == Origin::Kind::Lost || !is_read_as(first->type, in.key.type))
      throw Unsupported("a word is read as another one");
    if (first->kind == Origin::Kind::Field)
      inputs.fields.push_back({first->number, in.offset, in.key.type});
    else
      inputs.copied.push_back(
          {first->section, first->number, first->offset, in.offset, first->type});
  }
  return inputs;
}

LaneTargets::Plan LaneTargets::make_plan(const Codes& codes) const {
  Plan plan;
  Origins origins;
  const CellMap& map = compiled_.map;
  for (std::size_t f = 0; f < loaded_.targets.size(); ++f)
    set_word(key_of(map, loaded_.targets[f]), {Origin::Kind::Field, {}, 0, f, 0, 0, {}}, origins);
  for (const std::size_t number : all_sections) {
    for (const CompiledKernels::Entry& entry : codes[number]->kernels)
      plan.inputs[number].push_back(inputs_of(entry, origins));
    set_outputs(number, *codes[number], origins);
  }
  for (std::size_t f = 0; f < loaded_.results.size(); ++f) {
    const LeafKey key = key_of(map, loaded_.results[f]);
    const auto found = origins.find(places_of(key).front());
    const Origin from = found == origins.end() ? Origin{} : found->second;
    if (from.kind != Origin::Kind::Output || from.half != 0 || !is_read_as(from.type, key.type))
      throw Unsupported("a result is not an output");
    plan.results.push_back({f, from.section, from.number, from.offset, from.type});
  }
  return plan;
}

bool LaneTargets::prepare(const BlockState& image, std::uint64_t number) {
  if (!may_run_) return false;
  if (image_ == number) return plan_ != nullptr;
  image_ = number;
  if (section(start).bm_stores().empty()) return prepare_from(image, image);
  BlockState started = image;
  start_packed(compiled_, {started, started.pes, true});
  return prepare_from(image, started);
}

bool LaneTargets::prepare_from(const BlockState& before, const BlockState& after) {
  for (const std::size_t s : all_sections)
    codes_[s] =
        &section(s).code(zero_words(section(s), s == start ? before : after), Precision::Double);
  const auto [found, is_new] = plans_.try_emplace(codes_);
  if (is_new) {
    try {
      found->second = make_plan(codes_);
    } catch (const Unsupported&) {
      // It runs on blocks.
    }
  }
  plan_ = found->second ? &*found->second : nullptr;
  if (plan_ != nullptr) set_uniforms(before, after);
  return plan_ != nullptr;
}

bool LaneTargets::reads_last_groups() const {
  return std::ranges::any_of(plan_->inputs, [](const std::vector<KernelInputs>& kernels) {
    return std::ranges::any_of(kernels, [](const KernelInputs& inputs) {
      return std::ranges::any_of(inputs.uniforms, &UniformInput::of_source);
    });
  });
}

void LaneTargets::set_uniforms(const BlockState& before, const BlockState& after) {
  for (const std::size_t s : all_sections) {
    grow(uniforms_[s], section(s).uniform_words().words.size() * sizeof(double));
    uniform_lanes(section(s), Precision::Double, s == start ? before : after, uniforms_[s].data());
    for (KernelInputs& inputs : plan_->inputs[s])
      for (UniformInput& input : inputs.uniforms) {
        const std::uint64_t* const row = cell_row(compiled_.map, input.key).in(before);
        std::size_t half = 0;
        for (UniformWord* const word : {&input.upper, &input.lower}) {
          if (word->address) word->word = (word->before_start ? before : after).bm[*word->address];
          if (!word->address && !word->of_source && !word->given)
            word->word = is_long(input.key.type) ? row[half * before.pes] : *row;
          ++half;
        }
        input.lane = lane_of(input, nullptr);
      }
  }
}

// --- a task

std::uint64_t LaneTargets::lane_of(const UniformInput& input, const std::uint64_t* last_group) {
  const auto word = [&](const UniformWord& w) {
    return w.of_source && last_group != nullptr ? last_group[*w.of_source] : w.word;
  };
  const std::uint64_t upper = word(input.upper), lower = word(input.lower);
  std::uint64_t lane = 0;
  words_to_lanes(input.key.type, Precision::Double, {&upper, &lower, 0}, 1,
                 reinterpret_cast<std::byte*>(&lane), sizeof lane);
  return lane;
}

bool LaneTargets::run(const TargetRecords& records, const PackedSources& sources) const {
  thread_local Scratch scratch;
  return run_with(scratch, records, sources);
}

bool LaneTargets::run_with(Scratch& scratch, const TargetRecords& records,
                           const PackedSources& sources) const {
  std::array<Items, sections>& items = scratch.items;
  const std::size_t n = records.count;
  const std::size_t vectors = (n + codes_[body]->target.lanes() - 1) / codes_[body]->target.lanes();
  for (const std::size_t s : all_sections)
    place_items(*codes_[s], vectors, scratch.bytes[s], items[s]);
  for (const std::size_t s : all_sections) {
    const CompiledKernels& code = *codes_[s];
    KernelCalls calls{section(s), code, nullptr, uniforms_[s].data(), 1, vectors, n, nullptr, 0};
    if (s == body) {
      calls.source = sources.groups;
      calls.passes = sources.count;
      calls.windows = sources.windows;
      calls.first_window = sources.first_window;
    }
    for (std::size_t k = 0; k < code.kernels.size(); ++k) {
      const KernelInputs& inputs = plan_->inputs[s][k];
      load_inputs(inputs, {loaded_, records.targets, n}, code.target, items, s, k,
                  [&](const UniformInput& input) {
                    return input.of_source() ? lane_of(input, sources.last_groups) : input.lane;
                  });
      call_kernel(calls, k, items[s].kernels[k].first, vectors, scratch.calls);
    }
  }
  const bool has_roots = std::ranges::any_of(codes_, [](const CompiledKernels* code) {
    return std::ranges::any_of(
        code->kernels, [](const CompiledKernels::Entry& entry) { return entry.code.has_roots(); });
  });
  for (const ResultOutput& result : plan_->results)
    if (has_roots && is_number(result.type) &&
        has_no_value(items[result.section].row(result.kernel, result.offset), n,
                     codes_[body]->target.isa))
      return false;
  const std::array targets{codes_[start]->target, codes_[body]->target, codes_[end]->target};
  store_fields(plan_->results, loaded_, targets, items, n, records.results);
  return true;
}

}  // namespace gdr::native
