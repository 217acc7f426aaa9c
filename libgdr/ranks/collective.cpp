#include "libgdr/ranks/collective.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "emulator/host/hash.hpp"

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

struct Done final : RankPending {
  bool test() override { return true; }
  void wait() override {}
};

class SingleRank final : public RankGroup {
 public:
  unsigned rank() const noexcept override { return 0; }
  unsigned size() const noexcept override { return 1; }
  bool any_thread() const noexcept override { return true; }
  std::string library() const override { return "one process"; }
  void gather(const void* mine, std::size_t bytes, void* all) override {
    if (bytes > 0) std::memmove(all, mine, bytes);
  }
  void broadcast(void*, std::size_t, unsigned) override {}
  std::unique_ptr<RankPending> start_gather(std::uint64_t*, std::span<const std::size_t>) override {
    return std::make_unique<Done>();
  }
  std::unique_ptr<RankPending> start_exchange(std::span<const RankTransfer> receives,
                                              std::span<const RankTransfer> sends) override {
    for (std::size_t k = 0; k < receives.size() && k < sends.size(); ++k)
      if (sends[k].bytes > 0) std::memmove(receives[k].data, sends[k].data, sends[k].bytes);
    return std::make_unique<Done>();
  }
  std::unique_ptr<RankGroup> split(unsigned) override { return single_rank(); }
  bool supports_shrink() const noexcept override { return false; }
  bool agreed(bool success) override { return success; }
  std::vector<unsigned> shrink() override { return {}; }
  [[noreturn]] void abort(int status) override { std::_Exit(status); }
};

}  // namespace

std::unique_ptr<RankGroup> single_rank() { return std::make_unique<SingleRank>(); }

void agree(RankGroup& ranks, const std::optional<Error>& error, std::string_view call) {
  std::string message = error ? error->what() : "";
  const Status own{error ? static_cast<std::int32_t>(error->category()) : 0,
                   static_cast<std::uint32_t>(message.size()), Hash().add(call).value()};
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

void require_equal(RankGroup& ranks, std::uint64_t hash, const std::string& difference) {
  std::vector<std::uint64_t> all(ranks.size());
  ranks.gather(&hash, sizeof hash, all.data());
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0])
      throw CollectiveError(ErrorCategory::Usage, "rank " + std::to_string(r) + " " + difference);
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
