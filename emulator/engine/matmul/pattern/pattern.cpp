#include "emulator/engine/matmul/pattern/pattern.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <utility>

namespace gdr {
namespace {

/// Thrown if a body does not match.
struct NoMatch {};
void require(bool holds) {
  if (!holds) throw NoMatch{};
}

/// A word of the symbolic execution: space and address in shorts; T by element.
struct StateWord {
  Space space{};
  std::uint32_t address = 0;
  Width width = Width::Long;
  auto operator<=>(const StateWord&) const = default;
};
/// Size of a word in shorts; T by element.
using Cell = std::pair<Space, std::uint32_t>;
template <typename Action>
void each_cell(const StateWord& word, Action&& action) {
  action(Cell{word.space, word.address});
  if (word.space != Space::T && word.width == Width::Long)
    action(Cell{word.space, word.address + 1});
}

/// A value of the symbolic execution.
struct Value {
  enum class Kind : std::uint8_t { Word, Item, Product, Sum } kind{};
  StateWord word{};        ///< Word: its initial value
  std::uint32_t item = 0;  ///< Item: the number of one of its words
  int a = -1, b = -1;      ///< Product, Sum: values
};

StateWord word_of(const Operand& x, unsigned element) {
  if (x.space == Space::T) {
    require(x.width == Width::Long && x.address == 0);
    return {Space::T, element, Width::Long};
  }
  require(x.space == Space::Register || x.space == Space::Local);
  require(x.width == Width::Short || x.address % 2 == 0);
  return {x.space, x.at(element), x.width};
}

/// Words of the items.
Width item_width(const Program& program) {
  const auto is_short = [](const Variable& v) {
    return v.kind == VarKind::Source && v.location.width == Width::Short;
  };
  return std::ranges::any_of(program.variables, is_short) ? Width::Short : Width::Long;
}

/// Symbolic execution: every word of the body as a function of its previous value and the item.
class SymbolicBody {
 public:
  explicit SymbolicBody(const Program& program) : items_(item_width(program)) {
    for (const Instruction& i : program.section(Section::Body)) run(i);
  }

  struct StoredWord {
    int value = -1;
    std::uint32_t pe = 0;
  };
  const Value& value(int v) const { return values_[static_cast<std::size_t>(v)]; }
  const std::map<std::uint32_t, StoredWord>& stores() const { return stores_; }
  /// Final value of a word; -1 if the body does not write it.
  int end_of(const StateWord& word) const {
    const auto found = written_.find(word);
    return found == written_.end() ? -1 : found->second;
  }
  /// Words that the body reads before it writes them.
  const std::map<StateWord, int>& seen() const { return seen_; }

 private:
  int add(Value v) {
    values_.push_back(v);
    return static_cast<int>(values_.size()) - 1;
  }
  int read(const Operand& x, unsigned element) {
    const StateWord word = word_of(x, element);
    use(word);
    if (const int v = end_of(word); v >= 0) return v;
    const auto [at, fresh] = seen_.try_emplace(word, -1);
    if (fresh) at->second = add({Value::Kind::Word, word, 0, -1, -1});
    return at->second;
  }
  /// A location is always used in the same width.
  void use(const StateWord& word) {
    each_cell(word, [&](const Cell& cell) {
      require(widths_.try_emplace(cell, word.width).first->second == word.width);
    });
  }
  int result(const Arithmetic& slot, unsigned element) {
    require(slot.width == Width::Long && slot.mask.flag == MaskFlag::None);
    switch (slot.op) {
      case Op::Fmul:
        // One pass computes the complete product of two shorts.
        require(slot.a.width == Width::Short && slot.b.width == Width::Short);
        [[fallthrough]];
      case Op::Dmul:
      case Op::Fadd: {
        const auto kind = slot.op == Op::Fadd ? Value::Kind::Sum : Value::Kind::Product;
        const int a = read(slot.a, element);
        return add({kind, {}, 0, a, read(slot.b, element)});
      }
      case Op::Upass:
      case Op::Ipass:
        require(slot.a.width == Width::Long);
        return read(slot.a, element);
      default:
        throw NoMatch{};
    }
  }
  void run(const Instruction& i) {
    require(!i.predicate.used);
    // All is read before anything is written.
    std::vector<std::pair<StateWord, int>> writes;
    for (unsigned e = 0; e < i.vlen; ++e) {
      for (const Arithmetic* const slot : {&i.mul, &i.alu}) {
        if (!slot->used()) continue;
        const int v = result(*slot, e);
        if (slot->dst.used()) writes.emplace_back(word_of(slot->dst, e), v);
        require(slot->t == TTarget::None || slot->t == TTarget::Whole);
        if (slot->t == TTarget::Whole) writes.emplace_back(StateWord{Space::T, e}, v);
      }
      if (!i.move.used()) continue;
      if (i.move.op == Op::Bget) {
        get(i.move, e, writes);
      } else {
        require(i.move.bm.space == Space::BmOutput && i.move.bm.width == Width::Long);
        require(i.move.bm.at(e) % 2 == 0 && i.move.pe.width == Width::Long);
        stores_[i.move.bm.at(e) / 2] = {read(i.move.pe, e), i.move.pe_number};
      }
    }
    for (const auto& [word, v] : writes) {
      use(word);
      written_[word] = v;
    }
  }
  /// A long of an item of shorts brings two of them.
  void get(const Transfer& move, unsigned e, std::vector<std::pair<StateWord, int>>& writes) {
    require(move.bm.space == Space::BmSource && move.bm.width == move.pe.width);
    const auto number = [&](std::uint32_t n) { return add({Value::Kind::Item, {}, n, -1, -1}); };
    const std::uint32_t at = move.bm.at(e);
    const StateWord word = word_of(move.pe, e);
    if (move.bm.width == items_) {
      require(at % shorts_in(items_) == 0);
      writes.emplace_back(word, number(at / shorts_in(items_)));
    } else {
      require(items_ == Width::Short && word.space != Space::T && at % 2 == 0);
      writes.emplace_back(StateWord{word.space, word.address, Width::Short}, number(at));
      writes.emplace_back(StateWord{word.space, word.address + 1, Width::Short}, number(at + 1));
    }
  }

  Width items_;
  std::map<Cell, Width> widths_;
  std::vector<Value> values_;
  std::map<StateWord, int> written_, seen_;
  std::map<std::uint32_t, StoredWord> stores_;
};

/// Unfolds sums through previous items.
class Unfold {
 public:
  Unfold(const SymbolicBody& body, Width width) : body_(body), width_(width) {}

  /// Words of a sum's products in their order: product k is of item(k).
  std::vector<PeWord> sum(int v) {
    words_.clear();
    chain({v, 0});
    return words_;
  }
  /// Delay in items between the sums' factors and the output.
  std::uint32_t delay() const { return static_cast<std::uint32_t>(std::max(delay_, 0)); }

 private:
  static constexpr int max_delay = 4;
  struct At {
    int value, delay;
  };

  /// Follows a value to its definition, through words of previous items.
  At origin(At at) const {
    for (;; ++at.delay) {
      const Value& v = body_.value(at.value);
      if (v.kind != Value::Kind::Word) return at;
      const int before = body_.end_of(v.word);
      if (before < 0) return at;
      require(at.delay < max_delay);
      at.value = before;
    }
  }
  void chain(At at) {
    at = origin(at);
    const Value& v = body_.value(at.value);
    if (v.kind == Value::Kind::Product) return product({v.a, at.delay}, {v.b, at.delay});
    require(v.kind == Value::Kind::Sum);
    At a = origin({v.a, at.delay}), b = origin({v.b, at.delay});
    // a + b has the bits of b + a.
    if (rank(a) > rank(b)) std::swap(a, b);
    require(body_.value(b.value).kind == Value::Kind::Product);
    require(words_.size() + body_.stores().size() < (1U << 20));
    chain(a);
    chain(b);
  }
  /// Sums come first, then products in the order of items.
  std::uint32_t rank(At at) const {
    const Value& v = body_.value(at.value);
    if (v.kind != Value::Kind::Product) return 0;
    const Value& a = body_.value(origin({v.a, at.delay}).value);
    const Value& b = body_.value(origin({v.b, at.delay}).value);
    return 1 + (a.kind == Value::Kind::Item ? a.item : b.item);
  }
  void product(At a, At b) {
    a = origin(a);
    b = origin(b);
    if (body_.value(a.value).kind == Value::Kind::Item) std::swap(a, b);
    const Value &word = body_.value(a.value), &item = body_.value(b.value);
    require(word.kind == Value::Kind::Word && item.kind == Value::Kind::Item);
    require(word.word.space != Space::T && word.word.width == width_);
    require(item.item == words_.size());
    require(delay_ < 0 || delay_ == b.delay);
    delay_ = b.delay;
    words_.push_back({word.word.space, static_cast<std::uint16_t>(word.word.address)});
  }

  const SymbolicBody& body_;
  Width width_;
  std::vector<PeWord> words_;
  int delay_ = -1;
};

/// Words set by Start, which must do nothing else; true if set to +0.
using SetCells = std::map<Cell, bool>;
SetCells set_by_start(const Program& program) {
  SetCells set;
  for (const Instruction& i : program.section(Section::Start)) {
    require(!i.predicate.used && !i.move.used());
    for (unsigned e = 0; e < i.vlen; ++e) {
      for (const Arithmetic* const slot : {&i.mul, &i.alu}) {
        if (!slot->used()) continue;
        require(slot->mask.flag == MaskFlag::None && slot->width == Width::Long);
        for (const Operand* const x : {&slot->a, &slot->b})
          require(!x->used() || x->space == Space::Immediate);
        require(slot->t == TTarget::None || slot->t == TTarget::Whole);
        const bool passes = slot->op == Op::Upass || slot->op == Op::Ipass;
        const bool zero = passes && slot->a.space == Space::Immediate && slot->immediate == Long{};
        const auto add = [&](const StateWord& word) {
          each_cell(word, [&](const Cell& cell) { set[cell] = zero; });
        };
        if (slot->t == TTarget::Whole) add({Space::T, e});
        if (slot->dst.used()) add(word_of(slot->dst, e));
      }
    }
  }
  return set;
}

/// Whether a value of the first item is +0: a sum of zeros set by Start.
bool begins_with_zero(const SymbolicBody& body, const SetCells& set, int v) {
  const Value& value = body.value(v);
  if (value.kind == Value::Kind::Sum)
    return begins_with_zero(body, set, value.a) && begins_with_zero(body, set, value.b);
  bool zero = value.kind == Value::Kind::Word;
  each_cell(value.word, [&](const Cell& cell) {
    const auto found = set.find(cell);
    zero = zero && found != set.end() && found->second;
  });
  return zero;
}

MatmulPattern summed_products(const Program& program) {
  require(program.group == 1 && program.section(Section::End).empty());
  require(std::ranges::none_of(program.variables,
                               [](const Variable& v) { return v.kind == VarKind::Result; }));
  const SymbolicBody body(program);
  const auto set = set_by_start(program);
  const auto sets = [&set](const StateWord& word) {
    bool any = false;
    each_cell(word, [&](const Cell& cell) { any = any || set.contains(cell); });
    return any;
  };
  // Words carried to the next item are set by Start, so the next run does not read them.
  for (const auto& [word, v] : body.seen()) require(body.end_of(word) < 0 || sets(word));
  MatmulPattern found;
  found.width = item_width(program);
  Unfold unfold(body, found.width);
  for (const auto& [number, store] : body.stores()) {
    require(number == found.outputs.size());
    const std::vector<PeWord> words = unfold.sum(store.value);
    if (found.rows.empty()) found.depth = static_cast<std::uint32_t>(words.size());
    require(words.size() == found.depth);
    for (const PeWord& w : words) require(!sets({w.space, w.address, found.width}));
    const auto row = std::ranges::find(found.rows, words);
    found.outputs.push_back({static_cast<std::uint32_t>(row - found.rows.begin()), store.pe});
    if (row == found.rows.end()) found.rows.push_back(words);
  }
  found.delay = unfold.delay();
  found.begins_with_zeros =
      found.delay == 1 && std::ranges::all_of(body.stores(), [&](const auto& p) {
        return begins_with_zero(body, set, p.second.value);
      });
  require(!found.outputs.empty());
  require(program.item_shorts == shorts_in(found.width) * found.depth);
  require(program.output_shorts == 2 * found.outputs.size());
  return found;
}

}  // namespace

std::optional<MatmulPattern> match_matmul(const Program& program) {
  try {
    return summed_products(program);
  } catch (const NoMatch&) {
    return std::nullopt;
  }
}

}  // namespace gdr
