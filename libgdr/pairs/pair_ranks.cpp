#include "libgdr/pairs/pair_ranks.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>

#include "libgdr/ranks/equal_calls.hpp"
#include "libgdr/ranks/gathered.hpp"

namespace gdr {
namespace {

/// Numbers 0 to n - 1: an order that changes nothing.
std::vector<PlacedParticle> as_given(std::size_t n) {
  std::vector<PlacedParticle> order(n);
  for (std::size_t k = 0; k < n; ++k) order[k].number = static_cast<std::uint32_t>(k);
  return order;
}

/// The first of a rank's items, which lie without gaps.
std::byte* part_of(std::vector<std::byte>& values, std::size_t item_bytes, std::size_t first) {
  return values.data() + item_bytes * first;
}

double pairs_of(const TargetGroup& group) {
  std::size_t sources = group.single.size();
  for (const ListedRange& r : group.whole) sources += r.count;
  return static_cast<double>(sources) * static_cast<double>(group.count);
}

}  // namespace

void PairRanks::step(const std::string& name, const std::function<void()>& work) const {
  collectively(ranks_, name, work);
}

void PairRanks::compare(const PairCall& own, const RankArguments& a) const {
  const EqualProperty properties[] = {
      {a.kernel, "another kernel"},
      {a.params, "a param another value"},
      {a.box, "another box"},
      {a.skin, "another skin"},
      names_of({own.sources, own.targets, own.results, own.target_pos.has_value()})};
  require_equal_properties(*ranks_, properties);
}

void PairRanks::gather_radii(const RankArguments& own) {
  const auto gather = [&](std::vector<double>& all, std::span<const double> mine, double otherwise,
                          std::span<const std::size_t> offsets) {
    collectively(ranks_, [&] {
      all.assign(offsets.back(), otherwise);
      std::ranges::copy(mine, all.data() + offsets[ranks_->rank()]);
    });
    gather_items(*ranks_, all.data(), sizeof(double), offsets);
  };
  if (own.source_radii) gather(source_radii_, *own.source_radii, 0, source_offsets_);
  // One for all targets, or one for each of all.
  const double single = own.radii.size() == 1 ? own.radii[0] : -1;
  std::vector<double> of_ranks(ranks_->size());
  ranks_->gather(&single, sizeof single, of_ranks.data());
  const bool one = std::ranges::all_of(of_ranks, [&](double r) { return r == of_ranks[0]; });
  if (one && of_ranks[0] > 0)
    radii_.assign(1, of_ranks[0]);
  else
    gather(radii_, own.radii.size() == 1 ? std::span<const double>() : own.radii, single,
           target_offsets_);
}

void PairRanks::gather_positions(const PairCall& own) {
  const std::size_t r = ranks_->rank();
  collectively(ranks_, [&] {
    pos_.resize(3 * source_offsets_.back());
    std::ranges::copy(own.pos, pos_.data() + 3 * source_offsets_[r]);
    target_pos_.resize(own.target_pos ? 3 * target_offsets_.back() : 0);
    if (own.target_pos)
      std::ranges::copy(*own.target_pos, target_pos_.data() + 3 * target_offsets_[r]);
  });
  bytes_received_ += gather_items(*ranks_, pos_.data(), 3 * sizeof(double), source_offsets_);
  if (own.target_pos)
    bytes_received_ +=
        gather_items(*ranks_, target_pos_.data(), 3 * sizeof(double), target_offsets_);
}

void PairRanks::gather_inputs(std::span<const NamedInput> arrays, const LinkGroup& group,
                              std::span<const std::size_t> offsets, unsigned threads,
                              std::vector<Column>& columns, std::vector<NamedInput>& inputs) {
  const std::size_t n = mine(offsets), first = offsets[ranks_->rank()];
  collectively(ranks_, [&] {
    columns.resize(arrays.size());
    inputs.clear();
    const std::vector<PlacedParticle> order = as_given(n);
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      const std::span<const LinkField> fields = fields_named(group, arrays[k].name);
      const std::size_t bytes = number_bytes(arrays[k].array.type, fields[0]);
      SortedInput compact(arrays[k], fields.size(), bytes);
      compact.copy(n, order, threads);
      Column& column = columns[k];
      column.item_bytes = fields.size() * bytes;
      column.values.resize(offsets.back() * column.item_bytes);
      NamedInput& input = inputs.emplace_back(compact.input());
      if (n > 0)
        std::memcpy(part_of(column.values, column.item_bytes, first), input.array.data,
                    n * column.item_bytes);
      input.array.data = column.values.data();
      input.array.size = offsets.back() * fields.size();
    }
  });
  for (Column& column : columns)
    bytes_received_ += gather_items(*ranks_, column.values.data(), column.item_bytes, offsets);
}

void PairRanks::make_results(const PairCall& own, const LinkGroup& group) {
  collectively(ranks_, [&] {
    results_.resize(own.results.size());
    named_results_.clear();
    own_results_.clear();
    for (std::size_t k = 0; k < own.results.size(); ++k) {
      const NamedResult& r = own.results[k];
      const std::span<const LinkField> fields = fields_named(group, r.name);
      const std::size_t bytes = number_bytes(r.array.type, fields[0]);
      own_results_.emplace_back(r, fields.size(), bytes, mine(target_offsets_));
      results_[k].item_bytes = fields.size() * bytes;
      results_[k].values.assign(target_offsets_.back() * results_[k].item_bytes, std::byte{});
      NamedResult& all = named_results_.emplace_back(own_results_.back().result());
      all.array.data = results_[k].values.data();
      all.array.size = target_offsets_.back() * fields.size();
    }
  });
}

const PairCall& PairRanks::gather(const PairCall& own, const JobData& variables,
                                  const RankArguments& arguments, unsigned threads) {
  compare(own, arguments);
  bytes_received_ = 0;
  source_offsets_ = offsets_of_ranks(*ranks_, own.pos.size() / 3);
  target_offsets_ = offsets_of_ranks(*ranks_, own.target_pos.value_or(own.pos).size() / 3);
  if (std::max(source_offsets_.back(), target_offsets_.back()) >
      std::size_t{std::numeric_limits<std::int32_t>::max()})
    throw CollectiveError(ErrorCategory::Usage,
                          "all ranks together have " + std::to_string(source_offsets_.back()) +
                              " sources and " + std::to_string(target_offsets_.back()) +
                              " targets; at most 2147483647 are possible");
  gather_radii(arguments);
  gather_positions(own);
  gather_inputs(own.sources, variables.sources_group, source_offsets_, threads, sources_,
                source_inputs_);
  gather_inputs(own.targets, variables.targets_group, target_offsets_, threads, targets_,
                target_inputs_);
  make_results(own, variables.results_group);
  call_ = {
      .pos = pos_, .sources = source_inputs_, .targets = target_inputs_, .results = named_results_};
  if (own.target_pos) call_.target_pos = target_pos_;
  return call_;
}

void PairRanks::copy_results(unsigned threads) {
  const std::vector<PlacedParticle> order = as_given(mine(target_offsets_));
  for (std::size_t k = 0; k < results_.size(); ++k) {
    const std::size_t bytes = results_[k].item_bytes;
    if (!order.empty())
      std::memcpy(own_results_[k].result().array.data,
                  part_of(results_[k].values, bytes, target_offsets_[ranks_->rank()]),
                  order.size() * bytes);
    own_results_[k].copy_back(order, threads);
  }
}

bool PairRanks::agree(bool lists_serve) {
  struct Lists {
    std::uint64_t serve, version;
  };
  const Lists mine{lists_serve ? 1U : 0U, version_};
  std::vector<Lists> all(ranks_->size());
  ranks_->gather(&mine, sizeof mine, all.data());
  if (std::ranges::all_of(
          all, [&](const Lists& l) { return l.serve == 1 && l.version == all[0].version; }))
    return true;
  for (const Lists& l : all) version_ = std::max(version_, l.version);
  ++version_;
  return false;
}

GroupParts PairRanks::parts_of(std::span<const TargetGroup> groups) const {
  std::vector<double> pairs;
  for (const TargetGroup& g : groups) pairs.push_back(pairs_of(g));
  return {*ranks_, pairs};
}

std::span<const TargetGroup> PairRanks::own(std::span<const TargetGroup> groups) const {
  return parts_of(groups).own(groups);
}

void PairRanks::join(std::span<const TargetGroup> groups, std::size_t targets,
                     std::vector<SortedResult>& columns) {
  const std::vector<std::size_t> offsets = parts_of(groups).rows(groups, targets);
  for (std::size_t k = 0; k < columns.size(); ++k)
    bytes_received_ +=
        gather_items(*ranks_, columns[k].result().array.data, results_[k].item_bytes, offsets);
}

void PairRanks::report(std::span<const TargetGroup> groups, double seconds) {
  RankReport work;
  double pairs = 0;
  for (const TargetGroup& g : own(groups)) pairs += pairs_of(g);
  work.pairs = static_cast<std::uint64_t>(pairs);
  work.bytes_received = bytes_received_;
  work.seconds = seconds;
  const auto bytes = [](const std::vector<Column>& columns) {
    return std::accumulate(columns.begin(), columns.end(), std::size_t{0},
                           [](std::size_t sum, const Column& c) { return sum + c.values.size(); });
  };
  work.sources_bytes = pos_.size() * sizeof(double) + bytes(sources_);
  work.memory_bytes =
      work.sources_bytes + target_pos_.size() * sizeof(double) + bytes(targets_) + bytes(results_);
  add_to_report(*core_, work);
}

}  // namespace gdr
