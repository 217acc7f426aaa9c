#include "libgdr/ranks/gathered.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace gdr {
namespace {

constexpr std::size_t word = sizeof(std::uint64_t);
/// Words of a step of a transfer, of all ranks together.
constexpr std::size_t words_of_step = std::size_t{1} << 23;

}  // namespace

std::vector<std::size_t> offsets_of_ranks(RankGroup& ranks, std::size_t mine) {
  std::vector<std::size_t> counts(ranks.size()), offsets = {0};
  ranks.gather(&mine, sizeof mine, counts.data());
  for (const std::size_t n : counts) offsets.push_back(offsets.back() + n);
  return offsets;
}

std::size_t gather_items(RankGroup& ranks, void* all, std::size_t bytes,
                         std::span<const std::size_t> offsets) {
  auto* const data = static_cast<std::byte*>(all);
  const std::size_t n = ranks.size(), mine = ranks.rank();
  const std::size_t most = std::max<std::size_t>(1, words_of_step / n) * word;
  std::size_t longest = 0;
  for (std::size_t r = 0; r < n; ++r)
    longest = std::max(longest, (offsets[r + 1] - offsets[r]) * bytes);
  std::vector<std::uint64_t> buffer;
  collectively(&ranks, [&] { buffer.resize(n * (std::min(longest, most) + word - 1) / word + n); });
  // In every step each rank sends the next bytes of its part, in whole words.
  for (std::size_t at = 0; at < longest; at += most) {
    const auto bytes_of = [&](std::size_t r) {
      const std::size_t part = (offsets[r + 1] - offsets[r]) * bytes;
      return part > at ? std::min(part - at, most) : 0;
    };
    std::vector<std::size_t> words = {0};
    for (std::size_t r = 0; r < n; ++r)
      words.push_back(words.back() + (bytes_of(r) + word - 1) / word);
    const auto copy = [&](std::size_t r, bool in) {
      std::byte* const part = data + offsets[r] * bytes + at;
      std::uint64_t* const slot = buffer.data() + words[r];
      if (bytes_of(r) == 0) return;
      if (in)
        std::memcpy(slot, part, bytes_of(r));
      else
        std::memcpy(part, slot, bytes_of(r));
    };
    copy(mine, true);
    ranks.start_gather(buffer.data(), words)->wait();
    for (std::size_t r = 0; r < n; ++r)
      if (r != mine) copy(r, false);
  }
  return (offsets[n] - (offsets[mine + 1] - offsets[mine])) * bytes;
}

std::vector<double> gathered_numbers(RankGroup* ranks, std::span<const double> mine,
                                     std::size_t each) {
  if (ranks == nullptr) return {mine.begin(), mine.end()};
  const std::vector<std::size_t> offsets = offsets_of_ranks(*ranks, mine.size() / each);
  std::vector<double> all;
  collectively(ranks, [&] {
    all.resize(each * offsets.back());
    std::ranges::copy(mine, all.data() + each * offsets[ranks->rank()]);
  });
  gather_items(*ranks, all.data(), each * sizeof(double), offsets);
  return all;
}

}  // namespace gdr
