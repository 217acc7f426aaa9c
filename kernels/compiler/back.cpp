#include "kernels/compiler/back.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gdr/error.hpp"
#include "kernels/compiler/lower/lower.hpp"
#include "kernels/compiler/place/pipeline.hpp"
#include "kernels/compiler/schedule/sequential.hpp"

namespace gdr::kc {
namespace {

/// A way of overlapping items, from the best to the one that always works.
struct Mode {
  unsigned copies, stages;
  bool guarded;
};

class Compiler {
 public:
  Compiler(const BackOptions& options, Compiled& out) : options_(options), out_(out) {
    constexpr std::uint64_t moves = 8'000'000;  // about as many seconds
    moves_left_ = moves * (1 + options.effort * (1 + options.effort));
    if (options.hint) moves_left_ += options.hint->moves;
  }

  void run(const Graph& graph) {
    out_.graph = graph;
    infer_types(out_.graph);
    place_gates(out_.graph);
    out_.item = lay_out_item(out_.graph);
    // An instruction of fewer elements is shorter in proportion: what counts is the interval in
    // instructions, and with the same interval more targets in a PE.
    const unsigned most = options_.elements != 0 ? options_.elements : max_elements;
    const unsigned fewest = options_.elements != 0 ? options_.elements : 1;
    const bool known = options_.hint && follow(*options_.hint, fewest, most);
    if (options_.hint && !known)
      out_.remarks.push_back("the hint for the schedule leads nowhere: the whole search was made");
    for (unsigned elements = most; !known && elements >= fewest; --elements) {
      if (!with_elements(elements)) continue;
      const unsigned bound = least_interval(current_.problem);
      if (!found_ || current_.schedule.interval < best_) {
        best_ = current_.schedule.interval;
        found_ = true;
        keep();
      }
      if (best_ <= bound + bound / 2) break;
    }
    for (unsigned elements = most; !found_ && elements >= fewest; --elements) in_order(elements);
    if (!found_) {
      const std::string why = why_;
      throw Error(ErrorCategory::Program, fmt::format("{}: the kernel does not fit the chip: {}{}",
                                                      graph.name, why, room_for_list(fewest)));
    }
    if (out_.loop.elements < most && !known)
      out_.remarks.push_back(
          fmt::format("{} targets in a PE instead of {}: {}", out_.loop.elements, most, why_));
    finish();
  }

 private:
  /// One way of compiling.
  struct Attempt {
    MachineLoop loop;
    Problem problem;
    Schedule schedule;
    Layout layout;
    bool guarded = false;
    Hint found;
    std::vector<ValueId> pads;
  };

  /// The one attempt that a hint names.
  bool follow(const Hint& hint, unsigned fewest, unsigned most) {
    if (hint.elements < fewest || hint.elements > most || !prepare(hint.elements)) return false;
    const Mode mode{hint.copies, hint.guarded ? 2U : 3U, hint.guarded};
    if (hint.copies > 1 && current_.pads.empty()) return false;
    set_mode(mode);
    if (hint.interval < least_interval(current_.problem)) return false;
    found_ = try_seed(hint.interval, hint.seed, hint.moves, mode);
    if (found_) keep();
    return found_;
  }

  /// What always works if there is room: no two operations at a time.
  void in_order(unsigned elements) {
    if (!prepare(elements)) return;
    current_.problem.blocks.clear();
    const Schedule schedule = schedule_in_order(current_.loop, current_.problem.register_shorts);
    const std::size_t values = current_.loop.values.size();
    current_.problem.field_word.resize(values, 0);
    current_.problem.field_half.resize(values, 0);
    const Mode mode{1, 1, false};
    set_mode(mode);
    found_ = usable(schedule, mode);
    if (!found_) return;
    current_.found = {};
    out_.remarks.push_back("no overlapping of items was found: one after the other");
    keep();
  }

  bool prepare(unsigned elements) {
    current_ = Attempt{};
    current_.loop = lower(out_.graph, {elements, options_.relaxed});
    for (MachineOp& op : current_.loop.ops) op.text = excerpt(op.where);
    Problem& p = current_.problem;
    p.loop = &current_.loop;
    p.latency = (elements + 3) / elements;
    p.register_shorts = 2 * options_.geometry.register_words;
    set_blocks(elements);
    current_.pads = neutral_fields(current_.loop);
    mark_guarded();
    if (const int over = accumulator_excess(); over > 0) {
      why_ = fmt::format("the sums need {} shorts more than the register file has", over);
      return false;
    }
    if (!current_.loop.lists.empty() && lists_crowd()) {
      why_ = "there is no room in local memory: the lists are too long";
      return false;
    }
    return true;
  }

  /// Whether lists leave too little room for what stays during the loop, so that no search is made:
  /// about half of what the sums leave of the register file can take some of that.
  bool lists_crowd() const {
    unsigned shorts = 0, sums = 0;
    for (const MachineList& l : current_.loop.lists) shorts = std::max(shorts, l.end());
    for (const MachineValue& v : current_.loop.values) {
      const unsigned own = shorts_in(v.width) * (v.scalar ? 1 : current_.loop.elements);
      if (v.origin == Origin::Resident) shorts += own;
      if (v.origin == Origin::Accumulator) sums += own;
    }
    const unsigned registers = current_.problem.register_shorts;
    return shorts > 2 * options_.geometry.local_words + (registers - sums) / 2;
  }

  /// Where a list is too long: how long it could be.
  std::string room_for_list(unsigned elements) {
    std::vector<GraphVariable>& all = out_.graph.variables;
    const auto longest = std::max_element(
        all.begin(), all.end(),
        [](const GraphVariable& a, const GraphVariable& b) { return a.list_size < b.list_size; });
    if (longest == all.end() || longest->list_size == 0) return {};
    const unsigned asked = longest->list_size;
    unsigned fits = 0, fails = std::min(asked, 2 * options_.geometry.local_words);
    while (fits + 1 < fails) {
      longest->list_size = (fits + fails) / 2;
      found_ = false;
      in_order(elements);
      (found_ ? fits : fails) = longest->list_size;
    }
    if (fits == 0) return {};
    return fmt::format("; the list {} of {} can have {} entries at most", longest->name, asked,
                       fits);
  }

  /// The characters of the source at a place, on one line and not too many.
  std::string excerpt(const SourceRange& at) const {
    if (at.line == 0 || at.file >= options_.sources.size()) return {};
    std::string_view text = options_.sources[at.file].text;
    for (std::uint32_t line = 1; line < at.line; ++line) {
      const std::size_t end = text.find('\n');
      if (end == std::string_view::npos) return {};
      text.remove_prefix(end + 1);
    }
    text = text.substr(0, text.find('\n'));
    if (at.column == 0 || at.column > text.size()) return {};
    constexpr std::size_t longest = 28;
    std::string out(text.substr(at.column - 1, at.column_end - at.column));
    for (char& c : out)
      if (static_cast<unsigned char>(c) < ' ') c = ' ';
    if (out.size() > longest) out = out.substr(0, longest - 3) + "...";
    return out;
  }

  void set_mode(const Mode& mode) {
    Problem& p = current_.problem;
    p.copies = mode.copies;
    p.stages = mode.stages;
    p.guarded = mode.guarded ? guarded_ : std::vector<bool>{};
  }

  bool with_elements(unsigned elements) {
    if (!prepare(elements)) return false;
    constexpr std::size_t most_ops = 600;  // beyond this the search would take minutes
    if (current_.loop.ops.size() > most_ops) {
      why_ = fmt::format("{} operations are too many to overlap", current_.loop.ops.size());
      return false;
    }
    const Mode modes[] = {{current_.pads.empty() ? 1U : 2U, 3, false}, {1, 2, true}, {1, 1, false}};
    for (const Mode& mode : modes) {
      if (mode.guarded && !closed_masks_suffice()) continue;
      set_mode(mode);
      if (search(mode)) return true;
    }
    return false;
  }

  void keep() {
    out_.loop = current_.loop;
    out_.problem = current_.problem;
    out_.problem.loop = &out_.loop;
    out_.schedule = current_.schedule;
    out_.layout = current_.layout;
    out_.guarded = current_.guarded;
    out_.found = current_.found;
    pads_ = current_.pads;
  }

  void finish() {
    EmitOptions emission;
    emission.guard = out_.guarded;
    emission.pads = pads_;
    emission.note = out_.graph.name + ": made by the kernel compiler." +
                    (out_.found.elements != 0 ? "\n" + to_text(out_.found) : "");
    out_.assembly = emit(out_.graph, out_.problem, out_.schedule, out_.layout, out_.item, emission);
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
      const auto address =
          static_cast<unsigned>(out_.item.address[static_cast<std::size_t>(value.variable)]);
      p.field_word[v] = address / 2;
      p.field_half[v] = static_cast<int>(address % 2);
      for (Block& b : p.blocks)
        if (address / 2 >= b.first_word && address / 2 < b.first_word + elements)
          b.fields.push_back(static_cast<ValueId>(v));
    }
    std::erase_if(p.blocks, [](const Block& b) { return b.fields.empty(); });
  }

  /// What must not happen for an item that does not exist: contributions, and what opens a mask.
  void mark_guarded() {
    guarded_.assign(current_.loop.ops.size(), false);
    for (std::size_t i = 0; i < current_.loop.ops.size(); ++i) {
      const MachineOp& op = current_.loop.ops[i];
      const bool result =
          op.out != none &&
          current_.loop.values[static_cast<std::size_t>(op.out)].origin == Origin::Accumulator;
      guarded_[i] = (result || op.list != none) && op.predicate == none;
    }
    for (const MachineMask& m : current_.loop.masks)
      if (!m.defs.empty()) guarded_[static_cast<std::size_t>(m.defs.front())] = true;
  }

  /// Whether no contribution happens where its mask is closed. A guard keeps masks closed for an
  /// item that does not exist; what is done exactly then (in an `else`) it could not hold back.
  bool closed_masks_suffice() const {
    const MachineLoop& loop = current_.loop;
    return std::none_of(loop.ops.begin(), loop.ops.end(), [&](const MachineOp& op) {
      const bool contributes =
          op.list != none ||
          (op.out != none &&
           loop.values[static_cast<std::size_t>(op.out)].origin == Origin::Accumulator);
      return contributes && op.predicate != none &&
             op.predicate_value == loop.masks[static_cast<std::size_t>(op.predicate)].off;
    });
  }

  int accumulator_excess() const {
    int shorts = -static_cast<int>(current_.problem.register_shorts);
    for (const MachineValue& v : current_.loop.values)
      if (v.origin == Origin::Accumulator)
        shorts += static_cast<int>(shorts_in(v.width) * current_.loop.elements);
    return shorts;
  }

  /// Look for ever shorter loops: up from the bound until one works, then down while one does.
  bool search(const Mode& mode) {
    const unsigned least = least_interval(current_.problem);
    const std::uint64_t steps = 12000 * (current_.loop.ops.size() + 8);
    bool found = false;
    unsigned interval = least;
    for (const unsigned percent : {20U, 45U, 80U, 140U, 260U}) {
      interval = least + least * percent / 100 + 1;
      found = attempt(interval, steps, 1 + options_.effort / 2, mode);
      if (found) break;
      if (percent > 100 && mode.stages > 1) break;  // the next way is better
    }
    if (!found) return false;
    for (unsigned shorter = interval - 1; options_.effort > 0 && shorter >= least; --shorter)
      if (!attempt(shorter, 2 * steps, options_.effort, mode)) break;
    return true;
  }

  /// One interval with several seeds; keeps what it finds.
  bool attempt(unsigned interval, std::uint64_t moves, unsigned seeds, const Mode& mode) {
    for (unsigned k = 0; k < seeds; ++k)
      if (try_seed(interval, options_.seed * 1000 + k, moves, mode)) return true;
    return false;
  }

  bool try_seed(unsigned interval, std::uint64_t seed, std::uint64_t moves, const Mode& mode) {
    why_ = "no schedule was found";
    if (moves > moves_left_) return false;
    moves_left_ -= moves;
    const auto schedule = find_schedule(current_.problem, interval, seed, moves,
                                        [&](const Schedule& s) { return usable(s, mode); });
    if (schedule)
      current_.found = {current_.loop.elements, interval, mode.copies, mode.guarded, seed, moves};
    return schedule.has_value();
  }

  /// Whether a schedule starts and ends cleanly and has room; if so it is the current one.
  bool usable(const Schedule& schedule, const Mode& mode) {
    const MachineLoop& loop = current_.loop;
    const unsigned copies = copies_needed(current_.problem, schedule);
    if (copies > mode.copies) return false;
    const int interval = static_cast<int>(schedule.interval);
    const RingTimes ring{interval * static_cast<int>(copies), interval};
    const int passes = passes_needed(loop, schedule, ring);
    if (!mode.guarded && passes > 1 && !starts_clean(loop, schedule, ring, copies)) {
      why_ = "the first items of the pipeline would leave something behind";
      return false;
    }
    if (mode.guarded && passes > 2) return false;
    std::string why;
    auto layout = place(current_.problem, schedule, options_.geometry, copies, why);
    if (!layout) {
      why_ = "there is no room in " + why;
      return false;
    }
    current_.schedule = schedule;
    current_.layout = std::move(*layout);
    current_.guarded = mode.guarded && passes > 1;
    return true;
  }

  const BackOptions& options_;
  Compiled& out_;
  Attempt current_;
  bool found_ = false;
  unsigned best_ = 0;
  std::vector<ValueId> pads_;
  std::vector<bool> guarded_;
  std::uint64_t moves_left_ = 0;  ///< what the search may still spend
  std::string why_;
};

}  // namespace

void compile_graph(const Graph& graph, const BackOptions& options, Compiled& out) {
  Compiler(options, out).run(graph);
}

}  // namespace gdr::kc
