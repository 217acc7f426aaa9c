#include "emulator/port/memory.hpp"

#include <algorithm>
#include <utility>

#include "emulator/host/line_allocator.hpp"

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

BoardMemory::BoardMemory(std::uint64_t words) : words_(words) {}

/// Chunks of one call are allocated together, so that large pages can be used.
void BoardMemory::reserve(std::uint64_t address, std::uint64_t count) {
  if (count == 0) return;
  if (const std::uint64_t end = (address + count - 1) / chunk_words + 1; end > chunks_.size())
    chunks_.resize(end);
  std::uint64_t missing = 0;
  const auto is_missing = [](const Chunk& memory) { return !memory || memory.use_count() > 1; };
  for_each_chunk(address, count, chunk_words, [&](auto chunk, auto, auto, auto) {
    if (is_missing(chunks_[chunk])) ++missing;
  });
  if (missing == 0) return;
  const Chunk all = LineAllocator<std::uint64_t>::zeros(missing * chunk_words);
  std::uint64_t* next = all.get();
  for_each_chunk(address, count, chunk_words, [&](auto chunk, auto, auto, auto) {
    Chunk& memory = chunks_[chunk];
    if (!is_missing(memory)) return;
    if (memory) std::copy_n(memory.get(), chunk_words, next);
    // Each chunk has its own reference count.
    memory = Chunk(std::exchange(next, next + chunk_words), [all](auto*) {});
  });
}

void BoardMemory::begin_write(std::uint64_t address, std::uint64_t count) {
  reserve(address, count);
  changed(address, count);
}

void BoardMemory::store(std::uint64_t address, std::span<const std::uint64_t> words) noexcept {
  for_each_chunk(address, words.size(), chunk_words,
                 [&](auto chunk, auto offset, auto done, auto length) {
                   std::copy_n(words.data() + done, length, chunks_[chunk].get() + offset);
                 });
}

void BoardMemory::write(std::uint64_t address, std::span<const std::uint64_t> words) {
  begin_write(address, words.size());
  store(address, words);
}

bool BoardMemory::equals_except(const BoardMemory& other, std::uint64_t address,
                                std::uint64_t count) const {
  if (revision() == other.revision()) return true;
  std::uint64_t most = 2 * chunk_words + count;
  const auto equals_part = [&](std::uint64_t first, std::uint64_t end) {
    if (first >= end) return true;
    if (end - first > most) return false;
    most -= end - first;
    return equals(other, first, end - first);
  };
  const std::uint64_t chunks = std::max(chunks_.size(), other.chunks_.size());
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    if (chunk_at(chunk) == other.chunk_at(chunk)) continue;
    const std::uint64_t first = chunk * chunk_words, end = std::min(words_, first + chunk_words);
    if (!equals_part(first, std::min(end, address)) ||
        !equals_part(std::max(first, address + count), end))
      return false;
  }
  return true;
}

bool BoardMemory::equals(const BoardMemory& other, std::uint64_t address,
                         std::uint64_t count) const {
  if (revision() == other.revision()) return true;
  bool equal = true;
  for_each_chunk(address, count, chunk_words, [&](auto chunk, auto offset, auto, auto length) {
    const Chunk &own = chunk_at(chunk), &others = other.chunk_at(chunk);
    if (!equal || own == others) return;
    const auto is_zero = [](std::uint64_t word) { return word == 0; };
    if (own && others)
      equal = std::equal(own.get() + offset, own.get() + offset + length, others.get() + offset);
    else
      equal = std::all_of((own ? own : others).get() + offset,
                          (own ? own : others).get() + offset + length, is_zero);
  });
  return equal;
}

void BoardMemory::release(std::uint64_t address, std::uint64_t count) {
  changed(address, count);  // invalid until `share_chunks`
  for_each_chunk(address, count, chunk_words, [&](auto chunk, auto, auto, auto) {
    if (chunk < chunks_.size()) chunks_[chunk].reset();
  });
}

void BoardMemory::share_chunks(const BoardMemory& other, std::uint64_t address,
                               std::uint64_t count) {
  if (chunks_.size() < other.chunks_.size()) chunks_.resize(other.chunks_.size());
  for_each_chunk(address, count, chunk_words, [&](auto chunk, auto, auto, auto) {
    if (chunk < chunks_.size()) chunks_[chunk] = other.chunk_at(chunk);
  });
  changes_ = other.changes_;
}

void BoardMemory::read(std::uint64_t address, std::span<std::uint64_t> words) const {
  for_each_chunk(address, words.size(), chunk_words,
                 [&](auto chunk, auto offset, auto done, auto length) {
                   std::uint64_t* const out = words.data() + done;
                   const Chunk& memory = chunk_at(chunk);
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
  if (const Chunk& memory = chunk_at(chunk); count != 0 && offset + count <= chunk_words && memory)
    return memory.get() + offset;
  if (scratch.size() < count) scratch.resize(count);
  read(address, {scratch.data(), count});
  return scratch.data();
}

}  // namespace gdr
