#include "libgdr/ranks/agree.hpp"

#include <cstdint>
#include <new>
#include <vector>

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
