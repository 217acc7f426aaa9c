#include "kernels/compiler/emit/emit.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "emulator/assembler/instruction_text.hpp"
#include "emulator/isa/table.hpp"
#include "kernels/compiler/emit/lists.hpp"
#include "kernels/compiler/schedule/pipeline.hpp"

namespace gdr::kc {
namespace {

std::string hex_bits(u128 bits, Width width) {
  if (width == Width::Short) return fmt::format("0x{:09x}", static_cast<std::uint64_t>(bits));
  return fmt::format("0x{:02x}{:016x}", static_cast<std::uint64_t>(bits >> 64),
                     static_cast<std::uint64_t>(bits));
}

class Emitter {
 public:
  Emitter(const Graph& graph, const Problem& problem, const Schedule& schedule,
          const Allocation& allocation, const ItemLayout& item, const EmitOptions& options)
      : graph_(graph),
        problem_(problem),
        loop_(*problem.loop),
        s_(schedule),
        allocation_(allocation),
        item_(item),
        options_(options) {
    unroll_ = static_cast<int>(allocation.unroll);
    times_.ii = static_cast<int>(schedule.ii);
    times_.body_length = times_.ii * unroll_;
    stages_ = stage_count(loop_, s_, times_);
    block_of_.assign(loop_.values.size(), none);
    word_ = unused_prefix();
    for (std::size_t b = 0; b < problem.blocks.size(); ++b)
      for (const ValueId v : problem.blocks[b].fields)
        block_of_[static_cast<std::size_t>(v)] = static_cast<int>(b);
    issued_.resize(static_cast<std::size_t>(times_.body_length));
    for (std::size_t i = 0; i < s_.time.size(); ++i)
      for (int c = 0; c < unroll_ && s_.active[i]; ++c)
        issued_[static_cast<std::size_t>(times_.position(s_.time[i], c))].push_back({i, c});
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

  const char* width_name(Width w) const { return w == Width::Long ? "long" : "short"; }
  std::string in_file(int address, Width w, bool vector, bool local) const {
    return fmt::format("${}{}{}{}", w == Width::Long ? "l" : "", local ? "m" : "r", address,
                       vector ? "v" : "");
  }
  std::string in_t_file(StorageClass storage, Width w) const {
    return w == Width::Long ? "$t" : storage == StorageClass::TLower ? "$tl" : "$th";
  }

  /// The location of a value in one copy of the body, as an operand.
  std::string location(ValueId id, int copy) const {
    const auto at = static_cast<std::size_t>(id);
    const MachineValue& v = loop_.values[at];
    const Placement& p = s_.placement[at];
    const int address = allocation_.address[at][static_cast<std::size_t>(copy)];
    switch (v.origin) {
      case Origin::Invariant:
        return in_file(address, v.width, !v.scalar, p.storage == StorageClass::Local);
      case Origin::Accumulator:
        return in_file(address, v.width, true, false);
      default:
        break;
    }
    if (in_t(p.storage)) return in_t_file(p.storage, v.width);
    const bool scalar = p.storage == StorageClass::Block || p.storage == StorageClass::Scalar;
    return in_file(address, v.width, !scalar, p.storage == StorageClass::Local);
  }

  std::string operand(const Ref& r, std::size_t reader, int copy, bool in_loop) const {
    if (r.kind == Ref::Kind::Immediate) {
      const std::string hex = hex_bits(r.bits, r.width);
      return hex;
    }
    const auto at = static_cast<std::size_t>(r.value);
    const MachineValue& v = loop_.values[at];
    const Placement& p = s_.placement[at];
    if (in_loop && v.origin == Origin::Computed && p.has_t_copy && reads_t_copy(r.value, reader))
      return in_t_file(p.t_copy_storage, v.width);
    return location(r.value, copy);
  }

  /// Whether a reader is among the first, which read the copy in T.
  bool reads_t_copy(ValueId id, std::size_t reader) const {
    const MachineValue& v = loop_.value(id);
    const Placement& p = s_.placement_of(id);
    if (v.uses.size() < 2) return false;
    std::vector<OpId> order = v.uses;
    std::stable_sort(order.begin(), order.end(),
                     [&](OpId a, OpId b) { return s_.time_of(a) < s_.time_of(b); });
    const auto limit = std::min<std::size_t>(p.t_copy_readers, order.size() - 1);
    const int last = s_.time[static_cast<std::size_t>(order[limit - 1])];
    return s_.time[reader] <= last &&
           std::find(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(limit),
                     static_cast<OpId>(reader)) !=
               order.begin() + static_cast<std::ptrdiff_t>(limit);
  }

  std::string mask_name(MaskId mask, int copy) const {
    return fmt::format(
        "m{}", allocation_.mask[static_cast<std::size_t>(mask)][static_cast<std::size_t>(copy)]);
  }

  /// One operation as text, without its predicate.
  std::string operation(std::size_t i, int copy) const {
    if (i >= loop_.ops.size()) return block_load(i - loop_.ops.size(), copy);
    const MachineOp& op = loop_.ops[i];
    if (op.op == Op::Bget) {
      const MachineValue& v = loop_.value(op.out);
      if (op.word != none)
        return fmt::format("bget {} {}{}", location(op.out, copy), word_, op.word);
      const std::string name = name_of(v.variable);
      return unroll_ > 1 ? fmt::format("bget {} {}@{}", location(op.out, copy), name, copy)
                         : fmt::format("bget {} {}", location(op.out, copy), name);
    }
    std::string text(info(op.op).mnemonic);
    text += ' ';
    if (op.list != none)
      return text + place_in_list(loop_.lists[static_cast<std::size_t>(op.list)]) + " " +
             operand(op.in[1], i, copy, true);
    if (op.out != none) {
      text += location(op.out, copy);
      const MachineValue& v = loop_.value(op.out);
      const Placement& p = s_.placement_of(op.out);
      if (v.origin == Origin::Computed && p.has_t_copy && v.uses.size() > 1)
        text += ":" + in_t_file(p.t_copy_storage, v.width);
    } else {
      text += op.width == Width::Long ? "$lnull" : "$null";
    }
    if (op.sets != none)
      text += fmt::format(":{}.{}", mask_name(op.sets, copy),
                          op.flag == MaskFlag::Zero ? "zero" : "neg");
    if (op.table != none) {
      const MachineTable& t = loop_.tables[static_cast<std::size_t>(op.table)];
      const unsigned first = t.address / shorts_in(t.width);
      return text + fmt::format(" ${}m[$t:{}..{}]", t.width == Width::Long ? "l" : "", first,
                                first + t.padded - 1);
    }
    for (const Ref& r : op.in)
      if (r.kind != Ref::Kind::None) text += " " + operand(r, i, copy, true);
    return text;
  }

  std::string block_load(std::size_t b, int copy) const {
    const int address =
        static_cast<int>(2 * problem_.blocks[b].first_word) + copy * static_cast<int>(item_.shorts);
    return fmt::format("bget $lr{}v $ls{}v",
                       allocation_.block_address[b][static_cast<std::size_t>(copy)], address);
  }

  unsigned unit(std::size_t i) const {
    if (i >= loop_.ops.size()) return 2;
    const Unit u = info(loop_.ops[i].op).unit;
    return u == Unit::Multiplier ? 0 : u == Unit::Transfer ? 2 : 1;
  }

  struct IssuedOp {
    std::size_t op;
    int copy;
  };

  /// The operations in a row of the body that belong to pipeline stage `stage` or a later one.
  std::vector<IssuedOp> ops_at(int position, int stage) const {
    std::vector<IssuedOp> found;
    for (const IssuedOp& d : issued_[static_cast<std::size_t>(position)])
      if (times_.stage(s_.time[d.op], d.copy) >= stage) found.push_back(d);
    std::sort(found.begin(), found.end(),
              [&](const IssuedOp& a, const IssuedOp& b) { return unit(a.op) < unit(b.op); });
    return found;
  }

  /// Whether an operation is predicated in the prologue: one of a later stage, whose item does not
  /// exist in the first iteration.
  bool is_prologue_predicated(const IssuedOp& d) const {
    return options_.prologue_predicate && d.op < problem_.prologue_predicated.size() &&
           problem_.prologue_predicated[d.op] && times_.stage(s_.time[d.op], d.copy) > 0;
  }

  bool has_dmul(const std::vector<IssuedOp>& done) const {
    return std::any_of(done.begin(), done.end(), [&](const IssuedOp& d) {
      return d.op < loop_.ops.size() && loop_.ops[d.op].dmul();
    });
  }

  /// `two_clocks`: an unused product keeps the instruction at two clocks per element, for ports
  /// that one clock does not provide.
  void instruction(const std::vector<IssuedOp>& done, bool prologue_predicate,
                   bool two_clocks = false) {
    if (done.empty()) return;
    std::string predicate, text, notes;
    if (two_clocks) text = "dmul $lnull 0x000000000 0x000000000";
    for (const IssuedOp& d : done) {
      if (d.op < loop_.ops.size() && loop_.ops[d.op].predicate != none) {
        const MachineOp& op = loop_.ops[d.op];
        predicate =
            fmt::format("[{}{}] ", op.predicate_value ? "" : "!", mask_name(op.predicate, d.copy));
      }
      if (prologue_predicate && is_prologue_predicated(d))
        predicate = fmt::format("[m{}] ", allocation_.free_mask);
      if (!text.empty()) text += " ; ";
      text += operation(d.op, d.copy);
      if (d.op < loop_.ops.size() && !loop_.ops[d.op].text.empty())
        notes += (notes.empty() ? "" : ", ") + loop_.ops[d.op].text +
                 (unroll_ > 1 ? (d.copy == 0   ? " A"
                                 : d.copy == 1 ? " B"
                                               : " C")
                              : "");
    }
    std::string all = "    " + predicate + text;
    if (!notes.empty())
      all += std::string(all.size() < 76 ? 76 - all.size() : 1, ' ') + " # " + notes;
    line(all);
  }

  void header() {
    std::size_t from = 0;
    while (from < options_.note.size()) {
      const std::size_t to = std::min(options_.note.find('\n', from), options_.note.size());
      line("# " + options_.note.substr(from, to - from));
      from = to + 1;
    }
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

  /// A variable's name as an operand.
  std::string name_of(std::int32_t variable) const {
    return name_text(graph_.variable(variable).name);
  }

  /// A prefix for names of constants in the broadcast memory that no variable's name has.
  std::string unused_prefix() const {
    std::string prefix = "word";
    const auto taken = [&](const GraphVariable& v) { return v.name.starts_with(prefix); };
    while (std::any_of(graph_.variables.begin(), graph_.variables.end(), taken)) prefix += '_';
    return prefix;
  }

  ValueId value_of(std::int32_t variable) const {
    for (std::size_t v = 0; v < loop_.values.size(); ++v)
      if (loop_.values[v].variable == variable) return static_cast<ValueId>(v);
    return none;
  }

  void declarations() {
    for (std::size_t i = 0; i < graph_.variables.size(); ++i) {
      const GraphVariable& v = graph_.variables[i];
      const Width width = v.type == Type::Long ? Width::Long : Width::Short;
      const char* conversion = v.type == Type::Int    ? "i64int"
                               : v.type == Type::Long ? "f64to72"
                                                      : "f64to36";
      const ValueId value = value_of(static_cast<std::int32_t>(i));
      switch (v.kind) {
        case VarKind::Target: {
          std::string where;
          if (value != none) {
            where = location(value, 0);
          } else {  // declared but unused: the host still writes it
            where = in_file(allocation_.unread[i], width, true, true);
          }
          add("ivar {} {} {} at {}", width_name(width), name_text(v.name), conversion, where);
          break;
        }
        case VarKind::Source: {
          const int address = item_.address[i];
          std::string pad;
          if (unroll_ > 1) {
            const bool zero =
                v.type == Type::Int || value == none ||
                std::find(options_.pads.begin(), options_.pads.end(), value) != options_.pads.end();
            pad = zero ? " pad 0" : " pad 1152921504606846976.0";
          }
          add("jvar {} {} {} at ${}s{}{}", width_name(width), name_text(v.name), conversion,
              width == Width::Long ? "l" : "", address, pad);
          break;
        }
        case VarKind::Param:
          if (v.table_size == 0)
            add("param {} {} {}", width_name(width), name_text(v.name), conversion);
          for (std::uint32_t k = 0; k < v.table_size; ++k)
            add("param {} {}_{} {}", width_name(width), v.name, k, conversion);
          break;
        case VarKind::Result: {
          for (const MachineList& l : loop_.lists)
            if (l.variable == static_cast<std::int32_t>(i))
              out_ += list_declarations(l, name_text(v.name), v.name, location(l.accumulator, 0));
          for (const MachineResult& r : loop_.results) {
            if (r.variable != static_cast<std::int32_t>(i)) continue;
            const Width held = loop_.value(r.accumulator).width;
            add("fvar {} {} {} {} at {}", width_name(held), name_text(v.name),
                r.index    ? "i64low"
                : keyed(r) ? "f64high"
                           : conversion,
                info(r.reduction).mnemonic, location(r.accumulator, 0));
          }
          break;
        }
        default:
          break;
      }
    }
    for (std::size_t w = 0; w < loop_.words.size(); ++w)
      add("bm {} {}{}", width_name(loop_.words[w].width), word_, w);
    line("");
  }

  /// Whether the result is a key with an index in the lower half of its long.
  bool keyed(const MachineResult& r) const {
    return graph_.variable(r.variable).type != Type::Int && info(r.reduction).unit == Unit::Integer;
  }

  /// Initial value of the accumulator.
  std::string beginning(const MachineResult& r) const {
    const Width width = loop_.value(r.accumulator).width;
    const std::uint64_t infinity = std::uint64_t{2047} << 24;
    // A key with its index: the identity of the reduction, and index -1.
    if (keyed(r))
      return hex_bits(u128{r.reduction == Op::Imin ? infinity : 0} << 36 | Short::mask, width);
    std::uint64_t upper = 0;
    switch (r.reduction) {
      case Op::Fmin:
        upper = infinity;
        break;
      case Op::Fmax:
        upper = infinity | (std::uint64_t{1} << 35);
        break;
      case Op::Imin:
        upper = Short::mask >> 1;
        break;
      case Op::Imax:
        upper = std::uint64_t{1} << 35;
        break;
      default:
        break;
    }
    return hex_bits(width == Width::Long ? u128{upper} << 36 : u128{upper}, width);
  }

  void start() {
    section(".start");
    // Constants for the broadcast memory go through T, which is initialised later.
    for (std::size_t w = 0; w < loop_.words.size(); ++w) {
      const ConstantWord& c = loop_.words[w];
      add("    ipass {} {}", c.width == Width::Long ? "$t" : "$th", hex_bits(c.bits, c.width));
      add("    bput {}{} {} 0", word_, w, c.width == Width::Long ? "$t" : "$th");
    }
    for (std::size_t i = 0; i < loop_.values.size(); ++i) {
      const MachineValue& v = loop_.values[i];
      if (v.origin == Origin::Invariant && v.scalar && v.variable != none)
        add("    bget {} {}", location(static_cast<ValueId>(i), 0), name_of(v.variable));
    }
    for (const MachineTable& t : loop_.tables) {
      for (unsigned k = 0; k < t.size; ++k) {
        const auto address = static_cast<int>(t.address + k * shorts_in(t.width));
        add("    bget {} {}_{}", in_file(address, t.width, false, true),
            graph_.variable(t.variable).name, k);
      }
    }
    for (const MachineOp& op : loop_.setup) setup(op);
    for (const MachineResult& r : loop_.results)
      if (!r.index) add("    ipass {} {}", location(r.accumulator, 0), beginning(r));
    for (const MachineList& l : loop_.lists)
      out_ += empty_list(l, allocation_.address[static_cast<std::size_t>(l.accumulator)][0],
                         loop_.elements);
    if (stages_ > 1) clear_pipeline();
  }

  /// An operation before the loop. An instruction cannot read two operands from local memory: the
  /// second goes through T first.
  void setup(const MachineOp& op) {
    std::array<std::string, 2> in;
    auto local = [&](const Ref& r) {
      return r.kind == Ref::Kind::Value && s_.placement_of(r.value).storage == StorageClass::Local;
    };
    for (std::size_t k = 0; k < 2; ++k)
      if (op.in[k].kind != Ref::Kind::None) in[k] = operand(op.in[k], 0, 0, false);
    const bool result_local = s_.placement_of(op.out).storage == StorageClass::Local;
    std::string target = location(op.out, 0);
    const bool same = op.in[0].kind == op.in[1].kind && in[0] == in[1];
    const int locals = (local(op.in[0]) ? 1 : 0) + (local(op.in[1]) && !same ? 1 : 0);
    if (locals > 0 && (locals == 2 || result_local)) {
      // Through T: one operand, or the result if that suffices.
      if (locals == 2) {
        const Width w = loop_.values[static_cast<std::size_t>(op.in[1].value)].width;
        const std::string t = w == Width::Long ? "$t" : "$th";
        add("    upass {} {}", t, in[1]);
        in[1] = t;
      }
      if (result_local) {
        const std::string t = op.width == Width::Long ? "$t" : "$tl";
        add("    {} {} {} {}", info(op.op).mnemonic, t, in[0], in[1]);
        add("    upass {} {}", target, t);
        return;
      }
    }
    add("    {} {} {} {}", info(op.op).mnemonic, target, in[0], in[1]);
  }

  /// Clear values and close masks that the first iteration reads for nonexistent items.
  void clear_pipeline() {
    bool t = false;
    std::vector<std::string> cleared;
    auto clear = [&](const std::string& where) {
      if (std::find(cleared.begin(), cleared.end(), where) != cleared.end()) return;
      cleared.push_back(where);
      add("    ipass {} 0", where);
    };
    for (std::size_t i = 0; i < loop_.values.size(); ++i) {
      const MachineValue& v = loop_.values[i];
      if (v.origin != Origin::Computed && v.origin != Origin::Field) continue;
      if (v.defs.empty()) continue;
      const auto id = static_cast<ValueId>(i);
      int from = std::numeric_limits<int>::max(), to = 0;
      if (v.origin == Origin::Field && s_.placement[i].storage == StorageClass::Block) {
        from = s_.time[loop_.ops.size() + static_cast<std::size_t>(block_of_[i])];
      } else {
        for (const OpId d : v.defs) from = std::min(from, s_.time_of(d));
        for (const OpId d : v.defs) to = std::max(to, s_.time_of(d));
      }
      for (const OpId u : v.uses) to = std::max(to, s_.time_of(u));
      for (int c = 0; c < unroll_; ++c) {
        if (times_.stage(from, c) == times_.stage(to, c)) continue;
        if (in_t(s_.placement[i].storage)) {
          t = true;
        } else {
          clear(location(id, c));
        }
        if (s_.placement[i].has_t_copy) t = true;
      }
    }
    for (std::size_t m = 0; m < loop_.masks.size(); ++m) {
      const MachineMask& mask = loop_.masks[m];
      if (mask.defs.empty()) continue;
      for (int c = 0; c < unroll_; ++c)
        if (allocation_.mask_before[m][static_cast<std::size_t>(c)])
          add("    ipass $null:{}.zero {}", mask_name(static_cast<MaskId>(m), c), mask.off ? 0 : 1);
    }
    if (options_.prologue_predicate) add("    ipass $null:m{}.zero 1", allocation_.free_mask);
    if (t) line("    ipass $t 0");
  }

  void body() {
    line("");
    section(".body");
    int last_predicated = -1;
    for (int p = 0; p < times_.body_length; ++p)
      for (const IssuedOp& d : ops_at(p, 0))
        if (is_prologue_predicated(d)) last_predicated = p;
    bool opened = !options_.prologue_predicate;
    for (int p = 0; p < times_.body_length; ++p) {
      std::vector<IssuedOp> done = ops_at(p, 0);
      if (done.empty()) {
        if (!opened && p > last_predicated) {
          add("    ipass $null:m{}.zero 0", allocation_.free_mask);
          opened = true;
        } else {
          line("    nop");
        }
        continue;
      }
      const bool adder =
          std::any_of(done.begin(), done.end(), [&](const IssuedOp& d) { return unit(d.op) == 1; });
      const bool predicated = std::any_of(done.begin(), done.end(), [&](const IssuedOp& d) {
        return d.op < loop_.ops.size() && loop_.ops[d.op].predicate != none;
      });
      if (!opened && p > last_predicated && !adder && !predicated) {
        open_here_ = true;
        opened = true;
      }
      instruction_in_body(done);
      open_here_ = false;
    }
    if (!opened) add("    ipass $null:m{}.zero 0", allocation_.free_mask);
  }

  void instruction_in_body(const std::vector<IssuedOp>& done) {
    const std::size_t before = out_.size();
    instruction(done, true);
    if (!open_here_) return;
    const std::size_t comment = out_.find(" # ", before);
    const std::string extra = fmt::format(" ; ipass $null:m{}.zero 0", allocation_.free_mask);
    if (comment == std::string::npos) {
      out_.insert(out_.size() - 1, extra);
    } else {
      std::size_t end = comment;
      while (end > before && out_[end - 1] == ' ') --end;
      out_.insert(end, extra);
    }
  }

  void end() {
    line("");
    section(".end");
    for (int stage = 1; stage < stages_; ++stage)
      for (int p = 0; p < times_.body_length; ++p) {
        const std::vector<IssuedOp> left = ops_at(p, stage);
        instruction(left, options_.prologue_predicate, has_dmul(ops_at(p, 0)) && !has_dmul(left));
      }
    for (const MachineResult& r : loop_.results) {
      if (r.factor == 1) continue;
      const std::string acc = location(r.accumulator, 0);
      const Ref factor = factor_ref(r.factor);
      add("    dmul {} {} {}", acc, acc, hex_bits(factor.bits, factor.width));
    }
    for (const MachineList& l : loop_.lists) out_ += count_list(l, location(l.accumulator, 0));
  }

  Ref factor_ref(double factor) const {
    Flags flags = no_flags;
    const Long exact = long_from_double(factor);
    const Long narrow = short_from_double(factor, flags);
    Ref r;
    r.width = narrow == exact ? Width::Short : Width::Long;
    r.bits = narrow == exact ? u128{upper_half(narrow).bits} : exact.bits;
    return r;
  }

  const Graph& graph_;
  const Problem& problem_;
  const MachineLoop& loop_;
  const Schedule& s_;
  const Allocation& allocation_;
  const ItemLayout& item_;
  const EmitOptions& options_;
  BodyTimes times_;
  std::vector<std::vector<IssuedOp>> issued_;  ///< operations by row of the body, unsorted
  int unroll_ = 1, stages_ = 1;
  std::vector<int> block_of_;
  std::string word_;  ///< name prefix of constants in the broadcast memory
  bool open_here_ = false;
  std::string out_;
};

}  // namespace

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

std::string emit(const Graph& graph, const Problem& problem, const Schedule& schedule,
                 const Allocation& allocation, const ItemLayout& item, const EmitOptions& options) {
  return Emitter(graph, problem, schedule, allocation, item, options).text();
}

}  // namespace gdr::kc
