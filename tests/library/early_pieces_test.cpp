// Pieces that are made ahead of time or when they are needed: each once, whoever asks.
#include "libgdr/device/early_pieces.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

#include "emulator/host/parallel.hpp"
#include "support/catch.hpp"

namespace gdr::test {

TEST_CASE("items of pieces are made once, ahead of time and by any range that needs them") {
  for (const std::size_t items : {0, 1, 127, 128, 129, 1000}) {
    std::vector<std::atomic<int>> made(items);
    EarlyPieces pieces;
    pieces.restart(items, [&](std::size_t first, std::size_t count) {
      for (std::size_t k = first; k < first + count; ++k) ++made[k];
    });
    std::atomic<bool> missing = false;
    const auto need = [&](std::size_t first, std::size_t count) {
      pieces.require(first, count);
      for (std::size_t k = first; k < first + count; ++k)
        if (made[k] != 1) missing = true;
    };
    parallel_beside(
        pieces.count(), 2, [&](std::size_t k) { pieces.make_early(k); },
        [&] {
          constexpr std::size_t part = 50;  // ends within pieces
          parallel_for((items + part - 1) / part, 2, [&](unsigned, std::size_t task) {
            need(task * part, std::min(part, items - task * part));
          });
        });
    CHECK_FALSE(missing);
    for (const auto& times : made) CHECK(times == 1);
  }
}

TEST_CASE("the error of a piece that was made ahead of time reaches who needs it") {
  int calls = 0;
  EarlyPieces pieces;
  pieces.restart(300, [&](std::size_t first, std::size_t) {
    ++calls;
    if (first == 128) throw std::runtime_error("item 128");
  });
  for (std::size_t k = 0; k < pieces.count(); ++k) pieces.make_early(k);
  CHECK(calls == 3);
  pieces.require(0, 128);
  pieces.require(256, 44);
  CHECK(calls == 3);
  CHECK_THROWS_AS(pieces.require(100, 50), std::runtime_error);
  CHECK_THROWS_AS(pieces.require(200, 1), std::runtime_error);
  CHECK(calls == 5);
}

}  // namespace gdr::test
