// Output items (`ovar`): one value for each source, joined over all that worked on it.
//
// The network joins the blocks of a chip. What different chips and batches of targets leave for the
// same source is joined here, first targets first, by the reduction that the kernel declares and in
// the machine's arithmetic; so the bits do not depend on how many boards shared the targets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/port/port.hpp"
#include "libgdr/device/sources.hpp"

namespace gdr {

class OutputReduction {
 public:
  OutputReduction() = default;
  explicit OutputReduction(const Program& program);

  /// Words of an item's record on the link; 0 where the kernel has no outputs.
  std::uint32_t record_words() const noexcept { return words_; }

  /// Start anew for n sources.
  void begin(std::size_t n);
  /// Take the items of sources first .. first + n - 1, each of `records` records of which the first
  /// counts (more than one come from a `pass`, one for each block). `fresh`: nothing came before.
  void add(std::size_t first, std::size_t n, const std::uint64_t* words, std::size_t records,
           bool fresh);
  /// Instead of joining, write down from now on what is to be added, for another to do it in the
  /// order in which it came. `begin` ends it.
  void record_log() { records_log_ = true; }
  /// What was written down for the sources of a range, in plain words, and adding that to what is
  /// here, whose first source has the number `before`.
  std::vector<std::uint64_t> logged_items(IndexRange range) const;
  void replay(std::span<const std::uint64_t> log, std::size_t before);
  /// The records of all sources.
  const std::uint64_t* words() const noexcept { return joined_.data(); }

 private:
  /// Items that came at once: those of `sources` from one chip and batch.
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
