// Which j-items are encoded again: revisions, changed ranges, copies of encoded groups.
#include "emulator/engine/sources/view_cache.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "emulator/engine/sources/copied_groups.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

using Ranges = std::vector<ChangedRange>;

Ranges changed(const ViewCache& cache) { return {cache.changed().begin(), cache.changed().end()}; }

}  // namespace

TEST_CASE("a change log tells what changed since a revision, as far as it remembers") {
  ChangeLog log(4);
  Ranges ranges;
  CHECK(log.changes_since(0, ranges));
  CHECK(ranges.empty());
  log.add({10, 2});
  const Revision first = log.revision();
  log.add({30, 1});
  CHECK(log.changes_since(0, ranges));
  CHECK(ranges == Ranges{{10, 2}, {30, 1}});
  ranges.clear();
  CHECK(log.changes_since(first, ranges));
  CHECK(ranges == Ranges{{30, 1}});
  ranges.clear();
  // Of another log, and of no log.
  CHECK_FALSE(log.changes_since(next_revision(), ranges));
  CHECK_FALSE(log.changes_since(log.revision() + 1, ranges));
  // The older half is forgotten.
  for (std::uint64_t k = 0; k < 3; ++k) log.add({k, 1});
  CHECK_FALSE(log.changes_since(0, ranges));
  CHECK(ranges.empty());
  log.restart();
  CHECK_FALSE(log.changes_since(first, ranges));
  const Revision now = log.revision();
  CHECK(log.changes_since(now, ranges));
  CHECK(ranges.empty());
}

TEST_CASE("a view cache names the items that were written since they were encoded") {
  constexpr std::uint64_t words = 3;
  BoardMemory one(10'000), two(10'000);
  const std::vector<std::uint64_t> some(4 * words, 7);
  const std::vector<RecordSegment> both{{&one, 5, 100}, {&two, 0, 50}};
  ViewCache cache;
  REQUIRE(cache.update(both, words));
  CHECK(cache.is_new());
  CHECK(changed(cache) == Ranges{{0, 150}});
  // Without `commit` they are all encoded again.
  REQUIRE(cache.update(both, words));
  CHECK(changed(cache) == Ranges{{0, 150}});
  cache.commit();
  CHECK_FALSE(cache.update(both, words));

  // Part of an item is the item; words beside the items do not count.
  one.write(5 + 10 * words + 1, std::span(some).first(words));
  two.write(50 * words, some);
  REQUIRE(cache.update(both, words));
  CHECK_FALSE(cache.is_new());
  CHECK(changed(cache) == Ranges{{10, 2}});
  cache.commit();
  two.write(50 * words, some);
  CHECK_FALSE(cache.update(both, words));
  two.write(0, some);
  one.write(5 + 96 * words, some);
  REQUIRE(cache.update(both, words));
  CHECK(changed(cache) == Ranges{{96, 8}});  // they continue each other
  cache.commit();

  // Another place or number, and a memory of which too much has changed.
  const std::vector<RecordSegment> other{{&one, 8, 100}, {&two, 0, 50}};
  REQUIRE(cache.update(other, words));
  CHECK(changed(cache) == Ranges{{0, 100}});
  cache.commit();
  for (int k = 0; k < 1000; ++k) two.write(0, std::span(some).first(1));
  REQUIRE(cache.update(other, words));
  CHECK(changed(cache) == Ranges{{100, 50}});
  cache.commit();
  const std::vector<RecordSegment> fewer{{&one, 8, 99}, {&two, 0, 50}};
  REQUIRE(cache.update(fewer, words));
  CHECK(cache.is_new());
  cache.commit();
  REQUIRE(cache.update(fewer, words + 1));
}

TEST_CASE("what a view cache names suffices to follow random writes") {
  constexpr std::uint64_t words = 4, items = 300, space = (items + 20) * words;
  std::mt19937_64 random(11);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  std::vector<BoardMemory> memories;
  for (int k = 0; k < 2; ++k) memories.emplace_back(2 * space);
  ViewCache cache;
  std::vector<std::uint64_t> encoded;
  for (int step = 0; step < 2000; ++step) {
    for (std::uint64_t n = below(4); n > 0; --n) {
      std::vector<std::uint64_t> data(1 + below(below(10) == 0 ? space : 9));
      for (std::uint64_t& word : data) word = random();
      memories[below(2)].write(below(2 * space - data.size()), data);
    }
    // Mostly the same segments.
    const bool moved = below(10) == 0;
    const std::vector<RecordSegment> segments{
        {&memories[moved ? below(2) : 0], moved ? 8U : 0U, items / 3},
        {&memories[1], 16, items - items / 3}};
    if (below(50) == 0) cache.discard();
    const bool lacks = cache.update(segments, words);
    const SourceView view = cache.view();
    std::vector<std::uint64_t> scratch;
    encoded.resize(items * words);
    for (const ChangedRange& range : lacks ? cache.changed() : std::span<const ChangedRange>()) {
      const std::uint64_t* const from = view.records(range.first, range.count, scratch);
      std::copy_n(from, range.count * words,
                  encoded.begin() + static_cast<std::ptrdiff_t>(range.first * words));
    }
    cache.commit();
    const std::uint64_t* const all = view.records(0, items, scratch);
    REQUIRE(std::equal(encoded.begin(), encoded.end(), all));
  }
}

TEST_CASE("a copy of groups lacks what changed among its own") {
  const std::vector<std::byte> groups(100);
  ChangeLog log(8);
  log.restart();
  const EncodedGroups all{groups.data(), 50, &log, 0};
  const EncodedGroups part{groups.data() + 10, 20, &log, 10};
  Ranges missing;
  add_missing_groups({}, part, missing);
  CHECK(missing == Ranges{{0, 20}});
  missing.clear();
  const CopiedGroups copy(part), of_all(all);
  CHECK(copy.is_current(part));
  add_missing_groups(copy, part, missing);
  CHECK(missing.empty());
  log.add({5, 7});
  log.add({28, 10});
  log.add({40, 1});
  CHECK_FALSE(copy.is_current(part));
  add_missing_groups(copy, part, missing);
  CHECK(missing == Ranges{{0, 2}, {18, 2}});
  missing.clear();
  add_missing_groups(of_all, part, missing);  // a copy of other groups
  CHECK(missing == Ranges{{0, 20}});
}

}  // namespace gdr::test
