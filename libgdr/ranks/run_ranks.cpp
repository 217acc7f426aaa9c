// Runs a job on many ranks: the work is distributed, targets and sources are transferred to the
// ranks that need them, every rank computes its parts, and results return to the owners of the
// targets.
//
// No operation that can fail on a single rank separates the two sides of a transfer: memory is
// allocated before a collective check, and if the computation fails, all outstanding data are still
// sent.
#include <algorithm>
#include <exception>

#include "emulator/host/hash.hpp"
#include "emulator/host/stopwatch.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/ranks/collective.hpp"
#include "libgdr/ranks/distribution.hpp"
#include "libgdr/ranks/ranks.hpp"
#include "libgdr/ranks/source_pipeline.hpp"

namespace gdr {

/// The part of a job that a rank computes, as a separate job, and the state of its sources.
struct RankWork {
  std::unique_ptr<JobData> job;
  JobPartition partition;
  // At the last transfer of sources:
  std::vector<std::size_t> source_counts;  ///< source counts of all ranks
  std::vector<std::size_t> needs;          ///< first source and number of sources of each rank
  std::optional<Revision> revision = {};   ///< revision of this rank's own sources
  std::uint64_t kernel_hash = 0;
};

namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

/// The sizes and hashes that ranks exchange before a run.
struct Announcement {
  std::uint64_t targets = 0, sources = 0;
  std::uint64_t sources_changed = 0;  ///< whether sources have changed since the last run
  std::uint64_t outputs = 0;          ///< whether outputs are requested
  std::uint64_t kernel = 0, params = 0;
};

class RankRun {
 public:
  RankRun(DeviceCore& device, JobData& job, const std::stop_token& stop)
      : device_(device),
        job_(job),
        stop_(stop),
        ranks_(*ranks_of(device).work),
        rank_(ranks_.rank()) {}

  void run() {
    {
      const AddElapsed timer(report_.seconds);
      announce();
      collectively(&ranks_, [&] { prepare(); });
      move_targets();
      start_sources();
      collectively(&ranks_, [&] { compute(); });
      work().job->wait_for_sources = {};
      return_results();
      return_outputs();
      finish();
    }
    add_report();
  }

 private:
  void announce() {
    if (!job_.rank_work) {
      job_.rank_work = std::make_shared<RankWork>();
      work().kernel_hash = Hash().add(std::span(job_.kernel.program_object())).value();
    }
    const RankWork& w = work();
    const bool unchanged = w.job && w.revision == job_.sources.changes().revision();
    const Announcement mine{
        job_.target_count,   job_.sources.count(),
        unchanged ? 0U : 1U, job_.outputs.empty() ? 0U : 1U,
        w.kernel_hash,       Hash().add(std::span<const std::uint64_t>(job_.params)).value()};
    std::vector<Announcement> all(ranks_.size());
    ranks_.gather(&mine, sizeof mine, all.data());
    std::vector<std::size_t> target_counts;
    for (unsigned r = 0; r < ranks_.size(); ++r) {
      const auto require_equal = [&](auto field, const std::string& difference) {
        if (all[r].*field != all[0].*field)
          throw CollectiveError(ErrorCategory::Usage, "rank " + std::to_string(r) + difference);
      };
      require_equal(&Announcement::kernel,
                    " runs another kernel than rank 0; all ranks make the same calls in the same "
                    "order");
      require_equal(&Announcement::params, " gives a param of kernel \"" + job_.kernel.name() +
                                               "\" another value than rank 0");
      target_counts.push_back(all[r].targets);
      source_counts_.push_back(all[r].sources);
      fetch_sources_ = fetch_sources_ || all[r].sources_changed != 0;
      outputs_wanted_ = outputs_wanted_ || all[r].outputs != 0;
    }
    target_offsets_ = offsets_of(target_counts);
    source_offsets_ = offsets_of(source_counts_);
  }

  /// Allocates all memory of the run.
  void prepare() {
    partition_ = partition_of(device_, job_, targets(), sources());
    for (unsigned r = 0; r < ranks_.size(); ++r)
      parts_.push_back(parts_of_rank(partition_, targets(), r, ranks_.size()));
    computed_targets_ = target_range(parts_[rank_]);
    if (!work().job) work().job = std::make_unique<JobData>(job_data(job_.kernel));
    JobData& own = *work().job;
    own.params = job_.params;
    own.targets.resize(computed_targets_.count * own.targets_group.words);
    own.target_count = computed_targets_.count;
    own.targets_before = computed_targets_.first;
    own.fetch_outputs = outputs_wanted_;
    if (own.outputs_group.words > 0) {
      own.output_items = OutputReduction(own.kernel.program());
      own.output_items.begin(0);
      own.output_items.record_log();
      job_.output_items = OutputReduction(own.kernel.program());
      job_.output_items.begin(outputs_wanted_ ? job_.sources.count() : 0);
    }
    record_words_ = partition_.slices > 1 ? SliceReduction(job_.kernel.program()).raw_words()
                                          : job_.results_group.words;
    std::size_t records = 0;
    for (const RankPart& part : parts_[rank_]) records += part.targets.count;
    computed_.resize(records * record_words_);
    received_.resize(partition_.slices * job_.target_count * record_words_);
    prepare_sources();
  }

  /// Sources are kept while no rank changes its sources and the distribution stays the same.
  void prepare_sources() {
    RankWork& w = work();
    const IndexRange needed = needed_by(parts_[rank_]);
    // All ranks must decide alike whether to transfer sources: use only data known to all.
    std::vector<std::size_t> needs;
    for (const auto& parts : parts_) {
      const IndexRange of_rank = needed_by(parts);
      needs.insert(needs.end(), {of_rank.first, of_rank.count});
    }
    fetch_sources_ = fetch_sources_ || w.partition != partition_ ||
                     w.source_counts != source_counts_ || w.needs != needs;
    JobData& own = *w.job;
    if (fetch_sources_) {
      own.sources.replace(needed.count, own.sources_group.words);
      w.partition = partition_;
      w.source_counts = source_counts_;
      w.needs = std::move(needs);
      w.revision = job_.sources.changes().revision();
    }
    own.slices.clear();
    if (partition_.slices == 1) {
      own.slices.push_back({0, sources()});
    } else {
      for (std::size_t k = 0; k < partition_.slices; ++k) {
        IndexRange part = intersection(slice(k), needed);
        if (part.count == 0) continue;
        part.first -= needed.first;
        own.slices.push_back(part);
      }
    }
    report_.sources_bytes = own.sources.count() * own.sources_group.words * word_bytes;
  }

  void move_targets() {
    const std::size_t words = job_.targets_group.words;
    std::vector<RankTransfer> receives, sends;
    for (unsigned r = 0; r < ranks_.size(); ++r) {
      add_transfer(receives, r, computed_targets_, owned(target_offsets_, r), words,
                   work().job->targets.data());
      add_transfer(sends, r, owned(target_offsets_, rank_), target_range(parts_[r]), words,
                   job_.targets.data());
    }
    exchange(receives, sends);
  }

  void start_sources() {
    if (!fetch_sources_ || job_.sources_group.words == 0) return;
    partition_.slices == 1 ? gather_in_chunks() : send_slices();
    pipeline_.begin(ranks_.any_thread());
    work().job->wait_for_sources = [this](IndexRange range) {
      const HostSpan span(device_.spans, "wait for sources of ranks");
      pipeline_.wait_for(range);
    };
  }

  /// All ranks receive all sources, in order, so that the boards can start with the first ones.
  void gather_in_chunks() {
    const std::size_t words = job_.sources_group.words, n = sources();
    auto* const all = const_cast<std::uint64_t*>(work().job->sources.words().data());
    const IndexRange own = owned(source_offsets_, rank_);
    report_.bytes_received += (n - own.count) * words * word_bytes;
    constexpr std::size_t fewest = 4096, max_words = std::size_t{1} << 30;
    const std::size_t piece =
        std::min(std::max(fewest, (n + 7) / 8), std::max<std::size_t>(1, max_words / words));
    for (std::size_t first = 0; first < n; first += piece) {
      const IndexRange range{first, std::min(piece, n - first)};
      std::vector<std::size_t> offsets;
      for (const std::size_t at : source_offsets_)
        offsets.push_back((std::clamp(at, first, first + range.count) - first) * words);
      const IndexRange mine = intersection(own, range);
      const std::size_t skipped = mine.count > 0 ? mine.first - own.first : 0;
      pipeline_.add(range, range.count * words * word_bytes, [=, this] {
        std::copy_n(job_.sources.words().data() + skipped * words, mine.count * words,
                    all + mine.first * words);
        return ranks_.start_gather(all + first * words, offsets);
      });
    }
  }

  /// In round k every rank receives the k-th slice that it needs. The order of the rounds is the
  /// same on all ranks, so that messages match.
  void send_slices() {
    const std::size_t words = job_.sources_group.words;
    const IndexRange needed = needed_by(parts_[rank_]), own = owned(source_offsets_, rank_);
    // The transfers write only received data through these pointers.
    auto* const to = const_cast<std::uint64_t*>(work().job->sources.words().data());
    auto* const from = const_cast<std::uint64_t*>(job_.sources.words().data());
    std::size_t rounds = 0;
    for (const auto& parts : parts_) rounds = std::max(rounds, parts.size());
    for (std::size_t round = 0; round < rounds; ++round) {
      IndexRange received;
      std::vector<RankTransfer> receives, sends;
      for (unsigned r = 0; r < ranks_.size(); ++r) {
        if (round >= parts_[r].size()) continue;
        const IndexRange all = slice(parts_[r][round].slice);
        add_transfer(sends, r, own, all, words, from);
        if (r == rank_) received = {all.first - needed.first, all.count};
      }
      if (round < parts_[rank_].size())
        for (unsigned r = 0; r < ranks_.size(); ++r)
          add_transfer(receives, r, {received.first + needed.first, received.count},
                       owned(source_offsets_, r), words, to + received.first * words);
      if (!receives.empty() || !sends.empty()) {
        count(receives);
        pipeline_.add(received, received.count * words * word_bytes,
                      [this, receives, sends] { return ranks_.start_exchange(receives, sends); });
      }
    }
  }

  void compute() {
    StatisticsScope account(device_);
    std::exception_ptr error;
    try {
      compute_parts(account);
    } catch (const RankFailure&) {
      throw;
    } catch (...) {
      error = std::current_exception();
    }
    pipeline_.finish();
    if (error) std::rethrow_exception(error);
    account.complete(report_.pairs,
                     static_cast<double>(report_.pairs) * job_.kernel.flops_per_interaction());
  }

  void compute_parts(StatisticsScope& account) {
    JobData& own = *work().job;
    const bool raw = partition_.slices > 1;
    std::uint64_t* records = computed_.data();
    for (const RankPart& part : parts_[rank_]) {
      const IndexRange local{part.targets.first - computed_targets_.first, part.targets.count};
      const std::size_t k = part.slice - parts_[rank_].front().slice;
      run_part(device_, own, {partition_.partition, k, local, records, raw}, account, stop_);
      records += part.targets.count * record_words_;
      report_.pairs += part.targets.count * own.slices[k].count;
    }
  }

  /// Sends results to the owners of the targets, for every slice.
  void return_results() {
    std::vector<RankTransfer> receives, sends;
    const IndexRange own = owned(target_offsets_, rank_);
    for (unsigned r = 0; r < ranks_.size(); ++r) {
      for (const RankPart& part : parts_[r])
        add_transfer(receives, r, own, part.targets, record_words_,
                     received_.data() + part.slice * own.count * record_words_);
      std::uint64_t* records = computed_.data();
      for (const RankPart& part : parts_[rank_]) {
        add_transfer(sends, r, part.targets, owned(target_offsets_, r), record_words_, records);
        records += part.targets.count * record_words_;
      }
    }
    exchange(receives, sends);
  }

  /// Sends outputs to the owners of the sources, which combine them in the order of the targets, as
  /// a single process does.
  void return_outputs() {
    if (!outputs_wanted_) return;
    const unsigned n = ranks_.size();
    std::vector<std::vector<std::uint64_t>> logs, received(n);
    std::vector<std::uint64_t> sizes, all_sizes(std::size_t{n} * n);
    collectively(&ranks_, [&] {
      for (unsigned r = 0; r < n; ++r) {
        logs.push_back(work().job->output_items.logged_items(owned(source_offsets_, r)));
        sizes.push_back(logs.back().size());
      }
    });
    ranks_.gather(sizes.data(), n * word_bytes, all_sizes.data());
    collectively(&ranks_, [&] {
      for (unsigned r = 0; r < n; ++r) received[r].resize(all_sizes[std::size_t{r} * n + rank_]);
    });
    std::vector<RankTransfer> receives, sends;
    for (unsigned r = 0; r < n; ++r) {
      if (!received[r].empty())
        receives.push_back({r, received[r].data(), received[r].size() * word_bytes});
      if (!logs[r].empty()) sends.push_back({r, logs[r].data(), logs[r].size() * word_bytes});
    }
    exchange(receives, sends);
    for (unsigned r = 0; r < n; ++r)
      job_.output_items.replay(received[r], owned(source_offsets_, rank_).first);
  }

  void finish() {
    const std::size_t n = job_.target_count;
    collectively(&ranks_, [&] {
      const std::uint64_t* records = received_.data();
      if (partition_.slices > 1) {
        SliceReduction(job_.kernel.program()).join(partition_.slices, n, received_, joined_);
        records = joined_.data();
      }
      unpack(job_.results_group, job_.results, 0, n, records, device_.threads);
      unpack(job_.outputs_group, job_.outputs, 0, job_.outputs.empty() ? 0 : job_.sources.count(),
             job_.output_items.words(), device_.threads);
    });
  }

  void add_report() {
    const JobData& own = *work().job;
    const std::size_t words = own.sources.count() * own.sources_group.words + own.targets.size() +
                              computed_.size() + received_.size() + joined_.size();
    report_.memory_bytes = words * word_bytes;
    const std::scoped_lock lock(device_.counters);
    RankReport& all = ranks_of(device_).report;
    all.pairs += report_.pairs;
    all.bytes_received += report_.bytes_received;
    all.sources_bytes = report_.sources_bytes;
    all.seconds += report_.seconds;
    all.memory_bytes = report_.memory_bytes;
    all.waiting_seconds += report_.waiting_seconds + pipeline_.waiting_seconds();
    all.sources_seconds += pipeline_.seconds();
    all.sources_waiting += pipeline_.waiting_seconds();
  }

  RankWork& work() { return *job_.rank_work; }
  IndexRange owned(std::span<const std::size_t> offsets, unsigned rank) const {
    return {offsets[rank], offsets[rank + 1] - offsets[rank]};
  }
  std::size_t targets() const { return target_offsets_.back(); }
  std::size_t sources() const { return source_offsets_.back(); }
  IndexRange slice(std::size_t k) const {
    return slice_range(partition_, job_.cost.group, sources(), k);
  }

  /// The sources required by the parts of a rank.
  IndexRange needed_by(std::span<const RankPart> parts) const {
    if (partition_.slices == 1) return {0, sources()};
    if (parts.empty()) return {};
    const IndexRange first = slice(parts.front().slice), last = slice(parts.back().slice);
    return {first.first, last.first + last.count - first.first};
  }

  void exchange(std::span<const RankTransfer> receives, std::span<const RankTransfer> sends) {
    count(receives);
    const AddElapsed timer(report_.waiting_seconds);
    const HostSpan span(device_.spans, "exchange with ranks");
    ranks_.start_exchange(receives, sends)->wait();
  }

  void count(std::span<const RankTransfer> receives) {
    for (const RankTransfer& t : receives)
      if (t.peer != rank_) report_.bytes_received += t.bytes;
  }

  DeviceCore& device_;
  JobData& job_;
  const std::stop_token& stop_;
  RankGroup& ranks_;
  const unsigned rank_;
  std::vector<std::size_t> target_offsets_, source_offsets_, source_counts_;
  bool fetch_sources_ = false, outputs_wanted_ = false;
  JobPartition partition_;
  std::vector<std::vector<RankPart>> parts_;  ///< parts of every rank
  IndexRange computed_targets_;               ///< range of targets that this rank computes
  std::size_t record_words_ = 0;              ///< words of a result record between ranks
  std::vector<std::uint64_t> computed_, received_, joined_;
  RankReport report_;
  SourcePipeline pipeline_;  ///< declared last: destroyed before the memory it writes to
};

}  // namespace

void Ranks::run(DeviceCore& device, JobData& job, const std::stop_token& stop) {
  try {
    RankRun(device, job, stop).run();
  } catch (...) {
    // The sources of this rank may be incomplete.
    if (job.rank_work && job.rank_work->job) {
      job.rank_work->job->wait_for_sources = {};
      job.rank_work->source_counts.clear();
      job.rank_work->revision.reset();
    }
    throw;
  }
}

}  // namespace gdr
