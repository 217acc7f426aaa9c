#include "kernels/compiler/codegen.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/compiler/capacity.hpp"
#include "kernels/compiler/lower/lower.hpp"
#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {
namespace {

/// Limits on the live values of an item, in percent of the memory for temporaries. Without a limit
/// nothing is rematerialized. Overlapping items have about half of the memory each. An unpipelined
/// item may use all of it, but list scheduling lengthens some lifetimes.
constexpr unsigned no_limit = 0, pipelined_percent = 50, unpipelined_percent[] = {100, 85, 70};

/// A way of pipelining, listed from the fastest to the one that always works.
struct PipelineMode {
  unsigned unroll, max_stages;
  bool prologue_predicated;
};

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

class CodeGenerator {
 public:
  CodeGenerator(const CompileOptions& options, std::span<const SourceText> sources,
                CompiledKernel& out)
      : options_(options), out_(out) {
    // Annealing steps: a small kernel takes about a second per million.
    steps_left_ = std::uint64_t{8'000'000} * (1 + options.effort * (1 + options.effort));
    for (const SourceText& source : sources) {
      std::vector<std::string_view>& lines = lines_.emplace_back();
      std::string_view text = source.text;
      for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end + 1);
      }
      lines.push_back(text);
    }
  }

  void run(const Graph& graph, const std::optional<SavedSchedule>& saved_schedule) {
    out_.graph = graph;
    check_instruction_count(out_.graph, options_.geometry);
    infer_types(out_.graph);
    factor_masks(out_.graph);
    out_.item = lay_out_item(out_.graph);
    // An instruction of fewer elements takes proportionally fewer clocks. So the figure of merit is
    // the II in instructions; of equal IIs the one with more targets per PE is better.
    const unsigned most = options_.elements != 0 ? options_.elements : max_elements;
    const unsigned fewest = options_.elements != 0 ? options_.elements : 1;
    const bool known = saved_schedule && follow_saved(*saved_schedule, fewest, most);
    if (saved_schedule && !known)
      out_.remarks.push_back(
          "the saved schedule in the source is not usable; a full search was made");
    if (!known && masks_exceed_registers(fewest)) steps_left_ /= 10;
    for (unsigned elements = most; !known && elements >= fewest; --elements) {
      if (!try_pipelined(elements)) {
        keep_failure(elements);
        continue;
      }
      const unsigned bound = min_ii(current_.problem);
      save_if_shorter();
      if (best_ <= bound + bound / 2) break;
    }
    const bool overlaps = found_;
    if (!overlaps) compile_unpipelined(fewest, most);
    if (!found_) fail(fewest);
    if (!overlaps)
      out_.remarks.push_back(
          "no pipelined schedule was found; sources are processed one at a time");
    if (out_.rematerialized > 0 && !known)
      out_.remarks.push_back(fmt::format("{} values are rematerialized: {}", out_.rematerialized,
                                         exceeded_capacity_.message));
    if (out_.loop.elements < most && !known) out_.remarks.push_back(explain_fewer_targets(most));
    out_.assembly = emit(out_);
  }

 private:
  /// Record why this number of targets failed. A capacity error says more than a failed search.
  void keep_failure(unsigned elements) {
    Diagnostic& kept = failures_[elements];
    if (failure_.code != 0 || kept.message.empty()) kept = failure_;
  }

  /// Remark that a PE holds fewer targets than possible, and why one more does not fit.
  std::string explain_fewer_targets(unsigned most) const {
    const unsigned have = out_.loop.elements;
    const Diagnostic& why = failures_[have + 1];
    std::string reason = why.message.empty() ? "the loop is faster" : why.message;
    if (!why.label.empty()) reason += " for " + std::to_string(have + 1) + " (" + why.label + ")";
    return fmt::format("{} target{} per PE instead of {}: {}", have, have == 1 ? "" : "s", most,
                       reason);
  }

  bool follow_saved(const SavedSchedule& saved, unsigned fewest, unsigned most) {
    if (saved.elements < fewest || saved.elements > most) return false;
    if (!prepare(saved.elements, saved.rematerialize ? pipelined_percent : no_limit)) return false;
    if (saved.unroll > 1 && current_.pads.empty()) return false;
    set_mode({saved.unroll, saved.prologue_predicated ? 2U : 3U, saved.prologue_predicated});
    if (saved.ii < min_ii(current_.problem)) return false;
    found_ = try_seed(saved.ii, saved.seed, saved.steps);
    if (found_) save();
    return found_;
  }

  /// Compile without overlapping items: with as many targets per PE as possible, unless that
  /// requires rematerialization and fewer targets are faster.
  void compile_unpipelined(unsigned fewest, unsigned most) {
    for (unsigned elements = most; elements >= fewest; --elements) {
      if (try_unpipelined(elements, no_limit)) {
        save_if_shorter();
        return;
      }
      for (const unsigned percent : unpipelined_percent) {
        if (!try_unpipelined(elements, percent)) continue;
        save_if_shorter();
        break;
      }
      keep_failure(elements);
    }
  }

  void save_if_shorter() {
    if (found_ && current_.schedule.ii >= best_) return;
    best_ = current_.schedule.ii;
    found_ = true;
    save();
  }

  /// The fallback: list scheduling of one item at a time.
  bool try_unpipelined(unsigned elements, unsigned capacity_percent) {
    if (!prepare(elements, capacity_percent)) return false;
    current_.problem.blocks.clear();
    const Schedule schedule = list_schedule(current_.loop, current_.problem.register_shorts);
    const std::size_t values = current_.loop.values.size();
    current_.problem.field_word.resize(values, 0);
    current_.problem.field_half.resize(values, 0);
    set_mode({1, 1, false});
    if (!is_usable(schedule)) return false;
    current_.saved = {};
    return true;
  }

  /// Lower the graph. Within a limit, rematerialize values to reduce memory pressure. Returns false
  /// if that is impossible or the kernel cannot fit.
  bool prepare(unsigned elements, unsigned capacity_percent) {
    throw_if_stopped(options_.stop);
    current_ = CompiledLoop{};
    current_.loop = lower(out_.graph, elements, options_.relaxed);
    if (capacity_percent != no_limit) {
      exceeded_capacity_ = failure_;
      current_.rematerialized =
          rematerialize(current_.loop, capacity_for_items(current_.loop, options_.geometry) *
                                           capacity_percent / 100);
      if (current_.rematerialized == 0) return false;
    }
    for (MachineOp& op : current_.loop.ops) op.text = excerpt(op.where);
    Problem& p = current_.problem;
    p.loop = &current_.loop;
    p.stop = options_.stop;
    p.latency = (elements + 3) / elements;
    p.register_shorts = 2 * options_.geometry.register_words;
    set_blocks(elements);
    current_.pads = neutral_fields(current_.loop);
    mark_prologue_predicated();
    if (auto exceeded = exceeded_memory(out_.graph, current_.loop, options_.geometry)) {
      failure_ = std::move(*exceeded);
      return false;
    }
    return true;
  }

  /// Whether even the unpipelined loop needs too many masks at a time; a pipelined one then hardly
  /// fits.
  bool masks_exceed_registers(unsigned elements) {
    if (!prepare(elements, no_limit) || current_.loop.masks.size() < mask_registers) return false;
    return !try_unpipelined(elements, no_limit) && failure_.code == number(Code::NoMasks);
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
      (try_unpipelined(elements, no_limit) ? fits : fails) = longest.list_size;
    }
    longest.list_size = asked;
    return fits;
  }

  /// The source characters of a range: one line, truncated.
  std::string excerpt(const SourceRange& at) {
    if (at.line == 0 || at.file >= lines_.size() || at.line > lines_[at.file].size()) return {};
    const std::string_view text = lines_[at.file][at.line - 1];
    if (at.column == 0 || at.column > text.size()) return {};
    constexpr std::size_t longest = 28;
    std::string out(text.substr(at.column - 1, at.column_end - at.column));
    for (char& c : out)
      if (static_cast<unsigned char>(c) < ' ') c = ' ';
    if (out.size() > longest) out = out.substr(0, longest - 3) + "...";
    return out;
  }

  void set_mode(const PipelineMode& mode) {
    mode_ = mode;
    Problem& p = current_.problem;
    p.unroll = mode.unroll;
    p.max_stages = mode.max_stages;
    p.prologue_predicated = mode.prologue_predicated ? prologue_predicated_ : std::vector<bool>{};
  }

  /// Overlap items by modulo scheduling, with rematerialization if values exceed the memory.
  bool try_pipelined(unsigned elements) {
    constexpr std::size_t max_ops = 600;  // a search beyond this size takes minutes
    for (const unsigned percent : {no_limit, pipelined_percent}) {
      if (!prepare(elements, percent)) return false;
      if (current_.loop.ops.size() > max_ops) {
        record_failure(fmt::format("{} operations are too many for software pipelining",
                                   current_.loop.ops.size()));
        return false;
      }
      const PipelineMode modes[] = {
          {current_.pads.empty() ? 1U : 2U, 3, false}, {1, 2, true}, {1, 1, false}};
      for (const PipelineMode& mode : modes) {
        if (mode.prologue_predicated && !closed_masks_suffice()) continue;
        set_mode(mode);
        if (search()) return true;
      }
    }
    return false;
  }

  void save() {
    static_cast<CompiledLoop&>(out_) = current_;
    out_.problem.loop = &out_.loop;
  }

  void set_blocks(unsigned elements) {
    Problem& p = current_.problem;
    const std::size_t n = current_.loop.values.size();
    p.field_word.assign(n, 0);
    p.field_half.assign(n, 0);
    const unsigned words = out_.item.shorts / 2;
    for (unsigned first = 0; first + elements <= words; first += elements)
      p.blocks.push_back({first, {}});
    for (std::size_t v = 0; v < n; ++v) {
      const MachineValue& value = current_.loop.values[v];
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

  /// Find the operations that must not execute for a nonexistent item: contributions, and those
  /// that open a mask.
  void mark_prologue_predicated() {
    prologue_predicated_.assign(current_.loop.ops.size(), false);
    for (std::size_t i = 0; i < current_.loop.ops.size(); ++i) {
      const MachineOp& op = current_.loop.ops[i];
      const bool result =
          op.out != none && current_.loop.value(op.out).origin == Origin::Accumulator;
      prologue_predicated_[i] = (result || op.list != none) && op.predicate == none;
    }
    for (const MachineMask& m : current_.loop.masks)
      if (!m.defs.empty()) prologue_predicated_[index(m.defs.front())] = true;
  }

  /// Whether no contribution executes where its mask is closed. A prologue predicate keeps masks
  /// closed for a nonexistent item, so it could not suppress such a contribution (an `else`).
  bool closed_masks_suffice() const {
    const MachineLoop& loop = current_.loop;
    return std::none_of(loop.ops.begin(), loop.ops.end(), [&](const MachineOp& op) {
      const bool contributes =
          op.list != none || (op.out != none && loop.value(op.out).origin == Origin::Accumulator);
      return contributes && op.predicate != none &&
             op.predicate_value == loop.mask(op.predicate).off;
    });
  }

  /// Search for the least II: upward from the lower bound until one works, then downward.
  bool search() {
    const unsigned least = min_ii(current_.problem);
    const std::size_t ops = current_.loop.ops.size();
    const std::uint64_t steps = 12000 * (ops + 8) / size_factor();
    bool saved = false;
    unsigned ii = least;
    for (const unsigned percent : {20U, 45U, 80U, 140U, 260U}) {
      ii = least + least * percent / 100 + 1;
      const unsigned seeds = size_factor() > 1 ? 1 : 1 + options_.effort / 2;
      saved = try_ii(ii, steps, seeds);
      if (saved) break;
      if (percent > 100 && mode_.max_stages > 1) break;  // the next mode is better
    }
    if (!saved) return false;
    for (unsigned shorter = ii - 1; options_.effort > 0 && shorter >= least; --shorter)
      if (!try_ii(shorter, 2 * steps, options_.effort)) break;
    return true;
  }

  /// Search one II with several seeds; keeps the first schedule found.
  bool try_ii(unsigned ii, std::uint64_t steps, unsigned seeds) {
    for (unsigned k = 0; k < seeds; ++k) {
      if (!spend_steps(steps)) return false;
      if (try_seed(ii, options_.seed * 1000 + k, steps)) return true;
    }
    return false;
  }

  /// Cost factor of loops beyond the size that annealing handles well: the cube of the relative
  /// size, else 1. The search of a long loop gets fewer steps, so that it takes no longer than that
  /// of a small one.
  std::uint64_t size_factor() const {
    constexpr std::uint64_t long_loop = 136;
    const std::uint64_t ops = current_.loop.ops.size();
    return ops <= long_loop ? 1 : 1 + (ops * ops * ops) / (long_loop * long_loop * long_loop);
  }

  /// Charge annealing steps; a step costs more with more operations.
  bool spend_steps(std::uint64_t steps) {
    constexpr std::size_t small = 40;
    const std::uint64_t price =
        steps * std::max(small, current_.loop.ops.size()) / small * size_factor();
    record_failure("the step limit of the search was reached");
    if (price > steps_left_) return false;
    steps_left_ -= price;
    return true;
  }

  bool try_seed(unsigned ii, std::uint64_t seed, std::uint64_t steps) {
    record_failure("no schedule was found");
    const auto schedule = find_schedule(current_.problem, ii, seed, steps,
                                        [&](const Schedule& s) { return is_usable(s); });
    if (schedule)
      current_.saved = {current_.loop.elements,      ii,   mode_.unroll, mode_.prologue_predicated,
                        current_.rematerialized > 0, seed, steps};
    return schedule.has_value();
  }

  /// Whether one instruction would combine a suppressed contribution of the previous item with an
  /// unsuppressed one of the current item.
  bool prologue_predicates_conflict(const Schedule& schedule) const {
    const auto ii = static_cast<int>(schedule.ii);
    std::vector<int> max_stages(schedule.ii, -1);
    for (std::size_t i = 0; i < prologue_predicated_.size(); ++i) {
      if (!prologue_predicated_[i] || !schedule.active[i]) continue;
      int& pass = max_stages[index(schedule.time[i] % ii)];
      if (pass >= 0 && pass != schedule.time[i] / ii) return true;
      pass = schedule.time[i] / ii;
    }
    return false;
  }

  /// Whether a schedule has a correct prologue and can be allocated; if so it becomes the current
  /// one.
  bool is_usable(const Schedule& schedule) {
    const MachineLoop& loop = current_.loop;
    const unsigned unroll = required_unroll(current_.problem, schedule);
    if (unroll > mode_.unroll) return false;
    const int ii = static_cast<int>(schedule.ii);
    const BodyTimes times{ii * static_cast<int>(unroll), ii};
    const int max_stages = stage_count(loop, schedule, times);
    if (!mode_.prologue_predicated && max_stages > 1 &&
        !prologue_is_neutral(loop, schedule, times, unroll)) {
      record_failure("the prologue would change results");
      return false;
    }
    if (mode_.prologue_predicated && (max_stages > 2 || prologue_predicates_conflict(schedule)))
      return false;
    auto allocation =
        allocate(current_.problem, schedule, options_.geometry, unroll, out_.graph, failure_);
    if (!allocation) return false;
    current_.schedule = schedule;
    current_.allocation = std::move(*allocation);
    current_.prologue_predicated = mode_.prologue_predicated && max_stages > 1;
    return true;
  }

  const CompileOptions& options_;
  CompiledKernel& out_;
  CompiledLoop current_;
  PipelineMode mode_{1, 1, false};  ///< of `current_`
  bool found_ = false;
  unsigned best_ = 0;
  std::vector<bool> prologue_predicated_;
  std::uint64_t steps_left_ = 0;                       ///< remaining annealing steps
  std::vector<std::vector<std::string_view>> lines_;   ///< of each source
  Diagnostic failure_;                                 ///< why the last candidate failed
  std::array<Diagnostic, max_elements + 2> failures_;  ///< why this number of targets failed
  Diagnostic exceeded_capacity_;                       ///< why rematerialization was necessary
};

}  // namespace

void generate_code(const Graph& graph, const CompileOptions& options,
                   std::span<const SourceText> sources,
                   const std::optional<SavedSchedule>& saved_schedule, CompiledKernel& out) {
  CodeGenerator(options, sources, out).run(graph, saved_schedule);
}

}  // namespace gdr::kc
