// C interface: gravity with a tree.
#include <string>

#include "libgdr/capi/capi.hpp"

using gdr::capi::copy_prefix;
using gdr::capi::guarded;
using gdr::capi::number_of;
using gdr::capi::options_of;

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw gdr::Error(gdr::ErrorCategory::Usage, "gdr_tree_options: " + what);
}

gdr::TreeOptions tree_options_of(const gdr_tree_options* given, std::size_t size) {
  gdr::TreeOptions options;
  const gdr_tree_options all = options_of(given, size, "gdr_tree_options");
  const int method = number_of(all.method);
  if (method < GDR_TREE_AUTO || method > GDR_TREE_EXPANSION)
    refuse("the method is " + std::to_string(method) + ", must be 0 to 4 (see gdr.h)");
  options.method = static_cast<gdr::TreeMethod>(method);
  if (all.accuracy != 0) options.accuracy = all.accuracy;
  options.degree = all.degree;
  options.theta = all.theta;
  options.group_size = all.group_size;
  options.leaf_size = all.leaf_size;
  options.samples = all.samples;
  return options;
}

void copy_report(const gdr::TreeReport& r, gdr_tree_report* to, std::size_t size) {
  if (to == nullptr) return;
  const gdr_tree_report all = {static_cast<gdr_tree_method>(r.method),
                               r.degree,
                               r.theta,
                               r.error,
                               r.largest_error,
                               r.samples,
                               r.clusters,
                               r.groups,
                               r.sources_per_target,
                               r.build_seconds,
                               r.choice_seconds,
                               r.list_seconds,
                               r.force_seconds,
                               r.expansion_seconds,
                               r.error_seconds};
  copy_prefix(to, size, all);
}

}  // namespace

gdr_status gdr_gravity_compute_tree(gdr_gravity* gravity, size_t n, const double* position,
                                    const double* mass, double eps, double* acceleration,
                                    double* potential, const gdr_tree_options* options,
                                    size_t options_size, gdr_tree_report* report,
                                    size_t report_size) {
  return guarded({{gravity, "gravity"}}, [&] {
    copy_report(
        gravity->gravity.compute(n, position, mass, gravity->softening(eps, true), acceleration,
                                 potential, tree_options_of(options, options_size)),
        report, report_size);
  });
}

gdr_status gdr_gravity_compute_tree_on(gdr_gravity* gravity, size_t n_targets, const double* target,
                                       size_t n_sources, const double* source, const double* mass,
                                       double eps, double* acceleration, double* potential,
                                       const gdr_tree_options* options, size_t options_size,
                                       gdr_tree_report* report, size_t report_size) {
  return guarded({{gravity, "gravity"}}, [&] {
    copy_report(gravity->gravity.compute_on(n_targets, target, n_sources, source, mass,
                                            gravity->softening(eps, false), acceleration, potential,
                                            tree_options_of(options, options_size)),
                report, report_size);
  });
}
