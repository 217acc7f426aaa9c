#include "libgdr/ranks/collective.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "emulator/host/hash.hpp"
#include "libgdr/ranks/device_ranks.hpp"

namespace gdr {
namespace {

struct Status {
  std::int32_t category = 0;  ///< error category; 0: no error
  std::uint32_t length = 0;   ///< length of the message
  std::uint64_t call = 0;     ///< hash of the call
};

/// Gathers the calls of all ranks and throws the first difference.
[[noreturn]] void throw_difference(RankGroup& ranks, std::string_view call) {
  constexpr std::size_t most = 160;
  std::string own(call.empty() ? "is inside another call" : "calls " + std::string(call));
  own.resize(most);
  std::string all(most * ranks.size(), ' ');
  ranks.gather(own.data(), most, all.data());
  const auto of = [&](std::size_t rank) {
    return std::string(all.substr(rank * most, most).c_str());
  };
  std::size_t other = 1;
  while (other + 1 < ranks.size() && of(other) == of(0)) ++other;
  throw CollectiveError(ErrorCategory::Usage,
                        "rank " + std::to_string(other) + " " + of(other) + " where rank 0 " +
                            of(0) + "; all ranks must make the same calls in the same order");
}

}  // namespace

void agree(RankGroup& ranks, const std::optional<Error>& error, std::string_view call) {
  Status own{0, 0, Hash().add(call).value()};
  std::string message;
  if (error) {
    message = error->what();
    own = {static_cast<std::int32_t>(error->category()), static_cast<std::uint32_t>(message.size()),
           Hash().add(call).value()};
  }
  std::vector<Status> all(ranks.size());
  ranks.gather(&own, sizeof own, all.data());
  if (std::ranges::any_of(all, [&](const Status& s) { return s.call != all[0].call; }))
    throw_difference(ranks, call);
  for (unsigned r = 0; r < ranks.size(); ++r) {
    if (all[r].category == 0) continue;
    message.resize(all[r].length);
    ranks.broadcast(message.data(), message.size(), r);
    throw CollectiveError(static_cast<ErrorCategory>(all[r].category),
                          "rank " + std::to_string(r) + ": " + message);
  }
}

void gather_parts(RankGroup& ranks, void* values, std::size_t n, std::size_t each) {
  std::vector<std::size_t> offsets;
  for (std::size_t r = 0; r <= ranks.size(); ++r)
    offsets.push_back(each * part_begin(n, r, ranks.size()));
  ranks.start_gather(static_cast<std::uint64_t*>(values), offsets)->wait();
}

bool on_any_rank(RankGroup* ranks, bool value) {
  if (ranks == nullptr) return value;
  const char own = value ? 1 : 0;
  std::vector<char> all(ranks->size());
  ranks->gather(&own, 1, all.data());
  return std::ranges::find(all, 1) != all.end();
}

Error current_error() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {ErrorCategory::Device, "there is not enough memory"};
  } catch (const std::exception& error) {
    return {ErrorCategory::Internal, error.what()};
  } catch (...) {
    return {ErrorCategory::Internal, "an unknown exception"};
  }
}

}  // namespace gdr
