// One run of a job on one board: writes the command lists and brings the results back.
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>
#include <vector>

#include "libgdr/device/core.hpp"

namespace gdr {

class BoardRun {
 public:
  BoardRun(const DeviceCore& device, BoardSlot& slot, JobData& job, const JobPart& part,
           const std::stop_token& stop);

  /// Compute targets first .. first + n - 1, in as many batches as the board needs. Target 0 is in
  /// the first batch of the whole run.
  void run(std::size_t first, std::size_t n);

  /// That went into the conversion of results.
  double conversion_seconds() const noexcept { return conversion_seconds_; }

 private:
  void batch(std::size_t first, std::size_t n);
  void load_program();
  void write_params();
  void write_targets(std::size_t first, std::size_t n);
  void loop(std::size_t base, std::size_t count, bool is_first, bool is_last);
  std::size_t items_at_once() const;
  void place_slices();
  SourceVersion sources_now() const;
  bool has_earlier_sources() const;
  void send_sources(IndexRange range, std::size_t place);
  void send_slice();
  void send_segment(const Segment& segment, IndexRange wanted);
  void read_outputs(IndexRange range, std::size_t place, bool first_batch);
  void read_targets(std::size_t first, std::size_t n);

  void begin_list();
  Command& add(CommandKind kind);
  void add_payload(Command& command, const std::uint64_t* words, std::size_t n);
  void add_run(std::uint64_t chips, std::size_t place, std::size_t count, std::uint32_t flags);
  void flush();
  /// The targets of a chip when n are dealt out.
  IndexRange chip_targets(std::size_t n, unsigned chip) const;

  const DeviceCore& device_;
  BoardSlot& slot_;
  JobData& job_;
  const JobPart part_;
  const ChipPartition partition_;
  const std::stop_token& stop_;
  const unsigned chips_;
  std::uint64_t sources_at_ = 0;       ///< place of the first source's words in the list
  std::uint64_t targets_at_ = 0;       ///< and of the first target's
  std::optional<SourceVersion> sent_;  ///< what the board holds once the list has been executed
  std::uint64_t active_ = 0;           ///< chips that have targets in this batch
  std::size_t output_words_;           ///< that an item leaves in a chip's memory
  std::uint64_t output_base_;          ///< memory address of output items
  std::size_t capacity_;               ///< sources that the memories take at once
  double conversion_seconds_ = 0;
  std::vector<std::size_t> places_;  ///< of the slices, in a chip's memory; none: not all fit
  bool streaming_ = false;           ///< sources come in pieces while the first batch runs
};

}  // namespace gdr
