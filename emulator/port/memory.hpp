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
  /// A number for the contents: what was made of them is good for every memory with the same one. A
  /// write gives a number that no memory had before; 0 stands for nothing but zeros.
  std::uint64_t contents() const noexcept { return contents_; }
  /// Say that the contents are the same as another memory's.
  void same_as(const BoardMemory& other) noexcept { contents_ = other.contents_; }
  void read(std::uint64_t address, std::span<std::uint64_t> words) const;

  /// Makes room, so that afterwards threads may write disjoint words of the range side by side.
  void reserve(std::uint64_t address, std::uint64_t count);

  /// The words of a range, in place where they lie together, else copied into `scratch`.
  const std::uint64_t* view(std::uint64_t address, std::uint64_t count,
                            std::vector<std::uint64_t>& scratch) const;

 private:
  static constexpr std::uint64_t chunk_words = std::uint64_t{1} << 16;  ///< half a megabyte

  std::uint64_t words_;
  std::uint64_t contents_ = 0;
  std::vector<std::unique_ptr<std::uint64_t[]>> chunks_;  ///< null: all zero
};

}  // namespace gdr
