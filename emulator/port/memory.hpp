// A control processor's memory: large, initially zero, allocated on write.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

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
  void changed(std::uint64_t address, std::uint64_t count);

  /// Version of the contents: data derived from them is valid for every memory with the same
  /// version. A write sets a new, globally unique version; 0 means all zero.
  std::uint64_t contents() const noexcept { return contents_; }
  /// Consecutive words.
  struct Range {
    std::uint64_t address = 0, count = 0;
  };
  /// Appends the ranges written since a version. False if the version is too old.
  bool changes_since(std::uint64_t contents, std::vector<Range>& ranges) const;

  /// Whether a range has the same words in both memories.
  bool equals(const BoardMemory& other, std::uint64_t address, std::uint64_t count) const;

  /// Whether all words except those of a range are equal. False also if more words than the range
  /// and two chunks, at its ends, have to be compared.
  bool equals_except(const BoardMemory& other, std::uint64_t address, std::uint64_t count) const;

  /// Memories with equal contents can share a write: release the range in the others (`release`),
  /// write to one, and share its chunks (`share_chunks`) without a copy.
  void release(std::uint64_t address, std::uint64_t count);
  void share_chunks(const BoardMemory& other, std::uint64_t address, std::uint64_t count);

 private:
  static constexpr std::uint64_t chunk_words = std::uint64_t{1} << 16;  ///< half a megabyte
  static constexpr std::size_t max_changes = 64;
  using Chunk = std::shared_ptr<std::uint64_t[]>;
  struct Change {
    std::uint64_t contents;  ///< afterwards
    Range range;
  };

  std::uint64_t words_;
  std::uint64_t contents_ = 0;
  std::vector<Change> changes_;  ///< the last ones
  std::vector<Chunk> chunks_;    ///< null: all zero; shared: not written to
};

}  // namespace gdr
