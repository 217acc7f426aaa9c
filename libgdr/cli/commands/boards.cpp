// `gdr boards`: lists and tests the boards that this host can reach.
#include <nlohmann/json.hpp>

#include "libgdr/cli/command.hpp"
#include "libgdr/cli/gpus.hpp"
#include "libgdr/cli/places.hpp"
#include "libgdr/driver/access.hpp"

namespace gdr::cli::boards_command {
namespace {

struct Options {
  DeviceChoice device;
  unsigned rounds = 0;
  bool json = false;
};

int list_places(const Options& options) {
  const std::vector<BoardPlace> places = board_places();
  if (options.json) {
    Json list = Json::array();
    for (const BoardPlace& place : places)
      list.push_back({{"device", place.device}, {"what", place.what}});
    print_json(list);
    return 0;
  }
  for (const BoardPlace& place : places)
    print("{:<32} {}\n", place.device.empty() ? "(unusable)" : place.device, place.what);
  if (places.empty())
    print("no board on this host's bus, and no server at {}\n", driver::default_socket());
  return 0;
}

int test_boards(const Options& options) {
  const TestedGpus tested = tested_gpus();
  Device device = open_device(options.device, EngineUse::Board);
  const std::vector<BoardTest> tests = device.test(options.rounds);
  bool good = true;
  Json list = Json::array();
  for (const BoardTest& test : tests) {
    good = good && test.failure.empty();
    list.push_back({{"board", test.board}, {"failure", test.failure}, {"seconds", test.seconds}});
    if (!options.json)
      print("{}: {} ({:.3g} s)\n", test.board, test.failure.empty() ? "works" : test.failure,
            test.seconds);
  }
  for (const TestedGpu& gpu : tested.gpus) {
    const std::string name = "gpu:" + gpu.name;
    list.push_back({{"board", name}, {"failure", gpu.failure}, {"seconds", gpu.seconds}});
    if (!options.json)
      print("{}, {}: {}\n", name, gpu.description,
            gpu.failure.empty() ? "its doubles are exact" : "not for gpu-exact: " + gpu.failure);
  }
  if (options.json) print_json(list);
  return good ? 0 : 1;
}

int work(const Options& options) {
  return options.rounds == 0 ? list_places(options) : test_boards(options);
}

void add_options(CLI::App& app, Options& options) {
  add_whole_number(app, "--test", options.rounds, "number of tests of the device's boards")
      ->type_name("ROUNDS");
  add_json_option(app, options.json);
  add_device_options(app, options.device);
}

const Registration registration{
    {.name = "boards",
     .summary = "list and test the boards that this host can reach",
     .example = "gdr boards\ngdr boards --test 10 --device emulator",
     .group = Group::Machine,
     .prepare = prepare<Options, add_options, work>,
     .details =
         "A test writes and reads all memories, adds whole numbers on all PEs and in the\n"
         "reduction network, and multiplies rows of the identity with 2048 i + j. The exit\n"
         "status is 1 if a board fails. GPUs are listed with a test of their doubles, which\n"
         "the engine gpu-exact requires."}};

}  // namespace
}  // namespace gdr::cli::boards_command
