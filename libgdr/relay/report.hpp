// What a run did, as text and as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libgdr/relay/router.hpp"

namespace gdr::relay {

/// How far the relay was from its model.
struct Deviations {
  Time latest{};                  ///< longest time by which a packet was late
  std::uint64_t not_read = 0;     ///< packets dropped because the relay did not read them in time
  double cpu_seconds = 0;         ///< CPU time of the relay
  std::uint64_t not_written = 0;  ///< packets that the kernel did not accept from the relay
};

/// Counts by direction and by flow. Bytes are those of IP packets, rates are in bit/s, times in s.
nlohmann::json json_report(const Router& router, const Deviations& deviations);

/// A table of the streams that were busy since the last one, with their rates since then.
class LiveTable {
 public:
  std::string text(const Router& router, Time now);

 private:
  std::vector<std::uint64_t> bytes_;  // by flow and direction
  Time last_{};
};

/// The counts in lines for people, with the first `flows` flows.
std::string text_report(const Router& router, const Deviations& deviations, std::size_t flows);

}  // namespace gdr::relay
