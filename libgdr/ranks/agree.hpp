// Errors that all ranks agree on: what fails on one is thrown on all, so that none waits for one
// that has gone.
#pragma once

#include <optional>
#include <string>

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
/// something did, its number before the message.
void agree(RankGroup& ranks, const std::optional<Error>& here);

/// The exception that is being handled, as an Error.
Error current_error();

/// Runs `work`, and throws on all ranks if it threw on any. Without a group it just runs.
template <typename Work>
void together(RankGroup* ranks, const Work& work) {
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
  agree(*ranks, here);
}

}  // namespace gdr
