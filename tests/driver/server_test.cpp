// The board server: ownership, queue, access rights, malformed input.
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>
#include <random>
#include <stop_token>
#include <thread>

#include "driver/server_process.hpp"
#include "emulator/board/hardware/checksum.hpp"
#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"
#include "libgdr/driver/access.hpp"
#include "libgdr/driver/remote_board.hpp"
#include "libgdr/driver/wire.hpp"
#include "support/catch.hpp"
#include "support/iterations.hpp"

using namespace driver_test;
using namespace gdr;

namespace {

std::unique_ptr<driver::RemoteBoard> board_of(const ServerProcess& server, double queue = 5) {
  return std::make_unique<driver::RemoteBoard>(
      driver::open_server_board(server.socket(), {"", "", queue}), 5);
}

CommandList memory_list(CommandKind kind, std::uint64_t address, std::uint64_t words) {
  CommandList list;
  Command c;
  c.kind = kind;
  c.chips = 1;
  c.address = address;
  c.count = words;
  list.commands = {c};
  if (kind == CommandKind::WriteMemory) list.payload.assign(words, 0x5ec2e7);
  return list;
}

/// Number of attempts of malformed input.
unsigned attempts() { return static_cast<unsigned>(test::test_iterations(12)); }

/// A random command with mostly plausible fields.
Command random_command(std::mt19937_64& random) {
  const auto number = [&](std::uint64_t limit) {
    return random() % 4 == 0 ? random() : random() % limit;
  };
  Command c;
  c.kind = static_cast<CommandKind>(random() % 9);
  c.partition = static_cast<ChipPartition>(random() % 4);
  c.chips = random() % 4;
  c.variable = static_cast<std::uint32_t>(number(4));
  c.flags = static_cast<std::uint32_t>(number(32));
  c.address = number(1 << 25);
  c.first = number(99);
  c.count = number(1 << 20);
  c.output_address = number(1 << 25);
  c.targets = number(9);
  c.payload = number(99);
  c.payload_words = random() % 2 == 0 ? 0 : number(99);
  return c;
}

}  // namespace

TEST_CASE("a client that gives up while it waits for a board loses its place in the queue") {
  const ServerProcess server;
  auto first = board_of(server);
  std::stop_source stop;
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop.request_stop();
  });
  const auto start = std::chrono::steady_clock::now();
  CHECK_THROWS_AS(driver::open_server_board(server.socket(), {"", "", 60, stop.get_token()}),
                  Cancelled);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
  first.reset();
  CHECK_NOTHROW(board_of(server));
  // A stop token that nobody uses does not disturb.
  std::stop_source unused;
  CHECK_NOTHROW(driver::open_server_board(server.socket(), {"", "", 5, unused.get_token()}));
}

TEST_CASE("a board has one owner; other clients wait up to their queue timeout") {
  const ServerProcess server;
  auto first = std::make_unique<Device>(Device::open(server.device()));
  const Stopwatch stopwatch;
  CHECK(contains(error_of([&] { Device::open(server.device("queue_timeout=0.3")); }),
                 "no board became free within the queue timeout"));
  CHECK(stopwatch.seconds() >= 0.25);
  CHECK(stopwatch.seconds() < 10);
  auto second = std::async(std::launch::async, [&] {
    Device device = Device::open(server.device("queue_timeout=20"));
    return forces(device, 50, 20);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  first.reset();
  CHECK(second.get() == expected_forces(50, 20));
  CHECK(driver::query_server(server.socket()).boards == 1);
}

TEST_CASE("the board of a killed owner is given to the next client") {
  const ServerProcess server;
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t owner = fork();
  if (owner == 0) {
    // The child uses system calls only, and owns the board by its connection.
    const driver::File socket = driver::connect_to(server.socket());
    driver::Message hello = driver::make_message(driver::MessageKind::Hello, 0, "- -");
    hello.seconds = 5;
    driver::send_message(socket, hello);
    std::vector<driver::File> files;
    while (files.size() < 3 && driver::receive_message(socket, files)) {
    }
    [[maybe_unused]] const ssize_t n = write(ready[1], "x", 1);
    pause();
    _exit(0);
  }
  char sign = 0;
  REQUIRE(read(ready[0], &sign, 1) == 1);
  CHECK(contains(error_of([&] { Device::open(server.device("queue_timeout=0")); }),
                 "no board became free"));
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  Device device = Device::open(server.device("queue_timeout=10"));
  CHECK(forces(device, 50, 20) == expected_forces(50, 20));
  close(ready[0]);
  close(ready[1]);
}

TEST_CASE("an owner cannot read data of the previous owner") {
  const ServerProcess server;
  std::vector<std::uint64_t> results;
  {
    const auto board = board_of(server);
    board->execute(memory_list(CommandKind::WriteMemory, 0, 5000), results);
    board->execute(memory_list(CommandKind::ReadMemory, 0, 5000), results);
    CHECK(results == std::vector<std::uint64_t>(5000, 0x5ec2e7));
  }
  auto access = driver::open_server_board(server.socket(), {"", "", 10});
  const DmaArea area = access->allocate(1 << 20);
  for (std::uint64_t at = 0; at < area.bytes; ++at) {
    if (area.memory[at] != std::byte{0}) FAIL("transfer memory is not zero");
  }
  CHECK(access->read(Register::Lists) == 0);
  CHECK(access->read(Register::ChipInstructions) == 0);
  const auto board = std::make_unique<driver::RemoteBoard>(std::move(access), 5);
  board->execute(memory_list(CommandKind::ReadMemory, 0, 5000), results);
  CHECK(results == std::vector<std::uint64_t>(5000, 0));
}

TEST_CASE("the socket has the requested mode and is removed with the server") {
  ServerProcess server({"--mode", "0640"});
  struct stat status {};
  REQUIRE(stat(server.socket().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  CHECK_THROWS_AS(ServerProcess({}, server.socket()), std::runtime_error);
  Device device = Device::open(server.device());
  server.signal(SIGTERM);
  CHECK(server.wait() == 0);
  CHECK(access(server.socket().c_str(), F_OK) != 0);
  const std::string error = error_of([&] { forces(device, 20, 20); });
  INFO(error);
  CHECK(contains(error, "no board is left"));
}

TEST_CASE("a server replaces the socket of a killed server") {
  ServerProcess first;
  first.signal(SIGKILL);
  first.wait();
  CHECK(access(first.socket().c_str(), F_OK) == 0);
  const ServerProcess second({}, first.socket());
  Device device = Device::open("board:unix:" + first.socket());
  CHECK(forces(device, 20, 20) == expected_forces(20, 20));
}

TEST_CASE("a rejected command is the emulator's error, and the board remains usable") {
  const ServerProcess server;
  const auto board = board_of(server);
  Geometry g;
  g.chips_per_board = g.blocks = 2;
  const auto here = emulate_board(g, make_engine(), 1);
  std::vector<std::uint64_t> results;
  CommandList wrong = memory_list(CommandKind::ReadMemory, ~std::uint64_t{0} - 5, 9);
  const std::string wanted = error_of([&] { here->execute(wrong, results); });
  CHECK(wanted != "no error");
  CHECK(error_of([&] { board->execute(wrong, results); }) == wanted);
  CHECK(error_of([&] { board->execute(memory_list(CommandKind::ReadMemory, 0, 9), results); }) ==
        "no error");
  // The error of a posted list is thrown by the next call.
  wrong = memory_list(CommandKind::WriteMemory, ~std::uint64_t{0} - 5, 9);
  board->execute(wrong, results);
  CHECK(contains(error_of([&] { board->wait_for_completion(); }), "beyond the memory"));
  CHECK(contains(server.log(), "beyond the memory"));
}

TEST_CASE("malformed messages do not affect other clients") {
  const ServerProcess server({"--boards", "2"});
  Device device = Device::open(server.device());
  std::mt19937_64 random(test::first_seed());
  for (unsigned k = 0; k < 5 * attempts(); ++k) {
    const driver::File socket = driver::connect_to(server.socket());
    driver::Message message;
    auto* const words = reinterpret_cast<std::uint64_t*>(&message);
    for (std::size_t w = k % 3 == 0 ? 0 : 1; w < sizeof(message) / 8; ++w) words[w] = random();
    message.kind = static_cast<driver::MessageKind>(k % 12);
    if (k % 2 == 0) message.version = 1;
    // Some are too short, too long, or have files.
    const std::size_t bytes = k % 7 == 3 ? random() % 256 : k % 7 == 5 ? 4096 : sizeof(message);
    std::array<char, 4096> packet{};
    std::memcpy(packet.data(), &message, std::min(bytes, sizeof(message)));
    const std::vector<int> files(k % 5 == 2 ? 3 : 0, socket.get());
    if (bytes == sizeof(message))
      driver::send_message(socket, message, files);
    else
      send(socket.get(), packet.data(), bytes, MSG_NOSIGNAL);
    if (k % 4 == 0) driver::send_message(socket, message);
  }
  CHECK(forces(device, 20, 20) == expected_forces(20, 20));
  Device other = Device::open(server.device("queue_timeout=20"));
  CHECK(forces(other, 20, 20) == expected_forces(20, 20));
}

TEST_CASE("random descriptors, commands and registers do not affect other clients") {
  const ServerProcess server({"--boards", "2", "--memory", "64"});
  Device witness = Device::open(server.device());
  const std::uint64_t first = test::first_seed();
  for (std::uint64_t seed = first; seed < first + attempts(); ++seed) {
    std::mt19937_64 random(seed);
    auto access = driver::open_server_board(server.socket(), {"", "", 20});
    const DmaArea area = access->allocate(1 << 16);
    auto* const words = reinterpret_cast<std::uint64_t*>(area.memory);
    const auto plausible = [&] {  // a plausible address or length
      switch (random() % 6) {
        case 0:
          return random();
        case 1:
          return area.bus + area.bytes - random() % 64;
        case 2:
          return std::uint64_t{0} - random() % 64;
        default:
          return area.bus + random() % (area.bytes / 8) * 8;
      }
    };
    for (std::uint64_t k = 0; k < area.bytes / 8; ++k)
      words[k] = random() % 3 == 0 ? plausible() : random() % 64;
    constexpr std::uint64_t entries = 64;
    access->write(Register::RingBase, seed % 5 == 4 ? random() : area.bus);
    access->write(Register::RingEntries, seed % 5 == 3 ? random() : entries);
    access->write(Register::InterruptMask, 1);
    // The chips' queues have the same ring or an invalid one.
    for (unsigned c = 0; c < 2; ++c) {
      access->write(of_chip(Register::ChipRingBase, c), seed % 3 == c ? plausible() : area.bus);
      access->write(of_chip(Register::ChipRingEntries, c), seed % 7 == c ? random() : entries);
    }
    for (std::uint64_t k = 0; k < entries; ++k) {
      auto* const d = reinterpret_cast<Descriptor*>(words + k * sizeof(Descriptor) / 8);
      d->kind = static_cast<DescriptorKind>(1 + random() % 2);
      d->flags = static_cast<std::uint32_t>(random() % 4);
      d->sequence = k + 1;
      d->command_count = random() % 5 == 0 ? random() : random() % 9;
      d->payload_words = random() % 5 == 0 ? random() : random() % 99;
      d->completion = area.bus + 0xf000;
      for (std::uint64_t& r : d->reserved) r = 0;
      // Most checksums are correct, so that the contents are checked.
      if (k % 4 != 0) {
        const std::uint64_t at = 0x4000 + random() % 0x1000 / 8 * 8, count = random() % 9;
        auto* const commands = reinterpret_cast<Command*>(area.memory + at);
        for (std::uint64_t c = 0; c < count; ++c) commands[c] = random_command(random);
        d->commands = area.bus + at;
        d->command_count = count;
        d->payload = area.bus + 0x8000;
        d->payload_words = random() % 99;
        d->data_checksum = join_checksums(
            checksum({reinterpret_cast<std::uint64_t*>(commands), count * sizeof(Command) / 8}),
            checksum({words + 0x1000, d->payload_words}));
        d->flags |= descriptor_resume;
        d->kind = DescriptorKind::Execute;
      }
      d->checksum = checksum({reinterpret_cast<std::uint64_t*>(d), 15});
    }
    access->write(Register::Doorbell, seed % 5 == 2 ? random() : entries);
    for (unsigned c = 0; c < 2; ++c)
      access->write(of_chip(Register::ChipDoorbell, c), seed % 6 == c ? random() : entries);
    if (seed % 4 == 3) access->write(Register::Stop, random());
    access->signal_doorbell();
    access->wait(std::chrono::milliseconds(50));
    for (int k = 0; k < 200; ++k) words[random() % (area.bytes / 8)] = random();
    access->write(Register::Control, random());
    access->signal_doorbell();
  }
  CHECK(forces(witness, 20, 20) == expected_forces(20, 20));
  CHECK(!contains(server.log(), "by signal"));
  Device next = Device::open(server.device("queue_timeout=20"));
  CHECK(forces(next, 20, 20) == expected_forces(20, 20));
}
