#include "emulator/engine/native/program.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "emulator/engine/check.hpp"
#include "emulator/engine/native/cross_section_types.hpp"
#include "emulator/engine/native/float_range.hpp"
#include "emulator/engine/native/short_rounding.hpp"
#include "emulator/host/float_mode.hpp"
#include "emulator/host/stopwatch.hpp"
#include "emulator/isa/ports.hpp"

namespace gdr::native {
namespace {

bool is_memory(NodeOp op) { return op == NodeOp::Source || op == NodeOp::Uniform; }

/// Words that the host reads: the declared results, or the whole state if there are none.
LiveOut needs_of_host(const Program& program, const CellMap& map) {
  LiveOut needs(map);
  bool declared = false;
  for (const Variable& v : program.variables) {
    if (v.kind == VarKind::Output) declared = true;
    if (v.kind != VarKind::Result) continue;
    declared = true;
    for (unsigned e = 0; e < program.elements; ++e) {
      const std::uint32_t cell = map.cell(v.location, e);
      needs.mark_cell(cell);
      if (v.location.width == Width::Long) needs.mark_cell(cell + 1);
    }
  }
  if (!declared) needs.mark_all();
  return needs;
}

/// Everything that a section on the exact engine may read.
void add_exact_needs(const Program& program, Section section, const Geometry& geometry,
                     const CellMap& map, LiveOut& needs) {
  std::vector<Access> accesses;
  for (const Instruction& i : program.section(section)) {
    for (unsigned k = 0; k < i.vlen; ++k) {
      accesses.clear();
      accesses_of_element(i, k, geometry, accesses);
      for (const Access& a : accesses) {
        if (a.what == Access::What::Mask) {
          needs.masks[a.address * max_elements + k] = Condition{};
          continue;
        }
        std::uint32_t base = 0;
        if (a.what == Access::What::Local) base = map.local;
        if (a.what == Access::What::T) base = map.t + k * 2;
        if (port_of(a) == Port::BmAccess) continue;
        // Including words that it writes, since a mask may keep the old value.
        for (std::uint32_t n = 0; n < a.shorts; ++n) needs.mark_cell(base + a.address + n);
      }
    }
  }
}

/// A constant as the word that it is in a cell.
ConstantRoot constant_root(const Root& root, const Node& constant, bool complemented) {
  ConstantRoot made{root.key, 0, 0};
  std::uint64_t bits = complemented ? ~constant.bits : constant.bits;
  std::uint64_t words[2] = {0, 0};
  lanes_to_row({}, root.key.take, reinterpret_cast<const std::byte*>(&bits), 1,
               {&words[0], &words[1]});
  made.upper = words[0];
  made.lower = words[1];
  return made;
}

/// A kernel with some uniform words as zeros.
Kernel with_zeros(const Kernel& kernel, std::uint64_t zero_words, const WordTable& uniforms) {
  Kernel made = kernel;
  made.graph = Graph();
  std::vector<Ref> to(kernel.graph.size(), no_ref);
  const auto copy = [&](Ref r) { return r == no_ref ? r : to[node_of(r)] ^ (r & 1); };
  for (std::uint32_t n = 0; n < kernel.graph.size(); ++n) {
    const Node& node = kernel.graph[ref_to(n)];
    if (node.op == NodeOp::Uniform) {
      const std::uint32_t number = uniforms.number(LeafKey::unpack(node.bits));
      if (number < 64 && ((zero_words >> number) & 1) != 0) {
        to[n] = made.graph.constant(node.kind, 0);
        continue;
      }
    }
    to[n] = made.graph.rebuilt(node, copy(node.a), copy(node.b), copy(node.c));
  }
  for (KernelOutput& output : made.outputs) output.value = copy(output.value);
  for (KernelCarried& carried : made.carried) carried.next = copy(carried.next);
  for (Ref& left : made.left) left = copy(left);
  return made;
}

}  // namespace

CompiledSection::CompiledSection(const SectionModel& model, const Liveness& demand, bool loops,
                                 Target target)
    : map_(model.map), loops_(loops), target_(target) {
  SplitSection pieces = split(model, demand);
  kernels_ = std::move(pieces.kernels);
  for (const MovedShort& move : pieces.moves) {
    const bool in_state = move.from == NodeOp::Input;
    moves_.push_back({cell_row(map_, {Take::Bits, move.to, 0}), move.from,
                      in_state ? cell_row(map_, {Take::Bits, move.place, 0}) : CellRow{},
                      move.place});
  }
  for (const auto& [number, value] : pieces.constants) {
    const Root& root = demand.roots[number];
    constants_.push_back(constant_root(root, model.graph[value], negated(value)));
    // A constant of a cell is known to the last bit.
    if (root.key.delay == 0) constants_.back().cell = cell_row(map_, root.key);
    if (root.key.delay != 0 || root.key.take == Take::Mask) continue;
    const auto exact = [&](std::uint32_t cell, std::uint64_t& word) {
      const CellValue held = model.state[cell];
      if (model.cells.is_constant(held)) word = model.cells.constant_bits(held);
    };
    exact(root.key.place, constants_.back().upper);
    if (root.key.take == Take::Long) exact(root.key.place + 1, constants_.back().lower);
  }
  for (const BmStore& put : model.bm_stores) bm_stores_.push_back({put.address, put.pe, put.width});
  collect_words();
  check_precision();
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
    for (const Kernel& kernel : kernels_) make_code(kernel, 0, target_);
  } catch (const Unsupported& e) {
    remark_ = std::string("doubles instead of floats: ") + e.what();
    target_.precision = Precision::Double;
  }
}

void CompiledSection::collect_words() {
  for (const Kernel& kernel : kernels_) {
    for (const Node& node : kernel.graph.nodes()) {
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

KernelCode CompiledSection::make_code(const Kernel& kernel, std::uint64_t zero_words,
                                      Target target) const {
  const Kernel special =
      round_loop_sums(with_zeros(kernel, zero_words & zero_candidates_, uniform_words_));
  LoopForm form = make_loop_form(special, loops_);
  KernelCode code;
  code.loops = loops_;
  code.inputs = kernel.inputs;
  code.layout = {target.lanes() * target.lane_bytes(),
                 static_cast<std::uint32_t>(kernel.inputs.size()),
                 static_cast<std::uint32_t>(kernel.carried.size()),
                 static_cast<std::uint32_t>(kernel.outputs.size())};
  for (std::uint32_t n = 0; n < kernel.inputs.size(); ++n) {
    code.input_offset.push_back(code.layout.input(n));
  }
  for (std::uint32_t c = 0; c < kernel.carried.size(); ++c) {
    code.carried_slot.push_back(kernel.carried[c].slot);
    code.input_offset[kernel.carried[c].slot] = code.layout.set(0) + c * code.layout.vector_bytes;
  }
  code.once = lowered(form.once, target);
  if (loops_) {
    code.first = lowered(form.first, target);
    code.loop = lowered(form.loop, target);
    code.last = lowered(form.last, target);
    if (target.isa != Isa::Portable) code.free = make_unguarded_loop(code.loop, code.carried_slot);
  }
  return code;
}

/// Cells that a word occupies, from its place on.
std::uint32_t cells_in(LeafKey key) { return key.take == Take::Long ? 2 : 1; }

/// Index of a word among a section's outputs; masks have separate indices.
std::pair<bool, std::uint32_t> place_of(LeafKey key, std::uint32_t cell = 0) {
  return {key.take == Take::Mask, key.place + cell};
}

void CompiledSection::follow(const CompiledSection& before) {
  for (const ConstantRoot& constant : before.constants_) {
    if (constant.key.delay != 0) continue;  // part of a put
    given_[place_of(constant.key)] = constant.upper;
    if (constant.key.take == Take::Long) given_[place_of(constant.key, 1)] = constant.lower;
  }
  // Inputs that are read from the state even in a fused run, and constants stored to it.
  std::set<std::pair<bool, std::uint32_t>> read, written;
  for (const Kernel& kernel : kernels_) {
    for (const KernelInstance& instance : kernel.instances) {
      for (const LeafKey key : instance.inputs) {
        for (std::uint32_t k = 0; k < cells_in(key) && !is_given(key); ++k)
          read.insert(place_of(key, k));
      }
      for (const LeafKey key : instance.outputs) {
        for (std::uint32_t k = 0; k < cells_in(key) && key.delay == 0; ++k)
          written.insert(place_of(key, k));
      }
    }
  }
  for (const ConstantRoot& constant : before.constants_) {
    bool needed = constant.key.delay != 0;
    for (std::uint32_t k = 0; k < cells_in(constant.key) && !needed; ++k) {
      const auto place = place_of(constant.key, k);
      const CellRow row = cell_row(map_, {Take::Bits, place.second, 0});
      needed = read.count(place) != 0 || written.count(place) == 0 ||
               std::any_of(moves_.begin(), moves_.end(), [&](const MovedRow& move) {
                 return move.from == NodeOp::Input && move.cell == row;
               });
    }
    if (needed) left_before_.push_back(constant);
  }
}

bool CompiledSection::is_given(LeafKey key) const {
  if (key.take == Take::PeNumber || key.take == Take::BlockNumber || key.delay != 0) return false;
  for (std::uint32_t k = 0; k < cells_in(key); ++k) {
    if (given_.count(place_of(key, k)) == 0) return false;
  }
  return true;
}

void CompiledSection::add_given(const RowTransfer& to, Target target,
                                CompiledKernels::One& one) const {
  const std::size_t lane = target.lane_bytes();
  ConstantInput input{to.instance, to.offset, std::vector<std::byte>(target.lanes() * lane)};
  const std::uint64_t upper = given_.at(place_of(to.key));
  const std::uint64_t lower = to.key.take == Take::Long ? given_.at(place_of(to.key, 1)) : upper;
  const MachineFloatMode mode;
  const RangeWatch watch(true);
  bool fits = true;
  for (std::size_t k = 0; k < target.lanes(); ++k) {
    fits = fits && words_to_lanes(to.key.take, target.precision, {&upper, &lower, 0}, 1,
                                  input.lanes.data() + k * lane, lane);
  }
  // Not representable in floats: the run is repeated in doubles.
  const bool lost = target.precision == Precision::Float && watch.left();
  one.constants_fit = one.constants_fit && fits && !lost;
  one.given.push_back(input);
}

void CompiledSection::add_transfers(const Kernel& kernel, Target target,
                                    CompiledKernels::One& one) const {
  for (std::uint32_t i = 0; i < kernel.instances.size(); ++i) {
    const KernelInstance& instance = kernel.instances[i];
    for (std::uint32_t n = 0; n < instance.inputs.size(); ++n) {
      const LeafKey key = instance.inputs[n];
      one.in.push_back({key, cell_row(map_, key), i, one.code.input_offset[n]});
    }
    for (std::uint32_t n = 0; n < instance.outputs.size(); ++n) {
      const LeafKey key = instance.outputs[n];
      one.out.push_back({key, cell_row(map_, key), i, one.code.layout.output(n)});
    }
  }
  for (const RowTransfer& t : one.in) {
    if (is_given(t.key)) {
      add_given(t, target, one);
    } else {
      one.in_fused.push_back(t);
    }
  }
  const auto of_first = [](const std::vector<RowTransfer>& rows) {
    return static_cast<std::size_t>(
        std::ranges::count_if(rows, [](const RowTransfer& t) { return t.instance == 0; }));
  };
  one.first_in = of_first(one.in);
  one.first_in_fused = of_first(one.in_fused);
  one.first_out = of_first(one.out);
}

std::unique_ptr<CompiledKernels> CompiledSection::compile(std::uint64_t zero_words,
                                                          Precision precision) const {
  auto made = std::make_unique<CompiledKernels>();
  made->target = target_;
  made->target.precision = precision;
  try {
    for (const Kernel& kernel : kernels_) {
      CompiledKernels::One one;
      one.code = make_code(kernel, zero_words, made->target);
      add_transfers(kernel, made->target, one);
      if (made->target.isa == Isa::Portable) {
        one.portable = std::make_unique<InterpretedKernel>(one.code, made->target, source_words_,
                                                           uniform_words_);
      } else {
        one.machine = compile_kernel(one.code, made->target, source_words_, uniform_words_);
        one.narrow = std::make_unique<PartialCode>();
        code_bytes_ += one.machine.bytes;
      }
      made->kernels.push_back(std::move(one));
    }
    return made;
  } catch (const Unsupported& e) {
    if (made->target.isa == Isa::Portable) throw;
    remark_ = std::string("portable path: ") + e.what();
  }
  made->kernels.clear();
  made->target.isa = Isa::Portable;
  for (const Kernel& kernel : kernels_) {
    CompiledKernels::One one;
    one.code = make_code(kernel, zero_words, made->target);
    add_transfers(kernel, made->target, one);
    one.portable =
        std::make_unique<InterpretedKernel>(one.code, made->target, source_words_, uniform_words_);
    made->kernels.push_back(std::move(one));
  }
  return made;
}

const CompiledKernels& CompiledSection::code(std::uint64_t zero_words, Precision precision) const {
  const std::pair key{zero_words & zero_candidates_, precision};
  const CompiledKernels* const last = last_.load(std::memory_order_acquire);
  if (last != nullptr && last->key == key) return *last;
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = made_.find(key); found != made_.end()) {
      last_.store(found->second.get(), std::memory_order_release);
      return *found->second;
    }
  }
  const std::unique_lock lock(mutex_);
  if (const auto found = made_.find(key); found != made_.end()) return *found->second;
  const Stopwatch timer;
  const auto [at, is_new] = made_.emplace(key, compile(key.first, precision));
  at->second->key = key;
  compile_seconds_ = compile_seconds_ + timer.seconds();
  return *at->second;
}

const CompiledKernel& CompiledSection::code_for(const CompiledKernels::One& one, Target target,
                                                std::size_t items) const {
  if (items >= one.machine.copies) return one.machine;
  CompiledKernel& code = one.narrow->code[items - 1];
  std::call_once(one.narrow->made[items - 1], [&] {
    code = compile_kernel(one.code, target, source_words_, uniform_words_,
                          static_cast<std::uint32_t>(items));
    code_bytes_ += code.bytes;
  });
  return code;
}

std::string CompiledSection::remark() const {
  const std::shared_lock lock(mutex_);
  const std::uint64_t runs = runs_in_doubles_.load(std::memory_order_relaxed);
  if (runs == 0) return remark_;
  return remark_ + (remark_.empty() ? "" : "; ") + "doubles instead of floats in " +
         std::to_string(runs) + " runs: numbers or integers beyond the range of floats";
}

CompiledProgram::CompiledProgram(const Program& program, const Geometry& geometry, Target wanted)
    : map(geometry), target(wanted) {
  CrossSectionTypes::Models models;
  std::array<Liveness, section_count> demands;
  LiveOut needs = needs_of_host(program, map);
  LiveOut of_sections(map);
  const auto give_up = [&](unsigned s, const Unsupported& e) {
    parts[s].reason = e.what();
    models[s].reset();
    add_exact_needs(program, static_cast<Section>(s), geometry, map, of_sections);
    needs.merge(of_sections);
  };
  for (unsigned s = 0; s < section_count; ++s) {
    models[s] = std::make_unique<SectionModel>(geometry);
    try {
      translate(program, static_cast<Section>(s), *models[s]);
      if (static_cast<Section>(s) == Section::Body && !models[s]->bm_stores.empty()) {
        throw Unsupported("the loop stores words to the broadcast memory");
      }
    } catch (const Unsupported& e) {
      give_up(s, e);
    }
  }
  const CrossSectionTypes types(program, geometry, models);
  const auto give_up_all = [&](const CrossSectionTypes::TypeConflict& spoiled) {
    bool some = false;
    for (const unsigned s : spoiled.sections) {
      if (!models[s]) continue;
      some = true;
      give_up(s, Unsupported(spoiled.reason));
    }
    return some;
  };
  // Live-in words of one section are live-out of others: iterate to a fixed point.
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned s = 0; s < section_count; ++s) {
      if (!models[s]) {
        const auto found = types.check(static_cast<Section>(s), program, map);
        if (found) changed = give_up_all(*found) || changed;
        continue;
      }
      try {
        demands[s] = analyse_liveness(*models[s], needs, static_cast<Section>(s) == Section::Body);
        if (const auto found = types.check(static_cast<Section>(s), *models[s], demands[s])) {
          give_up_all(*found);
          changed = true;
          continue;
        }
        const LiveOut own = live_in(*models[s], demands[s]);
        of_sections.merge(own);
        changed = needs.merge(own) || changed;
      } catch (const Unsupported& e) {
        give_up(s, e);
        changed = true;
      }
    }
  }
  for (unsigned s = 0; s < section_count; ++s) {
    if (!models[s]) continue;
    mark_read_by_sections(of_sections, demands[s]);
    auto section = std::make_unique<CompiledSection>(
        *models[s], demands[s], static_cast<Section>(s) == Section::Body, target);
    parts[s].section = std::move(section);
  }
  const auto& start = parts[static_cast<unsigned>(Section::Start)].section;
  const auto& body = parts[static_cast<unsigned>(Section::Body)].section;
  const auto& end = parts[static_cast<unsigned>(Section::End)].section;
  fusable = start && body && end && start->kernels().empty() &&
            uses_fixed_words_only(program, Section::Start) &&
            uses_fixed_words_only(program, Section::End);
  if (fusable) body->follow(*start);
}

}  // namespace gdr::native
