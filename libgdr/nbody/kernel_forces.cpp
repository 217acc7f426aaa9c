#include "libgdr/nbody/kernel_forces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "gdr/error.hpp"
#include "libgdr/nbody/forces.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {
namespace {

using Setting = std::pair<std::string, double>;

constexpr std::ptrdiff_t triple = 3 * sizeof(double);

/// Results that form a vector: the common prefix of their names, and the dataset.
struct VectorName {
  std::string_view prefix, dataset;
};
constexpr VectorName vectors[] = {
    {"a", "Acceleration"}, {"j", "Jerk"}, {"s", "Snap"}, {"pn", "PostNewtonian"}};

bool is_of(const KernelVariable& v, std::string_view quantity) {
  return (v.role == Role::Target || v.role == Role::Source) && v.quantity == quantity && !v.squared;
}

bool has_target(const Kernel& kernel, std::string_view quantity) {
  return std::ranges::any_of(kernel.variables(), [&](const KernelVariable& v) {
    return v.role == Role::Target && is_of(v, quantity);
  });
}

/// The input arrays of a kernel's variables.
class Inputs {
 public:
  Inputs(Device& device, const Kernel& kernel, const Snapshot& snapshot,
         const KernelSettings& settings)
      : n_(snapshot.size()), masses_(snapshot.mass), ids_(n_) {
    for (double& m : masses_) m *= settings.gravity;
    std::iota(ids_.begin(), ids_.end(), std::int64_t{0});
    add_vector("pos", snapshot.position);
    if (!snapshot.velocity.empty()) add_vector("vel", snapshot.velocity);
    if (has_target(kernel, "acc")) {
      accelerations_.resize(3 * n_);
      std::vector<double> potential(n_);
      device_forces(device, settings.softening, settings.gravity)(snapshot.position, snapshot.mass,
                                                                  accelerations_, potential);
      add_vector("acc", accelerations_);
    }
    components_["mass"] = {masses_};
    components_["id"] = components_["index"] = {ids_.data()};
    for (const auto& [name, value] : settings.values) constants_[name].assign(n_, value);
  }

  /// Arrays of all variables of a role; names without an array are appended to `missing`.
  std::vector<NamedInput> of_role(const Kernel& kernel, Role role,
                                  std::vector<std::string>& missing) const {
    std::vector<NamedInput> list;
    for (const KernelVariable& v : kernel.variables()) {
      if (v.role != role) continue;
      const auto constant = constants_.find(v.name);
      const ConstArray* const array = component(v);
      if (constant != constants_.end() && v.type == HostNumber::F64) {
        list.push_back({v.name, constant->second});
      } else if (array != nullptr) {
        list.push_back({v.name, *array});
      } else {
        missing.push_back(v.name);
      }
    }
    return list;
  }

 private:
  void add_vector(const std::string& quantity, const std::vector<double>& values) {
    for (std::size_t k = 0; k < 3; ++k)
      components_[quantity].push_back({values.data() + k, triple});
  }

  /// The array of a variable's quantity, or null.
  const ConstArray* component(const KernelVariable& v) const {
    const auto found = components_.find(v.quantity);
    if (v.squared || found == components_.end() || v.component >= found->second.size())
      return nullptr;
    const ConstArray& array = found->second[v.component];
    return array.type == v.type ? &array : nullptr;
  }

  std::size_t n_;
  std::vector<double> masses_, accelerations_;
  std::vector<std::int64_t> ids_;
  std::map<std::string, std::vector<ConstArray>> components_;  ///< arrays by quantity
  std::map<std::string, std::vector<double>> constants_;
};

void check_settings(const Kernel& kernel, const KernelSettings& settings) {
  for (const auto& [name, value] : settings.values) {
    const bool known =
        std::ranges::any_of(kernel.variables(), [&name = name](const KernelVariable& v) {
          return v.name == name && v.role != Role::Result;
        });
    if (!known)
      throw Error(ErrorCategory::Usage,
                  fmt::format("the kernel {} has no parameter, target or source variable '{}'",
                              kernel.name(), name));
  }
}

void set_parameters(Job& job, const Kernel& kernel, const KernelSettings& settings,
                    std::vector<std::string>& missing) {
  for (const KernelVariable& v : kernel.variables()) {
    if (v.role != Role::Param) continue;
    const auto given = std::ranges::find(settings.values, v.name, &Setting::first);
    if (given != settings.values.end()) {
      job.set(v.name, given->second);
    } else if (v.quantity == "eps") {
      job.set(v.name, v.squared ? settings.softening * settings.softening : settings.softening);
    } else {
      missing.push_back(v.name);
    }
  }
}

/// What to declare if some of these variables have no quantity.
std::string undeclared_hint(const Kernel& kernel, const std::vector<std::string>& missing) {
  const bool undeclared = std::ranges::any_of(kernel.variables(), [&](const KernelVariable& v) {
    return v.quantity.empty() && std::ranges::find(missing, v.name) != missing.end();
  });
  if (!undeclared) return {};
  return "; or, if a snapshot has the values, declare in the kernel which they are: `VARI xi, yi, "
         "zi as pos;`, `VARJ mj as mass;`, `CONST eps2 as eps^2;` (in assembly `as pos` behind "
         "each declaration)";
}

/// The result of that name, or null.
const KernelVariable* find_result(const Kernel& kernel, const std::string& name) {
  for (const KernelVariable& v : kernel.variables())
    if (v.role == Role::Result && v.name == name) return &v;
  return nullptr;
}

/// An element of an array result: index, number of elements, and name of the array.
struct Element {
  std::string base;
  std::size_t index = 0, count = 0;
};

/// The element for a name like `near_5` if near_0, near_1, ... exist, as for arrays and lists of
/// the kernel language; otherwise count is 0.
Element element_of(const Kernel& kernel, const KernelVariable& v) {
  const std::size_t cut = v.name.find_last_not_of("0123456789");
  if (cut == std::string::npos || v.name[cut] != '_' || cut + 1 == v.name.size()) return {};
  Element e{v.name.substr(0, cut), 0, 0};
  while (find_result(kernel, fmt::format("{}_{}", e.base, e.count)) != nullptr) {
    if (fmt::format("{}_{}", e.base, e.count) == v.name) e.index = e.count;
    ++e.count;
  }
  if (e.count < 2 || fmt::format("{}_{}", e.base, e.index) != v.name) return {};
  if (find_result(kernel, e.base) != nullptr)
    e.base += "_list";  // the base name is the number of entries
  return e;
}

/// The dataset of a result, created on first use, and the column in it.
ForceDataset& dataset_of(std::vector<ForceDataset>& list, const Kernel& kernel,
                         const KernelVariable& v, std::size_t n, std::size_t& column) {
  const auto has = [&](const std::string& result) {
    const KernelVariable* const found = find_result(kernel, result);
    return found != nullptr && found->type == v.type;
  };
  std::string name = v.name == "pot" ? "Potential" : v.name;
  std::size_t width = 1;
  column = 0;
  for (const VectorName& vector : vectors) {
    const std::string stem(vector.prefix);
    const std::array components = {stem + "x", stem + "y", stem + "z"};
    const auto* const found = std::ranges::find(components, v.name);
    if (found == components.end() || !std::ranges::all_of(components, has)) continue;
    name = vector.dataset;
    width = 3;
    column = static_cast<std::size_t>(found - components.begin());
  }
  if (const Element e = element_of(kernel, v); e.count > 0) {
    name = e.base;
    width = e.count;
    column = e.index;
  }
  for (ForceDataset& d : list)
    if (d.name == name) return d;
  ForceDataset& added = list.emplace_back(ForceDataset{name, width, {}, {}});
  if (v.type == HostNumber::I64)
    added.integers.resize(n * width);
  else
    added.numbers.resize(n * width);
  return added;
}

/// Sums must be finite; minima and maxima over no pairs are infinite.
void check_finite_sums(const Kernel& kernel, const std::vector<ForceDataset>& list) {
  for (const ForceDataset& d : list) {
    const bool extreme = std::ranges::any_of(kernel.variables(), [&](const KernelVariable& v) {
      const bool of_it = v.name == d.name || element_of(kernel, v).base == d.name;
      return of_it && v.reduction != "fadd";
    });
    for (std::size_t k = 0; !extreme && k < d.numbers.size(); ++k)
      if (!std::isfinite(d.numbers[k]))
        throw Error(
            ErrorCategory::Input,
            fmt::format("{} of particle {} is not finite: values out of range, or particles "
                        "too close for this softening; scale the units, or use a larger eps",
                        d.name, k / d.width));
  }
}

/// Runs the job on arrays of all particles. On many ranks each passes its part of the arrays and
/// gets all results.
void run_part(Device& device, Job& job, std::size_t n, std::vector<NamedInput> sources,
              std::vector<NamedInput> targets, std::vector<NamedResult> results,
              std::vector<ForceDataset>& list) {
  RankGroup* const ranks = DeviceRanks::group(device);
  const auto [first, end] = part_of_rank(ranks, n);
  for (auto* inputs : {&sources, &targets})
    for (NamedInput& input : *inputs)
      input.array.data = static_cast<const char*>(input.array.data) +
                         static_cast<std::ptrdiff_t>(first) * input.array.stride;
  for (NamedResult& result : results)
    result.array.data = static_cast<char*>(result.array.data) +
                        static_cast<std::ptrdiff_t>(first) * result.array.stride;
  job.sources(end - first, sources);
  job.targets(end - first, targets);
  job.run(results);
  for (ForceDataset& d : list) {
    void* const values = d.integers.empty() ? static_cast<void*>(d.numbers.data())
                                            : static_cast<void*>(d.integers.data());
    if (ranks != nullptr) gather_parts(*ranks, values, n, d.width);
  }
}

}  // namespace

bool needs_velocities(const Kernel& kernel) {
  return std::ranges::any_of(kernel.variables(),
                             [](const KernelVariable& v) { return is_of(v, "vel"); });
}

std::vector<ForceDataset> kernel_forces(Device& device, const Kernel& kernel,
                                        const Snapshot& snapshot, const KernelSettings& settings) {
  check_settings(kernel, settings);
  const std::size_t n = snapshot.size();
  const Inputs inputs(device, kernel, snapshot, settings);
  std::vector<std::string> missing;
  const std::vector<NamedInput> sources = inputs.of_role(kernel, Role::Source, missing);
  const std::vector<NamedInput> targets = inputs.of_role(kernel, Role::Target, missing);
  Job job = device.job(kernel);
  set_parameters(job, kernel, settings, missing);
  if (!missing.empty())
    throw Error(
        ErrorCategory::Usage,
        fmt::format("the kernel {} requires {}, which a snapshot does not contain; set a value "
                    "for all particles with --set NAME=VALUE{}",
                    kernel.name(), fmt::join(missing, ", "), undeclared_hint(kernel, missing)));
  std::vector<ForceDataset> list;
  std::vector<NamedResult> results;
  list.reserve(kernel.variables().size());
  for (const KernelVariable& v : kernel.variables()) {
    if (v.role != Role::Result) continue;
    std::size_t column = 0;
    ForceDataset& d = dataset_of(list, kernel, v, n, column);
    const auto stride = static_cast<std::ptrdiff_t>(8 * d.width);
    if (v.type == HostNumber::I64) {
      results.push_back({v.name, {d.integers.data() + column, stride}});
    } else {
      results.push_back({v.name, {d.numbers.data() + column, stride}});
    }
  }
  device.retry_on_rank_failure([&] { run_part(device, job, n, sources, targets, results, list); });
  check_finite_sums(kernel, list);
  return list;
}

}  // namespace gdr
