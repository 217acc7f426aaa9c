#include "libgdr/chemistry/field.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <numbers>
#include <string>
#include <tuple>

#include "gdr/error.hpp"
#include "kernels/compiler/compiler.hpp"
#include "libgdr/chemistry/kernel_text.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr::chemistry {
namespace {

/// Results of one kernel: their sums stay in the register file of a PE, which has 32 words.
constexpr std::size_t most_results = 20;

/// The kernel of a class, compiled once in a process. Without a search for a pipelined loop where
/// the pair law is long: such a loop is limited by registers.
const Kernel& kernel_of(unsigned li, unsigned lj, std::size_t first, std::size_t last) {
  static std::mutex mutex;
  static std::map<std::tuple<unsigned, unsigned, std::size_t>, Kernel> made;
  const std::lock_guard lock(mutex);
  const auto key = std::tuple(li, lj, first);
  if (const auto found = made.find(key); found != made.end()) return found->second;
  CompileOptions options;
  options.effort = 0;
  CompileResult result = compile_kernel(coulomb_kernel(li, lj, first, last), "coulomb", options);
  if (!result.ok()) throw Error(ErrorCategory::Internal, result.diagnostics.render());
  return made.emplace(key, Kernel(std::move(*result.program))).first->second;
}

/// Columns of arrays of records, as the named arrays of a job; owns the names.
class Columns {
 public:
  void add(const std::string& name, const double* first, std::size_t doubles) {
    names_.push_back(name);
    arrays_.emplace_back(first, static_cast<std::ptrdiff_t>(doubles * sizeof(double)));
  }
  std::vector<NamedInput> inputs() const {
    std::vector<NamedInput> made;
    for (std::size_t k = 0; k < names_.size(); ++k) made.push_back({names_[k], arrays_[k]});
    return made;
  }

 private:
  std::vector<std::string> names_;
  std::vector<ConstArray> arrays_;
};

/// A rectangle of interactions: sources from `first` to before `last` with the first `targets`.
struct Rectangle {
  std::size_t first, last, targets;
};

/// Interactions that cost as much as the call that computes them.
constexpr std::size_t call_cost = 200000;

/// Covers all required interactions by few rectangles. `needed`: number of sources that a target
/// needs, descending.
std::vector<Rectangle> cover(std::span<const std::size_t> needed) {
  std::vector<Rectangle> made;
  std::size_t first = 0, count = needed.size();
  const auto drop_complete = [&] {
    while (count > 0 && needed[count - 1] <= first) --count;
  };
  for (drop_complete(); count > 0; drop_complete()) {
    // The last source for which the superfluous interactions are worth less than another call.
    std::size_t last = needed[count - 1], missing = count, waste = 0;
    while (missing > 0) {
      while (missing > 0 && needed[missing - 1] <= last) --missing;
      if (missing == 0) break;
      const std::size_t next = needed[missing - 1];
      waste += (count - missing) * (next - last);
      if (waste > call_cost + count * (next - first) / 16) break;
      last = next;
    }
    made.push_back({first, last, count});
    first = last;
  }
  return made;
}

/// The factors of a source's Hermite coefficients in the kernel: signs of the derivatives to its
/// centre, and 2 pi^(5/2)/q.
std::vector<double> kernel_charges(unsigned l, const SourceList& sources) {
  const std::size_t each = hermite_count(l);
  const std::vector<Order>& orders = hermite_orders();
  std::vector<double> scaled(sources.charge.size());
  for (std::size_t j = 0; j < sources.size(); ++j) {
    const double factor =
        2 * std::numbers::pi * std::numbers::pi / std::numbers::inv_sqrtpi / sources.exponent[j];
    for (std::size_t n = 0; n < each; ++n) {
      const bool odd = (orders[n][0] + orders[n][1] + orders[n][2]) % 2 == 1;
      scaled[j * each + n] = (odd ? -factor : factor) * sources.charge[j * each + n];
    }
  }
  return scaled;
}

}  // namespace

void Field::evaluate(const SourceLists& sources, TargetLists& targets, double neglect) {
  interactions_ = 0;
  for (unsigned li = 0; li <= max_pair; ++li) {
    targets[li].potential.assign(targets[li].size() * hermite_count(li), 0.0);
    for (unsigned lj = 0; lj <= max_pair; ++lj)
      evaluate_class(li, lj, sources[lj], targets[li], neglect / (max_pair + 1));
  }
}

void Field::evaluate_class(unsigned li, unsigned lj, const SourceList& sources, TargetList& targets,
                           double neglect) {
  if (sources.size() == 0 || targets.size() == 0) return;
  std::vector<std::size_t> needed(targets.size(), sources.size());
  if (!sources.magnitude.empty() && !targets.bound.empty()) {
    // From the last target on, whose bound is the smallest, more sources are needed.
    double tail = 0;
    std::size_t count = sources.size();
    for (std::size_t i = 0; i < targets.size(); ++i) {
      while (count > 0 && (tail + sources.magnitude[count - 1]) * targets.bound[i] <= neglect)
        tail += sources.magnitude[--count];
      needed[i] = count;
    }
  }
  const std::size_t own = hermite_count(li), each = hermite_count(lj);
  const std::vector<double> charges = kernel_charges(lj, sources);
  RankGroup* const ranks = DeviceRanks::group(*device_);
  const auto part = [&](std::size_t n, unsigned offset) {
    return ranks == nullptr ? n * offset : part_begin(n, ranks->rank() + offset, ranks->size());
  };
  std::vector<double> results;
  for (const Rectangle& block : cover(needed)) {
    const std::size_t n = block.last - block.first;
    const std::size_t j = block.first + part(n, 0), n_own = part(n, 1) - part(n, 0);
    const std::size_t i = part(block.targets, 0), i_own = part(block.targets, 1) - i;
    interactions_ += n * block.targets;
    for (std::size_t first = 0; first < own; first += most_results) {
      const std::size_t last = std::min(own, first + most_results), width = last - first;
      Job job = device_->job(kernel_of(li, lj, first, last));
      Columns columns;
      for (std::size_t k = 0; k < 3; ++k)
        columns.add(k == 0 ? "xs" : k == 1 ? "ys" : "zs", sources.centre[j].data() + k, 3);
      columns.add("q", sources.exponent.data() + j, 1);
      for (std::size_t k = 0; k < each; ++k)
        columns.add("d_" + std::to_string(k), charges.data() + j * each + k, each);
      job.sources(n_own, columns.inputs());
      Columns places;
      for (std::size_t k = 0; k < 3; ++k)
        places.add(k == 0 ? "x" : k == 1 ? "y" : "z", targets.centre[i].data() + k, 3);
      places.add("p", targets.exponent.data() + i, 1);
      job.targets(i_own, places.inputs());
      results.assign(block.targets * width, 0.0);
      job.run({{"v[]", {results.data() + i * width, sizeof(double)}}});
      if (ranks != nullptr) gather_parts(*ranks, results.data(), block.targets, width);
      for (std::size_t t = 0; t < block.targets; ++t)
        for (std::size_t k = 0; k < width; ++k)
          targets.potential[t * own + first + k] += results[t * width + k] / targets.exponent[t];
    }
  }
}

}  // namespace gdr::chemistry
