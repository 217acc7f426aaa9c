// Direct sums of pair laws in long double, runs of the kernels, and the errors between them.
#include "bench/laws/laws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "emulator/host/parallel.hpp"
#include "gdr/error.hpp"

namespace gdr::bench {
namespace {

/// The values of the variables of one role as the kernel declares them, particle by particle.
std::vector<Real> rows(const Kernel& kernel, Role role, const Sample& sample, std::size_t& width) {
  std::vector<const std::vector<double>*> columns;
  for (const KernelVariable& v : kernel.variables())
    if (v.role == role) columns.push_back(&sample.of(v.name));
  width = columns.size();
  std::vector<Real> values;
  values.reserve(width * sample.n);
  for (std::size_t k = 0; k < sample.n; ++k)
    for (const auto* column : columns) values.push_back((*column)[k]);
  return values;
}

std::vector<KernelVariable> results_of(const Kernel& kernel) {
  std::vector<KernelVariable> list;
  for (const KernelVariable& v : kernel.variables())
    if (v.role == Role::Result) list.push_back(v);
  return list;
}

/// Value of a result without sources.
Real initial_value(const KernelVariable& v) {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  if (v.reduction == "fmin") return infinity;
  // The least key with its index, and the entries of a list.
  if (v.reduction == "imin" || v.reduction == "index" || v.reduction == "pass")
    return v.type == HostNumber::F64 ? infinity : -1;
  return v.reduction == "fmax" ? -infinity : 0;
}

/// Arrays of a sample for a job; integers are converted in `integers`.
std::vector<NamedInput> inputs(const Kernel& kernel, Role role, const Sample& sample,
                               std::vector<std::vector<std::int64_t>>& integers) {
  std::vector<NamedInput> list;
  for (const KernelVariable& v : kernel.variables()) {
    if (v.role != role) continue;
    const std::vector<double>& column = sample.of(v.name);
    if (v.type == HostNumber::I64) {
      integers.emplace_back(column.begin(), column.end());
      list.push_back({v.name, integers.back().data()});
    } else {
      list.push_back({v.name, column});
    }
  }
  return list;
}

}  // namespace

Sample Sample::first(std::size_t count) const {
  Sample part = *this;
  part.n = count;
  for (auto& [name, column] : part.columns) column.resize(count);
  return part;
}

const std::vector<double>& Sample::of(std::string_view variable) const {
  auto found = columns.find(variable);
  if (found == columns.end()) found = columns.find(variable.substr(0, variable.size() - 1));
  if (found == columns.end())
    throw Error(ErrorCategory::Internal,
                fmt::format("the sample has no column for '{}'", variable));
  return found->second;
}

const std::vector<Law>& laws() {
  static const std::vector<Law> all = [] {
    std::vector<Law> list = gravity_laws();
    for (const auto& more : {molecular_laws(), fluid_laws()})
      list.insert(list.end(), more.begin(), more.end());
    return list;
  }();
  return all;
}

const Law& law_of(std::string_view kernel) {
  for (const Law& law : laws())
    if (law.kernel == kernel) return law;
  throw Error(ErrorCategory::Internal, fmt::format("there is no pair law for '{}'", kernel));
}

LawJob::LawJob(Device& device, const Kernel& kernel, const Law& law, Sample targets,
               const Sample& sources)
    : kernel_(kernel),
      targets_(std::move(targets)),
      variables_(results_of(kernel_)),
      job_(device.job(kernel_)) {
  for (const auto& [name, value] : law.parameters) job_.set(name, value);
  integers_.reserve(kernel_.variables().size());
  job_.sources(sources.n, inputs(kernel_, Role::Source, sources, integers_));
  inputs_ = inputs(kernel_, Role::Target, targets_, integers_);
  found_.assign(variables_.size(), std::vector<double>(targets_.n));
  counts_.resize(variables_.size());
  for (std::size_t k = 0; k < variables_.size(); ++k) {
    if (variables_[k].type == HostNumber::I64) {
      counts_[k].resize(targets_.n);
      named_.push_back({variables_[k].name, counts_[k].data()});
    } else {
      named_.push_back({variables_[k].name, found_[k]});
    }
  }
}

void LawJob::run() {
  job_.targets(targets_.n, inputs_);
  job_.run(named_);
}

Columns LawJob::results() const {
  Columns all = found_;
  for (std::size_t k = 0; k < all.size(); ++k)
    std::copy(counts_[k].begin(), counts_[k].end(), all[k].begin());
  return all;
}

Columns run_law(Device& device, const Kernel& kernel, const Law& law, const Sample& targets,
                const Sample& sources) {
  LawJob job(device, kernel, law, targets, sources);
  job.run();
  return job.results();
}

Columns direct_law(const Kernel& kernel, const Law& law, const Sample& targets,
                   const Sample& sources) {
  std::size_t wide_i = 0, wide_j = 0;
  const std::vector<Real> i = rows(kernel, Role::Target, targets, wide_i);
  const std::vector<Real> j = rows(kernel, Role::Source, sources, wide_j);
  std::vector<Real> c;
  for (const auto& [name, value] : law.parameters) c.push_back(value);
  const std::vector<KernelVariable> results = results_of(kernel);
  Columns right(results.size(), std::vector<double>(targets.n));
  parallel_items(targets.n, 0, [&](std::size_t t) {
    std::vector<Real> f;
    for (const KernelVariable& v : results) f.push_back(initial_value(v));
    for (std::size_t s = 0; s < sources.n; ++s)
      law.pair(i.data() + t * wide_i, j.data() + s * wide_j, c.data(), f.data());
    for (std::size_t k = 0; k < f.size(); ++k) right[k][t] = static_cast<double>(f[k]);
  });
  return right;
}

std::vector<LawError> compare(const Law& law, const Columns& found, const Columns& right) {
  std::vector<LawError> list;
  for (const Quantity& q : law.quantities) {
    const std::size_t n = right[q.first].size();
    double size = 0, sum = 0, largest = 0;
    for (std::size_t t = 0; t < n; ++t) {
      double difference = 0;
      for (std::size_t k = q.first; k < q.first + q.count; ++k) {
        const double want = right[k][t], got = found[k][t];
        const double off = got == want ? 0 : got - want;  // equal infinities: no error
        difference += off * off;
        size += std::isfinite(want) ? want * want : 0;
      }
      sum += difference;
      if (!(difference <= largest)) largest = difference;  // keeps a NaN
      if (std::isnan(largest)) break;
    }
    const double unit = size > 0 ? size : 1;
    list.push_back({q.name, std::sqrt(sum / unit),
                    std::sqrt(largest / unit * static_cast<double>(std::max<std::size_t>(n, 1)))});
  }
  return list;
}

}  // namespace gdr::bench
