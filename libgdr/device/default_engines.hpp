// The engine of an emulated board for which none is chosen.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gdr {

/// What an emulated board is opened for.
enum class EngineUse { Library, Calculation, Description, Machine, Board, Benchmark };

/// A row of the table of defaults: a section of docs/reference/device-options.md is made
/// from it.
struct DefaultEngine {
  EngineUse use;
  std::string_view engine;
  std::string_view users;   ///< interfaces and commands, as text of that page
  std::string_view reason;  ///< why this engine
};
std::span<const DefaultEngine> default_engines() noexcept;

/// The engine of a use for which neither an option nor GDR_ENGINE names one.
std::string_view default_engine(EngineUse use) noexcept;

/// The engine in effect: the given one, else that of GDR_ENGINE, else `otherwise`.
std::string chosen_engine(std::string_view given, std::string_view otherwise);

}  // namespace gdr
