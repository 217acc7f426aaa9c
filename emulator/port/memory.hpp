// A control processor's memory: large, initially zero, allocated on write.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "emulator/port/change_log.hpp"

namespace gdr {

/// Words of 64 bits. The caller keeps addresses within size().
class BoardMemory {
 public:
  explicit BoardMemory(std::uint64_t words);

  std::uint64_t size() const noexcept { return words_; }
  void write(std::uint64_t address, std::span<const std::uint64_t> words);
  void read(std::uint64_t address, std::span<std::uint64_t> words) const;
  /// The words of a range: in place if they are contiguous, else copied to `scratch`.
  const std::uint64_t* view(std::uint64_t address, std::uint64_t count,
                            std::vector<std::uint64_t>& scratch) const;

  /// A write in two steps: `begin_write` for the whole range, then threads may `store` disjoint
  /// words of it concurrently.
  void begin_write(std::uint64_t address, std::uint64_t count);
  void store(std::uint64_t address, std::span<const std::uint64_t> words) noexcept;
  /// Allocates for `store` without marking a change.
  void reserve(std::uint64_t address, std::uint64_t count);
  /// Marks words of a reserved range as changed.
  void changed(std::uint64_t address, std::uint64_t count) { changes_.add({address, count}); }

  /// Revision of the words: memories with equal revisions have equal words. 0: all zero.
  Revision revision() const noexcept { return changes_.revision(); }
  /// Appends the ranges written since a revision. False if that is not known.
  bool changes_since(Revision revision, std::vector<ChangedRange>& ranges) const {
    return changes_.changes_since(revision, ranges);
  }

  /// Whether a range has the same words in both memories.
  bool equals(const BoardMemory& other, std::uint64_t address, std::uint64_t count) const;

  /// Whether all words except those of a range are equal. False also if more words than the range
  /// and two chunks, at its ends, have to be compared.
  bool equals_except(const BoardMemory& other, std::uint64_t address, std::uint64_t count) const;

  /// Takes over the revision of a memory with equal words.
  void take_revision(const BoardMemory& other) { changes_ = other.changes_; }

  /// Memories with equal contents can share a write: release the range in the others (`release`),
  /// write to one, and share its chunks (`share_chunks`) without a copy.
  void release(std::uint64_t address, std::uint64_t count);
  void share_chunks(const BoardMemory& other, std::uint64_t address, std::uint64_t count);

 private:
  static constexpr std::uint64_t chunk_words = std::uint64_t{1} << 16;  ///< half a megabyte
  static constexpr std::size_t max_changes = 128;
  using Chunk = std::shared_ptr<std::uint64_t[]>;
  static inline const Chunk zeros{};
  const Chunk& chunk_at(std::uint64_t k) const noexcept {
    return k < chunks_.size() ? chunks_[k] : zeros;
  }

  std::uint64_t words_;
  ChangeLog changes_{max_changes};
  /// Not written to while shared; null: all zero, as those behind the last one are. The table of a
  /// whole memory would take a third of the time in which a device opens.
  std::vector<Chunk> chunks_;
};

}  // namespace gdr
