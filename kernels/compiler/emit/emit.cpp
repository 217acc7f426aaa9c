// The sections of the assembly: declarations, .start, .body and .end.
#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "emulator/assembler/instruction_text.hpp"
#include "emulator/isa/table.hpp"
#include "kernels/compiler/emit/operation_text.hpp"
#include "kernels/compiler/lower/lower.hpp"
#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {
namespace {

/// A signed integer as the bits of a short.
std::string short_bits(std::int64_t x) {
  return hex_bits(static_cast<std::uint64_t>(x) & Short::mask, Width::Short);
}

/// What the host fills a variable with: ` as id default -1`.
std::string filled_with(const GraphVariable& v) {
  std::string text;
  if (!v.quantity.empty()) text += " as " + v.quantity + (v.squared ? "^2" : "");
  if (v.default_value) text += " default " + std::to_string(*v.default_value);
  return text;
}

/// Initial accumulator of element 0: one stride before the first entry.
std::int64_t begin(const MachineList& list) {
  return static_cast<std::int64_t>(list.address) - static_cast<std::int64_t>(list.stride);
}

class Emitter {
 public:
  explicit Emitter(const CompiledKernel& kernel)
      : kernel_(kernel),
        graph_(kernel.graph),
        problem_(kernel.problem),
        loop_(kernel.loop),
        s_(kernel.schedule),
        allocation_(kernel.allocation),
        operands_(kernel) {
    unroll_ = static_cast<int>(allocation_.unroll);
    times_.ii = static_cast<int>(s_.ii);
    times_.body_length = times_.ii * unroll_;
    stages_ = stage_count(loop_, s_, times_);
    block_of_.assign(loop_.values.size(), none);
    for (std::size_t b = 0; b < problem_.blocks.size(); ++b)
      for (const ValueId v : problem_.blocks[b].fields) block_of_[index(v)] = static_cast<int>(b);
    issued_.resize(index(times_.body_length));
    for (std::size_t i = 0; i < s_.time.size(); ++i)
      for (int c = 0; c < unroll_ && s_.active[i]; ++c)
        issued_[index(times_.position(s_.time[i], c))].push_back({i, c});
  }

  std::string text() {
    header();
    declarations();
    start();
    body();
    end();
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_ += text + "\n"; }
  template <class... T>
  void add(fmt::format_string<T...> format, T&&... values) {
    out_ += fmt::format(format, std::forward<T>(values)...) + "\n";
  }

  struct IssuedOp {
    std::size_t op;  ///< operation of the loop, or after these the load of a block
    int copy;
  };

  unsigned slot(std::size_t op) const { return op < loop_.ops.size() ? loop_.ops[op].slot() : 2; }

  /// The operations in a row of the body that belong to pipeline stage `stage` or a later one.
  std::vector<IssuedOp> ops_at(int position, int stage) const {
    std::vector<IssuedOp> found;
    for (const IssuedOp& d : issued_[index(position)])
      if (times_.stage(s_.time[d.op], d.copy) >= stage) found.push_back(d);
    std::ranges::stable_sort(found, {}, [&](const IssuedOp& d) { return slot(d.op); });
    return found;
  }

  /// Whether an operation is predicated in the prologue: one of a later stage, whose item does not
  /// exist in the first iteration.
  bool is_prologue_predicated(const IssuedOp& d) const {
    return kernel_.prologue_predicated && d.op < problem_.prologue_predicated.size() &&
           problem_.prologue_predicated[d.op] && times_.stage(s_.time[d.op], d.copy) > 0;
  }

  bool has_dmul(const std::vector<IssuedOp>& done) const {
    return std::ranges::any_of(
        done, [&](const IssuedOp& d) { return d.op < loop_.ops.size() && loop_.ops[d.op].dmul(); });
  }

  /// `two_clocks`: an unused product keeps the instruction at two clocks per element, for ports
  /// that one clock does not provide. `also`: a further operation.
  void instruction(const std::vector<IssuedOp>& done, bool prologue_predicate,
                   bool two_clocks = false, const std::string& also = {}) {
    if (done.empty()) return;
    std::string predicate, text, notes;
    if (two_clocks) text = "dmul $lnull 0x000000000 0x000000000";
    for (const IssuedOp& d : done) {
      if (d.op < loop_.ops.size() && loop_.ops[d.op].predicate != none) {
        const MachineOp& op = loop_.ops[d.op];
        predicate = fmt::format("[{}{}] ", op.predicate_value ? "" : "!",
                                operands_.mask_name(op.predicate, d.copy));
      }
      if (prologue_predicate && is_prologue_predicated(d))
        predicate = fmt::format("[m{}] ", allocation_.free_mask);
      if (!text.empty()) text += " ; ";
      text += operands_.operation(d.op, d.copy);
      if (d.op < loop_.ops.size() && !loop_.ops[d.op].text.empty())
        notes += (notes.empty() ? "" : ", ") + loop_.ops[d.op].text +
                 (unroll_ == 1  ? ""
                  : d.copy == 0 ? " A"
                  : d.copy == 1 ? " B"
                                : " C");
    }
    std::string all = "    " + predicate + text;
    const std::size_t padding = all.size() < 76 ? 76 - all.size() : 1;
    all += also;
    if (!notes.empty()) all += std::string(padding, ' ') + " # " + notes;
    line(all);
  }

  void header() {
    line("# " + graph_.name + ": generated by the kernel compiler.");
    line("");
    add(".kernel \"{}\"", graph_.name);
    add(".flops {}", graph_.flops);
    add(".elements {}", loop_.elements);
    if (unroll_ > 1) add(".group {}", unroll_);
    line("");
  }

  void section(const char* name) {
    line(name);
    if (loop_.elements != max_elements) add("vlen {}", loop_.elements);
  }

  ValueId value_of(std::int32_t variable) const {
    for (std::size_t v = 0; v < loop_.values.size(); ++v)
      if (loop_.values[v].variable == variable) return static_cast<ValueId>(v);
    return none;
  }

  /// The directive of the cut-off, for engines that leave out far pairs.
  void declare_cutoff(const Cutoff& cutoff) {
    std::vector<std::string> names;
    const auto name = [&](std::uint32_t v) {
      names.emplace_back(name_text(graph_.variables[v].name));
    };
    name(cutoff.radius2);
    std::ranges::for_each(cutoff.target, name);
    std::ranges::for_each(cutoff.source, name);
    add(".cutoff {}", fmt::join(names, " "));
  }

  void declarations() {
    for (std::size_t i = 0; i < graph_.variables.size(); ++i) {
      const GraphVariable& v = graph_.variables[i];
      const Width width = width_for(v.type);
      const char* conversion = v.type == Type::Int    ? "i64int"
                               : v.type == Type::Long ? "f64to72"
                                                      : "f64to36";
      const ValueId value = value_of(static_cast<std::int32_t>(i));
      switch (v.kind) {
        case VarKind::Target: {
          // The host writes unused targets, too.
          const std::string where = value != none
                                        ? operands_.location(value, 0)
                                        : in_file(allocation_.unread[i], width, true, true);
          add("ivar {} {} {} at {}{}", width_name(width), name_text(v.name), conversion, where,
              filled_with(v));
          break;
        }
        case VarKind::Source: {
          const int address = kernel_.item.address[i];
          const bool zeroed = value != none && value == kernel_.zeroed_in_pads;
          const char* const pad = unroll_ == 1 ? "" : zeroed ? " pad 0" : " pad copy";
          add("jvar {} {} {} at ${}s{}{}{}", width_name(width), name_text(v.name), conversion,
              width == Width::Long ? "l" : "", address, pad, filled_with(v));
          break;
        }
        case VarKind::Param:
          if (v.table_size == 0)
            add("param {} {} {}{}", width_name(width), name_text(v.name), conversion,
                filled_with(v));
          for (std::uint32_t k = 0; k < v.table_size; ++k)
            add("param {} {}_{} {}{}", width_name(width), v.name, k, conversion, filled_with(v));
          break;
        case VarKind::Result: {
          for (const MachineList& l : loop_.lists)
            if (l.variable == static_cast<std::int32_t>(i)) declare(l, v.name);
          for (const MachineResult& r : loop_.results) {
            if (r.variable != static_cast<std::int32_t>(i)) continue;
            const Width held = loop_.value(r.accumulator).width;
            const std::string reduction =
                !r.joined       ? "pass"
                : r.key != none ? "index " + std::string(name_text(graph_.variable(r.key).name))
                                : std::string(info(r.reduction).mnemonic);
            add("fvar {} {} {} {} at {}", width_name(held), name_text(v.name),
                r.index    ? "i64low"
                : keyed(r) ? "f64high"
                           : conversion,
                reduction, operands_.location(r.accumulator, 0));
          }
          break;
        }
        default:
          break;
      }
    }
    for (const VariableArray& array : graph_.arrays)
      add(".array {} {}{}", name_text(array.name), fmt::join(array.sizes, " "),
          array.complex ? " complex" : "");
    if (graph_.cutoff) declare_cutoff(*graph_.cutoff);
    for (std::size_t w = 0; w < loop_.words.size(); ++w)
      add("bm {} {}", width_name(loop_.words[w].width), operands_.word_name(w));
    line("");
  }

  /// The results of a list that the host reads: the number of entries in the accumulator, and every
  /// entry. Blocks pass them on without reduction, since lists cannot be combined.
  void declare(const MachineList& list, const std::string& name) {
    add("fvar short {} i64int iadd at {}", name_text(name),
        operands_.location(list.accumulator, 0));
    for (unsigned k = 0; k < list.capacity; ++k)
      add("fvar short {}_{} i64int pass at $m{}v", name, k, list.address + k * list.stride);
  }

  /// Set all entries of a list to -1, and the accumulator to the start of each element's list.
  void clear_list(const MachineList& list) {
    for (unsigned k = 0; k < list.capacity; ++k)
      add("    ipass $m{}v {}", list.address + k * list.stride, short_bits(-1));
    line("    vlen 1");
    for (unsigned e = 0; e < loop_.elements; ++e)
      add("    ipass $r{} {}",
          allocation_.address[index(list.accumulator)][0] + static_cast<int>(e),
          short_bits(begin(list) + e));
    add("    vlen {}", loop_.elements);
  }

  /// Whether the result is a key with an index in the lower half of its long.
  bool keyed(const MachineResult& r) const {
    return graph_.variable(r.variable).type != Type::Int && info(r.reduction).unit == Unit::Integer;
  }

  bool has_start(ValueId accumulator) const {
    return std::ranges::count(loop_.starts, accumulator, &MachineStart::accumulator) > 0;
  }

  /// Initial value of the accumulator.
  std::string beginning(const MachineResult& r) const {
    const Width width = loop_.value(r.accumulator).width;
    constexpr std::uint64_t infinity = std::uint64_t{2047} << 24, sign = std::uint64_t{1} << 35;
    // A key with its index: the identity of the reduction, and index -1.
    if (keyed(r))
      return hex_bits(
          u128{r.reduction == Op::Imin ? infinity : infinity | sign} << 36 | Short::mask, width);
    if (r.key != none) return short_bits(-1);
    const std::uint64_t upper = r.reduction == Op::Fmin   ? infinity
                                : r.reduction == Op::Fmax ? infinity | sign
                                : r.reduction == Op::Imin ? Short::mask >> 1
                                : r.reduction == Op::Imax ? sign
                                                          : 0;
    return hex_bits(width == Width::Long ? u128{upper} << 36 : u128{upper}, width);
  }

  void start() {
    section(".start");
    // Constants for the broadcast memory go through T, which is initialised later.
    for (std::size_t w = 0; w < loop_.words.size(); ++w) {
      const ConstantWord& c = loop_.words[w];
      add("    ipass {} {}", c.width == Width::Long ? "$t" : "$th", hex_bits(c.bits, c.width));
      add("    bput {} {} 0", operands_.word_name(w), c.width == Width::Long ? "$t" : "$th");
    }
    for (std::size_t i = 0; i < loop_.values.size(); ++i) {
      const MachineValue& v = loop_.values[i];
      if (v.origin == Origin::Invariant && v.scalar && v.variable != none)
        add("    bget {} {}", operands_.location(static_cast<ValueId>(i), 0),
            operands_.name_of(v.variable));
    }
    for (const MachineTable& t : loop_.tables) {
      for (unsigned k = 0; k < t.size; ++k) {
        const auto address = static_cast<int>(t.address + k * shorts_in(t.width));
        add("    bget {} {}_{}", in_file(address, t.width, false, true),
            graph_.variable(t.variable).name, k);
      }
    }
    for (const MachineOp& op : loop_.setup) sequential(op);
    for (const MachineResult& r : loop_.results)
      if (!r.index && !has_start(r.accumulator))
        add("    ipass {} {}", operands_.location(r.accumulator, 0), beginning(r));
    for (const MachineStart& s : loop_.starts)
      add("    ipass {} {}", operands_.location(s.accumulator, 0),
          hex_bits(s.bits, loop_.value(s.accumulator).width));
    for (const MachineList& l : loop_.lists) clear_list(l);
    if (stages_ > 1) clear_pipeline();
  }

  /// An operation before or after the loop. An instruction cannot access local memory twice: the
  /// second operand, or the result, goes through T.
  void sequential(const MachineOp& op) {
    std::array<std::string, 2> in;
    auto local = [&](const Ref& r) {
      return r.kind == Ref::Kind::Value && operands_.is_local(r.value);
    };
    for (std::size_t k = 0; k < 2; ++k)
      if (op.in[k].kind != Ref::Kind::None) in[k] = operands_.operand(op.in[k]);
    const bool result_local = op.out != none && operands_.is_local(op.out);
    std::string target = op.out != none            ? operands_.location(op.out, 0)
                         : op.width == Width::Long ? "$lnull"
                                                   : "$null";
    if (op.sets != none)
      target += fmt::format(":{}.{}", operands_.mask_name(op.sets, 0),
                            mask_flag_names[static_cast<std::size_t>(op.flag)]);
    const std::string predicate = op.predicate == none
                                      ? ""
                                      : fmt::format("[{}{}] ", op.predicate_value ? "" : "!",
                                                    operands_.mask_name(op.predicate, 0));
    const bool equal = op.in[0].kind == op.in[1].kind && in[0] == in[1];
    const int locals = (local(op.in[0]) ? 1 : 0) + (local(op.in[1]) && !equal ? 1 : 0);
    if (locals == 2) {
      const Width w = loop_.value(op.in[1].value).width;
      const std::string t = w == Width::Long ? "$t" : "$th";
      add("    upass {} {}", t, in[1]);
      in[1] = t;
    }
    if (locals > 0 && result_local) {
      const std::string t = op.width == Width::Long ? "$t" : "$tl";
      add("    {} {} {} {}", info(op.op).mnemonic, t, in[0], in[1]);
      add("    {}upass {} {}", predicate, target, t);
      return;
    }
    add("    {}{} {} {} {}", predicate, info(op.op).mnemonic, target, in[0], in[1]);
  }

  /// Clear values and close masks that the first iteration reads for nonexistent items.
  void clear_pipeline() {
    bool t = false;
    std::vector<std::string> cleared;
    auto clear = [&](const std::string& where) {
      if (std::ranges::count(cleared, where) > 0) return;
      cleared.push_back(where);
      add("    ipass {} 0", where);
    };
    for (std::size_t i = 0; i < loop_.values.size(); ++i) {
      const MachineValue& v = loop_.values[i];
      if (v.permanent() || v.defs.empty()) continue;
      const auto id = static_cast<ValueId>(i);
      int from = std::numeric_limits<int>::max(), to = 0;
      if (v.origin == Origin::Field && s_.placement[i].storage == StorageClass::Block) {
        from = s_.time[loop_.ops.size() + index(block_of_[i])];
      } else {
        for (const OpId d : v.defs) {
          from = std::min(from, s_.time_of(d));
          to = std::max(to, s_.time_of(d));
        }
      }
      for (const OpId u : v.uses) to = std::max(to, s_.time_of(u));
      for (int c = 0; c < unroll_; ++c) {
        if (times_.stage(from, c) == times_.stage(to, c)) continue;
        const bool lives_in_t = in_t(s_.placement[i].storage);
        if (!lives_in_t) clear(operands_.location(id, c));
        t = t || lives_in_t || s_.placement[i].has_t_copy;
      }
    }
    for (std::size_t m = 0; m < loop_.masks.size(); ++m) {
      const MachineMask& mask = loop_.masks[m];
      if (mask.defs.empty()) continue;
      for (int c = 0; c < unroll_; ++c)
        if (allocation_.mask_before[m][index(c)])
          add("    ipass $null:{}.zero {}", operands_.mask_name(static_cast<MaskId>(m), c),
              mask.off ? 0 : 1);
    }
    if (kernel_.prologue_predicated) add("    ipass $null:m{}.zero 1", allocation_.free_mask);
    if (t) line("    ipass $t 0");
  }

  void body() {
    line("");
    section(".body");
    int last_predicated = -1;
    for (int p = 0; p < times_.body_length; ++p)
      for (const IssuedOp& d : ops_at(p, 0))
        if (is_prologue_predicated(d)) last_predicated = p;
    // The prologue predicate ends with the last operation that it suppresses.
    const std::string open = fmt::format("ipass $null:m{}.zero 0", allocation_.free_mask);
    bool opened = !kernel_.prologue_predicated;
    for (int p = 0; p < times_.body_length; ++p) {
      const std::vector<IssuedOp> done = ops_at(p, 0);
      const bool opens =
          !opened && p > last_predicated && std::ranges::none_of(done, [&](const IssuedOp& d) {
            return slot(d.op) == 1 ||
                   (d.op < loop_.ops.size() && loop_.ops[d.op].predicate != none);
          });
      opened = opened || opens;
      if (done.empty())
        line("    " + (opens ? open : "nop"));
      else
        instruction(done, true, false, opens ? " ; " + open : "");
    }
    if (!opened) line("    " + open);
  }

  void end() {
    line("");
    section(".end");
    for (int stage = 1; stage < stages_; ++stage)
      for (int p = 0; p < times_.body_length; ++p) {
        const std::vector<IssuedOp> left = ops_at(p, stage);
        instruction(left, kernel_.prologue_predicated, has_dmul(ops_at(p, 0)) && !has_dmul(left));
      }
    for (const MachineResult& r : loop_.results) {
      if (r.factor == 1) continue;
      const std::string acc = operands_.location(r.accumulator, 0);
      const Ref factor = constant_ref(r.factor);
      add("    dmul {} {} {}", acc, acc, hex_bits(factor.bits, factor.width));
    }
    for (const MachineOp& op : loop_.finish) sequential(op);
    for (const MachineList& l : loop_.lists) {
      // The address of the last entry becomes the number of entries.
      const std::string acc = operands_.location(l.accumulator, 0);
      add("    isub {0} {0} {1}", acc, short_bits(begin(l)));
      add("    iasr {0} {0} {1}", acc, std::countr_zero(l.stride));
    }
  }

  const CompiledKernel& kernel_;
  const Graph& graph_;
  const Problem& problem_;
  const MachineLoop& loop_;
  const Schedule& s_;
  const Allocation& allocation_;
  OperationText operands_;
  BodyTimes times_;
  std::vector<std::vector<IssuedOp>> issued_;  ///< operations by row of the body, unsorted
  int unroll_ = 1, stages_ = 1;
  std::vector<int> block_of_;
  std::string out_;
};

}  // namespace

std::string emit(const CompiledKernel& kernel) { return Emitter(kernel).text(); }

}  // namespace gdr::kc
