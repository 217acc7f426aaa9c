#include "emulator/engine/native/run/lane_targets.hpp"

#include <algorithm>

#include "emulator/engine/native/run/lane_rows.hpp"
#include "emulator/host/for_each_isa.hpp"

namespace gdr::native {
namespace {

using namespace lane_rows;

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
    copy_as(input.type, items[input.section].row(input.kernel, input.from), targets.n,
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
  std::array<LaneBytes, LaneSections::count> bytes;  ///< work items by section
  std::array<Items, LaneSections::count> items;
  CallBuffers calls;
  NearSources near;
};

LaneTargets::LaneTargets(const CompiledProgram& compiled, const LoadedProgram& loaded,
                         const PackedPlan& plan)
    : compiled_(compiled), loaded_(loaded), may_run_(may_run(plan)) {
  if (may_run_) cutoff_ = cutoff_words(loaded, section(LaneSections::body));
}

bool LaneTargets::may_run(const PackedPlan& plan) const {
  return plan.usable && plan.folded &&
         std::ranges::all_of(LaneSections::all, [&](std::size_t number) {
           const CompiledSection& s = section(number);
           return s.precision() == Precision::Double && s.lookups().tables.empty() &&
                  (number == LaneSections::start || s.bm_stores().empty()) &&
                  std::ranges::all_of(s.kernels(), [](const Kernel& k) { return k.lists.empty(); });
         });
}

bool LaneTargets::prepare(const BlockState& image, std::uint64_t number) {
  if (!may_run_) return false;
  if (image_ == number) return plan_ != nullptr;
  image_ = number;
  if (section(LaneSections::start).bm_stores().empty()) return prepare_from(image, image);
  BlockState started = image;
  start_packed(compiled_, {started, started.pes, true});
  return prepare_from(image, started);
}

bool LaneTargets::prepare_from(const BlockState& before, const BlockState& after) {
  for (const std::size_t s : LaneSections::all)
    codes_[s] = &section(s).code(zero_words(section(s), s == LaneSections::start ? before : after),
                                 Precision::Double);
  const auto [found, is_new] = plans_.try_emplace(codes_);
  if (is_new) {
    try {
      found->second = make_lane_transfers(compiled_, loaded_, codes_);
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
  for (const std::size_t s : LaneSections::all) {
    grow(uniforms_[s], section(s).uniform_words().words.size() * sizeof(double));
    uniform_lanes(section(s), Precision::Double, s == LaneSections::start ? before : after,
                  uniforms_[s].data());
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
  std::array<Items, LaneSections::count>& items = scratch.items;
  const std::size_t n = records.count;
  const std::size_t vectors = (n + codes_[LaneSections::body]->target.lanes() - 1) /
                              codes_[LaneSections::body]->target.lanes();
  for (const std::size_t s : LaneSections::all)
    place_items(*codes_[s], vectors, scratch.bytes[s], items[s]);
  for (const std::size_t s : LaneSections::all) {
    const CompiledKernels& code = *codes_[s];
    KernelCalls calls{section(s), code, {}, uniforms_[s].data(), vectors, n};
    if (s == LaneSections::body) {
      calls.sources = {sources.groups, sources.count, sources.windows, sources.first_window};
      if (cutoff_ && !reads_last_groups()) {
        scratch.near.begin(*cutoff_, records.targets, n, calls.sources);
        calls.near = &scratch.near;
      }
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
                     codes_[LaneSections::body]->target.isa))
      return false;
  const std::array targets{codes_[LaneSections::start]->target, codes_[LaneSections::body]->target,
                           codes_[LaneSections::end]->target};
  store_fields(plan_->results, loaded_, targets, items, n, records.results);
  return true;
}

}  // namespace gdr::native
