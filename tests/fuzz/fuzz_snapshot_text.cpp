// Text snapshots: any bytes give particles or an Error (Input); particles have the same bits when
// written and read again.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "fuzz/check.hpp"
#include "gdr/error.hpp"
#include "libgdr/io/snapshot.hpp"
#include "support/same_bits.hpp"

namespace {

using fuzz::check;
using gdr::Snapshot;
using gdr::test::same_bits;

void check_snapshot(const Snapshot& snapshot) {
  const std::size_t n = snapshot.size();
  check(n > 0, "a snapshot has particles");
  check(snapshot.position.size() == 3 * n && snapshot.velocity.size() == 3 * n &&
            snapshot.id.size() == n && snapshot.type_counts.at(1) == n,
        "all quantities have a value for each particle");
  for (const auto* values : {&snapshot.mass, &snapshot.position, &snapshot.velocity})
    for (const double value : *values) check(std::isfinite(value), "numbers are finite");
  check(std::isfinite(snapshot.time), "the time is finite");
}

/// Equality with NaN equal to NaN, because a start energy may be NaN.
bool same_run(std::optional<gdr::RunState> a, std::optional<gdr::RunState> b) {
  if (a && b && std::isnan(a->start_energy) && std::isnan(b->start_energy))
    a->start_energy = b->start_energy = 0;
  return a == b;
}

void check_round_trip(const Snapshot& snapshot) {
  const Snapshot again = gdr::parse_text_snapshot(gdr::text_snapshot(snapshot), "again");
  check(same_bits(again.mass, snapshot.mass), "masses come back");
  check(same_bits(again.position, snapshot.position), "positions come back");
  check(same_bits(again.velocity, snapshot.velocity), "velocities come back");
  check(again.hermite == snapshot.hermite, "the state of the Hermite scheme comes back");
  check(again.time == snapshot.time && same_run(again.run, snapshot.run), "the run comes back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const Snapshot snapshot = gdr::parse_text_snapshot(text, "fuzz");
    check_snapshot(snapshot);
    check_round_trip(snapshot);
  } catch (const gdr::Error& error) {
    check(error.category() == gdr::ErrorCategory::Input, "a bad text is an Error (Input)");
    check(std::string_view(error.what()).substr(0, 4) == "fuzz", "an error names the file");
  }
  return 0;
}
