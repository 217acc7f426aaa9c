#include "emulator/port/memory_writes.hpp"

#include <algorithm>
#include <utility>

#include "emulator/host/parallel.hpp"
#include "emulator/host/thread_choice.hpp"

namespace gdr {
namespace {

/// Words of a task.
constexpr std::uint64_t max_words = std::uint64_t{1} << 16;

/// A part of a write.
struct Piece {
  const PendingWrite* write;
  std::uint64_t first, count;
};

void add_pieces(const PendingWrite& write, std::vector<Piece>& pieces) {
  for (std::uint64_t done = 0; done < write.words.size(); done += max_words)
    pieces.push_back({&write, done, std::min<std::uint64_t>(max_words, write.words.size() - done)});
}

void complete(const std::vector<Piece>& pieces, unsigned threads) {
  constexpr double ns_to_copy = 1;  // a word
  double ns = 0;
  for (const Piece& piece : pieces) ns += static_cast<double>(piece.count) * ns_to_copy;
  const Phase phase{pieces.size(), [&](std::size_t i) {
                      const auto& [write, first, count] = pieces[i];
                      write->store(write->address + first, count);
                    }};
  run_phases({&phase, 1}, threads_for_input(ns, threads));
}

}  // namespace

void PendingWrite::store(std::uint64_t first, std::uint64_t count) const {
  const std::uint64_t begin = std::max(first, address), behind = std::min(first + count, end());
  if (begin >= behind) return;
  const std::size_t offset = begin - address, length = behind - begin;
  memory->store(begin, words.subspan(offset, length));
}

void MemoryWrites::begin(const PendingWrite& write, unsigned threads) {
  if (!writes_.empty()) {
    // Disjoint writes: behind the last one, or in a later memory.
    const PendingWrite& last = writes_.back();
    const bool behind = write.memory == last.memory ? write.address >= last.end()
                                                    : std::less<>()(last.memory, write.memory);
    if (!behind) finish(threads);
  }
  write.memory->begin_write(write.address, write.words.size());
  writes_.push_back(write);
}

void MemoryWrites::finish(unsigned threads) {
  if (writes_.empty()) return;
  const std::vector<PendingWrite> writes = std::exchange(writes_, {});
  std::vector<Piece> pieces;
  for (const PendingWrite& write : writes) add_pieces(write, pieces);
  complete(pieces, threads);
}

}  // namespace gdr
