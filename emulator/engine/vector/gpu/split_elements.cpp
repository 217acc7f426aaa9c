#include "emulator/engine/vector/gpu/split_elements.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace gdr::codegen {
namespace {

/// A step but for its level, which its operands decide.
using Key = std::tuple<Step::Kind, jit::Op, std::uint8_t, jit::Rounding, std::uint8_t,
                       std::array<StepId, 3>, std::uint64_t>;
Key key(const Step& s) { return {s.kind, s.op, s.detail, s.rounding, s.memory, s.in, s.bits}; }

class Split {
 public:
  Split(std::span<const DoublesOp> ops, const Trace& together) : t_(together) {
    for (const DoublesOp& op : ops)
      if (!is_fill(op.kernel)) elements_ = std::max(elements_, op.elements);
    for (const DoublesOp& op : ops) {
      if (op.elements != elements_ || is_fill(op.kernel)) continue;
      for (const LanePlace* p : {&op.a, &op.b, &op.out, &op.mask, &op.old}) {
        if (p->step != t_.row_bytes) continue;
        add_strip(p->lanes);
        if (p->tail != 0) add_strip(p->tail);
      }
    }
    exclude_single_rows();
    for (StepId n = 0; n < t_.steps.size(); ++n) known_.emplace(key(t_.steps[n]), n);
  }

  std::optional<Trace> run() {
    if (elements_ == 1) return std::nullopt;
    find_owners();
    for (unsigned k = 1; k < elements_; ++k) find_images(k);
    made_.elements = elements_;
    made_.row_bytes = t_.row_bytes;
    if (!stores() || !tests()) return std::nullopt;
    steps();
    return std::move(made_);
  }

 private:
  /// Elements that a step depends on; in between: one of them.
  static constexpr int shared = -1, several = -2;

  /// The first user of a row decides: others, of which some are not aligned alike, fail later.
  void add_strip(std::uint32_t at) {
    for (unsigned k = 0; k < elements_; ++k)
      element_of_.try_emplace(at + k * t_.row_bytes, static_cast<int>(k));
  }
  /// Rows of a strip into which iterations put words of their own, to be read one by one.
  void exclude_single_rows() {
    std::map<std::uint32_t, StepId> stored;
    for (const RowStore& store : t_.stores) stored.emplace(store.offset, store.value);
    for (const auto& [offset, value] : stored) {
      const int element = element_of(offset);
      if (element == shared) continue;
      const std::uint32_t first = offset - static_cast<std::uint32_t>(element) * t_.row_bytes;
      for (unsigned k = 0; k < elements_; ++k) {
        const auto other = stored.find(first + k * t_.row_bytes);
        const bool alike = other != stored.end() &&
                           (other->second == value || t_.steps[value].level != Level::Iteration);
        if (!alike) element_of_.erase(offset);
      }
    }
  }
  int element_of(std::uint64_t offset) const {
    const auto at = element_of_.find(static_cast<std::uint32_t>(offset));
    return at == element_of_.end() ? shared : at->second;
  }

  void find_owners() {
    owner_.assign(t_.steps.size(), shared);
    for (StepId n = 0; n < t_.steps.size(); ++n) {
      const Step& s = t_.steps[n];
      int& owner = owner_[n];
      if (s.kind == Step::Kind::Row) owner = element_of(s.bits);
      for (const StepId in : s.in) {
        if (in == no_step || owner_[in] == shared) continue;
        owner = owner == shared || owner == owner_[in] ? owner_[in] : several;
      }
    }
  }

  /// What is for element k as a step is for element 0.
  void find_images(unsigned k) {
    std::vector<StepId> image(t_.steps.size(), no_step);
    for (StepId n = 0; n < t_.steps.size(); ++n) {
      if (owner_[n] == shared) image[n] = n;
      if (owner_[n] != 0) continue;
      Step s = t_.steps[n];
      if (s.kind == Step::Kind::Row) s.bits += std::uint64_t{k} * t_.row_bytes;
      bool complete = true;
      for (StepId& in : s.in) {
        if (in == no_step) continue;
        in = image[in];
        complete = complete && in != no_step;
      }
      const auto found = complete ? known_.find(key(s)) : known_.end();
      if (found != known_.end()) image[n] = found->second;
    }
    images_.push_back(std::move(image));
  }

  /// A store of element 0 with counterparts is one to rows of elements; others are to rows of
  /// lanes, of values that elements share.
  bool stores() {
    std::map<std::uint32_t, StepId> left;
    for (const RowStore& store : t_.stores) left.emplace(store.offset, store.value);
    while (!left.empty()) {
      const auto [offset, value] = *left.begin();
      const bool whole = is_strip(left, offset, value);
      if (!whole && owner_[value] != shared) return false;
      made_.stores.push_back({value, offset, whole ? Level::Element : Level::Lanes});
      for (unsigned k = 0; k < (whole ? elements_ : 1); ++k) left.erase(offset + k * t_.row_bytes);
    }
    return true;
  }
  bool is_strip(const std::map<std::uint32_t, StepId>& left, std::uint32_t offset,
                StepId value) const {
    if (element_of(offset) != 0 || (owner_[value] != 0 && owner_[value] != shared)) return false;
    for (unsigned k = 1; k < elements_; ++k) {
      const auto other = left.find(offset + k * t_.row_bytes);
      if (other == left.end() || other->second != images_[k - 1][value]) return false;
    }
    return true;
  }

  /// Every test is one of shared values, of element 0, or the counterpart of one.
  bool tests() const {
    std::vector<bool> covered(t_.steps.size(), false);
    for (const auto& image : images_)
      for (const StepId n : image)
        if (n != no_step) covered[n] = true;
    for (StepId n = 0; n < t_.steps.size(); ++n) {
      if (t_.steps[n].op != jit::Op::Collect || owner_[n] == shared) continue;
      if (owner_[n] == 0) {
        for (const auto& image : images_)
          if (image[n] == no_step) return false;
      } else if (!covered[n]) {
        return false;
      }
    }
    return true;
  }

  /// Those that stores and tests of element 0 need, which depend on no other element.
  void steps() {
    std::vector<bool> needed(t_.steps.size(), false);
    for (const RowStore& store : made_.stores) needed[store.value] = true;
    for (StepId n = static_cast<StepId>(t_.steps.size()); n-- > 0;) {
      const bool is_test =
          t_.steps[n].op == jit::Op::Collect && (owner_[n] == shared || owner_[n] == 0);
      if (!needed[n] && !is_test) continue;
      needed[n] = true;
      for (const StepId in : t_.steps[n].in)
        if (in != no_step) needed[in] = true;
    }
    std::vector<StepId> moved(t_.steps.size(), no_step);
    for (StepId n = 0; n < t_.steps.size(); ++n) {
      if (!needed[n]) continue;
      Step s = t_.steps[n];
      if (s.kind == Step::Kind::Row) s.level = owner_[n] == shared ? Level::Lanes : Level::Element;
      if (s.kind == Step::Kind::Operation || is_sum_of_device(s)) s.level = Level::Iteration;
      for (StepId& in : s.in) {
        if (in == no_step) continue;
        in = moved[in];
        s.level = std::max(s.level, made_.steps[in].level);
      }
      moved[n] = static_cast<StepId>(made_.steps.size());
      made_.steps.push_back(s);
    }
    for (RowStore& store : made_.stores) store.value = moved[store.value];
  }

  const Trace& t_;
  unsigned elements_ = 1;
  std::map<std::uint32_t, int> element_of_;  ///< elements, by offset of a strip's row
  std::map<Key, StepId> known_;
  std::vector<int> owner_;                   ///< element that each step depends on
  std::vector<std::vector<StepId>> images_;  ///< steps of element 1 and on, by step
  Trace made_;
};

}  // namespace

std::optional<Trace> split_elements(std::span<const DoublesOp> ops, const Trace& together) {
  return Split(ops, together).run();
}

}  // namespace gdr::codegen
