// From a device's name to its boards.
#include <omp.h>

#include "gdr/error.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {
namespace {

std::shared_ptr<DeviceCore> open_emulator(const DeviceName& name) {
  const DeviceOptions& o = name.options;
  const std::shared_ptr<const Engine> engine = make_engine(o.engine, o.isa);
  auto core = std::make_shared<DeviceCore>();
  core->geometry = name.geometry;
  core->sharing = o.sharing;
  core->threads = o.threads > 0 ? o.threads : static_cast<unsigned>(omp_get_max_threads());
  core->statistics.engine = engine->name();
  core->statistics.isa = isa_name(engine->isa());
  core->statistics.threads = core->threads;
  for (unsigned b = 0; b < o.boards; ++b)
    core->boards.push_back({emulate_board(name.geometry, engine, o.threads)});
  return core;
}

std::shared_ptr<DeviceCore> open_mpi(const DeviceName& name) { return open_on_ranks(name, {}); }

struct Opener {
  std::string_view kind;
  std::shared_ptr<DeviceCore> (*open)(const DeviceName&);
};
constexpr Opener openers[] = {{"emulator", open_emulator}, {"mpi", open_mpi}};

}  // namespace

std::shared_ptr<DeviceCore> open_core(const DeviceName& name) {
  for (const Opener& opener : openers)
    if (opener.kind == name.kind) return opener.open(name);
  throw Error(ErrorCategory::Unsupported,
              "devices of kind \"" + name.kind + "\" are not part of this build");
}

}  // namespace gdr
