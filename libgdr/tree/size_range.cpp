#include "libgdr/tree/size_range.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "emulator/host/divide_up.hpp"
#include "emulator/host/for_blocks.hpp"

namespace gdr::tree {
namespace {

void add(SizeRange& range, double least, double most) {
  range.least = least < range.least ? least : range.least;
  range.most = most > range.most ? most : range.most;
}

SizeRange range_of(std::span<const double> numbers) {
  SizeRange range;
  for (const double number : numbers) {
    const double size = std::abs(number);
    add(range, size > 0 ? size : range.least, size);
  }
  return range;
}

}  // namespace

SizeRange size_range(std::span<const double> numbers, unsigned threads) {
  constexpr std::size_t each = 1 << 15;
  std::vector<SizeRange> parts(divide_up(numbers.size(), each));
  for_blocks(numbers.size(), each, threads, [&](std::size_t first, std::size_t last) {
    parts[first / each] = range_of(numbers.subspan(first, last - first));
  });
  SizeRange all;
  for (const SizeRange& part : parts) add(all, part.least, part.most);
  return all;
}

}  // namespace gdr::tree
