#include "emulator/engine/sources/source_view.hpp"

namespace gdr {

SourceKey key_of(const RecordSegment& segment, std::uint64_t record_words) noexcept {
  return {segment.memory->revision(), segment.address, segment.items, record_words};
}

std::uint64_t items_of(std::span<const RecordSegment> segments) noexcept {
  std::uint64_t items = 0;
  for (const RecordSegment& s : segments) items += s.items;
  return items;
}

const std::uint64_t* SourceView::records(std::uint64_t first, std::uint64_t count,
                                         std::vector<std::uint64_t>& scratch) const {
  const std::uint64_t words = count * record_words;
  const std::uint64_t* in_place = nullptr;
  std::uint64_t done = 0;
  for_each_part(first, count, [&](const RecordSegment& s, std::uint64_t address, std::uint64_t n) {
    if (n == words) {
      in_place = s.memory->view(address, n, scratch);
      return;
    }
    if (scratch.size() < words) scratch.resize(words);
    s.memory->read(address, std::span(scratch).subspan(done, n));
    done += n;
  });
  return in_place != nullptr ? in_place : scratch.data();
}

}  // namespace gdr
