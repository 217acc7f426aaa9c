#include "emulator/engine/native/program/program.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "emulator/engine/native/gpu/gpu_kernel.hpp"
#include "emulator/engine/native/translate/bits_of_numbers.hpp"
#include "emulator/engine/native/translate/float_range.hpp"
#include "emulator/engine/native/translate/hoisted.hpp"
#include "emulator/engine/native/translate/known_inputs.hpp"
#include "emulator/engine/native/translate/split_longs.hpp"
#include "emulator/host/float_mode.hpp"
#include "emulator/host/stopwatch.hpp"

namespace gdr::native {
namespace {

const std::string not_on_gpu = "on the processor, not on the GPU: ";

bool is_memory(NodeOp op) { return op == NodeOp::Source || op == NodeOp::Uniform; }

/// A constant as a machine word.
ConstantRoot constant_root(const Root& root, const Node& constant, bool complemented) {
  ConstantRoot made{root.key};
  const std::uint64_t bits = complemented ? ~constant.bits : constant.bits;
  row_conversion({}, root.key.type)
      .from_lanes(reinterpret_cast<const std::byte*>(&bits), 1, {&made.upper, &made.lower});
  return made;
}

/// A kernel with some uniform words as zeros.
Kernel with_zeros(const Kernel& kernel, std::uint64_t zero_words, const WordTable& uniforms) {
  return rewritten(kernel, [&](Graph& g, Ref r, const NodeMap&) {
    const Node& node = kernel.graph[r];
    if (node.op != NodeOp::Uniform) return no_ref;
    const std::uint32_t number = uniforms.number(LeafKey::unpack(node.bits));
    const bool zero = number < 64 && ((zero_words >> number) & 1) != 0;
    return zero ? g.constant(node.kind, 0) : no_ref;
  });
}

}  // namespace

CompiledSection::CompiledSection(const SectionModel& model, const Liveness& liveness,
                                 std::vector<std::vector<TableShort>> contents, bool loops,
                                 Target target, SectionModel* start)
    : map_(model.map),
      loops_(loops),
      target_(target),
      tables_(model.tables),
      contents_(std::move(contents)) {
  SplitSection pieces = split(model, liveness);
  kernels_ = std::move(pieces.kernels);
  moves_ = std::move(pieces.moves);
  bm_stores_ = model.bm_stores;
  for (const auto& [number, value] : pieces.constants) {
    const Root& root = liveness.roots[number];
    constants_.push_back(constant_root(root, model.graph[value], negated(value)));
    // A constant of a cell is known to the last bit.
    if (root.key.delay != 0 || root.key.type == WordType::Mask) continue;
    const auto exact = [&](std::uint32_t cell, std::uint64_t& word) {
      const CellValue held = model.state[cell];
      if (model.cells.is_constant(held)) word = model.cells.constant_bits(held);
    };
    exact(root.key.place, constants_.back().upper);
    if (root.key.type == WordType::Long) exact(root.key.place + 1, constants_.back().lower);
  }
  if (target_.precision == Precision::Float)
    for (Kernel& kernel : kernels_) kernel = with_bits_of_numbers(kernel);
  const std::vector<Kernel> without_known = kernels_;
  if (target_.precision == Precision::Float && loops_ && start != nullptr)
    for (Kernel& kernel : kernels_) add_known_inputs(kernel, *start, model);
  check_precision();
  if (target_.precision == Precision::Double) kernels_ = without_known;
  if (target_.precision == Precision::Float && target_.mode == FloatMode::Mixed)
    for (Kernel& kernel : kernels_) kernel = with_split_distances(kernel);
  collect_words();
}

/// Whether a mask depends on the difference of two computed numbers.
bool is_comparison_of_results(const Graph& g, const Node& node) {
  if (node.op != NodeOp::Negative && node.op != NodeOp::IsZero) return false;
  const Node& difference = g[node.a];
  return difference.op == NodeOp::Sub && !is_leaf(g[difference.a].op) &&
         !is_leaf(g[difference.b].op);
}

/// Falls back to doubles where floats are unsupported.
void CompiledSection::check_precision() {
  if (target_.precision != Precision::Float) return;
  for (const Kernel& kernel : kernels_) {
    for (const Node& node : kernel.graph.nodes()) {
      compares_results_ = compares_results_ || is_comparison_of_results(kernel.graph, node);
    }
  }
  try {
    for (const Kernel& kernel : kernels_) note_code(make_code(kernel, 0, target_));
  } catch (const Unsupported& e) {
    // Others than the loop run once for a target.
    if (loops_) set_remark(std::string("doubles instead of floats: ") + e.what());
    target_.precision = Precision::Double;
  }
}

std::array<const Segment*, 4> segments_of(const KernelCode& code) {
  return {&code.once, &code.first, &code.loop, &code.last};
}

/// What code needs beyond its kernel: words that only Kernel::known has, and to detect overflows.
void CompiledSection::note_code(const KernelCode& code) {
  for (const Segment* segment : segments_of(code)) {
    compares_results_ = compares_results_ || segment->detects_overflows;
    for (const Node& node : segment->graph.nodes())
      if (node.op == NodeOp::Uniform) uniform_words_.add(LeafKey::unpack(node.bits));
  }
}

void CompiledSection::collect_words() {
  for (const Kernel& kernel : kernels_) {
    for (const Node& node : kernel.graph.nodes()) {
      if (node.op == NodeOp::Lookup) {
        const LeafKey key = LeafKey::unpack(node.bits);
        lookups_.add(key, tables_[table_of(key)].size());
      }
      if (!is_memory(node.op)) continue;
      WordTable& table = node.op == NodeOp::Source ? source_words_ : uniform_words_;
      table.add(LeafKey::unpack(node.bits));
    }
  }
  const auto note = [&](const Graph& g, Ref r) {
    if (g[r].op != NodeOp::Uniform) return;
    const std::uint32_t number = uniform_words_.number(LeafKey::unpack(g[r].bits));
    if (number < 64) zero_candidates_ |= std::uint64_t{1} << number;
  };
  for (const Kernel& kernel : kernels_) {
    // Directly, or carried from the previous pass.
    std::vector<Ref> next(kernel.inputs.size(), no_ref);
    for (const KernelCarried& c : kernel.carried) next[c.slot] = c.next;
    for (const Node& node : kernel.graph.nodes()) {
      if (node.op != NodeOp::Select) continue;
      for (Ref side : {node.b, node.c}) {
        const Node& held = kernel.graph[side];
        if (held.op == NodeOp::Input) {
          const Ref before = next[LeafKey::unpack(held.bits).place];
          if (before == no_ref) continue;
          side = before;
        }
        note(kernel.graph, side);
      }
    }
  }
}

std::vector<LeafKey> CompiledSection::compared_words() const {
  std::vector<LeafKey> words;
  for (const Kernel& kernel : kernels_)
    for (const Node& node : kernel.graph.nodes()) {
      if (node.op != NodeOp::BitsEqual) continue;
      for (const Ref r : {node.a, node.b}) {
        if (kernel.graph[r].op != NodeOp::Source) continue;
        LeafKey word = LeafKey::unpack(kernel.graph[r].bits);
        word.delay = 0;
        if (std::ranges::find(words, word) == words.end()) words.push_back(word);
      }
    }
  return words;
}

/// Moves values of functions out of the loop, and adds their slots to those that are no inputs.
void hoist_values(KernelCode& code, std::vector<std::uint32_t>& changed_slots) {
  const std::uint32_t total = code.layout.totals, input = code.layout.inputs + total;
  const std::uint32_t count = hoist(code.first, code.loop, code.carried_slot, total, input);
  code.layout.totals += count;
  for (std::uint32_t n = 0; n < count; ++n) changed_slots.push_back(input + n);
}

KernelCode CompiledSection::make_code(const Kernel& kernel, std::uint64_t zero_words,
                                      Target target) const {
  const Kernel special =
      round_loop_sums(with_zeros(kernel, zero_words & zero_candidates_, uniform_words_));
  LoopForm form = make_loop_form(special, loops_);
  KernelCode code;
  code.loops = loops_;
  code.reads_tables = std::ranges::any_of(
      special.graph.nodes(), [](const Node& node) { return node.op == NodeOp::Lookup; });
  code.layout = {target.lanes() * target.lane_bytes(),
                 static_cast<std::uint32_t>(kernel.inputs.size()),
                 static_cast<std::uint32_t>(kernel.carried.size()),
                 static_cast<std::uint32_t>(kernel.outputs.size()),
                 0,
                 static_cast<std::uint32_t>(kernel.lists.size())};
  for (std::uint32_t n = 0; n < kernel.inputs.size(); ++n) {
    code.input_offset.push_back(code.layout.input(n));
  }
  for (std::uint32_t c = 0; c < kernel.carried.size(); ++c) {
    code.carried_slot.push_back(kernel.carried[c].slot);
    code.input_offset[kernel.carried[c].slot] = code.layout.set(0) + c * code.layout.vector_bytes;
  }
  code.once = lowered(form.once, target, special.known);
  if (target.square_roots && !square_roots_pay(code.once, target.isa)) {
    target.square_roots = false;
    code.once = lowered(form.once, target);
  }
  if (loops_) {
    code.first = lowered(form.first, target, special.known);
    code.loop = lowered(form.loop, target, special.known);
    code.last = lowered(form.last, target, special.known);
    code.can_share_passes =
        target.gpu && code.layout.lists == 0 && only_sums(code.loop, code.carried_slot);
    std::vector<std::uint32_t> changed_slots = code.carried_slot;
    if (target.precision == Precision::Float) {
      const std::uint32_t terms = target.mode == FloatMode::Mixed ? accurate_block : coarse_block;
      code.sums = make_blocked_sums(code.loop, code.carried_slot, code.layout.inputs, terms);
      code.layout.totals = code.sums.slots();
      if (!target.gpu) hoist_values(code, changed_slots);
    }
    if (target.isa != Isa::Portable || target.gpu)
      code.unguarded = make_unguarded_loop(code.loop, changed_slots);
  }
  return code;
}

bool CompiledSection::can_share_passes() const {
  std::call_once(sharing_known_, [this] {
    const Target target{Isa::Portable, target_.precision, FloatMode::Plain, true};
    can_share_passes_ = std::ranges::all_of(kernels_, [&](const Kernel& kernel) {
      return make_code(kernel, 0, target).can_share_passes;
    });
  });
  return can_share_passes_;
}

std::vector<StatePlace> places_of(LeafKey key) {
  const bool mask = key.type == WordType::Mask;
  if (!is_long(key.type)) return {{mask, key.place}};
  return {{mask, key.place}, {mask, key.place + 1}};
}

void CompiledSection::follow(const CompiledSection& before) {
  for (const ConstantRoot& constant : before.constants_) {
    if (constant.key.delay != 0) continue;  // a part of a BM store
    const std::vector<StatePlace> places = places_of(constant.key);
    given_[places.front()] = constant.upper;
    if (places.size() > 1) given_[places.back()] = constant.lower;
  }
  // Inputs that are read from the state even in a fused run, and words stored to it.
  std::set<StatePlace> read, written;
  const auto insert = [](std::set<StatePlace>& to, LeafKey key) {
    for (const StatePlace place : places_of(key)) to.insert(place);
  };
  for (const MovedShort& move : moves_) {
    if (move.from == NodeOp::Input) insert(read, {WordType::Bits, move.place, 0});
  }
  for (const Kernel& kernel : kernels_) {
    for (const KernelInstance& instance : kernel.instances) {
      for (const LeafKey key : instance.inputs) {
        if (!is_given(key)) insert(read, key);
      }
      for (const LeafKey key : instance.outputs) {
        if (key.delay == 0) insert(written, key);
      }
    }
  }
  for (const ConstantRoot& constant : before.constants_) {
    const auto needed = [&](StatePlace place) {
      return read.contains(place) || !written.contains(place);
    };
    if (constant.key.delay != 0 || std::ranges::any_of(places_of(constant.key), needed))
      unfused_constants_.push_back(constant);
  }
}

bool CompiledSection::is_given(LeafKey key) const {
  if (key.type == WordType::PeNumber || key.type == WordType::BlockNumber || key.delay != 0)
    return false;
  return std::ranges::all_of(places_of(key), [&](StatePlace p) { return given_.contains(p); });
}

void CompiledSection::add_given(const RowTransfer& to, Target target,
                                CompiledKernels::Entry& entry) const {
  const std::size_t lane = target.lane_bytes();
  ConstantInput input{to.instance, to.offset, std::vector<std::byte>(target.lanes() * lane)};
  const std::vector<StatePlace> places = places_of(to.key);
  const std::uint64_t upper = given_.at(places.front()), lower = given_.at(places.back());
  const MachineFloatMode mode;
  const RangeErrorMonitor range_errors(true);
  bool fits = true;
  for (std::size_t k = 0; k < target.lanes(); ++k) {
    fits = fits && words_to_lanes(to.key.type, target.precision, {&upper, &lower, 0}, 1,
                                  input.lanes.data() + k * lane, lane);
  }
  // Not representable in floats: the run is repeated in doubles.
  const bool lost = target.precision == Precision::Float && range_errors.detected();
  entry.constants_fit = entry.constants_fit && fits && !lost;
  entry.given.push_back(input);
}

/// By slot: whether code reads it, or a pass changes it. Others may hold what floats cannot
/// represent.
std::vector<bool> used_inputs(const Kernel& kernel, const KernelCode& code) {
  std::vector<bool> used(kernel.inputs.size(), false);
  for (const KernelCarried& c : kernel.carried) used[c.slot] = true;
  for (const Segment* segment : segments_of(code)) {
    const std::vector<bool> needed = needed_nodes(*segment);
    for (std::uint32_t n = 0; n < needed.size(); ++n) {
      const Node& node = segment->graph[ref_to(n)];
      const std::uint32_t slot = LeafKey::unpack(node.bits).place;
      if (needed[n] && node.op == NodeOp::Input && slot < used.size()) used[slot] = true;
    }
  }
  return used;
}

void CompiledSection::add_transfers(const Kernel& kernel, Target target,
                                    CompiledKernels::Entry& entry) const {
  const std::vector<bool> used = used_inputs(kernel, entry.code);
  for (std::uint32_t i = 0; i < kernel.instances.size(); ++i) {
    const KernelInstance& instance = kernel.instances[i];
    for (std::uint32_t n = 0; n < instance.inputs.size(); ++n) {
      if (!used[n]) continue;
      const LeafKey key = instance.inputs[n];
      entry.in.push_back({key, cell_row(map_, key), i, entry.code.input_offset[n]});
    }
    for (std::uint32_t n = 0; n < instance.outputs.size(); ++n) {
      const LeafKey key = instance.outputs[n];
      entry.out.push_back({key, cell_row(map_, key), i, entry.code.layout.output(n)});
    }
  }
  for (const RowTransfer& t : entry.in) {
    if (is_given(t.key)) {
      add_given(t, target, entry);
    } else {
      entry.in_fused.push_back(t);
    }
  }
}

CompiledKernels::Entry CompiledSection::make_entry(const Kernel& kernel, std::uint64_t zero_words,
                                                   Target target, Gpu* gpu) const {
  CompiledKernels::Entry entry;
  entry.code = make_code(kernel, zero_words, target);
  add_transfers(kernel, target, entry);
  if (gpu != nullptr) {
    auto made = std::make_shared<GpuKernel>(*gpu, context(entry, target), compared_words());
    code_bytes_ += made->text_bytes();
    entry.gpu = std::move(made);
  } else if (target.isa == Isa::Portable) {
    entry.portable = interpret_kernel(context(entry, target));
  } else {
    entry.machine = compile_kernel(context(entry, target));
    entry.narrow = std::make_unique<SingleItemCode>();
    code_bytes_ += entry.machine.bytes;
  }
  return entry;
}

std::unique_ptr<CompiledKernels> CompiledSection::compile(std::uint64_t zero_words,
                                                          Precision precision,
                                                          CompiledKernels::Variant variant) const {
  auto made = std::make_unique<CompiledKernels>();
  made->target = target_;
  made->target.precision = precision;
  made->target.infinities = variant.infinities;
  made->target.source_vectors = variant.source_vectors;
  for (;;) {
    try {
      for (const Kernel& kernel : kernels_)
        made->kernels.push_back(make_entry(kernel, zero_words, made->target, nullptr));
      return made;
    } catch (const Unsupported& e) {
      if (made->target.isa == Isa::Portable) throw;
      set_remark(std::string("portable path: ") + e.what());
      made->kernels.clear();
      made->target.isa = Isa::Portable;
    }
  }
}

std::unique_ptr<CompiledKernels> CompiledSection::compile_for(Gpu& gpu, std::uint64_t zero_words,
                                                              Precision precision) const {
  auto made = std::make_unique<CompiledKernels>();
  made->target = {Isa::Portable, precision, FloatMode::Plain, true};
  try {
    for (const Kernel& kernel : kernels_)
      made->kernels.push_back(make_entry(kernel, zero_words, made->target, &gpu));
    return made;
  } catch (const Unsupported& e) {
    set_remark(not_on_gpu + e.what());
  } catch (const GpuError& e) {
    if (e.failure() != GpuFailure::Compile) throw;
    gpu.require_fallback(e);
    set_remark(not_on_gpu + e.reason());
  }
  refused_by_gpu_ = true;
  return nullptr;
}

const CompiledKernels& CompiledSection::code(std::uint64_t zero_words, Precision precision,
                                             CompiledKernels::Variant variant) const {
  return *made_code({zero_words & zero_candidates_, precision, nullptr, variant}, nullptr);
}

const CompiledKernels* CompiledSection::gpu_code(Gpu& gpu, std::uint64_t zero_words,
                                                 Precision precision) const {
  return made_code({zero_words & zero_candidates_, precision, &gpu, {}}, &gpu);
}

const CompiledKernels* CompiledSection::made_code(const CompiledKernels::Key& key, Gpu* gpu) const {
  const CompiledKernels* const last = last_.load(std::memory_order_acquire);
  if (last != nullptr && last->key == key) return last;
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = made_.find(key); found != made_.end()) {
      if (found->second) last_.store(found->second.get(), std::memory_order_release);
      return found->second.get();
    }
  }
  const std::unique_lock lock(mutex_);
  if (const auto found = made_.find(key); found != made_.end()) return found->second.get();
  const Stopwatch timer;
  const auto [zero_words, precision, on_gpu, variant] = key;
  const auto [at, is_new] =
      made_.emplace(key, gpu != nullptr ? compile_for(*gpu, zero_words, precision)
                                        : compile(zero_words, precision, variant));
  if (at->second) at->second->key = key;
  compile_seconds_ = compile_seconds_ + timer.seconds();
  return at->second.get();
}

const CompiledKernel& CompiledSection::code_for(const CompiledKernels::Entry& entry, Target target,
                                                std::size_t items) const {
  if (items >= entry.machine.copies) return entry.machine;
  SingleItemCode& narrow = *entry.narrow;
  if (narrow.ready.load(std::memory_order_acquire)) return narrow.code;
  std::call_once(narrow.made, [&] {
    narrow.code = compile_kernel(context(entry, target), 1);
    code_bytes_ += narrow.code.bytes;
    narrow.ready.store(true, std::memory_order_release);
  });
  return narrow.code;
}

void CompiledSection::note_not_on_gpu(const std::string& reason) const {
  const std::unique_lock lock(mutex_);
  if (remark_.empty()) set_remark(not_on_gpu + reason);
}

void CompiledSection::note_in_shorts(const std::string& reason) const {
  const std::unique_lock lock(mutex_);
  if (remark_.empty()) set_remark("shorts are rounded to 25 bits, as on the chip: " + reason);
}

void CompiledSection::note_gpu_failure(const std::string& remark) const {
  const std::unique_lock lock(mutex_);
  set_remark(remark);
}

void CompiledSection::set_remark(std::string remark) const {
  remark_ = std::move(remark);
  has_remark_.store(true, std::memory_order_release);
}

std::string CompiledSection::remark() const {
  const std::uint64_t runs = runs_in_doubles_.load(std::memory_order_relaxed);
  // Statistics ask after each list of commands.
  if (runs == 0 && !has_remark_.load(std::memory_order_acquire)) return {};
  const std::shared_lock lock(mutex_);
  if (runs == 0) return remark_;
  return remark_ + (remark_.empty() ? "" : "; ") + "doubles instead of floats in " +
         std::to_string(runs) + " runs: numbers or integers beyond the range of floats";
}

}  // namespace gdr::native
