// Collective errors: an error on one rank is thrown on all ranks, so that none waits for a rank
// that has left the call.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gdr/error.hpp"
#include "gdr/ranks.hpp"
#include "libgdr/ranks/group.hpp"

namespace gdr {

/// An error that every rank throws with the same category and message.
class CollectiveError : public Error {
 public:
  using Error::Error;
};

/// Exchanges the error of each rank, if any; collective. If a rank has one, all ranks throw the
/// CollectiveError of the first such rank, with its number before the message. `call` describes
/// this rank's call and all arguments that must be equal on all ranks; all ranks throw if it
/// differs.
void agree(RankGroup& ranks, const std::optional<Error>& error, std::string_view call = {});

/// The current exception as an Error.
Error current_error();

/// Runs `work`, and throws on all ranks if it throws on one, or if `call` differs between ranks.
/// Without a group, runs `work` only.
template <typename Work>
void collectively(RankGroup* ranks, std::string_view call, const Work& work) {
  if (ranks == nullptr) return work();
  std::optional<Error> error;
  try {
    work();
  } catch (const CollectiveError&) {
    throw;
  } catch (const RankFailure&) {
    throw;  // the group cannot communicate
  } catch (...) {
    error = current_error();
  }
  agree(*ranks, error, call);
}
/// The same for a step within a call.
template <typename Work>
void collectively(RankGroup* ranks, const Work& work) {
  collectively(ranks, {}, work);
}

}  // namespace gdr
