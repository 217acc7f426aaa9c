#include "emulator/port/memory.hpp"

#include <algorithm>
#include <atomic>

namespace gdr {
namespace {

/// Calls piece(chunk, offset in it, offset in the range, length) for each chunk of a range.
template <typename Piece>
void for_each_chunk(std::uint64_t address, std::uint64_t count, std::uint64_t chunk_words,
                    Piece&& piece) {
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t offset = (address + done) % chunk_words;
    const std::uint64_t length = std::min(count - done, chunk_words - offset);
    piece((address + done) / chunk_words, offset, done, length);
    done += length;
  }
}

}  // namespace

BoardMemory::BoardMemory(std::uint64_t words)
    : words_(words), chunks_((words + chunk_words - 1) / chunk_words) {}

void BoardMemory::reserve(std::uint64_t address, std::uint64_t count) {
  for_each_chunk(address, count, chunk_words, [&](auto chunk, auto, auto, auto) {
    if (!chunks_[chunk]) chunks_[chunk] = std::make_unique<std::uint64_t[]>(chunk_words);
  });
}

void BoardMemory::write(std::uint64_t address, std::span<const std::uint64_t> words) {
  static std::atomic<std::uint64_t> writes = 0;
  std::atomic_ref(contents_).store(++writes, std::memory_order_relaxed);  // threads may write too
  for_each_chunk(address, words.size(), chunk_words,
                 [&](auto chunk, auto offset, auto done, auto length) {
                   auto& memory = chunks_[chunk];
                   if (!memory) memory = std::make_unique<std::uint64_t[]>(chunk_words);
                   std::copy_n(words.data() + done, length, memory.get() + offset);
                 });
}

void BoardMemory::read(std::uint64_t address, std::span<std::uint64_t> words) const {
  for_each_chunk(address, words.size(), chunk_words,
                 [&](auto chunk, auto offset, auto done, auto length) {
                   std::uint64_t* const out = words.data() + done;
                   const auto& memory = chunks_[chunk];
                   if (memory) {
                     std::copy_n(memory.get() + offset, length, out);
                   } else {
                     std::fill_n(out, length, 0);
                   }
                 });
}

const std::uint64_t* BoardMemory::view(std::uint64_t address, std::uint64_t count,
                                       std::vector<std::uint64_t>& scratch) const {
  const std::uint64_t chunk = address / chunk_words;
  const std::uint64_t offset = address % chunk_words;
  if (count != 0 && offset + count <= chunk_words && chunks_[chunk]) {
    return chunks_[chunk].get() + offset;
  }
  if (scratch.size() < count) scratch.resize(count);
  read(address, {scratch.data(), count});
  return scratch.data();
}

}  // namespace gdr
