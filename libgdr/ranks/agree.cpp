#include "libgdr/ranks/agree.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "libgdr/ranks/device_ranks.hpp"

namespace gdr {
namespace {

struct Status {
  std::int32_t category = 0;  ///< 0: all is well
  std::uint32_t length = 0;   ///< of the message
  std::uint64_t call = 0;     ///< tells it from others
};

/// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// They do not do the same: all tell what they do, and throw the first difference.
[[noreturn]] void throw_difference(RankGroup& ranks, std::string_view call) {
  constexpr std::size_t most = 160;
  std::string mine(call.empty() ? "is in the middle of another call"
                                : "calls " + std::string(call));
  mine.resize(most);
  std::string all(most * ranks.size(), ' ');
  ranks.gather(mine.data(), most, all.data());
  const auto of = [&](std::size_t rank) {
    return std::string(all.substr(rank * most, most).c_str());
  };
  std::size_t other = 1;
  while (other + 1 < ranks.size() && of(other) == of(0)) ++other;
  throw AgreedError(ErrorCategory::Usage, "rank " + std::to_string(other) + " " + of(other) +
                                              " where rank 0 " + of(0) +
                                              "; all ranks make the same calls in the same order");
}

}  // namespace

void agree(RankGroup& ranks, const std::optional<Error>& here, std::string_view call) {
  Status mine{0, 0, hash_of(call)};
  std::string message;
  if (here) {
    message = here->what();
    mine = {static_cast<std::int32_t>(here->category()), static_cast<std::uint32_t>(message.size()),
            hash_of(call)};
  }
  std::vector<Status> all(ranks.size());
  ranks.gather(&mine, sizeof mine, all.data());
  if (std::ranges::any_of(all, [&](const Status& s) { return s.call != all[0].call; }))
    throw_difference(ranks, call);
  for (unsigned r = 0; r < ranks.size(); ++r) {
    if (all[r].category == 0) continue;
    message.resize(all[r].length);
    ranks.broadcast(message.data(), message.size(), r);
    throw AgreedError(static_cast<ErrorCategory>(all[r].category),
                      "rank " + std::to_string(r) + ": " + message);
  }
}

void gather_parts(RankGroup& ranks, void* values, std::size_t n, std::size_t each) {
  std::vector<std::size_t> offsets;
  for (std::size_t r = 0; r <= ranks.size(); ++r)
    offsets.push_back(each * part_begin(n, r, ranks.size()));
  ranks.start_gather(static_cast<std::uint64_t*>(values), offsets)->wait();
}

bool on_any_rank(RankGroup* ranks, bool here) {
  if (ranks == nullptr) return here;
  const char mine = here ? 1 : 0;
  std::vector<char> all(ranks->size());
  ranks->gather(&mine, 1, all.data());
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
