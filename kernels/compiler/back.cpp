#include "kernels/compiler/back.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gdr/error.hpp"
#include "kernels/compiler/lower/lower.hpp"
#include "kernels/compiler/place/pipeline.hpp"

namespace gdr::kc {
namespace {

/// A way of overlapping items, from the best to the one that always works.
struct Mode {
  unsigned copies, stages;
  bool guarded;
};

class Compiler {
 public:
  Compiler(const BackOptions& options, Compiled& out) : options_(options), out_(out) {}

  void run(const Graph& graph) {
    out_.graph = graph;
    infer_types(out_.graph);
    place_gates(out_.graph);
    out_.item = lay_out_item(out_.graph);
    const unsigned most = options_.elements != 0 ? options_.elements : max_elements;
    const unsigned least = options_.elements != 0 ? options_.elements : 1;
    for (unsigned elements = most; elements >= least; --elements) {
      if (with_elements(elements)) return;
      out_.remarks.push_back(fmt::format("{} targets in a PE do not fit: {}", elements, why_));
    }
    throw Error(ErrorCategory::Program,
                fmt::format("{}: the kernel does not fit the chip: {}", graph.name, why_));
  }

 private:
  bool with_elements(unsigned elements) {
    out_.loop = lower(out_.graph, {elements, options_.relaxed});
    Problem& p = out_.problem;
    p = Problem{};
    p.loop = &out_.loop;
    p.latency = (elements + 3) / elements;
    p.register_shorts = 2 * options_.geometry.register_words;
    set_blocks(elements);
    pads_ = neutral_fields(out_.loop);
    mark_guarded();
    if (const int over = accumulator_excess(); over > 0) {
      why_ = fmt::format("the sums need {} shorts more than the register file has", over);
      return false;
    }
    const Mode modes[] = {{pads_.empty() ? 1U : 2U, 3, false}, {1, 2, true}, {1, 1, false}};
    const Mode* begin = modes;
    for (const Mode* mode = begin; mode != std::end(modes); ++mode) {
      p.copies = mode->copies;
      p.stages = mode->stages;
      p.guarded = mode->guarded ? guarded_ : std::vector<bool>{};
      if (search(*mode)) return true;
    }
    return false;
  }

  void set_blocks(unsigned elements) {
    Problem& p = out_.problem;
    const std::size_t n = out_.loop.values.size();
    p.field_word.assign(n, 0);
    p.field_half.assign(n, 0);
    const unsigned words = out_.item.shorts / 2;
    for (unsigned first = 0; first + elements <= words; first += elements)
      p.blocks.push_back({first, {}});
    for (std::size_t v = 0; v < n; ++v) {
      const MachineValue& value = out_.loop.values[v];
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
    guarded_.assign(out_.loop.ops.size(), false);
    for (std::size_t i = 0; i < out_.loop.ops.size(); ++i) {
      const MachineOp& op = out_.loop.ops[i];
      const bool result =
          op.out != none &&
          out_.loop.values[static_cast<std::size_t>(op.out)].origin == Origin::Accumulator;
      guarded_[i] = result && op.predicate == none;
    }
    for (const MachineMask& m : out_.loop.masks)
      if (!m.defs.empty()) guarded_[static_cast<std::size_t>(m.defs.front())] = true;
  }

  int accumulator_excess() const {
    int shorts = -static_cast<int>(out_.problem.register_shorts);
    for (const MachineValue& v : out_.loop.values)
      if (v.origin == Origin::Accumulator)
        shorts += static_cast<int>(shorts_in(v.width) * out_.loop.elements);
    return shorts;
  }

  /// Look for ever shorter loops: up from the bound until one works, then down while one does.
  bool search(const Mode& mode) {
    const unsigned least = least_interval(out_.problem);
    const std::size_t ops = out_.loop.ops.size();
    const std::uint64_t steps = 6000 * ops;
    bool found = false;
    unsigned interval = least + std::max(2U, least / 4);
    const unsigned limit = 6 * least + 60;
    while (!found && interval <= limit) {
      found = attempt(interval, steps, 2, mode);
      if (!found) interval += std::max(1U, interval / 8);
    }
    if (!found) {
      if (why_.empty()) why_ = "no schedule was found";
      return false;
    }
    unsigned failures = 0;
    const std::uint64_t deeper = steps * (1 + 2 * options_.effort);
    for (unsigned shorter = interval - 1; options_.effort > 0 && shorter >= least && failures < 1;
         --shorter)
      if (!attempt(shorter, deeper, options_.effort, mode)) ++failures;
    return true;
  }

  /// One interval with several seeds; keeps what it finds in the result.
  bool attempt(unsigned interval, std::uint64_t steps, unsigned seeds, const Mode& mode) {
    for (unsigned k = 0; k < seeds; ++k) {
      const std::uint64_t seed = options_.seed * 1000003 + interval * 101 + k;
      const auto schedule = find_schedule(out_.problem, interval, seed, steps);
      fprintf(stderr, "interval %u seed %u found %d\n", interval, k, schedule.has_value());
      if (!schedule) continue;
      const unsigned copies = copies_needed(out_.problem, *schedule);
      if (copies > mode.copies) continue;
      const RingTimes ring{static_cast<int>(interval * copies), static_cast<int>(interval)};
      if (!mode.guarded && mode.stages > 1 && !starts_clean(out_.loop, *schedule, ring, copies)) {
        why_ = "the loop cannot be pipelined without a guard";
        continue;
      }
      if (mode.guarded && passes_needed(out_.loop, *schedule, ring) > 2) continue;
      std::string why;
      auto layout = place(out_.problem, *schedule, options_.geometry, copies, why);
      if (!layout) {
        why_ = "no room in " + why;
        continue;
      }
      out_.schedule = *schedule;
      out_.layout = std::move(*layout);
      out_.guarded = mode.guarded && passes_needed(out_.loop, *schedule, ring) > 1;
      EmitOptions emission;
      emission.guard = out_.guarded;
      emission.pads = pads_;
      emission.note = out_.graph.name + ": made by the kernel compiler.";
      out_.assembly =
          emit(out_.graph, out_.problem, out_.schedule, out_.layout, out_.item, emission);
      return true;
    }
    return false;
  }

  const BackOptions& options_;
  Compiled& out_;
  std::vector<ValueId> pads_;
  std::vector<bool> guarded_;
  std::string why_;
};

}  // namespace

void compile_graph(const Graph& graph, const BackOptions& options, Compiled& out) {
  Compiler(options, out).run(graph);
}

}  // namespace gdr::kc
