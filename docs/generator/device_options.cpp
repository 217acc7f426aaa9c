// The page about device names, from the table that reads them.
#include <fmt/format.h>

#include "docs/generator/pages.hpp"
#include "libgdr/device/names.hpp"

namespace gdr::docs {
namespace {

constexpr std::string_view introduction = R"(# Device names and options

Generated from the table that reads device names (`libgdr/device/option_table.cpp`); do not edit.

A device name is a kind of device, followed by a colon and options:
`emulator:boards=2,engine=native`, or, for kinds that have a place, `board:unix:PATH,boards=2`. The
name is given to `--device`, `gdr::Device::open`, `gdr_device_open` and `gdr.open`. An empty name
stands for the value of the [environment variable](environment.md) `GDR_DEVICE`, or for `emulator` if
that is not set. An unknown kind, option or value is an error that names the nearest known one.

## Kinds of devices

| device | meaning |
|---|---|
)";

constexpr std::string_view between = R"(
## Options

| option | values | default | meaning |
|---|---|---|---|
)";

constexpr std::string_view end = R"(
A board of a server or on the bus has a geometry and an engine of its own: `chips` to `clock`,
`engine` and `isa` then only assert what the board must have (a server started with `--any-engine`
lets its clients choose the engine). Defaults of the geometry are those of the original chip at its
design clock. On a device `mpi` the options hold for every rank; geometry, partition and engine must
be the same on all ranks.
)";

/// Each of the blank-separated words in backquotes.
std::string quoted_words(std::string_view words) {
  std::string text;
  while (!words.empty()) {
    const std::size_t blank = words.find(' ');
    text += fmt::format("{}`{}`", text.empty() ? "" : ", ", words.substr(0, blank));
    words = blank == std::string_view::npos ? "" : words.substr(blank + 1);
  }
  return text;
}

}  // namespace

std::string device_options_page() {
  std::string text(introduction);
  for (const DeviceKind& kind : device_kinds())
    text += fmt::format("| {} | {} |\n", quoted_words(kind.written), kind.meaning);
  text += between;
  for (const DeviceOption& option : device_options())
    text += fmt::format("| `{}` | {} | {} | {} |\n", option.name, option.values, option.fallback,
                        option.meaning);
  return text + std::string(end);
}

}  // namespace gdr::docs
