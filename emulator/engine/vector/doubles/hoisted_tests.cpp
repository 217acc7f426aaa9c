#include <algorithm>

#include "emulator/engine/vector/doubles/lane_liveness.hpp"

namespace gdr {
namespace {

/// Scratch rows of hoisted masks, after all others.
constexpr std::uint32_t first_mask_row = 1U << 16;

/// A step of a test: the test itself, or an operation that computes its operands.
struct Step {
  RowOp op;
  int a = -1, b = -1;  ///< steps that compute its operands; -1: those before the list
};
using Steps = std::vector<Step>;

class TestHoisting {
 public:
  TestHoisting(RowProgram& program, const DoublesKernels& kernels)
      : program_(program), kernels_(kernels) {}

  void run() {
    take_tests(program_.iteration);
    take_tests(program_.after);
    for (auto* list : {&program_.before, &program_.iteration})
      for (const Steps& test : tests_)
        for (const Step& step : test) list->push_back(step.op);
  }

 private:
  /// Replaces tests that depend only on a list's inputs by their hoisted masks.
  void take_tests(std::vector<RowOp>& ops) {
    RowNumbering rows;
    rows.add(ops);
    const ListLiveness list(ops, rows);
    std::vector<RowOp> changed = ops;
    for (std::size_t n = 0; n < ops.size(); ++n) {
      Steps steps;
      if (ops[n].kind != RowOpKind::Test || add_steps(list, n, steps) < 0) continue;
      const RowSpan mask = hoisted_mask(std::move(steps));
      changed[n].op.kernel = kernels_.copy[0];
      changed[n].kind = RowOpKind::Compute;
      changed[n].a = mask;
      changed[n].b = no_rows;
      // The result of a predicated test goes to a scratch row first, and from there to the mask.
      for (std::size_t m = n + 1; ops[n].out.lanes.kind == RowKind::Scratch && m < ops.size(); ++m)
        if (has_elements(list, m, &ElementLiveness::a, n)) changed[m].a = mask;
    }
    ops = std::move(changed);
  }

  /// Appends the steps of operation n and of its operands; returns the last one's number. Negative
  /// if an operand is computed by the list in a way that cannot be repeated.
  int add_steps(const ListLiveness& list, std::size_t n, Steps& steps) const {
    Step step{list.ops()[n]};
    // An operation without operands may read the broadcast memory, which then holds the next group.
    if (step.op.predicated() || !step.op.a.used) return -1;
    if (!add_operand(list, n, step.op.a, &ElementLiveness::a, step.a, steps)) return -1;
    if (!add_operand(list, n, step.op.b, &ElementLiveness::b, step.b, steps)) return -1;
    steps.push_back(step);
    return static_cast<int>(steps.size()) - 1;
  }

  bool add_operand(const ListLiveness& list, std::size_t n, const RowSpan& operand,
                   ValueSite ElementLiveness::*site, int& made_by, Steps& steps) const {
    if (!operand.used || operand.lanes.kind == RowKind::Constant) return true;
    bool is_input = true;
    for (std::uint32_t k = 0; k < list.ops()[n].op.elements; ++k)
      is_input = is_input && list.at(n, k).*site < 0;
    if (is_input) return !is_checked(list, n, operand);
    const ValueSite first = list.at(n, 0).*site;
    if (first < 0 || element_at(first) != 0 || !has_elements(list, n, site, op_at(first)))
      return false;
    const RowOp& maker = list.ops()[op_at(first)];
    if (maker.kind != RowOpKind::Compute || maker.out.lanes.kind != RowKind::Scratch) return false;
    made_by = add_steps(list, op_at(first), steps);
    return made_by >= 0;
  }

  /// Whether the bits of an input are checked before the integer operation n reads them. A hoisted
  /// test would read them before.
  bool is_checked(const ListLiveness& list, std::size_t n, const RowSpan& input) const {
    const DoublesOp& op = list.ops()[n].op;
    const bool integer =
        std::ranges::count(kernels_.integer, op.kernel) != 0 ||
        std::ranges::any_of(kernels_.integer_test, [&](const DoublesKernel(&tests)[2]) {
          return tests[0] == op.kernel || tests[1] == op.kernel;
        });
    const std::span before(list.ops().data(), n);
    return integer && std::ranges::any_of(before, [&](const RowOp& o) {
             const bool checks = o.kind == RowOpKind::Check || o.kind == RowOpKind::CheckedInput;
             return checks && meet(o.a, o.op.elements, input, op.elements);
           });
  }

  /// Whether this operand of each element of operation m is the same element of operation n.
  static bool has_elements(const ListLiveness& list, std::size_t m,
                           ValueSite ElementLiveness::*site, std::size_t n) {
    const std::uint32_t elements = list.ops()[m].op.elements;
    if (elements != list.ops()[n].op.elements) return false;
    for (std::uint32_t k = 0; k < elements; ++k)
      if (list.at(m, k).*site != site_of(n, k)) return false;
    return true;
  }

  bool same_operand(const RowSpan& x, const RowSpan& y) const {
    if (x.used != y.used || x.has_tail != y.has_tail) return false;
    if (!x.used) return true;
    if (x.lanes.kind == RowKind::Constant && y.lanes.kind == RowKind::Constant) {
      const ConstantRow &a = program_.constants[x.lanes.number],
                        &b = program_.constants[y.lanes.number];
      return !x.has_tail && a.bits == b.bits && a.kind == b.kind;
    }
    return same_rows(x, y);
  }
  bool alike(const Step& x, const Step& y) const {
    return x.op.op.kernel == y.op.op.kernel && x.op.op.elements == y.op.op.elements && x.a == y.a &&
           x.b == y.b && (x.a >= 0 || same_operand(x.op.a, y.op.a)) &&
           (x.b >= 0 || same_operand(x.op.b, y.op.b));
  }

  /// Row of a hoisted mask, shared by equal tests.
  RowSpan hoisted_mask(Steps steps) {
    const auto is_equal = [&](const Steps& others) {
      return std::ranges::equal(steps, others,
                                [&](const Step& x, const Step& y) { return alike(x, y); });
    };
    const auto known = std::ranges::find_if(tests_, is_equal);
    if (known != tests_.end()) return known->back().op.out;
    for (Step& step : steps) {
      if (step.a >= 0) step.op.a = steps[static_cast<std::size_t>(step.a)].op.out;
      if (step.b >= 0) step.op.b = steps[static_cast<std::size_t>(step.b)].op.out;
      RowSpan& out = step.op.out;
      const std::uint32_t rows = step.op.op.elements;
      out = {{RowKind::Scratch, next_row_}, {RowKind::Scratch, next_row_ + rows}, out.has_tail, 1};
      next_row_ += 2 * rows;
    }
    tests_.push_back(std::move(steps));
    return tests_.back().back().op.out;
  }

  RowProgram& program_;
  const DoublesKernels& kernels_;
  std::vector<Steps> tests_;
  std::uint32_t next_row_ = first_mask_row;
};

}  // namespace

void hoist_tests(RowProgram& program, const DoublesKernels& kernels) {
  TestHoisting(program, kernels).run();
}

}  // namespace gdr
