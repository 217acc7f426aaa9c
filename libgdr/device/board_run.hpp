// One run of a job on one board: builds the command lists and fetches the results.
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

  /// Host time spent converting results, in seconds.
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
  /// The range of targets of a chip when n are partitioned over the chips.
  IndexRange chip_targets(std::size_t n, unsigned chip) const;

  const DeviceCore& device_;
  BoardSlot& slot_;
  JobData& job_;
  const JobPart part_;
  const ChipPartition partition_;
  const std::stop_token& stop_;
  const unsigned chips_;
  std::uint64_t sources_at_ = 0;       ///< payload offset of the sources, words
  std::uint64_t targets_at_ = 0;       ///< payload offset of the targets, words
  std::optional<SourceVersion> sent_;  ///< sources resident after the list
  std::uint64_t active_ = 0;           ///< mask of the chips with targets in this batch
  std::size_t output_words_;           ///< words of an output item in a chip's memory
  std::uint64_t output_base_;          ///< memory address of output items
  std::size_t capacity_;               ///< sources that fit the memories at once
  double conversion_seconds_ = 0;
  std::vector<std::size_t>
      places_;              ///< first item of each slice in a chip's memory; empty: not all fit
  bool streaming_ = false;  ///< whether sources arrive in pieces during the first batch
};

}  // namespace gdr
