// Errors that all ranks agree on: what fails on one is thrown on all, so that none waits for one
// that has gone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gdr/error.hpp"
#include "gdr/ranks.hpp"
#include "libgdr/ranks/group.hpp"

namespace gdr {

/// An error that every rank throws with the same category and message.
class AgreedError : public Error {
 public:
  using Error::Error;
};

/// What went wrong here, or nothing; collective. Throws the AgreedError of the first rank where
/// something did, its number before the message. `call` says what this rank does, with all that
/// must be the same on all ranks; where one does something else, all throw that.
void agree(RankGroup& ranks, const std::optional<Error>& here, std::string_view call = {});

/// The exception that is being handled, as an Error.
Error current_error();

/// Runs `work`, and throws on all ranks if it threw on any, or if they do not make the same `call`.
/// Without a group it just runs.
template <typename Work>
void together(RankGroup* ranks, std::string_view call, const Work& work) {
  if (ranks == nullptr) return work();
  std::optional<Error> here;
  try {
    work();
  } catch (const AgreedError&) {
    throw;
  } catch (const RanksLost&) {
    throw;  // there is nobody left to agree with
  } catch (...) {
    here = current_error();
  }
  agree(*ranks, here, call);
}
/// The same for a step of a call that has begun.
template <typename Work>
void together(RankGroup* ranks, const Work& work) {
  together(ranks, {}, work);
}

}  // namespace gdr
