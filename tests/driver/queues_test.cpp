// Queues of the chips and of the board: errors in one queue do not affect others. The tests write
// descriptors and read completions directly.
#include <array>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "driver/server_process.hpp"
#include "emulator/board/hardware/checksum.hpp"
#include "emulator/board/hardware/hardware.hpp"
#include "libgdr/driver/remote_board.hpp"
#include "library/kernels.hpp"
#include "support/catch.hpp"

using namespace driver_test;
using namespace gdr;

namespace {

constexpr unsigned chips = 3;
constexpr std::uint64_t bus = 0x1000000, entries = 8;
constexpr std::uint64_t area_words = std::uint64_t{1} << 16;

Geometry geometry() {
  Geometry g;
  g.chips_per_board = chips;
  g.blocks = 2;
  g.pes_per_block = 4;
  g.dram_bytes = 4096;
  return g;
}

/// A host that writes descriptors and registers directly.
class TestHost {
 public:
  explicit TestHost(std::vector<Fault> faults = {})
      : bar_(bar_bytes / 8),
        memory_(area_words),
        board_{HardwareConfig{geometry(), make_engine(), 1},
               reinterpret_cast<std::byte*>(bar_.data()), dma_space(), HardwareSignals{{}, {}},
               std::move(faults)} {
    place(Register::RingBase, Register::RingEntries, 0);
    for (unsigned c = 0; c < chips; ++c)
      place(of_chip(Register::ChipRingBase, c), of_chip(Register::ChipRingEntries, c), c + 1);
  }

  std::uint64_t& at(Register r) { return bar_[static_cast<std::size_t>(r) / 8]; }
  std::uint64_t at(Register r, unsigned chip) { return at(of_chip(r, chip)); }

  /// Submits a list to a queue: 0 is the board's, c + 1 that of chip c. A corrupt descriptor has a
  /// wrong checksum.
  void put(unsigned queue, const CommandList& list, std::uint32_t flags = 0, bool corrupt = false) {
    const std::uint64_t commands = reserve_words(list.commands.size() * sizeof(Command) / 8),
                        payload = reserve_words(list.payload.size());
    std::memcpy(&memory_[commands], list.commands.data(), list.commands.size() * sizeof(Command));
    std::copy(list.payload.begin(), list.payload.end(),
              memory_.begin() + static_cast<long>(payload));
    Descriptor d;
    d.kind = DescriptorKind::Execute;
    d.flags = flags;
    d.sequence = ++sequence_[queue];
    d.commands = bus + 8 * commands;
    d.command_count = list.commands.size();
    d.payload = bus + 8 * payload;
    d.payload_words = list.payload.size();
    d.data_checksum =
        join_checksums(checksum({&memory_[commands], list.commands.size() * sizeof(Command) / 8}),
                       checksum({&memory_[payload], list.payload.size()}));
    d.results = bus + 8 * results_at(queue);
    d.result_words = 64;
    d.completion = bus + 8 * completion_at(queue);
    d.checksum = checksum(as_words(d).first(15)) + (corrupt ? 1 : 0);
    std::memcpy(&memory_[ring_at(queue) + (d.sequence - 1) % entries * sizeof(Descriptor) / 8], &d,
                sizeof(d));
    at(queue == 0 ? Register::Doorbell : of_chip(Register::ChipDoorbell, queue - 1)) = d.sequence;
  }
  void step() { board_.step(); }
  CompletionStatus status(unsigned queue) {
    return reinterpret_cast<const Completion*>(&memory_[completion_at(queue)])->status;
  }
  std::string message(unsigned queue) {
    return reinterpret_cast<const Completion*>(&memory_[completion_at(queue)])->message;
  }
  std::vector<std::uint64_t> results(unsigned queue, std::size_t n) {
    const auto from = memory_.begin() + static_cast<long>(results_at(queue));
    return {from, from + static_cast<long>(n)};
  }

 private:
  static std::uint64_t ring_at(unsigned queue) { return 0x400 * queue; }
  static std::uint64_t completion_at(unsigned queue) { return 0x1000 + 0x100 * queue; }
  static std::uint64_t results_at(unsigned queue) { return 0x2000 + 0x100 * queue; }
  std::uint64_t reserve_words(std::uint64_t words) { return std::exchange(free_, free_ + words); }
  void place(Register base, Register size, unsigned queue) {
    at(base) = bus + 8 * ring_at(queue);
    at(size) = entries;
  }
  DmaSpace& dma_space() {
    space_.add({reinterpret_cast<std::byte*>(memory_.data()), bus, area_words * 8});
    return space_;
  }

  std::vector<std::uint64_t> bar_, memory_;
  DmaSpace space_;
  BoardHardware board_;
  std::array<std::uint64_t, chips + 1> sequence_{};
  std::uint64_t free_ = 0x4000;
};

CommandList memory(CommandKind kind, unsigned chip, std::uint64_t address, std::uint64_t value) {
  CommandList list;
  Command c;
  c.kind = kind;
  c.chips = std::uint64_t{1} << chip;
  c.address = address;
  c.count = 1;
  list.commands = {c};
  if (kind == CommandKind::WriteMemory) list.payload = {value};
  return list;
}
CommandList write(unsigned chip, std::uint64_t value) {
  return memory(CommandKind::WriteMemory, chip, 7, value);
}
CommandList read(unsigned chip) { return memory(CommandKind::ReadMemory, chip, 7, 0); }
CommandList read_out_of_range(unsigned chip) {
  return memory(CommandKind::ReadMemory, chip, 4096, 0);
}

constexpr auto done = CompletionStatus::Done;

}  // namespace

TEST_CASE("every chip processes its own queue and has its own counters") {
  TestHost host;
  for (unsigned c = 0; c < chips; ++c)
    for (unsigned k = 0; k <= c; ++k) host.put(c + 1, write(c, 100 * c + k));
  host.step();
  for (unsigned c = 0; c < chips; ++c) {
    CHECK(host.at(Register::ChipHead, c) == c + 1);
    CHECK(host.at(Register::ChipCommands, c) == c + 1);
    host.put(c + 1, read(c));
  }
  host.step();
  for (unsigned c = 0; c < chips; ++c) {
    CHECK(host.status(c + 1) == done);
    CHECK(host.results(c + 1, 1)[0] == 100 * c + c);
    CHECK(host.at(Register::ChipStatus, c) == 0);
    CHECK(host.at(Register::ChipRefused, c) == 0);
  }
  CHECK(host.at(Register::Head) == 0);
  CHECK(host.at(Register::Lists) == 9);
}

TEST_CASE("an invalid list or descriptor in a chip's queue halts only that chip") {
  TestHost host;
  const bool corrupt = GENERATE(false, true);
  host.put(1, write(0, 10));
  host.put(2, corrupt ? write(1, 11) : read_out_of_range(1), 0, corrupt);
  host.put(2, write(1, 12));  // skipped
  host.put(3, write(2, 13));
  host.step();
  const auto expected = corrupt ? CompletionStatus::BadDescriptor : CompletionStatus::Refused;
  CHECK(host.status(2) == CompletionStatus::Skipped);
  CHECK(host.at(Register::ChipStatus, 1) == (chip_error | chip_halted));
  CHECK(host.at(Register::ChipError, 1) == static_cast<std::uint64_t>(expected));
  CHECK(host.at(Register::ChipErrorSequence, 1) == 1);
  CHECK(host.at(Register::ChipRefused, 1) == 1);
  CHECK(host.at(Register::ChipHead, 1) == 2);
  CHECK(host.at(Register::Error) == 0);
  CHECK((host.at(Register::Status) & status_halted) != 0);
  for (const unsigned c : {0U, 2U}) {
    CHECK(host.at(Register::ChipStatus, c) == 0);
    CHECK(host.at(Register::ChipError, c) == 0);
    host.put(c + 1, read(c));
  }
  // Lists of the board's queue are skipped until the halted chip's queue resumes.
  host.put(0, read(0));
  host.step();
  CHECK(host.results(1, 1)[0] == 10);
  CHECK(host.results(3, 1)[0] == 13);
  CHECK(host.status(0) == CompletionStatus::Skipped);
  host.put(2, read(1), descriptor_resume);
  host.step();
  host.put(0, read(0));
  host.step();
  CHECK(host.status(2) == done);
  CHECK(host.results(2, 1)[0] == 0);  // neither list wrote
  CHECK(host.status(0) == done);
  CHECK(host.at(Register::ChipStatus, 1) == 0);
  CHECK((host.at(Register::Status) & status_halted) == 0);
}

TEST_CASE(
    "a list that fails in the board's queue halts all chips and identifies the failing chip") {
  TestHost host;
  CommandList list = write(0, 5);
  list.commands.push_back(read_out_of_range(2).commands[0]);
  host.put(0, list);
  host.step();
  CHECK(host.status(0) == CompletionStatus::Refused);
  CHECK(host.at(Register::Error) == 2);
  CHECK(host.at(Register::ChipStatus, 0) == chip_halted);
  CHECK(host.at(Register::ChipStatus, 2) == (chip_error | chip_halted | chip_by_board));
  CHECK(host.at(Register::ChipErrorCommand, 2) == 1);
  CHECK(host.at(Register::ChipCommands, 0) == 1);
  CHECK(host.at(Register::ChipCommands, 2) == 1);
  host.put(1, read(0));
  host.put(2, read(1), descriptor_resume);
  host.step();
  CHECK(host.status(1) == CompletionStatus::Skipped);
  CHECK(host.status(2) == done);
  host.put(0, read(0), descriptor_resume);
  host.step();
  CHECK(host.results(0, 1)[0] == 5);
}

TEST_CASE("a chip's queue rejects commands for other chips") {
  TestHost host;
  CommandList list = write(1, 3);
  list.commands.push_back(write(2, 4).commands[0]);
  host.put(2, list);
  CommandList all = write(0, 6);
  all.commands[0].kind = CommandKind::LoadProgram;
  all.commands[0].chips = 0;  // every chip
  host.put(1, all);
  host.step();
  CHECK(host.status(2) == CompletionStatus::Refused);
  CHECK(contains(host.message(2), "command 1: a list in the queue of chip 1"));
  CHECK(contains(host.message(1), "command 0: a list in the queue of chip 0"));
  CHECK(host.at(Register::ChipCommands, 1) == 0);  // not even the first
}

TEST_CASE("an invalid ring fails only its queue") {
  TestHost host;
  host.at(of_chip(Register::ChipRingEntries, 1)) = 7;
  host.put(2, write(1, 1));
  host.put(1, write(0, 2));
  host.put(0, write(0, 3));
  host.step();
  CHECK((host.at(Register::ChipStatus, 1) & chip_failed) != 0);
  CHECK(host.at(Register::ChipHead, 1) == 0);
  CHECK(host.at(Register::ChipHead, 0) == 1);
  CHECK(host.at(Register::Head) == 1);
  CHECK((host.at(Register::Status) & status_failed) == 0);
  host.at(Register::Control) = 1;  // a reset clears the failure
  host.step();
  CHECK(host.at(Register::ChipStatus, 1) == 0);
}

TEST_CASE("lists are not started while STOP is set") {
  TestHost host;
  host.at(Register::Stop) = 1;
  host.put(1, write(0, 1));
  host.step();
  CHECK(host.status(1) == CompletionStatus::Stopped);
  CHECK(host.at(Register::ChipStatus, 0) == (chip_error | chip_halted));
  host.at(Register::Stop) = 0;
  host.put(1, write(0, 2), descriptor_resume);
  host.put(1, read(0));
  host.step();
  CHECK(host.results(1, 1)[0] == 2);
}

TEST_CASE("chips have separate programs") {
  const ServerProcess server;
  const auto board = std::make_unique<driver::RemoteBoard>(
      driver::open_server_board(server.socket(), {"", "", 5}), 5);
  Geometry g = board->identity().geometry;
  const auto here = emulate_board(g, make_engine(), 1);
  const Kernel other = Kernel::assemble(library_test::typed_text, "typed.gds");
  // Programs, then for each chip a target and two sources in the words of its own program.
  CommandList list;
  const auto add = [&](CommandKind kind, std::uint64_t chips,
                       const std::vector<std::uint64_t>& payload) -> Command& {
    Command& c = list.commands.emplace_back();
    c.kind = kind;
    c.chips = chips;
    c.payload = list.payload.size();
    c.payload_words = payload.size();
    list.payload.insert(list.payload.end(), payload.begin(), payload.end());
    return c;
  };
  const auto load = [&](std::uint64_t chips, const Kernel& kernel) {
    std::vector<std::uint64_t> words((kernel.program_object().size() + 7) / 8, 0);
    std::memcpy(words.data(), kernel.program_object().data(), kernel.program_object().size());
    add(CommandKind::LoadProgram, chips, words).count = kernel.program_object().size();
  };
  const auto work = [&](unsigned chip, const Kernel& kernel) {
    const LinkLayout layout = link_layout(kernel.program());
    const std::uint64_t bit = std::uint64_t{1} << chip;
    std::vector<std::uint64_t> target(layout.target_words), items(2 * layout.source_words);
    for (std::uint64_t& w : target) w = std::bit_cast<std::uint64_t>(1.5);
    for (std::uint64_t& w : items) w = std::bit_cast<std::uint64_t>(2.25);
    add(CommandKind::WriteMemory, bit, items).count = items.size();
    add(CommandKind::WriteTargets, bit, target).count = 1;
    Command& run = add(CommandKind::Run, bit, {});
    run.count = 2;
    run.flags = run_start | run_end;
    add(CommandKind::ReadTargets, bit, {}).count = 1;
  };
  const auto both = [&] {
    std::vector<std::uint64_t> mine, theirs;
    here->execute(list, mine);
    board->execute(list, theirs);
    list = {};
    CHECK(!mine.empty());
    CHECK(mine == theirs);
    return mine;
  };
  load(0, library_test::spring());
  work(0, library_test::spring());
  work(1, library_test::spring());
  const std::vector<std::uint64_t> spring = both();
  load(0, other);
  work(0, other);
  work(1, other);
  const std::vector<std::uint64_t> typed = both();
  CHECK(spring != typed);
  load(3, library_test::spring());
  load(2, other);
  work(0, library_test::spring());
  work(1, other);
  work(0, library_test::spring());
  const std::vector<std::uint64_t> mixed = both();
  const std::size_t half = spring.size() / 2;
  REQUIRE(mixed.size() == 2 * half + typed.size() / 2);
  CHECK(std::equal(spring.begin(), spring.begin() + static_cast<long>(half), mixed.begin()));
  CHECK(std::equal(typed.begin() + static_cast<long>(typed.size() / 2), typed.end(),
                   mixed.begin() + static_cast<long>(half)));
  // A command that requires the same program on both chips is rejected.
  Command& run = add(CommandKind::Run, 3, {});
  run.flags = run_start;
  const CommandList wrong = std::exchange(list, {});
  std::vector<std::uint64_t> none;
  const std::string error = error_of([&] { here->execute(wrong, none); });
  CHECK(contains(error, "chip 1 holds another program than chip 0"));
  CHECK(error_of([&] {
          board->execute(wrong, none);
          board->wait_for_completion();
        }) == error);
  work(1, other);
  both();
}

TEST_CASE("the driver submits lists for one chip to its queue, others to the board's") {
  const ServerProcess server;
  auto access = driver::open_server_board(server.socket(), {"", "", 5});
  driver::BoardAccess* const registers = access.get();
  const auto board = std::make_unique<driver::RemoteBoard>(std::move(access), 5);
  const auto heads = [&] {
    return std::array{registers->read(Register::Head), registers->read(Register::ChipHead),
                      registers->read(of_chip(Register::ChipHead, 1))};
  };
  std::vector<std::uint64_t> results;
  board->execute(write(0, 40), results);
  board->execute(write(1, 41), results);
  board->execute(read(1), results);
  CHECK(results == std::vector<std::uint64_t>{41});
  CHECK(heads() == std::array<std::uint64_t, 3>{0, 1, 2});
  CommandList pair = read(0);
  pair.commands.push_back(read(1).commands[0]);
  board->execute(pair, results);
  CHECK(results == std::vector<std::uint64_t>{40, 41});
  CHECK(heads() == std::array<std::uint64_t, 3>{1, 1, 2});
  // Chip 0 rejects a posted list; the later list of chip 1 is executed.
  board->execute(memory(CommandKind::WriteMemory, 0, ~std::uint64_t{0}, 1), results);
  board->execute(write(1, 43), results);
  CHECK(contains(error_of([&] { board->wait_for_completion(); }), "beyond the memory"));
  board->execute(read(1), results);
  CHECK(results == std::vector<std::uint64_t>{43});
  board->execute(read(0), results);
  CHECK(results == std::vector<std::uint64_t>{40});
}

TEST_CASE("corrupt transfers in several chips' queues are repeated without executing lists twice") {
  // The first list of one chip is corrupt, while those of the other are executed.
  for (const char* const fault : {"flip-payload@2:5", "flip-payload@3:9x2", "flip-command@2:70x3",
                                  "flip-completion@2:5000x3", "flip-result@6:3x2"}) {
    INFO(fault);
    const ServerProcess server({"--inject", fault});
    const auto board = std::make_unique<driver::RemoteBoard>(
        driver::open_server_board(server.socket(), {"", "", 5}), 5);
    std::vector<std::uint64_t> results;
    for (std::uint64_t k = 0; k < 6; ++k)
      board->execute(write(k % 2 == 0 ? 0 : 1, 50 + k), results);
    board->execute(read(0), results);
    CHECK(results == std::vector<std::uint64_t>{54});
    board->execute(read(1), results);
    CHECK(results == std::vector<std::uint64_t>{55});
  }
}
