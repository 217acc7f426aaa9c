// Reduction of partial results on the host, in the machine's arithmetic: of the slices of a job's
// sources, and of output items (`ovar`, one value for each source, reduced over all targets).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/port/port.hpp"
#include "libgdr/device/sources.hpp"

namespace gdr {

/// Whether the network reduces the results of two programs alike.
bool reduces_alike(const Program& a, const Program& b);

/// Reduces the partial sums of slices in network format (read_raw), pairwise in the order of the
/// slices like blocks and chips, and converts once.
class SliceReduction {
 public:
  explicit SliceReduction(const Program& program);

  /// Words of a target's record before conversion.
  std::size_t raw_words() const noexcept { return 2 * fields_.size(); }
  /// `raw` holds the records of `n` targets for slice 0, then for slice 1, and so on; `records`
  /// gets the link records.
  void join(std::size_t slices, std::size_t n, const std::vector<std::uint64_t>& raw,
            std::vector<std::uint64_t>& records) const;

 private:
  std::vector<PortField> fields_;
  std::size_t result_words_ = 0;
};

/// Reduces output items. The network reduces over the blocks of a chip; partial results of chips
/// and batches of targets are reduced here in the order of the targets, by the declared reduction,
/// so the bits do not depend on the number of boards.
class OutputReduction {
 public:
  OutputReduction() = default;
  explicit OutputReduction(const Program& program);

  /// Words of an item's record on the link; 0 where the kernel has no outputs.
  std::uint32_t record_words() const noexcept { return words_; }

  /// Starts a reduction for n sources.
  void begin(std::size_t n);
  /// Adds the items of sources first .. first + n - 1, each of `records` records, of which the
  /// first is used (a `pass` returns one for each block). `fresh`: the first items of these
  /// sources.
  void add(std::size_t first, std::size_t n, const std::uint64_t* words, std::size_t records,
           bool fresh);
  /// Logs items instead of reducing them, to be replayed by another process in the same order,
  /// until `begin`.
  void record_log() { records_log_ = true; }
  /// The log for a range of sources as words, and its replay; `before` is the number of this
  /// object's first source.
  std::vector<std::uint64_t> logged_items(IndexRange range) const;
  void replay(std::span<const std::uint64_t> log, std::size_t before);
  /// The records of all sources.
  const std::uint64_t* words() const noexcept { return joined_.data(); }

 private:
  /// Items of `sources` from one chip and batch.
  struct Items {
    IndexRange sources;
    bool fresh;
    std::vector<std::uint64_t> words;
  };
  void join(std::uint64_t* record, const std::uint64_t* other);

  std::vector<PortField> fields_;
  std::uint32_t words_ = 0;
  std::vector<std::uint64_t> joined_, scratch_;
  bool records_log_ = false;
  std::vector<Items> log_;
};

}  // namespace gdr
