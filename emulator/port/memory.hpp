// A control processor's memory: large, zero at first, and only kept where something was written.
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
  /// The words of a range, in place where they lie together, else copied into `scratch`.
  const std::uint64_t* view(std::uint64_t address, std::uint64_t count,
                            std::vector<std::uint64_t>& scratch) const;

  /// What `write` does, in parts: `begin_write` first, for the whole range, by one thread; then
  /// threads may `store` disjoint words of it side by side.
  void begin_write(std::uint64_t address, std::uint64_t count);
  void store(std::uint64_t address, std::span<const std::uint64_t> words) noexcept;
  /// Makes room for `store` without saying that anything changes.
  void reserve(std::uint64_t address, std::uint64_t count);
  /// Says that words of a range that was reserved have changed.
  void changed(std::uint64_t address, std::uint64_t count);

  /// A number for the contents: what was made of them is good for every memory with the same one. A
  /// write gives a number that no memory had before; 0 stands for nothing but zeros.
  std::uint64_t contents() const noexcept { return contents_; }
  /// Consecutive words.
  struct Range {
    std::uint64_t address = 0, count = 0;
  };
  /// Appends what was written since the contents had this number. False if that was too long ago.
  bool changes_since(std::uint64_t contents, std::vector<Range>& ranges) const;

  /// Of memories that hold the same, one can be written to for all: give up a range in the others
  /// (`release`), write, and have the others hold what the first one holds there, without a copy.
  void release(std::uint64_t address, std::uint64_t count);
  void take_over(const BoardMemory& other, std::uint64_t address, std::uint64_t count);

 private:
  static constexpr std::uint64_t chunk_words = std::uint64_t{1} << 16;  ///< half a megabyte
  static constexpr std::size_t most_changes = 64;
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
