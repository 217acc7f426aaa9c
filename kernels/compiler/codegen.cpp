#include "kernels/compiler/codegen.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>

#include "kernels/compiler/ir/capacity.hpp"
#include "kernels/compiler/lower/lower.hpp"
#include "kernels/compiler/schedule/prologue.hpp"
#include "kernels/compiler/schedule/search.hpp"
#include "kernels/compiler/source_excerpts.hpp"

namespace gdr::kc {
namespace {

/// Limits on the live values of an item, in percent of the memory for temporaries. Without a limit
/// nothing is rematerialized. Overlapping items have about half of the memory each. An unpipelined
/// item may use all of it, but list scheduling lengthens some lifetimes.
constexpr unsigned no_limit = 0, pipelined_percent = 50, unpipelined_percent[] = {100, 85, 70};

/// Limits on the live masks of an unpipelined item, tried one after the other where no loop has
/// enough mask registers. List scheduling sets some masks earlier than in the order of operations.
constexpr unsigned max_live_masks[] = {mask_registers - 1, 5, 3, 1};

/// Loops with more operations are not pipelined: the search would take minutes.
constexpr std::size_t max_pipelined_ops = 600;

/// The computing time of the search by effort, relative to the default. Effort 0 has a tenth of it
/// to find a first schedule, which is the result.
constexpr std::array<double, 10> effort_factors{0.1, 0.4, 1, 2, 4, 8, 16, 32, 64, 128};

/// Addresses of the source variables: longs first.
ItemLayout lay_out_item(const Graph& graph) {
  ItemLayout item;
  item.address.assign(graph.variables.size(), none);
  for (const bool longs : {true, false}) {
    for (std::size_t i = 0; i < graph.variables.size(); ++i) {
      const GraphVariable& v = graph.variables[i];
      if (v.kind != VarKind::Source || (v.type == Type::Long) != longs) continue;
      item.address[i] = static_cast<int>(item.shorts);
      item.shorts += longs ? 2 : 1;
    }
  }
  item.shorts += item.shorts % 2;
  return item;
}

/// What the values and masks of an item may occupy, or no_limit.
struct ItemLimits {
  unsigned memory_percent = no_limit, masks = no_limit;
};

/// A loop with a way of pipelining it.
struct Variant {
  CompiledLoop compiled;
  PipelineMode mode = unpipelined_mode;
  std::vector<bool> suppressed;  ///< operations that must not execute for missing items
  bool more_may_help = true;     ///< the loop may fit if more values are rematerialized
};

class CodeGenerator {
 public:
  CodeGenerator(const CompileOptions& options, std::span<const SourceText> sources,
                CompiledKernel& out)
      : options_(options), out_(out), excerpts_(sources) {}

  void run(const Graph& graph) {
    out_.graph = graph;
    check_instruction_count(out_.graph, options_.geometry);
    if (options_.in_longs)
      use_longs(out_.graph);
    else
      infer_types(out_.graph);
    if (options_.cutoff) add_cutoff(out_.graph, *options_.cutoff);
    merge_limits(out_.graph);
    factor_masks(out_.graph);
    out_.item = lay_out_item(out_.graph);
    // An instruction of fewer elements takes proportionally fewer clocks. So the figure of merit is
    // the II in instructions; of equal IIs the one with more targets per PE is better.
    const unsigned most = options_.elements != 0 ? options_.elements : max_elements;
    const unsigned fewest = options_.elements != 0 ? options_.elements : 1;
    const bool overlaps =
        options_.pipeline && compile_pipelined(fewest, most, std::min(options_.effort, 9U));
    if (!overlaps || out_.schedule.ii > 2 * out_.bounds.least())
      compile_unpipelined(fewest, most, no_limit);
    for (const unsigned masks : max_live_masks)
      if (!found_ && failed_for_masks()) compile_unpipelined(fewest, most, masks);
    if (!found_) fail(fewest);
    if (options_.pipeline && !out_.pipelined)
      out_.remarks.push_back(
          overlaps ? "the pipelined loop is not faster; sources are processed one at a time"
                   : "no pipelined schedule was found; sources are processed one at a time");
    if (out_.rematerialized > 0) {
      const Diagnostic& why = failures_[out_.loop.elements];
      out_.remarks.push_back(fmt::format("{} values are rematerialized: {}", out_.rematerialized,
                                         why.code != 0 ? why.message : "the loop is faster"));
    }
    if (out_.stored_conditions > 0)
      out_.remarks.push_back(fmt::format(
          "{} conditions are kept in memory: the mask registers are full", out_.stored_conditions));
    if (out_.loop.elements < most) out_.remarks.push_back(explain_fewer_targets(most));
    out_.assembly = emit(out_);
  }

 private:
  /// Record why this number of targets failed. A capacity error says more than a failed search.
  void keep_failure(unsigned elements) {
    Diagnostic& kept = failures_[elements];
    if (failure_.code != 0 || kept.message.empty()) kept = failure_;
  }

  bool failed_for_masks() const {
    return std::ranges::count(failures_, number(Code::NoMasks), &Diagnostic::code) > 0;
  }

  /// Remark that a PE holds fewer targets than possible, and why not one more; if more would fit,
  /// but no faster loop was found for them, also which number does not fit.
  std::string explain_fewer_targets(unsigned most) const {
    const unsigned have = out_.loop.elements;
    unsigned too_many = have + 1;
    while (too_many < most && failures_[too_many].code == 0) ++too_many;
    std::string reason;
    if (failures_[have + 1].code == 0)
      reason = fmt::format("no faster loop was found for {}", have + 1);
    if (const Diagnostic& why = failures_[too_many]; why.code != 0) {
      reason += fmt::format("{}{} for {}", reason.empty() ? "" : ", and ", why.message, too_many);
      if (!why.label.empty()) reason += fmt::format(" ({})", why.label);
    }
    return fmt::format("{} target{} per PE instead of {}: {}", have, have == 1 ? "" : "s", most,
                       reason);
  }

  /// Modulo scheduling of all alternatives: numbers of targets per PE, with and without
  /// rematerialization, in all ways of pipelining.
  bool compile_pipelined(unsigned fewest, unsigned most, unsigned effort) {
    std::vector<std::unique_ptr<Variant>> variants;
    for (unsigned elements = most; elements >= fewest; --elements)
      for (const unsigned percent : {no_limit, pipelined_percent})
        add_variants(elements, percent, variants);
    std::vector<Alternative> alternatives;
    std::size_t ops = 0;
    for (const auto& v : variants) {
      ops = std::max(ops, v->compiled.loop.ops.size());
      alternatives.push_back({.problem = &v->compiled.problem,
                              .bounds = v->compiled.bounds,
                              .judge = [this, variant = v.get()](const Schedule& s) {
                                if (is_usable(*variant, s)) return Verdict::Accepted;
                                keep_failure(variant->compiled.loop.elements);
                                return failure_.code == number(Code::NoRegisters)
                                           ? Verdict::Fragmented
                                           : Verdict::Rejected;
                              }});
    }
    // About 11 ms for each operation, and a second for small kernels, whose intervals are the
    // hardest to reach: one instruction more is a larger part of them. At most three seconds on
    // slow hosts.
    constexpr double changes_per_op = 55000;
    constexpr std::size_t min_ops = 88, max_ops = 130;
    SearchOptions search;
    search.changes = static_cast<std::uint64_t>(
        changes_per_op * static_cast<double>(std::clamp(ops, min_ops, max_ops)) *
        effort_factors[effort]);
    search.ends_at_first = effort == 0;
    if (masks_exceed_registers(fewest)) search.changes /= 10;
    search.progress = options_.progress;
    record_failure("no schedule was found");
    for (unsigned elements = fewest; elements <= most; ++elements) keep_failure(elements);
    const std::optional<std::size_t> best = find_least_ii(alternatives, search);
    if (!best) return false;
    save(std::move(variants[*best]->compiled));
    out_.pipelined = true;
    return true;
  }

  /// The ways of pipelining a loop with this number of targets per PE.
  void add_variants(unsigned elements, unsigned percent,
                    std::vector<std::unique_ptr<Variant>>& variants) {
    Variant first;
    if (!prepare(first, elements, {.memory_percent = percent})) {
      if (percent == no_limit) keep_failure(elements);
      return;
    }
    const std::size_t ops = first.compiled.loop.ops.size();
    if (ops > max_pipelined_ops) {
      record_failure(fmt::format("{} operations are too many for software pipelining", ops));
      return keep_failure(elements);
    }
    if (std::ranges::any_of(first.compiled.loop.values, &MachineValue::in_local)) {
      record_failure("loops with results in local memory are not pipelined");
      return keep_failure(elements);
    }
    first.compiled.zeroed_in_pads = neutral_field(first.compiled.loop);
    for (const PipelineMode& mode :
         pipeline_modes(first.compiled.loop, first.compiled.zeroed_in_pads)) {
      auto variant = std::make_unique<Variant>(first);
      variant->compiled.problem.loop = &variant->compiled.loop;
      set_mode(*variant, mode);
      variant->compiled.bounds = lower_bounds(variant->compiled.problem);
      variants.push_back(std::move(variant));
    }
  }

  /// Compile without overlapping items: with as many targets per PE as possible, unless that
  /// requires rematerialization and fewer targets are faster.
  void compile_unpipelined(unsigned fewest, unsigned most, unsigned masks) {
    for (unsigned elements = most; elements >= fewest; --elements) {
      Variant v;
      if (try_unpipelined(v, elements, {.masks = masks})) {
        save_if_shorter(v);
        return;
      }
      keep_failure(elements);
      if (!v.more_may_help) continue;
      for (const unsigned percent : unpipelined_percent) {
        Variant limited;
        const bool found = try_unpipelined(limited, elements, {percent, masks});
        if (found) save_if_shorter(limited);
        if (found || !limited.more_may_help) break;
      }
    }
  }

  void save_if_shorter(Variant& v) {
    if (found_ && v.compiled.schedule.ii >= out_.schedule.ii) return;
    v.compiled.bounds = lower_bounds(v.compiled.problem);
    save(std::move(v.compiled));
    out_.pipelined = false;
  }

  void save(CompiledLoop&& compiled) {
    static_cast<CompiledLoop&>(out_) = std::move(compiled);
    out_.problem.loop = &out_.loop;
    found_ = true;
  }

  /// The fallback: list scheduling of one item at a time.
  bool try_unpipelined(Variant& v, unsigned elements, const ItemLimits& limits) {
    if (!prepare(v, elements, limits)) return false;
    CompiledLoop& c = v.compiled;
    c.problem.blocks.clear();
    const Schedule schedule = list_schedule(c.loop, c.problem.register_shorts);
    c.problem.field_word.resize(c.loop.values.size(), 0);
    c.problem.field_half.resize(c.loop.values.size(), 0);
    set_mode(v, unpipelined_mode);
    if (!is_usable(v, schedule)) return false;
    return true;
  }

  /// Lower the graph. Within limits, rematerialize values to reduce memory pressure, and store
  /// conditions. Returns false if the former is impossible or the kernel cannot fit.
  bool prepare(Variant& v, unsigned elements, const ItemLimits& limits) {
    throw_if_stopped(options_.stop);
    CompiledLoop& c = v.compiled;
    c.loop = lower(out_.graph, elements, options_.relaxed, !options_.pipeline);
    if (auto exceeded = exceeded_memory(out_.graph, c.loop, options_.geometry)) {
      failure_ = std::move(*exceeded);
      v.more_may_help = false;
      return false;
    }
    if (limits.memory_percent != no_limit) {
      const Rematerialization done = rematerialize(
          c.loop, capacity_for_items(c.loop, options_.geometry) * limits.memory_percent / 100);
      c.rematerialized = done.values;
      v.more_may_help = done.fits;
      if (c.rematerialized == 0) return false;
    }
    if (limits.masks != no_limit) c.stored_conditions = store_conditions(c.loop, limits.masks);
    for (MachineOp& op : c.loop.ops) op.text = excerpts_.at(op.where);
    Problem& p = c.problem;
    p.loop = &c.loop;
    p.stop = options_.stop;
    p.latency = (elements + 3) / elements;
    p.register_shorts = 2 * options_.geometry.register_words;
    p.local_shorts = 2 * options_.geometry.local_words;
    set_blocks(c, elements);
    v.suppressed = suppressed_operations(c.loop);
    return true;
  }

  /// Whether even the unpipelined loop needs too many masks at a time; a pipelined one then hardly
  /// fits.
  bool masks_exceed_registers(unsigned elements) {
    Variant v;
    if (!prepare(v, elements, {}) || v.compiled.loop.masks.size() < mask_registers) return false;
    return !try_unpipelined(v, elements, {}) && failure_.code == number(Code::NoMasks);
  }

  /// Record why this candidate failed; others may succeed.
  void record_failure(std::string why) {
    failure_ = {};
    failure_.message = std::move(why);
  }

  /// Report the limiting resource; for a list, its largest possible capacity.
  [[noreturn]] void fail(unsigned elements) {
    const Diagnostic why = failure_;
    const unsigned entries = max_list_entries(elements);
    if (entries == 0) throw CompileError{why};
    const GraphVariable& list = longest_list();
    throw CompileError{capacity_error(Code::ListTooLong, list.where,
                                      fmt::format("the list `{}` is too long", list.name),
                                      fmt::format("it can have at most {} entries", entries))};
  }

  GraphVariable& longest_list() {
    return *std::max_element(
        out_.graph.variables.begin(), out_.graph.variables.end(),
        [](const GraphVariable& a, const GraphVariable& b) { return a.list_size < b.list_size; });
  }

  /// Largest capacity of the longest list; 0 if there is no list, or if shortening it does not
  /// help.
  unsigned max_list_entries(unsigned elements) {
    GraphVariable& longest = longest_list();
    const unsigned asked = longest.list_size;
    if (asked == 0) return 0;
    unsigned fits = 0, fails = std::min(asked, 2 * options_.geometry.local_words);
    while (fits + 1 < fails) {
      longest.list_size = (fits + fails) / 2;
      Variant v;
      (try_unpipelined(v, elements, {}) ? fits : fails) = longest.list_size;
    }
    // A pipelined loop may leave room for a few more.
    for (longest.list_size = fits + 1; options_.pipeline && longest.list_size < asked;
         ++longest.list_size) {
      if (!compile_pipelined(elements, elements, 0)) break;
      fits = longest.list_size;
    }
    longest.list_size = asked;
    return fits;
  }

  static void set_mode(Variant& v, const PipelineMode& mode) {
    v.mode = mode;
    Problem& p = v.compiled.problem;
    p.unroll = mode.unroll;
    p.max_stages = mode.max_stages;
    p.prologue_predicated = mode.prologue_predicated ? v.suppressed : std::vector<bool>{};
  }

  void set_blocks(CompiledLoop& c, unsigned elements) const {
    Problem& p = c.problem;
    const std::size_t n = c.loop.values.size();
    p.field_word.assign(n, 0);
    p.field_half.assign(n, 0);
    const unsigned words = out_.item.shorts / 2;
    for (unsigned first = 0; first + elements <= words; first += elements)
      p.blocks.push_back({first, {}});
    for (std::size_t v = 0; v < n; ++v) {
      const MachineValue& value = c.loop.values[v];
      if (value.origin != Origin::Field) continue;
      const auto address = static_cast<unsigned>(out_.item.address[index(value.variable)]);
      p.field_word[v] = address / 2;
      p.field_half[v] = static_cast<int>(address % 2);
      for (Block& b : p.blocks)
        if (address / 2 >= b.first_word && address / 2 < b.first_word + elements)
          b.fields.push_back(static_cast<ValueId>(v));
    }
    std::erase_if(p.blocks, [](const Block& b) { return b.fields.empty(); });
  }

  /// Whether a schedule has a correct prologue and can be allocated; if so it becomes the current
  /// one. Whether the prologue is correct depends on the operations of each stage, so that a
  /// schedule that starts some instructions later may be usable if this one is not.
  bool is_usable(Variant& v, Schedule schedule) {
    CompiledLoop& c = v.compiled;
    const unsigned unroll = required_unroll(c.problem, schedule);
    if (unroll > v.mode.unroll) return false;
    const Shifts shifts = possible_shifts(c.loop, schedule, v.mode.max_stages);
    shift(schedule, shifts.least);
    for (int k = shifts.least; k <= shifts.most; ++k, shift(schedule, 1)) {
      if (!has_correct_prologue(c.loop, schedule, unroll, c.problem.prologue_predicated)) continue;
      auto allocation =
          allocate(c.problem, schedule, options_.geometry, unroll, out_.graph, failure_);
      if (!allocation) return false;
      c.schedule = schedule;
      c.allocation = std::move(*allocation);
      const BodyTimes times{static_cast<int>(schedule.ii * unroll), static_cast<int>(schedule.ii)};
      c.prologue_predicated =
          v.mode.prologue_predicated && stage_count(c.loop, schedule, times) > 1;
      return true;
    }
    record_failure("the prologue would change results");
    return false;
  }

  const CompileOptions& options_;
  CompiledKernel& out_;
  const SourceExcerpts excerpts_;
  bool found_ = false;
  Diagnostic failure_;                                 ///< why the last candidate failed
  std::array<Diagnostic, max_elements + 2> failures_;  ///< why this number of targets failed
};

}  // namespace

void generate_code(const Graph& graph, const CompileOptions& options,
                   std::span<const SourceText> sources, CompiledKernel& out) {
  CodeGenerator(options, sources, out).run(graph);
}

}  // namespace gdr::kc
