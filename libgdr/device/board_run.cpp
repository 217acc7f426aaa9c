// Command lists for batches of targets and ranges of sources.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"
#include "emulator/isa/program.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/core.hpp"

namespace gdr {
namespace {

constexpr std::uint64_t all_chips(unsigned chips) {
  return chips >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << chips) - 1;
}

/// Sources that are contiguous in the memory of some chips.
struct Segment {
  std::uint64_t chips = 0;  ///< mask of the chips
  std::size_t place = 0;    ///< index of the first item in the chips' memory
  IndexRange sources;
};

/// Places a range of sources: all of it in every chip, or (j-parallel) an equal part in each chip
/// and the remainder, one source each, in the first chips. Calls visit for each segment, if any.
template <typename Visit>
void place_sources(ChipPartition partition, unsigned chips, IndexRange range, Visit visit) {
  if (range.count == 0) return;
  if (partition == ChipPartition::TargetsOverBlocks)
    return visit(Segment{all_chips(chips), 0, range});
  const std::size_t part = range.count / chips;
  const auto rest = static_cast<unsigned>(range.count % chips);
  for (unsigned c = 0; c < chips && part > 0; ++c)
    visit(Segment{std::uint64_t{1} << c, 0, {range.first + c * part, part}});
  for (unsigned c = 0; c < rest; ++c)
    visit(Segment{std::uint64_t{1} << c, part, {range.first + chips * part + c, 1}});
}

/// Intersection of two ranges.
IndexRange overlap(IndexRange have, IndexRange wanted) {
  const std::size_t first = std::max(have.first, wanted.first);
  const std::size_t end = std::min(have.first + have.count, wanted.first + wanted.count);
  return {first, end > first ? end - first : 0};
}

/// One run of a job on one board: builds the command lists and fetches the results. A list is
/// executed at the end of a batch and when its payload is long.
class BoardRun final : public BoardWork {
 public:
  BoardRun(const DeviceCore& device, BoardSlot& slot, JobData& job, const JobPart& part,
           IndexRange targets, const std::stop_token& stop)
      : device_(device),
        slot_(slot),
        job_(job),
        part_(part),
        targets_(targets),
        partition_(part.partition),
        stop_(stop),
        chips_(device.geometry.chips_per_board) {
    const Geometry& g = device.geometry;
    const ChipPartition partition = partition_;
    output_words_ =
        job.output_items.record_words() * output_records(job.kernel.program(), g, partition);
    const std::size_t item_words = job.sources_group.words + output_words_;
    const std::uint64_t memory_words = g.dram_bytes / sizeof(std::uint64_t);
    output_base_ = source_capacity(ChipPartition::TargetsOverBlocks, 1, memory_words, item_words) *
                   job.sources_group.words;
    capacity_ = sources_at_once(job.cost, g, partition, output_words_);
    if (capacity_ == 0)
      throw Error(ErrorCategory::Device, "the memory of a chip (" + std::to_string(g.dram_bytes) +
                                             " bytes) does not hold one source of kernel \"" +
                                             job.kernel.name() + "\"; increase dram");
    all_fit_ = items_of_slices() <= capacity_;
  }

  BoardRun(const BoardRun&) = delete;
  BoardRun& operator=(const BoardRun&) = delete;
  ~BoardRun() override {
    if (!begun_ || finished_) return;
    slot_.discard_work();
  }

  void start() override {
    begun_ = true;
    begin_list();
    slot_.load_program(job_.kernel, chips_, stop_);
    slot_.contents.overwrite_tile(device_.geometry.blocks);
    const std::size_t slots = board_slots(job_.cost, device_.geometry, partition_);
    for (std::size_t done = 0; done < targets_.count;) {
      const std::size_t some = std::min(targets_.count - done, slots);
      batch(targets_.first + done, some);
      done += some;
    }
  }
  double finish() override {
    while (!unread_.empty()) take_results();
    finished_ = true;
    return conversion_seconds_;
  }

 private:
  /// Number of items of a slice in a chip's memory.
  std::size_t place_size(const IndexRange& slice) const {
    const std::size_t chips = partition_ == ChipPartition::SourcesOverBlocks ? chips_ : 1;
    return (slice.count + chips - 1) / chips;
  }
  /// First item of a slice in a chip's memory, if all slices fit: they are consecutive.
  std::size_t place_of(std::size_t slice) const {
    std::size_t place = 0;
    for (std::size_t s = 0; s < slice; ++s) place += place_size(job_.slices[s]);
    return place;
  }
  /// Number of sources for which the memories need room, to hold all slices.
  std::size_t items_of_slices() const {
    if (job_.slices.size() == 1) return job_.sources.count();
    const std::size_t chips = partition_ == ChipPartition::SourcesOverBlocks ? chips_ : 1;
    return place_of(job_.slices.size()) * chips;
  }

  /// Starts a list; sources and targets are sent from their own storage.
  void begin_list() {
    slot_.list.clear();
    sources_at_ = slot_.list.borrow(job_.sources.words());
    targets_at_ = slot_.list.borrow(job_.targets);
  }

  Command& add(CommandKind kind) {
    Command& command = slot_.list.commands.emplace_back();
    command.kind = kind;
    command.chips = all_chips(chips_);
    command.partition = partition_;
    command.payload = slot_.list.payload.size();
    return command;
  }

  void add_payload(Command& command, const std::uint64_t* words, std::size_t n) {
    command.payload = slot_.list.payload.size();
    command.payload_words = n;
    slot_.list.payload.insert(slot_.list.payload.end(), words, words + n);
  }

  void flush() {
    if (stop_.stop_requested()) throw Cancelled();
    slot_.board->execute(slot_.list, slot_.words, stop_);
    list_sent();
  }
  void list_sent() {
    begin_list();
    if (sent_) slot_.contents.sources = *std::exchange(sent_, {});
  }

  void write_params() {
    for (std::size_t k = 0; k < job_.params_group.fields.size(); ++k) {
      Command& command = add(CommandKind::WriteParam);
      command.partition = {};
      command.variable = static_cast<std::uint32_t>(k);
      add_payload(command, job_.params.data() + 2 * k,
                  (job_.params_group.fields[k].half_words + 1) / 2);
    }
  }

  /// The range of targets of a chip when n are partitioned over the chips.
  IndexRange chip_targets(std::size_t n, unsigned chip) const {
    if (partition_ == ChipPartition::SourcesOverBlocks) return {0, n};
    const std::size_t part = targets_of_chip(job_.cost, device_.geometry, n);
    const std::size_t first = std::min(n, chip * part);
    return {first, std::min(n - first, part)};
  }

  void write_targets(std::size_t first, std::size_t n) {
    const std::size_t words = job_.targets_group.words;
    const bool split = partition_ == ChipPartition::SourcesOverBlocks;
    for (unsigned chip = 0; chip < (split ? 1 : chips_); ++chip) {
      const IndexRange part = chip_targets(n, chip);
      if (part.count == 0) break;
      Command& command = add(CommandKind::WriteTargets);
      if (!split) command.chips = std::uint64_t{1} << chip;
      command.count = part.count;
      command.payload = targets_at_ + (first + part.first) * words;
      command.payload_words = part.count * words;
      if (output_words_ == 0) continue;
      // Outputs are reduced over all PEs: those without a target must hold zeros.
      command.count = target_slots(job_.kernel.program(), device_.geometry, partition_);
      if (!slot_.board->needs_data()) continue;
      add_payload(command, job_.targets.data() + (first + part.first) * words, part.count * words);
      command.payload_words = command.count * words;
      slot_.list.payload.resize(command.payload + command.payload_words, 0);
    }
  }

  void send_segment(const Segment& segment, IndexRange wanted) {
    const std::size_t words = job_.sources_group.words;
    if (words == 0) return;
    IndexRange part = overlap(segment.sources, wanted);
    const std::size_t at_once = std::max<std::size_t>(1, write_words / words);
    while (part.count > 0) {
      const std::size_t n = std::min(part.count, at_once);
      Command& command = add(CommandKind::WriteMemory);
      command.partition = {};
      command.chips = segment.chips;
      command.address = (segment.place + part.first - segment.sources.first) * words;
      command.count = n * words;
      command.payload = sources_at_ + part.first * words;
      command.payload_words = n * words;
      if (n == at_once) flush();
      part = {part.first + n, part.count - n};
    }
  }

  const ChangeLog& changes() const { return job_.sources.changes(); }

  /// Whether the board holds these sources, complete or in part, as they are placed now.
  bool has_them(const SentSources& resident) const {
    return all_fit_ && resident.revision != 0 && resident.partition == partition_ &&
           resident.parts == job_.slices.size();
  }
  /// Whether the board holds an earlier revision of all sources; `changed_` are those to be sent.
  bool has_earlier_sources() {
    changed_.clear();
    const SentSources& resident = slot_.contents.sources;
    if (!has_them(resident) || !resident.arrived.empty() ||
        !changes().changes_since(resident.revision, changed_))
      return false;
    // Many changes together are more than all sources.
    std::size_t changed = 0;
    for (const ChangedRange& range : changed_) changed += range.count;
    return changed <= job_.sources.count();
  }
  void set_resident() { sent_ = {changes().revision(), partition_, job_.slices.size()}; }

  /// Sends all sources, or the changes if the board holds an earlier revision. If not all fit or
  /// have arrived, sends `range` to `place`.
  void send_sources(IndexRange range, std::size_t place) {
    const bool known = has_earlier_sources();
    if (known && changed_.empty()) return;
    const std::size_t count = job_.sources.count();
    const bool by_slices =
        all_fit_ && !streaming_ && job_.wait_for_sources && !known && job_.slices.size() > 1;
    if (by_slices) return send_slice();
    slot_.contents.sources = {};
    if (!all_fit_ || streaming_) {
      place_sources(partition_, chips_, range, [&](Segment segment) {
        segment.place += place;
        send_segment(segment, range);
      });
      if (all_fit_ && range.first + range.count == count) set_resident();
      return;
    }
    if (job_.wait_for_sources) job_.wait_for_sources({0, count});
    for (std::size_t s = 0; s < job_.slices.size(); ++s)
      place_sources(partition_, chips_, job_.slices[s], [&](Segment segment) {
        segment.place += place_of(s);
        if (!known) send_segment(segment, job_.slices[s]);
        for (const ChangedRange& change : changed_)
          send_segment(segment, {change.first, change.count});
      });
    set_resident();
  }

  /// Sends the slice of this part as soon as it has arrived.
  void send_slice() {
    SentSources& resident = slot_.contents.sources;
    const std::size_t s = part_.slice;
    if (!has_them(resident) || resident.revision != changes().revision())
      resident = {changes().revision(), partition_, job_.slices.size(),
                  std::vector<bool>(job_.slices.size())};
    if (resident.arrived.empty() || resident.arrived[s]) return;
    job_.wait_for_sources(job_.slices[s]);
    place_sources(partition_, chips_, job_.slices[s], [&](Segment segment) {
      segment.place += place_of(s);
      send_segment(segment, job_.slices[s]);
    });
    resident.arrived[s] = true;
    if (std::ranges::find(resident.arrived, false) == resident.arrived.end()) set_resident();
  }

  void add_run(std::uint64_t chips, std::size_t place, std::size_t count, std::uint32_t flags) {
    Command& command = add(CommandKind::Run);
    command.chips = chips;
    command.address = place * job_.sources_group.words;
    if (output_words_ > 0) command.output_address = output_base_ + place * output_words_;
    command.count = count;
    const bool last = (flags & run_end) != 0;
    command.flags = flags | (last && !device_.preserve_chip_state ? run_results_only : 0U);
    // Engines on host numbers need not compute the sums of blocks one by one, in shorts.
    if (partition_ == ChipPartition::SourcesOverBlocks) command.flags |= run_reassociate;
  }

  /// Adds the loop over `count` sources at `base` in the memories: Start before the first of the
  /// run, End after the last, on every active chip, with or without sources.
  void loop(std::size_t base, std::size_t count, bool is_first, bool is_last) {
    const bool split = partition_ == ChipPartition::SourcesOverBlocks;
    const std::size_t each = split ? count / chips_ : count;
    const std::size_t rest = split ? count % chips_ : 0;
    const bool end = rest == 0 && is_last;
    add_run(active_, base, each, (is_first ? run_start : 0U) | (end ? run_end : 0U));
    if (rest == 0) return;
    add_run(all_chips(static_cast<unsigned>(rest)), base + each, 1, 0);
    if (is_last) add_run(active_, 0, 0, run_end);
  }

  /// Reads the output items of these sources from every active chip.
  void read_outputs(IndexRange range, std::size_t place, bool first_batch) {
    if (!job_.fetch_outputs) return;
    const std::size_t records = output_words_ / job_.output_items.record_words();
    place_sources(partition_, chips_, range, [&](const Segment& segment) {
      bool fresh = first_batch;
      for (unsigned chip = 0; chip < chips_; ++chip) {
        const std::uint64_t bit = std::uint64_t{1} << chip;
        if ((segment.chips & active_ & bit) == 0) continue;
        Command& command = add(CommandKind::ReadMemory);
        command.partition = {};
        command.chips = bit;
        command.address = output_base_ + (place + segment.place) * output_words_;
        command.count = segment.sources.count * output_words_;
        flush();
        if (!slot_.board->needs_data()) continue;
        job_.output_items.add(segment.sources.first, segment.sources.count, slot_.words.data(),
                              records, fresh);
        fresh = false;
      }
    });
  }

  void read_targets(std::size_t first, std::size_t n) {
    const bool split = partition_ == ChipPartition::SourcesOverBlocks;
    for (unsigned chip = 0; chip < (split ? 1 : chips_); ++chip) {
      const IndexRange part = chip_targets(n, chip);
      if (part.count == 0) break;
      Command& command = add(CommandKind::ReadTargets);
      if (!split) command.chips = std::uint64_t{1} << chip;
      if (split) command.flags = read_combine;
      if (part_.raw) command.flags |= read_raw;
      command.count = part.count;
    }
    const unsigned ahead = slot_.board->lists_ahead();
    if (ahead == 0) {
      flush();
      if (slot_.board->needs_data()) convert_results({first, n});
      return;
    }
    // Far boards compute the next batches while results are on their way.
    if (stop_.stop_requested()) throw Cancelled();
    slot_.board->start(slot_.list, stop_);
    list_sent();
    unread_.push_back({first, n});
    while (unread_.size() > ahead) take_results();
  }

  /// Takes the results of the first batch that was started.
  void take_results() {
    slot_.board->finish(slot_.words, stop_);
    convert_results(unread_.front());
    unread_.erase(unread_.begin());
  }

  /// Converts the results of a batch of targets.
  void convert_results(IndexRange targets) {
    const auto [first, n] = targets;
    // Chips return results in order and targets are partitioned in order: the records of n targets.
    const HostSpan span(device_.spans, "convert results");
    const Stopwatch timer;
    if (part_.records != nullptr)
      std::copy(slot_.words.begin(), slot_.words.end(),
                part_.records + (first - part_.targets.first) * (slot_.words.size() / n));
    else
      unpack(job_.results_group, job_.results, first, n, slot_.words.data(), device_.job_threads());
    conversion_seconds_ += timer.seconds();
    device_.progress.add(static_cast<double>(n) *
                         static_cast<double>(job_.slices[part_.slice].count));
  }

  /// Number of sources sent to the memories between two runs of the loop.
  std::size_t items_at_once() const {
    if (!all_fit_) return capacity_;
    const std::size_t count = job_.slices[part_.slice].count;
    if (!streaming_) return count;
    const std::size_t group = job_.cost.group, eighth = (count + 7) / 8;
    return std::max<std::size_t>(4096, (eighth + group - 1) / group * group);
  }

  void batch(std::size_t first, std::size_t n) {
    active_ = 0;
    for (unsigned chip = 0; chip < chips_; ++chip)
      if (chip_targets(n, chip).count > 0) active_ |= std::uint64_t{1} << chip;
    write_params();
    write_targets(first, n);
    const IndexRange slice = job_.slices[part_.slice];
    const std::size_t base = all_fit_ ? place_of(part_.slice) : 0;
    // With one slice, seen by all blocks, the loop starts on the sources that have arrived: on the
    // machine, and on engines that round between two runs as within one.
    streaming_ = device_.engine.exact() && job_.wait_for_sources && all_fit_ &&
                 job_.slices.size() == 1 && partition_ == ChipPartition::TargetsOverBlocks &&
                 !has_earlier_sources();
    const std::size_t at_once = items_at_once();
    for (std::size_t done = 0; done == 0 || done < slice.count;) {
      const IndexRange range{slice.first + done, std::min(slice.count - done, at_once)};
      const std::size_t place = all_fit_ ? base + done : 0;
      if (job_.wait_for_sources && (streaming_ || !all_fit_)) job_.wait_for_sources(range);
      send_sources(range, place);
      loop(place, range.count, done == 0, done + range.count == slice.count);
      read_outputs(range, place, first + job_.targets_before == 0);
      done += range.count;
      if (streaming_ && done < slice.count) flush();
      if (slice.count == 0) break;
    }
    read_targets(first, n);
  }

  const DeviceCore& device_;
  BoardSlot& slot_;
  JobData& job_;
  const JobPart part_;
  const IndexRange targets_;
  const ChipPartition partition_;
  const std::stop_token& stop_;
  const unsigned chips_;
  std::uint64_t sources_at_ = 0;       ///< payload offset of the sources, words
  std::uint64_t targets_at_ = 0;       ///< payload offset of the targets, words
  std::optional<SentSources> sent_;    ///< sources resident after the list
  std::vector<ChangedRange> changed_;  ///< items that changed since those that are resident
  std::uint64_t active_ = 0;           ///< mask of the chips with targets in this batch
  std::size_t output_words_;           ///< words of an output item in a chip's memory
  std::uint64_t output_base_;          ///< memory address of output items
  std::size_t capacity_;               ///< sources that fit the memories at once
  /// Whether the memories hold all slices, which stay resident for the next run.
  bool all_fit_ = false;
  double conversion_seconds_ = 0;
  std::vector<IndexRange> unread_;  ///< targets of batches that were started
  bool streaming_ = false;          ///< whether sources arrive in pieces during the first batch
  bool begun_ = false, finished_ = false;
};

}  // namespace

std::unique_ptr<BoardWork> work_on_board(const DeviceCore& device, BoardSlot& slot, JobData& job,
                                         const JobPart& part, IndexRange targets,
                                         const std::stop_token& stop) {
  return std::make_unique<BoardRun>(device, slot, job, part, targets, stop);
}

double run_on_board(const DeviceCore& device, BoardSlot& slot, JobData& job, const JobPart& part,
                    IndexRange targets, const std::stop_token& stop) {
  BoardRun run(device, slot, job, part, targets, stop);
  run.start();
  return run.finish();
}

}  // namespace gdr
