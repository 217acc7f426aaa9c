// Boards with defective chips: the self-test detects them, and other boards do their work.
#include <atomic>
#include <random>

#include "driver/fake_bus.hpp"
#include "driver/server_process.hpp"
#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/runners/blockwise.hpp"
#include "support/catch.hpp"

using namespace driver_test;
using namespace gdr;

namespace {

/// A bit of a PE's memory (or a block's broadcast memory) that is stuck at 0 or 1.
struct StuckBit {
  LaneMemory BlockState::*memory;
  std::size_t word = 0;  ///< index in the memory
  unsigned bit = 0;
  bool one = true;
};

/// The reference engine with a stuck bit in block `number` of the first chip that runs.
class DefectiveEngine final : public Engine {
 public:
  DefectiveEngine(const StuckBit& stuck, std::uint32_t number)
      : stuck_(stuck), number_(number), good_(make_engine("reference")) {}
  std::string_view name() const noexcept override { return good_->name(); }
  Isa isa() const noexcept override { return good_->isa(); }
  std::shared_ptr<const Executable> prepare(const Program& program,
                                            const Geometry& geometry) const override {
    return std::make_shared<Stuck>(*this, good_->prepare(program, geometry));
  }

 private:
  class Stuck final : public BlockwiseExecutable {
   public:
    Stuck(const DefectiveEngine& engine, std::shared_ptr<const Executable> good)
        : engine_(engine), good_(std::move(good)) {}
    void run(BlockState& block, const BlockRun& run) const override {
      engine_.apply_defect(block);
      good_->run(block, run);
      engine_.apply_defect(block);
    }

   private:
    const DefectiveEngine& engine_;
    std::shared_ptr<const Executable> good_;
  };

  void apply_defect(BlockState& block) const {
    if (block.number != number_) return;
    const BlockState* none = nullptr;
    if (!defective_block_.compare_exchange_strong(none, &block) && none != &block) return;
    std::uint64_t& word = (block.*stuck_.memory)[stuck_.word];
    const std::uint64_t bit = std::uint64_t{1} << stuck_.bit;
    word = stuck_.one ? word | bit : word & ~bit;
  }

  StuckBit stuck_;
  std::uint32_t number_;
  std::shared_ptr<const Engine> good_;
  mutable std::atomic<const BlockState*> defective_block_ = nullptr;
};

}  // namespace

TEST_CASE("the self-test at opening detects and locates a stuck bit of any memory") {
  const Geometry g = bus_geometry();
  const std::size_t pes = g.pes_per_block;
  struct Memory {
    LaneMemory BlockState::*lanes;
    std::size_t words;
    const char* name;
  };
  const Memory memories[] = {
      {&BlockState::registers, 2 * g.register_words * pes, "registers"},
      {&BlockState::local, 2 * g.local_words * pes, "registers or local memory of PE"},
      {&BlockState::t, 8 * pes, "broadcast memory or T of PE"},
      {&BlockState::bm, 2 * g.broadcast_words, "broadcast memory or T of PE"}};
  std::mt19937 random(1);
  for (const Memory& memory : memories) {
    for (int k = 0; k < 5; ++k) {
      const StuckBit stuck{memory.lanes, random() % memory.words,
                           static_cast<unsigned>(random() % 36), k % 2 == 0};
      const auto block = static_cast<std::uint32_t>(random() % g.blocks);
      FakeBus bus;
      bus.add_board(std::make_shared<DefectiveEngine>(stuck, block));
      const std::string error = error_of([] { Device::open("board:0"); });
      INFO("word " << stuck.word << ", bit " << stuck.bit << ": " << error);
      CHECK(contains(error, std::string("failed its test: ") + memory.name));
      CHECK(contains(error, "of block " + std::to_string(block) + " of chip "));
    }
  }
}

TEST_CASE("a board with a stuck bit is removed, and another board does its work") {
  const StuckBit stuck{&BlockState::local, 777, 3, true};
  FakeBus bus;
  bus.add_board(std::make_shared<DefectiveEngine>(stuck, 1));
  bus.add_board(make_engine("reference"));
  Device device = Device::open("board:0,boards=2");
  CHECK(device.statistics().failed_boards == 1);
  CHECK(forces(device, 3000, 70) == expected_forces(3000, 70));
  // Without a self-test it is used until device.test() is called.
  FakeBus later;
  later.add_board(make_engine("reference"));
  later.add_board(std::make_shared<DefectiveEngine>(stuck, 0));
  Device untested = Device::open("board:0,boards=2,self_test=0");
  CHECK(untested.statistics().failed_boards == 0);
  const std::vector<BoardTest> tests = untested.test();
  REQUIRE(tests.size() == 2);
  CHECK(tests[0].failure.empty());
  CHECK(contains(tests[1].failure, "local memory of PE"));
  CHECK(untested.statistics().failed_boards == 1);
  CHECK(forces(untested, 3000, 70) == expected_forces(3000, 70));
}
