// Does a board work? Memories (those in its chips: memory_test.hpp), arithmetic and reduction
// network, a product of matrices: with whole numbers, whose results are exact in every engine and
// known beforehand.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "libgdr/device/core.hpp"

namespace gdr {

/// Tests the board of a slot of a device, with numbers that follow from `round`, and returns what
/// is wrong; empty: nothing. What the board held is gone afterwards. Throws BoardFailure if it does
/// not answer any more.
std::string test_board(const DeviceCore& device, BoardSlot& slot, unsigned round);

/// Tests all boards that are left, `rounds` times with other numbers each time, and takes out those
/// that fail. Ends early, with nothing said of the rest, once a stop is requested. Throws Error
/// (Device) when none is left. The caller has the device's queue to itself.
std::vector<BoardTest> test_boards(DeviceCore& device, unsigned rounds, unsigned first_round,
                                   const std::stop_token& stop);

/// What stands behind a device, for the command.
std::shared_ptr<const DeviceCore> core_of(const Device& device);

}  // namespace gdr
