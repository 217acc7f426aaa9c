#include "kernels/compiler/back.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/compiler/lower/lower.hpp"
#include "kernels/compiler/place/pipeline.hpp"
#include "kernels/compiler/refusal.hpp"
#include "kernels/compiler/schedule/recompute.hpp"
#include "kernels/compiler/schedule/sequential.hpp"
#include "kernels/compiler/stop.hpp"

namespace gdr::kc {
namespace {

/// How much room an item's values are made to keep to, in percent of what there is. Without a limit
/// nothing is worked out again; items that overlap have about half each; of an item that has all of
/// it the schedule makes some values live longer than they had to.
constexpr unsigned no_limit = 0, overlapping = 50, alone[] = {100, 85, 70};

/// A way of overlapping items, from the best to the one that always works.
struct Mode {
  unsigned copies, stages;
  bool guarded;
};

class Compiler {
 public:
  Compiler(const BackOptions& options, Compiled& out) : options_(options), out_(out) {
    constexpr std::uint64_t moves = 8'000'000;  // of a small kernel: about as many seconds
    moves_left_ = moves * (1 + options.effort * (1 + options.effort));
  }

  void run(const Graph& graph) {
    out_.graph = graph;
    refuse_endless();
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
    if (!known && masks_crowd(fewest)) moves_left_ /= 10;
    for (unsigned elements = most; !known && elements >= fewest; --elements) {
      if (!with_elements(elements)) {
        remember_why(elements);
        continue;
      }
      const unsigned bound = least_interval(current_.problem);
      keep_if_shorter();
      if (best_ <= bound + bound / 2) break;
    }
    const bool overlaps = found_;
    if (!overlaps) one_after_the_other(fewest, most);
    if (!found_) refuse(fewest);
    if (!overlaps) out_.remarks.push_back("no overlapping of items was found: one after the other");
    if (out_.recomputed > 0 && !known)
      out_.remarks.push_back(fmt::format("{} values are worked out late or again, not kept: {}",
                                         out_.recomputed, short_of_room_.message));
    if (out_.loop.elements < most && !known) out_.remarks.push_back(fewer_targets(most));
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
    unsigned recomputed = 0;  ///< values
  };

  /// Why so many targets did not do: of several reasons a shortage tells most.
  void remember_why(unsigned elements) {
    Diagnostic& kept = failed_[elements];
    if (why_.code != 0 || kept.message.empty()) kept = why_;
  }

  /// That a PE has fewer targets than it could, and why it does not have one more.
  std::string fewer_targets(unsigned most) const {
    const unsigned have = out_.loop.elements;
    const Diagnostic& why = failed_[have + 1];
    std::string reason = why.message.empty() ? "the loop is shorter so" : why.message;
    if (!why.label.empty()) reason += " for " + std::to_string(have + 1) + " (" + why.label + ")";
    return fmt::format("{} target{} in a PE instead of {}: {}", have, have == 1 ? "" : "s", most,
                       reason);
  }

  /// What is far too much for the instruction memory is not worth the time that lowering takes. An
  /// instruction has one operation of the adder and one of the multiplier.
  void refuse_endless() const {
    const std::uint64_t have = options_.geometry.instruction_words;
    const auto refuse_beyond = [&](std::uint64_t operations, const char* unit,
                                   const SourceRange& where) {
      if (operations <= have) return;
      throw Refusal{shortage(
          Code::TooManyInstructions, where, "there is no room in the instruction memory",
          fmt::format("with this one the {} has more operations than there are instructions, {}",
                      unit, have))};
    };
    std::uint64_t additions = 0, products = 0;
    const std::vector<bool> needed = needed_nodes(out_.graph);
    for (std::size_t i = 0; i < needed.size(); ++i) {
      const Node& n = out_.graph.nodes[i];
      const auto constant = [&](NodeId id) {
        return id == no_node || out_.graph.nodes[static_cast<std::size_t>(id)].fn == Fn::Constant;
      };
      if (!needed[i]) continue;
      if (n.fn == Fn::Add || n.fn == Fn::Sub || n.fn == Fn::Min || n.fn == Fn::Max)
        refuse_beyond(++additions, "adder", n.where);
      if (n.fn == Fn::Mul && !constant(n.a) && !constant(n.b))
        refuse_beyond(++products, "multiplier", n.where);
    }
    for (const Contribution& c : out_.graph.contributions)
      refuse_beyond(++additions, "adder", c.where);
  }

  /// The one attempt that a hint names.
  bool follow(const Hint& hint, unsigned fewest, unsigned most) {
    if (hint.elements < fewest || hint.elements > most) return false;
    if (!prepare(hint.elements, hint.recompute ? overlapping : no_limit)) return false;
    const Mode mode{hint.copies, hint.guarded ? 2U : 3U, hint.guarded};
    if (hint.copies > 1 && current_.pads.empty()) return false;
    set_mode(mode);
    if (hint.interval < least_interval(current_.problem)) return false;
    found_ = try_seed(hint.interval, hint.seed, hint.moves, mode);
    if (found_) keep();
    return found_;
  }

  /// Items not overlapping: with as many targets as possible, unless they make values be worked out
  /// again and fewer would be faster.
  void one_after_the_other(unsigned fewest, unsigned most) {
    for (unsigned elements = most; elements >= fewest; --elements) {
      if (in_order(elements, no_limit)) {
        keep_if_shorter();
        return;
      }
      for (const unsigned percent : alone) {
        if (!in_order(elements, percent)) continue;
        keep_if_shorter();
        break;
      }
      remember_why(elements);
    }
  }

  void keep_if_shorter() {
    if (found_ && current_.schedule.interval >= best_) return;
    best_ = current_.schedule.interval;
    found_ = true;
    keep();
  }

  /// What always works if there is room: no two operations at a time.
  bool in_order(unsigned elements, unsigned room_percent) {
    if (!prepare(elements, room_percent)) return false;
    current_.problem.blocks.clear();
    const Schedule schedule = schedule_in_order(current_.loop, current_.problem.register_shorts);
    const std::size_t values = current_.loop.values.size();
    current_.problem.field_word.resize(values, 0);
    current_.problem.field_half.resize(values, 0);
    const Mode mode{1, 1, false};
    set_mode(mode);
    if (!usable(schedule, mode)) return false;
    current_.found = {};
    return true;
  }

  /// Lowers the graph. Within a limit, what takes more room is worked out again; false if there is
  /// nothing to be done about that, or no hope.
  bool prepare(unsigned elements, unsigned room_percent) {
    throw_if_stopped(options_.stop);
    current_ = Attempt{};
    current_.loop = lower(out_.graph, {elements, options_.relaxed});
    if (room_percent != no_limit) {
      short_of_room_ = why_;
      current_.recomputed = recompute(current_.loop, room_for_items() * room_percent / 100);
      if (current_.recomputed == 0) return false;
    }
    for (MachineOp& op : current_.loop.ops) op.text = excerpt(op.where);
    Problem& p = current_.problem;
    p.loop = &current_.loop;
    p.stop = options_.stop;
    p.latency = (elements + 3) / elements;
    p.register_shorts = 2 * options_.geometry.register_words;
    set_blocks(elements);
    current_.pads = neutral_fields(current_.loop);
    mark_guarded();
    if (results_crowd() || tables_crowd() || inputs_crowd()) return false;
    if (!current_.loop.lists.empty() && lists_crowd()) {
      const auto last = static_cast<std::size_t>(current_.loop.lists.back().variable);
      why_ = shortage(
          Code::NoLocalMemory, out_.graph.variables[last].where, "there is no room in local memory",
          fmt::format("the lists need {} of its {} shorts", current_.loop.lists.back().end(),
                      2 * options_.geometry.local_words));
      return false;
    }
    return true;
  }

  /// Shorts for what items need on their way; vectors of two sizes in one file leave gaps.
  unsigned room_for_items() const {
    const unsigned registers = 2 * options_.geometry.register_words;
    const unsigned local = 2 * options_.geometry.local_words;
    unsigned taken = registers / 4 + local / 16;
    for (const MachineTable& t : current_.loop.tables) taken += t.padded * shorts_in(t.width);
    for (const MachineList& l : current_.loop.lists) taken += l.end() - l.address;
    for (const MachineValue& v : current_.loop.values) {
      if (v.origin == Origin::Resident || v.origin == Origin::Accumulator)
        taken += shorts_in(v.width) * (v.scalar ? 1 : current_.loop.elements);
    }
    return registers + local - std::min(taken, registers + local);
  }

  /// Whether one operation after the other needs too many masks at a time: operations side by side
  /// will hardly do with fewer.
  bool masks_crowd(unsigned elements) {
    if (!prepare(elements, no_limit) || current_.loop.masks.size() < mask_registers) return false;
    return !in_order(elements, no_limit) && why_.code == number(Code::NoMasks);
  }

  /// Whether the tables alone are more than local memory has.
  bool tables_crowd() {
    for (const MachineTable& t : current_.loop.tables) {
      const unsigned end = t.address + t.padded * shorts_in(t.width);
      if (end <= 2 * options_.geometry.local_words) continue;
      why_ = shortage(Code::NoLocalMemory,
                      out_.graph.variables[static_cast<std::size_t>(t.variable)].where,
                      "there is no room in local memory",
                      fmt::format("with this one the tables need {} shorts, there are {}", end,
                                  2 * options_.geometry.local_words));
      return true;
    }
    return false;
  }

  /// Whether what stays during the whole loop is more than register file and local memory have
  /// together.
  bool inputs_crowd() {
    unsigned staying = 0;
    std::int32_t last = none;
    for (const MachineTable& t : current_.loop.tables)
      staying = std::max(staying, t.address + t.padded * shorts_in(t.width));
    for (const MachineList& l : current_.loop.lists) staying = std::max(staying, l.end());
    for (const MachineValue& v : current_.loop.values) {
      if (v.origin != Origin::Resident && v.origin != Origin::Accumulator) continue;
      staying += shorts_in(v.width) * (v.scalar ? 1 : current_.loop.elements);
      if (v.origin == Origin::Resident && v.variable != none) last = v.variable;
    }
    const unsigned have = 2 * (options_.geometry.register_words + options_.geometry.local_words);
    if (staying <= have || last == none) return false;
    why_ = shortage(Code::NoLocalMemory, out_.graph.variables[static_cast<std::size_t>(last)].where,
                    "there is no room in local memory",
                    fmt::format("what targets, parameters and results keep during the loop needs "
                                "{} shorts, register file and local memory have {}",
                                staying, have));
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

  /// Why this attempt leads nowhere; others may.
  void no_way(std::string why) {
    why_ = {};
    why_.message = std::move(why);
  }

  /// What does not suffice with the fewest targets in a PE; of a list, how long it could be.
  [[noreturn]] void refuse(unsigned elements) {
    const Diagnostic why = why_;
    const unsigned entries = room_for_list(elements);
    if (entries == 0) throw Refusal{why};
    const GraphVariable& list = longest_list();
    throw Refusal{shortage(Code::ListTooLong, list.where,
                           fmt::format("the list `{}` is too long", list.name),
                           fmt::format("it can have {} entries at most", entries))};
  }

  GraphVariable& longest_list() {
    return *std::max_element(
        out_.graph.variables.begin(), out_.graph.variables.end(),
        [](const GraphVariable& a, const GraphVariable& b) { return a.list_size < b.list_size; });
  }

  /// Entries that the longest list could have; 0 if there is none, or if shortening it is no help.
  unsigned room_for_list(unsigned elements) {
    GraphVariable& longest = longest_list();
    const unsigned asked = longest.list_size;
    if (asked == 0) return 0;
    unsigned fits = 0, fails = std::min(asked, 2 * options_.geometry.local_words);
    while (fits + 1 < fails) {
      longest.list_size = (fits + fails) / 2;
      (in_order(elements, no_limit) ? fits : fails) = longest.list_size;
    }
    longest.list_size = asked;
    return fits;
  }

  /// A line of the source; empty if there is none.
  std::string_view source_line(const SourceRange& at) {
    if (at.line == 0 || at.file >= options_.sources.size()) return {};
    const std::string_view text = options_.sources[at.file].text;
    line_begins_.resize(options_.sources.size());
    std::vector<std::size_t>& begins = line_begins_[at.file];
    if (begins.empty()) {
      begins.push_back(0);
      for (std::size_t k = text.find('\n'); k != std::string_view::npos; k = text.find('\n', k + 1))
        begins.push_back(k + 1);
    }
    if (at.line > begins.size()) return {};
    const std::size_t begin = begins[at.line - 1];
    return text.substr(begin, text.find('\n', begin) - begin);
  }

  /// The characters of the source at a place, on one line and not too many.
  std::string excerpt(const SourceRange& at) {
    const std::string_view text = source_line(at);
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

  /// Items that overlap, with what there is no room for worked out again if it must be.
  bool with_elements(unsigned elements) {
    constexpr std::size_t most_ops = 600;  // beyond this the search would take minutes
    for (const unsigned percent : {no_limit, overlapping}) {
      if (!prepare(elements, percent)) return false;
      if (current_.loop.ops.size() > most_ops) {
        no_way(fmt::format("{} operations are too many to overlap", current_.loop.ops.size()));
        return false;
      }
      const Mode modes[] = {
          {current_.pads.empty() ? 1U : 2U, 3, false}, {1, 2, true}, {1, 1, false}};
      for (const Mode& mode : modes) {
        if (mode.guarded && !closed_masks_suffice()) continue;
        set_mode(mode);
        if (search(mode)) return true;
      }
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
    out_.recomputed = current_.recomputed;
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

  /// Whether the results alone are more than the register file has.
  bool results_crowd() {
    const unsigned have = current_.problem.register_shorts;
    unsigned shorts = 0;
    std::int32_t first_outside = none;
    for (const MachineValue& v : current_.loop.values) {
      if (v.origin != Origin::Accumulator) continue;
      shorts += shorts_in(v.width) * current_.loop.elements;
      if (shorts > have && first_outside == none) first_outside = v.variable;
    }
    if (first_outside == none) return false;
    const GraphVariable& v = out_.graph.variables[static_cast<std::size_t>(first_outside)];
    why_ = shortage(Code::NoRegisters, v.where, "there is no room in the register file",
                    fmt::format("the results need {} shorts, there are {}", shorts, have));
    return true;
  }

  /// Look for ever shorter loops: up from the bound until one works, then down while one does.
  bool search(const Mode& mode) {
    const unsigned least = least_interval(current_.problem);
    const std::size_t ops = current_.loop.ops.size();
    const std::uint64_t steps = 12000 * (ops + 8) / length();
    bool found = false;
    unsigned interval = least;
    for (const unsigned percent : {20U, 45U, 80U, 140U, 260U}) {
      interval = least + least * percent / 100 + 1;
      const unsigned seeds = length() > 1 ? 1 : 1 + options_.effort / 2;
      found = attempt(interval, steps, seeds, mode);
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
    for (unsigned k = 0; k < seeds; ++k) {
      if (!spend(moves)) return false;
      if (try_seed(interval, options_.seed * 1000 + k, moves, mode)) return true;
    }
    return false;
  }

  /// By how much a loop is longer than what the search does well, cubed; one for those that are
  /// not. All of its attempts together must not take longer than those of a small one: it has a
  /// part of the moves, and fewer attempts.
  std::uint64_t length() const {
    constexpr std::uint64_t long_loop = 136;
    const std::uint64_t ops = current_.loop.ops.size();
    return ops <= long_loop ? 1 : 1 + (ops * ops * ops) / (long_loop * long_loop * long_loop);
  }

  /// A move takes the longer the more operations there are.
  bool spend(std::uint64_t moves) {
    constexpr std::size_t small = 40;
    const std::uint64_t price =
        moves * std::max(small, current_.loop.ops.size()) / small * length();
    no_way("the time for the search was not enough");
    if (price > moves_left_) return false;
    moves_left_ -= price;
    return true;
  }

  bool try_seed(unsigned interval, std::uint64_t seed, std::uint64_t moves, const Mode& mode) {
    no_way("no schedule was found");
    const auto schedule = find_schedule(current_.problem, interval, seed, moves,
                                        [&](const Schedule& s) { return usable(s, mode); });
    if (schedule)
      current_.found = {current_.loop.elements,  interval, mode.copies, mode.guarded,
                        current_.recomputed > 0, seed,     moves};
    return schedule.has_value();
  }

  /// Whether one instruction holds back a contribution of the item before, and has one of its own
  /// item beside it, which must happen.
  bool guards_mix(const Schedule& schedule) const {
    const auto interval = static_cast<int>(schedule.interval);
    std::vector<int> passes(schedule.interval, -1);
    for (std::size_t i = 0; i < guarded_.size(); ++i) {
      if (!guarded_[i] || !schedule.active[i]) continue;
      int& pass = passes[static_cast<std::size_t>(schedule.time[i] % interval)];
      if (pass >= 0 && pass != schedule.time[i] / interval) return true;
      pass = schedule.time[i] / interval;
    }
    return false;
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
      no_way("the first items of the pipeline would leave something behind");
      return false;
    }
    if (mode.guarded && (passes > 2 || guards_mix(schedule))) return false;
    auto layout = place(current_.problem, schedule, options_.geometry, copies, out_.graph, why_);
    if (!layout) return false;
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
  std::uint64_t moves_left_ = 0;                       ///< what the search may still spend
  std::vector<std::vector<std::size_t>> line_begins_;  ///< of each source, once they are needed
  Diagnostic why_;                                     ///< of what was tried last and did not do
  std::array<Diagnostic, max_elements + 2> failed_;    ///< why so many targets did not do
  Diagnostic short_of_room_;  ///< of what was tried before values were worked out again
};

}  // namespace

void compile_graph(const Graph& graph, const BackOptions& options, Compiled& out) {
  Compiler(options, out).run(graph);
}

}  // namespace gdr::kc
