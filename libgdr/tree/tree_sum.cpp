// TreeSum: checks of the arguments, and a SetJob.
#include "gdr/tree_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "emulator/host/float_mode.hpp"
#include "emulator/host/hash.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"
#include "gdr/sets.hpp"
#include "libgdr/device/coordinates.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/ranks/equal_calls.hpp"
#include "libgdr/ranks/ranks.hpp"
#include "libgdr/tree/kernel_on_ranks.hpp"
#include "libgdr/tree/kernel_tree.hpp"
#include "libgdr/tree/rank_share.hpp"

namespace gdr {
namespace {

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
        job(device, kernel, true),
        core(DeviceRanks::core(device)),
        ranks(DeviceRanks::group(device)),
        threads(how.threads != 0 ? how.threads : core->job_threads()) {
    tree::check_options(options);
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

  /// The call with its positions, by the names of variables.
  tree::KernelInput input_of(const TreeCall& call) const {
    return {.target_pos = call.target_pos.value_or(call.pos),
            .source_pos = call.pos,
            .same = !call.target_pos,
            .targets_group = &variables.targets_group,
            .sources_group = &variables.sources_group,
            .results_group = &variables.results_group,
            .targets = call.targets,
            .sources = call.sources,
            .results = call.results};
  }

  TreeSumReport run(const TreeCall& call) {
    check(call);
    return tree::compute_kernel(job, form, input_of(call), options, threads);
  }

  /// The same on all ranks: each computes a share of the groups of all particles.
  TreeSumReport run_on_ranks(const TreeCall& call) {
    RankReport work;
    TreeSumReport report;
    {
      const AddElapsed timer(work.seconds);
      collectively(ranks, "TreeSum::run", [&] { check(call); });
      require_equal_arguments(call);
      const tree::KernelInput own = input_of(call);
      const tree::AllKernelParticles all(*ranks, form, own, threads);
      tree::RankShare share(*ranks);
      collectively(ranks, "the end of a sum with a tree", [&] {
        report = tree::compute_kernel(job, form, all.input(), options, threads, &share);
        all.copy_results(own);
      });
      work.pairs = static_cast<std::uint64_t>(share.own_pairs);
      work.sources_bytes = all.sources_bytes();
      work.memory_bytes = all.bytes();
      work.bytes_received = share.bytes_received + all.bytes_received();
    }
    add_to_report(*core, work);
    return report;
  }

  void require_equal_arguments(const TreeCall& call) const {
    const TreeSumOptions& o = options;
    Hash of_options;
    of_options.add(o.accuracy).add(o.degree).add(o.theta);
    of_options.add(o.group_size).add(o.leaf_size).add(o.samples);
    const std::span<const std::uint64_t> params = variables.params;
    const EqualProperty properties[] = {
        {Hash().add(std::span(kernel.program_object())).value(), "another kernel"},
        {Hash().add(params).value(), "a param another value"},
        {of_options.value(), "other options of the tree"},
        names_of({call.sources, call.targets, call.results, call.target_pos.has_value()})};
    require_equal_properties(*ranks, properties);
  }

  TreeSumOptions options;
  tree::KernelForm form;
  Kernel kernel;
  JobData variables;  ///< names and types of the variables, and the params as ranks compare them
  SetJob job;
  std::shared_ptr<DeviceCore> core;
  RankGroup* ranks;  ///< ranks of the device; null if it has one process
  unsigned threads;
};

TreeSum::TreeSum(Device& device, const Kernel& kernel, const TreeSumOptions& options) {
  collectively(DeviceRanks::group(device), "TreeSum",
               [&] { impl_ = std::make_unique<Impl>(device, kernel, options); });
}
TreeSum::~TreeSum() = default;
TreeSum::TreeSum(TreeSum&&) noexcept = default;
TreeSum& TreeSum::operator=(TreeSum&&) noexcept = default;

void TreeSum::set(std::string_view name, std::span<const double> values) {
  collectively(impl_->ranks, "TreeSum::set", [&] {
    impl_->job.set(name, values);
    set_params(impl_->variables.params_group, name, values, impl_->variables.params);
  });
}

TreeSumReport TreeSum::run(const TreeCall& call) {
  const HostFloatMode mode;
  return impl_->ranks != nullptr ? impl_->run_on_ranks(call) : impl_->run(call);
}

std::vector<std::string> TreeSum::charges() const {
  std::vector<std::string> names = impl_->form.charges.charges;
  for (const CarriedVariable& v : impl_->form.charges.carried) names.push_back(v.name);
  return names;
}

}  // namespace gdr
