// Opening of the boards that a device name selects: emulated, behind the driver, or the first that
// is available.
#include <fmt/core.h>

#include <cstdlib>
#include <optional>
#include <utility>

#include "emulator/engine/api/capabilities.hpp"
#include "emulator/engine/gpu/cards.hpp"
#include "emulator/host/parse_number.hpp"
#include "emulator/host/threads.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/default_engines.hpp"
#include "libgdr/device/openers.hpp"
#include "libgdr/device/self_test.hpp"
#include "libgdr/driver/access.hpp"
#include "libgdr/driver/device_node.hpp"
#include "libgdr/driver/network.hpp"
#include "libgdr/driver/remote_board.hpp"

namespace gdr {
namespace {

using driver::BoardAccess;
using driver::RemoteBoard;

/// Location of boards: a server on another host, a server's socket, or device nodes from a number
/// on.
struct BoardLocation {
  std::string socket;
  unsigned node = 0;
  bool by_number = false;  ///< whether the name has no socket
  std::optional<driver::Endpoint> server = {};
  bool nodes() const { return socket.empty() && !server; }
  std::string text() const {
    if (server) return "board:tcp:" + server->text();
    return nodes() ? fmt::format("board:{}", node) : "board:unix:" + socket;
  }
};

BoardLocation parse_location(const std::string& text) {
  if (text.starts_with("unix:")) {
    if (text.size() == 5)
      throw Error(ErrorCategory::Usage,
                  "device board:unix: names no socket; write board:unix:/path/to/socket");
    return {text.substr(5)};
  }
  if (text.starts_with("tcp:")) return {{}, 0, false, driver::parse_endpoint(text.substr(4))};
  BoardLocation place;
  place.by_number = true;
  if (!text.empty()) {
    const auto number = parse_all<decltype(place.node)>(text);
    if (!number || *number > 255)
      throw Error(ErrorCategory::Usage, "device board:" + text +
                                            "; write board:NUMBER (0 to 255), "
                                            "board:unix:/path/to/socket or board:tcp:HOST:PORT");
    place.node = *number;
  }
  if (driver::find_device_nodes().nodes.empty()) place.socket = driver::default_socket();
  return place;
}

std::unique_ptr<BoardAccess> open_server(const BoardLocation& place, const DeviceOptions& o) {
  try {
    return driver::open_server_board(place.socket, {o.engine, o.isa, o.queue_timeout});
  } catch (const Error& e) {
    // Report devices on the bus that were rejected as boards.
    const std::string others =
        place.by_number ? driver::find_device_nodes().unusable_text() : std::string();
    if (others.empty()) throw;
    throw Error(e.category(), e.what() + others);
  }
}

std::unique_ptr<BoardAccess> open_access(const BoardLocation& place, const DeviceOptions& o,
                                         unsigned board) {
  if (!place.nodes()) return open_server(place, o);
  const driver::Bus bus = driver::find_device_nodes();
  const std::size_t number = std::size_t{place.node} + board;
  if (number >= bus.nodes.size())
    throw Error(ErrorCategory::Device, fmt::format("there is no board {}; this host has {}{}",
                                                   number, bus.nodes.size(), bus.unusable_text()));
  return driver::open_node(bus.nodes[number], o.queue_timeout);
}

/// The credentials of a device name, or the shared key in GDR_PSK.
driver::Credentials credentials_of(const DeviceName& name) {
  driver::Credentials c = name.credentials;
  if (const char* key = std::getenv("GDR_PSK"); c.empty() && key != nullptr && *key != '\0')
    c.shared_key = key;
  if (c.empty())
    throw Error(ErrorCategory::Usage,
                "a board of another host needs credentials: the device options psk=FILE or "
                "cert=FILE,key=FILE,ca=FILE, or GDR_PSK");
  return c;
}

driver::NetworkRequest request_to(const driver::Endpoint& server, const DeviceName& name) {
  const DeviceOptions& o = name.options;
  return {server,
          credentials_of(name),
          name.transfers,
          {o.engine, o.isa, o.queue_timeout},
          o.timeout_seconds};
}

/// Opens board number `board` of those at a location.
driver::NetworkBoard open_link(const BoardLocation& place, const DeviceName& name, unsigned board) {
  const DeviceOptions& o = name.options;
  if (place.server) return driver::network().open(request_to(*place.server, name));
  auto link = std::make_unique<RemoteBoard>(
      open_access(place, o, board), o.timeout_seconds,
      name.transfers.poll_seconds.value_or(driver::board_poll_seconds));
  const driver::BoardIdentity identity = link->identity();
  return {std::move(link), identity};
}

double field(const Geometry& g, const std::string& name) {
  const std::pair<std::string_view, double> values[] = {{"chips", g.chips_per_board},
                                                        {"blocks", g.blocks},
                                                        {"pes", g.pes_per_block},
                                                        {"registers", g.register_words},
                                                        {"local", g.local_words},
                                                        {"bm", g.broadcast_words},
                                                        {"dram", static_cast<double>(g.dram_bytes)},
                                                        {"instructions", g.instruction_words},
                                                        {"clock", g.clock_hz}};
  for (const auto& [known, value] : values)
    if (known == name) return value;
  return 0;
}

/// Throws Error (Usage) if the name requests options that the board does not have.
void check_requested_options(const DeviceName& name, const BoardLink& board,
                             const driver::BoardIdentity& id) {
  for (const std::string& option : name.given) {
    const double wanted = field(name.geometry, option), has = field(id.geometry, option);
    if (wanted != has)
      throw Error(ErrorCategory::Usage,
                  fmt::format("device option {}={}: {} has {}; leave the option out", option,
                              wanted, board.name(), has));
  }
  const auto check = [&](const char* option, const std::string& wanted, const std::string& has) {
    if (!wanted.empty() && wanted != has)
      throw Error(ErrorCategory::Usage,
                  fmt::format("device option {}={}: {} has {}; leave the option out", option,
                              wanted, board.name(), has));
  };
  check("engine", name.options.engine, id.engine);
  check("isa", name.options.isa, id.isa);
}

/// Tests a board, and marks it as failed if the test fails.
void run_self_test(DeviceCore& core, BoardSlot& slot, unsigned round) {
  std::string failure;
  try {
    failure = test_board(core, slot, round);
  } catch (const driver::BoardFailure& e) {
    failure = e.what();
  }
  if (!failure.empty()) core.fail(slot, slot.board->name() + " failed its test: " + failure);
}

}  // namespace

driver::NetworkRequest network_request(const DeviceName& name) {
  if (name.kind != "board" || !name.place.starts_with("tcp:"))
    throw Error(ErrorCategory::Usage,
                "files at a server need a device of it: board:tcp:HOST:PORT with its credentials");
  return request_to(*parse_location(name.place).server, name);
}

std::shared_ptr<DeviceCore> open_board(const DeviceName& name) {
  const DeviceOptions& o = name.options;
  const BoardLocation place = parse_location(name.place);
  auto core = std::make_shared<DeviceCore>();
  core->where = place.text();
  core->partition = o.partition;
  core->threads = usable_threads(o.threads);
  core->remote_boards = !place.socket.empty() && o.threads == 0;
  for (unsigned b = 0; b < o.boards; ++b) {
    auto [board, id] = open_link(place, name, b);
    check_requested_options(name, *board, id);
    if (b == 0) {
      core->geometry = id.geometry;
      core->statistics.engine = id.engine;
      core->engine = capabilities_of(id.engine);
      core->statistics.isa = id.isa;
      core->statistics.threads = core->threads;
    } else if (id.geometry != core->geometry || id.engine != core->statistics.engine) {
      throw Error(ErrorCategory::Device,
                  board->name() +
                      " differs in geometry or engine from the first board; a device needs "
                      "equal boards");
    }
    core->boards.push_back({std::move(board)});
    if (o.self_test) run_self_test(*core, core->boards.back(), b + 1);
  }
  core->usable();  // throws if none is left
  return core;
}

std::shared_ptr<DeviceCore> open_emulator(const DeviceName& name) {
  const DeviceOptions& o = name.options;
  const std::string chosen = chosen_engine(
      o.engine, o.default_engine.empty() ? default_engine(EngineUse::Library) : o.default_engine);
  const std::shared_ptr<const Engine> engine = make_engine(chosen, o.isa);
  auto core = std::make_shared<DeviceCore>();
  core->geometry = name.geometry;
  core->partition = o.partition;
  core->threads = usable_threads(o.threads);
  core->statistics.engine = engine->name();
  core->engine = engine->capabilities();
  core->reason = gpus_of_engine(chosen);
  core->statistics.isa = isa_name(engine->isa());
  core->statistics.threads = core->threads;
  for (auto& board : emulate_boards(o.boards, name.geometry, engine, o.threads))
    core->boards.push_back({std::move(board)});
  return core;
}

namespace {

/// Opens a board at a location into `core`; returns the error message, empty on success.
std::string try_open_board(const DeviceName& name, const std::string& place,
                           std::shared_ptr<DeviceCore>& core) {
  DeviceName board = name;
  board.kind = "board";
  board.place = place;
  board.options.queue_timeout = 0;  // do not wait for a board in use
  try {
    core = open_board(board);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

std::shared_ptr<DeviceCore> open_best(const DeviceName& name) {
  std::shared_ptr<DeviceCore> core;
  std::string reasons;
  if (const driver::Bus bus = driver::find_device_nodes(); bus.nodes.empty()) {
    reasons = "no board on this host's bus" + bus.unusable_text();
  } else {
    reasons = try_open_board(name, "0", core);
    if (core) core->reason = "selected by auto: a board on this host's bus";
  }
  if (!core) {
    const std::string failure = try_open_board(name, "unix:" + driver::default_socket(), core);
    if (core)
      core->reason = "selected by auto: " + reasons + ", but a board server";
    else
      reasons += "; " + failure;
  }
  if (core) return core;
  core = open_emulator(name);
  const std::string gpus = core->reason.empty() ? "" : core->reason + "; ";
  core->reason = gpus + "selected by auto: " + reasons;
  return core;
}

}  // namespace gdr
