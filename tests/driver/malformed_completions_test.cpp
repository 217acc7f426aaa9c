// Boards whose completions are well formed but inconsistent are marked as failed, and their results
// are discarded.
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "driver/server_process.hpp"
#include "emulator/board/hardware/checksum.hpp"
#include "emulator/board/hardware/descriptor.hpp"
#include "libgdr/driver/remote_board.hpp"
#include "support/catch.hpp"

using namespace driver_test;
using namespace gdr;

namespace {

using Modify = std::function<void(Completion&)>;

/// A board that executes nothing and writes completions changed by a function.
class MalformedBoard final : public driver::BoardAccess {
 public:
  explicit MalformedBoard(Modify modify) : modify_(std::move(modify)) {
    for (const auto& [r, value] : {std::pair{Register::Identity, board_identity},
                                   {Register::Version, board_version},
                                   {Register::Chips, std::uint64_t{1}},
                                   {Register::Blocks, std::uint64_t{1}},
                                   {Register::Pes, std::uint64_t{1}},
                                   {Register::RegisterWords, std::uint64_t{32}},
                                   {Register::LocalWords, std::uint64_t{256}},
                                   {Register::BroadcastWords, std::uint64_t{1024}},
                                   {Register::InstructionWords, std::uint64_t{99}},
                                   {Register::MemoryBytes, std::uint64_t{1} << 20},
                                   {Register::ClockHz, std::uint64_t{0x41b0000000000000}}})
      write(r, value);
  }
  std::byte* bar() noexcept override { return reinterpret_cast<std::byte*>(bar_.data()); }
  DmaArea allocate(std::uint64_t bytes) override {
    auto& memory = areas_[next_ += std::uint64_t{1} << 32];
    memory.resize(bytes / word_bytes + 1);
    return {reinterpret_cast<std::byte*>(memory.data()), next_, bytes};
  }
  void release(const DmaArea& area) noexcept override { areas_.erase(area.bus); }
  std::uint64_t largest_area() const noexcept override { return 8 << 20; }
  void signal_doorbell() noexcept override {}
  const std::string& name() const noexcept override { return name_; }

  /// Runs the board while the driver waits.
  driver::WaitResult wait(std::chrono::nanoseconds /*limit*/) override {
    write(Register::Resets, read(Register::Control));
    answer(Register::RingBase, Register::RingEntries, Register::Doorbell, Register::Head);
    answer(Register::ChipRingBase, Register::ChipRingEntries, Register::ChipDoorbell,
           Register::ChipHead);
    return driver::WaitResult::Interrupt;
  }

 private:
  std::uint64_t* at(std::uint64_t bus) {
    auto area = areas_.upper_bound(bus);
    --area;
    return area->second.data() + (bus - area->first) / word_bytes;
  }
  void answer(Register base, Register entries, Register doorbell, Register head) {
    for (std::uint64_t n = read(head); n < read(doorbell); ++n) {
      Descriptor d;
      std::memcpy(as_words(d).data(), at(read(base) + n % read(entries) * sizeof(d)), sizeof(d));
      Completion c;
      c.sequence = d.sequence;
      c.status = CompletionStatus::Done;
      modify_(c);
      c.checksum = 0;
      c.checksum = checksum(as_words(c));
      std::memcpy(at(d.completion), as_words(c).data(), sizeof(c));
      write(head, n + 1);
    }
  }

  Modify modify_;
  std::vector<std::uint64_t> bar_ = std::vector<std::uint64_t>(bar_bytes / word_bytes);
  std::map<std::uint64_t, std::vector<std::uint64_t>> areas_;
  std::uint64_t next_ = 0;
  std::string name_ = "test board";
};

/// The error of a list that reads nine words.
std::string end_of_list(const Modify& modify) {
  const auto board =
      std::make_unique<driver::RemoteBoard>(std::make_unique<MalformedBoard>(modify), 0.5);
  CommandList list;
  Command c;
  c.kind = CommandKind::ReadMemory;
  c.chips = 1;
  c.count = 9;
  list.commands = {c};
  std::vector<std::uint64_t> results;
  const std::string error = error_of([&] { board->execute(list, results); });
  if (error == "no error") CHECK(results == std::vector<std::uint64_t>(9, 0));
  return error;
}

}  // namespace

TEST_CASE("a corrupt completion marks the board as failed") {
  const auto nine = [](Completion& c) {
    c.result_words = 9;
    c.result_checksum = checksum(std::vector<std::uint64_t>(9, 0));
  };
  CHECK(end_of_list(nine) == "no error");
  for (const std::uint64_t words : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{1} << 60})
    CHECK(contains(end_of_list([&](Completion& c) { c.result_words = words; }),
                   "the board returned " + std::to_string(words) + " words for a list whose"));
  CHECK(
      contains(end_of_list([&](Completion& c) { c.result_words = 9; }), "results remain corrupt"));
  CHECK(contains(end_of_list([](Completion& c) { c.status = static_cast<CompletionStatus>(99); }),
                 "unknown status"));
  CHECK(
      contains(end_of_list([](Completion& c) { c.sequence += 1; }), "completions remain corrupt"));
  CHECK(end_of_list([](Completion& c) {
          c.status = CompletionStatus::Refused;
          c.category = 200;
          std::memset(c.message, 'x', sizeof(c.message));
        }) == std::string(sizeof(Completion::message), 'x'));
  for (const auto status : {CompletionStatus::BadChecksum, CompletionStatus::Skipped})
    CHECK(end_of_list([&](Completion& c) { c.status = status; }) != "no error");
}
