// Opening the boards that a device name selects.
#include <omp.h>

#include "gdr/error.hpp"
#include "libgdr/device/openers.hpp"
#include "libgdr/driver/access.hpp"
#include "libgdr/driver/device_node.hpp"

namespace gdr {

std::shared_ptr<DeviceCore> open_emulator(const DeviceName& name) {
  const DeviceOptions& o = name.options;
  const std::shared_ptr<const Engine> engine = make_engine(o.engine, o.isa);
  auto core = std::make_shared<DeviceCore>();
  core->geometry = name.geometry;
  core->partition = o.partition;
  core->threads = o.threads > 0 ? o.threads : static_cast<unsigned>(omp_get_max_threads());
  core->statistics.engine = engine->name();
  core->statistics.isa = isa_name(engine->isa());
  core->statistics.threads = core->threads;
  for (unsigned b = 0; b < o.boards; ++b)
    core->boards.push_back({emulate_board(name.geometry, engine, o.threads)});
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
  core->reason = "selected by auto: " + reasons;
  return core;
}

}  // namespace gdr
