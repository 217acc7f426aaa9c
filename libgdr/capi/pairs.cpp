// C interface: sums within a cut-off.
#include <optional>
#include <span>

#include "libgdr/capi/arrays.hpp"
#include "libgdr/capi/capi.hpp"

using gdr::capi::box_of;
using gdr::capi::call_of;
using gdr::capi::copy_prefix;
using gdr::capi::create;
using gdr::capi::GivenInputs;
using gdr::capi::GivenResults;
using gdr::capi::guarded;
using gdr::capi::need;
using gdr::capi::required_device;
using gdr::capi::triples;

namespace {

void run(gdr_pair_sum& sum, std::span<const double> pos,
         std::optional<std::span<const double>> target_pos, const GivenInputs& sources,
         const GivenInputs& targets, const GivenResults& results) {
  sum.sum.run(call_of<gdr::PairCall>(sum, pos, target_pos, sources, targets, results));
}

}  // namespace

gdr_status gdr_pair_sum_create(gdr_device* device, const gdr_kernel* kernel, double cutoff,
                               double skin, unsigned threads, gdr_pair_sum** sum) {
  return create(sum, "sum", [&] {
    gdr::Device& opened = required_device(device);
    need(kernel, "kernel");
    gdr::PairOptions options{.cutoff = {cutoff}};
    if (!(skin < 0)) options.skin = skin;
    options.threads = threads;
    return gdr_pair_sum{gdr::PairSum(opened, kernel->kernel, options)};
  });
}

void gdr_pair_sum_free(gdr_pair_sum* sum) { delete sum; }

gdr_status gdr_pair_sum_set(gdr_pair_sum* sum, const char* name, double value) {
  return guarded({{sum, "sum"}, {name, "name"}}, [&] { sum->sum.set(name, value); });
}

gdr_status gdr_pair_sum_set_values(gdr_pair_sum* sum, const char* name, size_t n,
                                   const double* values) {
  return guarded({{sum, "sum"}, {name, "name"}}, [&] {
    if (n > 0) need(values, "values");
    sum->sum.set(name, std::span(values, n));
  });
}

gdr_status gdr_pair_sum_set_cutoff(gdr_pair_sum* sum, size_t n, const double* radius) {
  return guarded({{sum, "sum"}}, [&] {
    gdr::check_count(n, 1, "radii");
    if (n > 0) need(radius, "radius");
    sum->sum.set_cutoff({radius, n});
  });
}

gdr_status gdr_pair_sum_set_box(gdr_pair_sum* sum, const double* vectors, const int* periodic) {
  return guarded({{sum, "sum"}}, [&] { sum->sum.set_box(box_of(vectors, periodic)); });
}

gdr_status gdr_pair_sum_run(gdr_pair_sum* sum, size_t n, const double* position,
                            const gdr_input* sources, size_t count, const gdr_input* targets,
                            size_t target_count, const gdr_result* results, size_t result_count) {
  return guarded({{sum, "sum"}}, [&] {
    run(*sum, triples(n, position, "position"), {}, {sources, count}, {targets, target_count},
        {results, result_count});
  });
}

gdr_status gdr_pair_sum_run_on(gdr_pair_sum* sum, size_t n_targets, const double* target,
                               const gdr_input* targets, size_t target_count, size_t n_sources,
                               const double* source, const gdr_input* sources, size_t count,
                               const gdr_result* results, size_t result_count) {
  return guarded({{sum, "sum"}}, [&] {
    const auto at = triples(n_targets, target, "target");
    run(*sum, triples(n_sources, source, "source"), at, {sources, count}, {targets, target_count},
        {results, result_count});
  });
}

gdr_status gdr_pair_sum_statistics(const gdr_pair_sum* sum, gdr_pair_statistics* statistics,
                                   size_t size) {
  return guarded({{sum, "sum"}, {statistics, "statistics"}}, [&] {
    const gdr::PairStatistics s = sum->sum.statistics();
    const gdr_pair_statistics all = {s.runs,  s.lists_made,   s.groups, s.sources,
                                     s.pairs, s.list_seconds, s.skin};
    copy_prefix(statistics, size, all);
  });
}
