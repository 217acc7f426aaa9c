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
};

}  // namespace

void agree(RankGroup& ranks, const std::optional<Error>& here) {
  Status mine;
  std::string message;
  if (here) {
    message = here->what();
    mine = {static_cast<std::int32_t>(here->category()),
            static_cast<std::uint32_t>(message.size())};
  }
  std::vector<Status> all(ranks.size());
  ranks.gather(&mine, sizeof mine, all.data());
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
