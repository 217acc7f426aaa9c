// A group of one rank.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "libgdr/ranks/group.hpp"

namespace gdr {
namespace {

struct Done final : RankPending {
  bool test() override { return true; }
  void wait() override {}
};

class Single final : public RankGroup {
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

std::unique_ptr<RankGroup> single_rank() { return std::make_unique<Single>(); }

}  // namespace gdr
