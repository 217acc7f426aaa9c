// Self test of boards: memories, arithmetic and reduction
// network, a matrix product. Operands are integers, so expected results are exact in every engine.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "libgdr/device/core.hpp"

namespace gdr {

/// Tests the board of a slot with data generated from `round`, and returns the failure; empty:
/// none. Overwrites the board's contents. Throws BoardFailure if it does not respond.
std::string test_board(const DeviceCore& device, BoardSlot& slot, unsigned round);

/// Tests all usable boards `rounds` times with different data, and removes those that fail. Returns
/// early, without results for the other boards, after a stop request. Throws Error (Device) when
/// none is left. Must be called from the device's queue.
std::vector<BoardTest> test_boards(DeviceCore& device, unsigned rounds, unsigned first_round,
                                   const std::stop_token& stop);

/// The implementation of a device, its first queue, for the `gdr` command, factorisations and
/// batches.
std::shared_ptr<DeviceCore> core_of(const Device& device);

}  // namespace gdr
