// Mutation of corpus inputs: changes, moves and exchanges bytes, numbers, words and lines.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace fuzz {

using Bytes = std::vector<std::uint8_t>;

/// Generates mutations of a corpus; the same seed and corpus give the same mutations.
class Mutator {
 public:
  /// `corpus` must not be empty.
  Mutator(std::uint64_t seed, std::vector<Bytes> corpus, std::size_t max_length);

  /// A corpus input with a few mutations, at most max_length bytes long.
  Bytes next();

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  const Bytes& any_input() { return corpus_[below(corpus_.size())]; }
  /// A random range of an input; with words, it begins and ends at blanks.
  Bytes piece(const Bytes& from, bool words);
  void change(Bytes& input);
  void change_bytes(Bytes& input);
  void change_number(Bytes& input);
  void insert(Bytes& input, std::size_t at, const Bytes& what);

  std::mt19937_64 random_;
  std::vector<Bytes> corpus_;
  std::size_t max_length_;
};

}  // namespace fuzz
