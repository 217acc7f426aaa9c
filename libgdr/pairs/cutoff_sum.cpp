// CutoffSum: lists when particles have moved, copies of the arrays in their order, and a SetJob.
#include "libgdr/pairs/cutoff_sum.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "emulator/host/float_mode.hpp"
#include "emulator/host/for_blocks.hpp"
#include "emulator/host/hash.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"
#include "gdr/sets.hpp"
#include "kernels/compiler/ir/compilation.hpp"
#include "libgdr/device/coordinates.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/device/self_test.hpp"
#include "libgdr/pairs/listed_positions.hpp"
#include "libgdr/pairs/pair_lists.hpp"
#include "libgdr/pairs/pair_ranks.hpp"
#include "libgdr/pairs/sorted_columns.hpp"

namespace gdr {
namespace {

/// Squares of smaller lengths are not normal numbers.
constexpr double min_cutoff = 1e-150;

/// The variables that a CutoffSum fills itself.
struct FilledNames {
  std::array<std::string, 3> target_pos, source_pos;
  std::vector<std::string> indices;  ///< sources' variables with their numbers

  explicit FilledNames(const Kernel& kernel) {
    for (const KernelVariable& v : kernel.variables()) {
      if (v.quantity == "pos" && v.component < 3 && !v.squared) {
        if (v.role == Role::Target) target_pos[v.component] = v.name;
        if (v.role == Role::Source) source_pos[v.component] = v.name;
      }
      if (v.quantity == "index" && v.role == Role::Source && v.type == HostNumber::I64)
        indices.push_back(v.name);
    }
  }
};

/// Whether the engine that leaves out far pairs computes all of the kernel in lanes: without lists
/// and tables.
bool runs_in_lanes(const Kernel& kernel) {
  const std::vector<KernelVariable>& variables = kernel.variables();
  return std::ranges::none_of(variables,
                              [](const KernelVariable& v) {
                                return v.role == Role::Result && v.reduction == "pass";
                              }) &&
         std::ranges::none_of(kernel.arrays(), [&](const KernelArray& a) {
           return variables[a.first].role == Role::Param && std::has_single_bit(a.count);
         });
}

bool is_given(std::span<const NamedInput> arrays, std::string_view name) {
  return std::ranges::find(arrays, name, &NamedInput::name) != arrays.end();
}

void check_positions(const char* name, std::span<const double> x, unsigned threads) {
  const std::size_t n = count_of_coordinates(name, x);
  if (n > std::size_t{std::numeric_limits<std::int32_t>::max()})
    throw Error(ErrorCategory::Usage, std::string(name) + " has " + std::to_string(n) +
                                          " particles; at most 2147483647 are possible");
  const auto is_bad = [](double v) { return !std::isfinite(v); };
  std::atomic<bool> all_finite = true;
  for_particles(n, threads, [&](std::size_t first, std::size_t end) {
    if (std::ranges::any_of(x.subspan(3 * first, 3 * (end - first)), is_bad)) all_finite = false;
  });
  if (!all_finite) check_coordinates(name, x);
}

void check_cutoff(std::span<const double> radii, const Lattice& lattice) {
  for (std::size_t k = 0; k < radii.size(); ++k) {
    const std::string name =
        radii.size() == 1 ? std::string("cutoff") : "cutoff[" + std::to_string(k) + "]";
    if (!(radii[k] >= min_cutoff))
      throw Error(ErrorCategory::Input,
                  fmt::format("{} is {}; a cut-off must be a positive number, at least {}", name,
                              radii[k], min_cutoff));
    if (std::isinf(radii[k]) && lattice.is_periodic())
      throw Error(ErrorCategory::Input,
                  name +
                      " is infinite, but a periodic box has infinitely many images; use a finite "
                      "cut-off, or an Ewald sum");
  }
}

void check_skin(std::optional<double> skin) {
  if (skin && !(*skin >= 0 && std::isfinite(*skin)))
    throw Error(ErrorCategory::Input,
                fmt::format("skin is {}; it must be a finite number >= 0", *skin));
}

/// A hash of the periodic vectors.
std::uint64_t hash_of(const std::optional<PeriodicBox>& box) {
  Hash hash;
  for (std::size_t k = 0; box && k < 3; ++k)
    if (box->periodic[k]) hash.add(k).add(std::span<const double>(box->vectors[k]));
  return hash.value();
}

}  // namespace

struct CutoffSum::Impl {
  Impl(Device& device, const Kernel& given, const PairOptions& options)
      : names(given),
        kernel(device.prepare(given.with_cutoff())),
        variables(job_data(kernel)),
        job(device, kernel, true),
        threads(options.threads != 0 ? options.threads : core_of(device)->job_threads()),
        skin_option(options.skin),
        rows_select(core_of(device)->engine.leaves_out_far_pairs && kernel.program().group == 1 &&
                    runs_in_lanes(kernel)),
        choice(static_cast<double>(variables.cost.body_clocks) /
                   (variables.cost.group * variables.cost.elements),
               rows_select) {
    if (DeviceRanks::group(device) != nullptr) ranks.emplace(device);
    check_skin(skin_option);
    lattice = Lattice(options.box);
    check_cutoff(options.cutoff, lattice);
    given_radii = options.cutoff;
    box_hash = hash_of(options.box);
  }

  double largest_source_radius() const {
    return source_radii.empty() ? 0 : *std::ranges::max_element(source_radii);
  }
  double largest_radius() const {
    return *std::ranges::max_element(radii) + largest_source_radius();
  }

  /// The call with the names of its arrays; positions stand for those in the order of lists.
  void check(const PairCall& call) {
    const std::size_t n = call.pos.size() / 3, m = positions_of_targets(call).size() / 3;
    check_positions("pos", call.pos, threads);
    if (call.target_pos) check_positions("targets", *call.target_pos, threads);
    if (given_radii.size() != 1 && given_radii.size() != m)
      throw Error(ErrorCategory::Usage, "there are " + std::to_string(given_radii.size()) +
                                            " cut-offs for " + std::to_string(m) +
                                            " targets; expected one, or one for each");
    if (given_source_radii && given_source_radii->size() != n)
      throw Error(ErrorCategory::Usage, "there are " + std::to_string(given_source_radii->size()) +
                                            " radii for " + std::to_string(n) + " sources");
    static constexpr double number = 0;
    static constexpr std::int64_t integer = 0;
    const ConstArray real(&number), whole(&integer);
    std::vector<NamedInput> of_sources(call.sources.begin(), call.sources.end());
    std::vector<NamedInput> of_targets(call.targets.begin(), call.targets.end());
    for (const std::string& name : names.source_pos) of_sources.push_back({name, real});
    for (const std::string& name : names.target_pos) of_targets.push_back({name, real});
    for (const std::string& name : names.indices)
      if (!is_given(call.sources, name)) of_sources.push_back({name, whole});
    of_sources.push_back({kc_source, whole});
    of_targets.push_back({kc_target, whole});
    of_targets.push_back({kc_radius2, real});
    check_inputs(variables.sources_group, n, of_sources, true);
    check_inputs(variables.targets_group, m, of_targets, true);
    std::vector<ResultBinding> bound;
    bind_results(variables.results_group, m, call.results, bound);
  }

  static std::span<const double> positions_of_targets(const PairCall& call) {
    return call.target_pos.value_or(call.pos);
  }

  /// Whether the lists contain all pairs of these positions.
  bool lists_serve(const PairCall& call) {
    if (!valid || skin_option == 0 || own_targets != call.target_pos.has_value()) return false;
    const double near = lists.counts.skin / 2;
    double distance = sources.follow(call.pos, near, lattice, threads);
    if (own_targets)
      distance = std::max(distance, targets.follow(*call.target_pos, near, lattice, threads));
    if (std::isfinite(distance)) choice.follow(distance);
    return distance <= near;
  }

  void make_lists(const PairCall& call) {
    const Stopwatch timer;
    const double cutoff = largest_radius();
    if (counts.lists_made > 0) choice.choose(lists.counts, cutoff, valid);
    valid = false;
    const double wanted = skin_option.value_or(choice.skin(cutoff));
    const double skin = ranks ? ranks->of_first_rank(wanted) : wanted;
    lists = make_pair_lists({.sources = call.pos,
                             .targets = positions_of_targets(call),
                             .radii = radii,
                             .source_radii = source_radii,
                             .skin = skin,
                             .lattice = lattice,
                             .threads = threads,
                             .rows_select = rows_select});
    own_targets = call.target_pos.has_value();
    sources.begin(call.pos);
    if (own_targets) targets.begin(*call.target_pos);
    number_particles();
    valid = true;
    counts.lists_made += 1;
    counts.groups = lists.groups.size();
    counts.sources = lists.sources.size();
    counts.pairs = lists.counts.pairs;
    counts.skin = skin;
    counts.list_seconds = timer.seconds();
  }

  /// Numbers that are equal for a target and the source that is the same particle, and radii.
  void number_particles() {
    constexpr std::int64_t no_target = -1, image = -2;
    const std::size_t n = lists.sources.size(), m = lists.targets.size();
    target_numbers.resize(m);
    target_radii2.resize(m);
    source_numbers.resize(n);
    source_indices.resize(n);
    // Larger radii than all distances may exceed the range of an engine's numbers.
    const double most = std::max(1.0, 1.001 * lists.diagonal2), of_source = largest_source_radius();
    for_particles(m, threads, [&](std::size_t first, std::size_t end) {
      for (std::size_t k = first; k < end; ++k) {
        const std::uint32_t number = lists.targets[k].number;
        const double radius = radii[radii.size() == 1 ? 0 : number] + of_source;
        target_numbers[k] = own_targets ? no_target : std::int64_t{number};
        target_radii2[k] = std::min(radius * radius, most);
      }
    });
    for_particles(n, threads, [&](std::size_t first, std::size_t end) {
      for (std::size_t k = first; k < end; ++k) {
        const PlacedParticle& source = lists.sources[k];
        source_numbers[k] = source.own ? std::int64_t{source.number} : image;
        source_indices[k] = source.number;
      }
    });
  }

  /// Copies the inputs of the call in the order of the lists.
  void copy_inputs(const PairCall& call) {
    sources.place(call.pos, lists.sources, lattice, threads, source_pos);
    const ListedPositions& of_targets = own_targets ? targets : sources;
    of_targets.place(positions_of_targets(call), lists.targets, lattice, threads, target_pos);
    const auto copies = [&](std::span<const NamedInput> arrays, const LinkGroup& group,
                            std::size_t n, const std::vector<PlacedParticle>& order) {
      std::vector<SortedInput> columns;
      for (const NamedInput& a : arrays) {
        const std::span<const LinkField> fields = fields_named(group, a.name);
        columns.emplace_back(a, fields.size(), number_bytes(a.array.type, fields[0]));
        columns.back().copy(n, order, threads);
      }
      return columns;
    };
    source_columns =
        copies(call.sources, variables.sources_group, call.pos.size() / 3, lists.sources);
    target_columns = copies(call.targets, variables.targets_group,
                            positions_of_targets(call).size() / 3, lists.targets);
    list_inputs(call);
  }

  void list_inputs(const PairCall& call) {
    source_inputs.clear();
    target_inputs.clear();
    for (std::size_t c = 0; c < 3; ++c) {
      source_inputs.push_back({names.source_pos[c], source_pos[c]});
      target_inputs.push_back({names.target_pos[c], target_pos[c]});
    }
    source_inputs.push_back({kc_source, source_numbers});
    target_inputs.push_back({kc_target, target_numbers});
    target_inputs.push_back({kc_radius2, target_radii2});
    for (const std::string& name : names.indices)
      if (!is_given(call.sources, name)) source_inputs.push_back({name, source_indices});
    for (const SortedInput& column : source_columns) source_inputs.push_back(column.input());
    for (const SortedInput& column : target_columns) target_inputs.push_back(column.input());
  }

  void compute(const PairCall& call) {
    std::vector<SortedResult> columns;
    const auto sum = [&](std::span<const TargetGroup> groups) {
      for (const NamedResult& r : call.results) {
        const std::span<const LinkField> fields = fields_named(variables.results_group, r.name);
        columns.emplace_back(r, fields.size(), number_bytes(r.array.type, fields[0]),
                             lists.targets.size());
      }
      std::vector<NamedResult> results;
      results.reserve(columns.size());
      for (SortedResult& column : columns) results.push_back(column.result());
      run_sets(groups, results);
    };
    if (ranks) {
      ranks->step("sums of groups", [&] { sum(ranks->own(lists.groups)); });
      ranks->join(lists.groups, lists.targets.size(), columns);
    } else {
      sum(lists.groups);
    }
    for (const SortedResult& column : columns) column.copy_back(lists.targets, threads);
  }

  void run_sets(std::span<const TargetGroup> groups, const std::vector<NamedResult>& results) {
    std::size_t segment_count = 0;
    for (const TargetGroup& group : groups) segment_count += group.whole.size() + 1;
    std::vector<SourceSegment> segments;
    segments.reserve(segment_count);  // sets keep spans of it
    std::vector<InteractionSet> sets;
    sets.reserve(groups.size());
    for (const TargetGroup& group : groups) {
      const std::size_t first = segments.size();
      if (!group.single.empty())
        segments.push_back({.n = group.single.size(),
                            .arrays = source_inputs,
                            .index = group.single.data(),
                            .items = lists.sources.size()});
      for (const ListedRange& r : group.whole)
        segments.push_back({.n = r.count, .arrays = source_inputs, .first = r.first});
      sets.push_back({.targets = group.count,
                      .target_arrays = target_inputs,
                      .sources = std::span(segments).subspan(first),
                      .results = results,
                      .first = group.first});
    }
    job.run(sets);
  }

  void run(const PairCall& call) {
    check(call);
    ++counts.runs;
    if (positions_of_targets(call).empty()) return;
    take_radii(given_radii, given_source_radii ? *given_source_radii : no_radii);
    if (!lists_serve(call)) make_lists(call);
    copy_inputs(call);
    compute(call);
  }

  /// Throws Error (Input) for a number that is not finite, by its place in this rank's array.
  void check_values(const PairCall& call) const {
    const auto check_all = [](std::span<const NamedInput> arrays, const LinkGroup& group,
                              std::size_t n) {
      for (const NamedInput& a : arrays) {
        const std::span<const LinkField> fields = fields_named(group, a.name);
        SortedInput(a, fields.size(), number_bytes(a.array.type, fields[0])).copy(n, {}, 1);
      }
    };
    check_all(call.sources, variables.sources_group, call.pos.size() / 3);
    check_all(call.targets, variables.targets_group, positions_of_targets(call).size() / 3);
  }

  /// The same on all ranks: each computes a share of the groups of all particles.
  void run_on_ranks(const PairCall& own) {
    const Stopwatch timer;
    ranks->step("PairSum::run", [&] {
      check(own);
      check_values(own);
    });
    const PairCall& all = ranks->gather(own, variables, rank_arguments(), threads);
    ++counts.runs;
    if (positions_of_targets(all).empty()) return;
    take_radii(ranks->radii(), ranks->source_radii());
    const bool reuse = ranks->agree(lists_serve(all));
    try {
      ranks->step("lists of pairs", [&] {
        if (!reuse) make_lists(all);
        copy_inputs(all);
      });
      compute(all);
    } catch (...) {
      valid = false;
      throw;
    }
    ranks->step("results of PairSum::run", [&] { ranks->copy_results(threads); });
    ranks->report(lists.groups, timer.seconds());
  }

  /// Lists are those of these cut-offs from now on.
  void take_radii(const std::vector<double>& wanted, const std::vector<double>& of_sources) {
    if (radii == wanted && source_radii == of_sources) return;
    radii = wanted;
    source_radii = of_sources;
    valid = false;
  }

  RankArguments rank_arguments() const {
    const std::span<const std::uint64_t> params = variables.params;
    return {.kernel = Hash().add(std::span(kernel.program_object())).value(),
            .params = Hash().add(params).value(),
            .box = box_hash,
            .skin = Hash().add(skin_option.value_or(-1)).value(),
            .radii = given_radii,
            .source_radii = given_source_radii};
  }

  // Names of the variables of the cut-off.
  static constexpr std::string_view kc_radius2 = cutoff_names::radius2;
  static constexpr std::string_view kc_target = cutoff_names::target;
  static constexpr std::string_view kc_source = cutoff_names::source;

  FilledNames names;
  Kernel kernel;
  JobData variables;  ///< names and types of the variables, without numbers
  SetJob job;
  unsigned threads;
  std::optional<double> skin_option;
  bool rows_select;   ///< ListInput::rows_select
  SkinChoice choice;  ///< choice of the skin, without that option
  Lattice lattice;
  static const inline std::vector<double> no_radii;
  std::vector<double> radii, source_radii;  ///< those of the lists' targets and sources
  std::vector<double> given_radii;          ///< those of this rank's targets
  std::optional<std::vector<double>> given_source_radii;  ///< those of this rank's sources
  std::optional<PairRanks> ranks;                         ///< none: the device has one process
  std::uint64_t box_hash = 0;                             ///< hash of the periodic vectors

  bool valid = false;        ///< whether the lists are those of the radii and the box
  bool own_targets = false;  ///< whether the lists have targets that are not the sources
  PairLists lists;
  ListedPositions sources, targets;
  CoordinateArrays source_pos, target_pos;
  std::vector<std::int64_t> target_numbers, source_numbers, source_indices;
  std::vector<double> target_radii2;
  std::vector<SortedInput> source_columns, target_columns;
  std::vector<NamedInput> source_inputs, target_inputs;
  PairStatistics counts;
};

CutoffSum::CutoffSum(Device& device, const Kernel& kernel, const PairOptions& options)
    : impl_(std::make_unique<Impl>(device, kernel, options)) {}
CutoffSum::~CutoffSum() = default;
CutoffSum::CutoffSum(CutoffSum&&) noexcept = default;
CutoffSum& CutoffSum::operator=(CutoffSum&&) noexcept = default;

void CutoffSum::set(std::string_view name, std::span<const double> values) {
  impl_->job.set(name, values);
  set_params(impl_->variables.params_group, name, values, impl_->variables.params);
}

void CutoffSum::set_cutoff(std::span<const double> radii) {
  check_cutoff(radii, impl_->lattice);
  impl_->given_radii.assign(radii.begin(), radii.end());
}

void CutoffSum::set_source_radii(std::span<const double> radii) {
  impl_->given_source_radii.emplace(radii.begin(), radii.end());
}

void CutoffSum::set_box(const std::optional<PeriodicBox>& box) {
  Impl& impl = *impl_;
  const Lattice lattice(box);
  check_cutoff(impl.given_radii, lattice);
  if (lattice == impl.lattice) return;
  impl.lattice = lattice;
  impl.box_hash = hash_of(box);
  impl.valid = false;
}

void CutoffSum::set_skin(std::optional<double> skin) {
  check_skin(skin);
  if (skin != impl_->skin_option) impl_->valid = false;
  impl_->skin_option = skin;
}

void CutoffSum::run(const PairCall& call) {
  const HostFloatMode mode;
  if (impl_->ranks)
    impl_->run_on_ranks(call);
  else
    impl_->run(call);
}

const PairStatistics& CutoffSum::statistics() const noexcept { return impl_->counts; }

}  // namespace gdr
