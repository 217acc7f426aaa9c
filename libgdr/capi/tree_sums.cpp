// C interface: sums of any law with a tree.
#include <optional>
#include <span>

#include "libgdr/capi/arrays.hpp"
#include "libgdr/capi/capi.hpp"

using gdr::capi::call_of;
using gdr::capi::copy_prefix;
using gdr::capi::create;
using gdr::capi::GivenInputs;
using gdr::capi::GivenResults;
using gdr::capi::guarded;
using gdr::capi::need;
using gdr::capi::options_of;
using gdr::capi::required_device;
using gdr::capi::triples;

namespace {

gdr::TreeSumOptions sum_options_of(const gdr_tree_sum_options* given, std::size_t size) {
  const gdr_tree_sum_options all = options_of(given, size, "gdr_tree_sum_options");
  gdr::TreeSumOptions options;
  if (all.accuracy != 0) options.accuracy = all.accuracy;
  options.degree = all.degree;
  options.theta = all.theta;
  options.group_size = all.group_size;
  options.leaf_size = all.leaf_size;
  options.samples = all.samples;
  options.threads = all.threads;
  return options;
}

struct GivenReport {
  gdr_tree_sum_report* to;
  std::size_t size;
};

void run(gdr_tree_sum& sum, std::span<const double> pos,
         std::optional<std::span<const double>> target_pos, const GivenInputs& sources,
         const GivenInputs& targets, const GivenResults& results, const GivenReport& report) {
  const gdr::TreeSumReport r =
      sum.sum.run(call_of<gdr::TreeCall>(sum, pos, target_pos, sources, targets, results));
  sum.reason = r.reason;
  if (report.to == nullptr) return;
  const gdr_tree_sum_report all = {
      r.degree,        r.theta,          r.error,        r.largest_error,
      r.samples,       r.clusters,       r.groups,       r.sources_per_target,
      r.build_seconds, r.choice_seconds, r.list_seconds, r.sum_seconds,
      r.error_seconds};
  copy_prefix(report.to, report.size, all);
}

}  // namespace

gdr_status gdr_tree_sum_create(gdr_device* device, const gdr_kernel* kernel,
                               const gdr_tree_sum_options* options, size_t options_size,
                               gdr_tree_sum** sum) {
  return create(sum, "sum", [&] {
    gdr::Device& opened = required_device(device);
    need(kernel, "kernel");
    gdr_tree_sum made{gdr::TreeSum(opened, kernel->kernel, sum_options_of(options, options_size))};
    for (const std::string& name : made.sum.charges())
      made.charges += (made.charges.empty() ? "" : " ") + name;
    return made;
  });
}

void gdr_tree_sum_free(gdr_tree_sum* sum) { delete sum; }

gdr_status gdr_tree_sum_set(gdr_tree_sum* sum, const char* name, double value) {
  return guarded({{sum, "sum"}, {name, "name"}}, [&] { sum->sum.set(name, value); });
}

gdr_status gdr_tree_sum_set_values(gdr_tree_sum* sum, const char* name, size_t n,
                                   const double* values) {
  return guarded({{sum, "sum"}, {name, "name"}}, [&] {
    if (n > 0) need(values, "values");
    sum->sum.set(name, std::span(values, n));
  });
}

const char* gdr_tree_sum_charges(const gdr_tree_sum* sum) {
  return sum == nullptr ? "" : sum->charges.c_str();
}

const char* gdr_tree_sum_reason(const gdr_tree_sum* sum) {
  return sum == nullptr ? "" : sum->reason.c_str();
}

gdr_status gdr_tree_sum_run(gdr_tree_sum* sum, size_t n, const double* position,
                            const gdr_input* sources, size_t count, const gdr_input* targets,
                            size_t target_count, const gdr_result* results, size_t result_count,
                            gdr_tree_sum_report* report, size_t report_size) {
  return guarded({{sum, "sum"}}, [&] {
    run(*sum, triples(n, position, "position"), {}, {sources, count}, {targets, target_count},
        {results, result_count}, {report, report_size});
  });
}

gdr_status gdr_tree_sum_run_on(gdr_tree_sum* sum, size_t n_targets, const double* target,
                               const gdr_input* targets, size_t target_count, size_t n_sources,
                               const double* source, const gdr_input* sources, size_t count,
                               const gdr_result* results, size_t result_count,
                               gdr_tree_sum_report* report, size_t report_size) {
  return guarded({{sum, "sum"}}, [&] {
    const auto at = triples(n_targets, target, "target");
    run(*sum, triples(n_sources, source, "source"), at, {sources, count}, {targets, target_count},
        {results, result_count}, {report, report_size});
  });
}
