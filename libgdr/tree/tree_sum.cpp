// TreeSum: checks of the arguments, and a SetJob.
#include "gdr/tree_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "emulator/host/float_mode.hpp"
#include "gdr/error.hpp"
#include "gdr/sets.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/device/self_test.hpp"
#include "libgdr/tree/kernel_tree.hpp"

namespace gdr {
namespace {

void check_coordinates(const char* name, std::span<const double> x) {
  if (x.size() % 3 != 0)
    throw Error(ErrorCategory::Usage, std::string(name) + " has " + std::to_string(x.size()) +
                                          " numbers; expected three for each particle");
  const auto bad = std::ranges::find_if(x, [](double v) { return !std::isfinite(v); });
  if (bad == x.end()) return;
  const auto k = static_cast<std::size_t>(bad - x.begin());
  throw Error(ErrorCategory::Input, std::string(name) + "[" + std::to_string(k / 3) +
                                        "], coordinate " + std::to_string(k % 3) + ", is " +
                                        std::to_string(*bad) + "; coordinates must be finite");
}

bool has_array(std::span<const NamedInput> arrays, std::string_view name) {
  return std::ranges::find(arrays, name, &NamedInput::name) != arrays.end();
}

}  // namespace

struct TreeSum::Impl {
  Impl(Device& device, const Kernel& given, const TreeSumOptions& how)
      : options(how),
        form(tree::form_of(given, given.charges())),
        kernel(device.prepare(given)),
        variables(job_data(kernel)),
        job(device, kernel),
        threads(how.threads != 0 ? how.threads : core_of(device)->job_threads()) {
    tree::check_options(options);
    if (device.ranks() > 1)
      throw Error(ErrorCategory::Unsupported,
                  "trees are computed by one process, and this device is of kind \"mpi\"; open "
                  "another device in each process instead, and give it its targets");
  }

  /// The call with the names of its arrays; other arrays stand for positions and numbers.
  void check(const TreeCall& call) const {
    const std::span<const double> at = call.target_pos.value_or(call.pos);
    check_coordinates("pos", call.pos);
    if (call.target_pos) check_coordinates("targets", at);
    static constexpr double number = 0;
    static constexpr std::int64_t integer = 0;
    std::vector<NamedInput> of_sources(call.sources.begin(), call.sources.end());
    std::vector<NamedInput> of_targets(call.targets.begin(), call.targets.end());
    for (const std::string& name : form.source_pos)
      of_sources.push_back({name, ConstArray(&number)});
    for (const std::string& name : form.target_pos)
      of_targets.push_back({name, ConstArray(&number)});
    if (!call.target_pos)
      for (const ComparedNumbers& n : form.charges.numbers)
        if (!has_array(call.sources, n.source) && !has_array(call.targets, n.target)) {
          of_sources.push_back({n.source, ConstArray(&integer)});
          of_targets.push_back({n.target, ConstArray(&integer)});
        }
    check_inputs(variables.sources_group, call.pos.size() / 3, of_sources, true);
    check_inputs(variables.targets_group, at.size() / 3, of_targets, true);
    std::vector<ResultBinding> bound;
    bind_results(variables.results_group, at.size() / 3, call.results, bound);
  }

  TreeSumOptions options;
  tree::KernelForm form;
  Kernel kernel;
  JobData variables;  ///< for the variables' names and types only
  SetJob job;
  unsigned threads;
};

TreeSum::TreeSum(Device& device, const Kernel& kernel, const TreeSumOptions& options)
    : impl_(std::make_unique<Impl>(device, kernel, options)) {}
TreeSum::~TreeSum() = default;
TreeSum::TreeSum(TreeSum&&) noexcept = default;
TreeSum& TreeSum::operator=(TreeSum&&) noexcept = default;

void TreeSum::set(std::string_view name, std::span<const double> values) {
  impl_->job.set(name, values);
}

TreeSumReport TreeSum::run(const TreeCall& call) {
  const HostFloatMode mode;
  Impl& impl = *impl_;
  impl.check(call);
  const tree::KernelInput input{.target_pos = call.target_pos.value_or(call.pos),
                                .source_pos = call.pos,
                                .same = !call.target_pos,
                                .targets_group = &impl.variables.targets_group,
                                .sources_group = &impl.variables.sources_group,
                                .results_group = &impl.variables.results_group,
                                .targets = call.targets,
                                .sources = call.sources,
                                .results = call.results};
  return tree::compute_kernel(impl.job, impl.form, input, impl.options, impl.threads);
}

std::vector<std::string> TreeSum::charges() const {
  std::vector<std::string> names = impl_->form.charges.charges;
  for (const CarriedVariable& v : impl_->form.charges.carried) names.push_back(v.name);
  return names;
}

}  // namespace gdr
