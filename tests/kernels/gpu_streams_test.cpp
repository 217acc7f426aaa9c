// Sources that stay in a GPU's memory for the exact engine. Without a device this is skipped.
#include "emulator/engine/vector/gpu/gpu_streams.hpp"

#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "kernels/test_device.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

/// Two words of a group, of which it keeps the sum and the first one. A first word of 13 fails.
constexpr const char* program = R"(
__kernel void run(__global const ulong* words, __global ulong* kept, __global uint* failures,
                  ulong first, ulong groups, ulong group_words) {
  const ulong group = get_global_id(0);
  if (group >= groups) return;
  words += group * group_words;
  kept += (first + group) * 2;
  kept[0] = words[0] + words[1];
  kept[1] = words[0];
  if (words[0] == 13) atomic_or(failures, 2u);
}
)";
constexpr std::size_t group_words = 2, group_bytes = 16;

using Groups = std::vector<std::uint64_t>;

struct Resident {
  std::shared_ptr<TestDevice> device = std::make_shared<TestDevice>(gpu::open_device(""));
  Gpu gpu{device};
  GpuStreams sources{gpu, gpu.compile(program), group_words, 2};

  /// Updates, and checks what is there. Returns the number of groups that were sent.
  std::size_t update(const std::vector<std::pair<const Groups*, const ChangeLog*>>& streams) {
    std::vector<EncodedGroups> parts;
    Groups right;
    std::uint64_t first = 0;
    for (const auto& [groups, changes] : streams) {
      const std::uint64_t count = groups->size() / group_words;
      // Streams of one log follow each other in its form.
      const bool continues = !parts.empty() && parts.back().changes == changes;
      first = continues ? first + parts.back().count : 0;
      parts.push_back({reinterpret_cast<const std::byte*>(groups->data()), count, changes, first});
      for (std::size_t k = 0; k < groups->size(); k += 2) {
        right.push_back((*groups)[k] + (*groups)[k + 1]);
        right.push_back((*groups)[k]);
      }
    }
    const std::size_t before = device->bytes_written();
    const GpuStreams::Made made = sources.update(parts);
    // Without the word of failures.
    const std::size_t sent = (device->bytes_written() - before) / group_bytes;
    failure = made.failure;
    Groups found(right.size());
    device->read(*made.words, 0, found.data(), found.size() * sizeof found[0]);
    CHECK(found == right);
    return sent;
  }
  std::uint64_t failure = 0;
};

}  // namespace

TEST_CASE("the exact engine sends a GPU those groups of sources that changed") {
  if (gpu::devices().empty()) {
    WARN("no device: " << gpu::why_no_device());
    return;
  }
  Resident resident;
  Groups a(2000), b(600);
  std::iota(a.begin(), a.end(), 100);
  std::iota(b.begin(), b.end(), 5000);
  const std::size_t all = 1300;
  ChangeLog log(8);
  log.restart();
  CHECK(resident.update({{&a, &log}, {&b, &log}}) == all);
  CHECK(resident.update({{&a, &log}, {&b, &log}}) == 0);

  // Ranges of both streams, and one that reaches beyond a stream.
  a[41] = 7;
  a[1998] = 8;
  b[0] = 9;
  log.add({20, 3});
  log.add({990, 11});
  CHECK(resident.update({{&a, &log}, {&b, &log}}) == 3 + 10 + 1);

  // Too many changes, another address, another size, an unknown revision: all are sent.
  for (int k = 0; k < 20; ++k) log.add({5, 1});
  CHECK(resident.update({{&a, &log}, {&b, &log}}) == all);
  const Groups copy = a;
  CHECK(resident.update({{&copy, &log}, {&b, &log}}) == all);
  CHECK(resident.update({{&b, &log}}) == 300);
  CHECK(resident.update({{&b, nullptr}}) == 300);
  CHECK(resident.update({{&b, nullptr}}) == 300);
}

TEST_CASE("failures of sources are found again after a change") {
  if (gpu::devices().empty()) return;
  Resident resident;
  Groups a(64, 1);
  ChangeLog log(8);
  log.restart();
  CHECK(resident.update({{&a, &log}}) == 32);
  CHECK(resident.failure == 0);
  a[6] = 13;
  log.add({3, 1});
  CHECK(resident.update({{&a, &log}}) == 1);
  CHECK(resident.failure == 2);
  // What is there is no basis for parts.
  a[6] = 1;
  log.add({3, 1});
  CHECK(resident.update({{&a, &log}}) == 32);
  CHECK(resident.failure == 0);
}

}  // namespace gdr::test
