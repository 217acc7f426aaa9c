// Device names, and messages for unknown names.
#include "libgdr/device/names.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "emulator/engine/api/engine.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/usage_error.hpp"

namespace gdr {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

/// Throws Error (Usage) for a number of queues that this kind of device cannot have.
void check_queues(const DeviceName& device) {
  const unsigned queues = device.options.queues;
  if (queues < 1 || queues > max_queues)
    usage_error(fmt::format("a device has from 1 to {} queues, not {}", max_queues, queues));
  if (queues == 1 || device.kind == "emulator") return;
  usage_error(fmt::format(
      "device option queues={}: a device of kind \"{}\" has one queue, only \"emulator\" may have "
      "several; {}",
      queues, device.kind,
      device.kind == "mpi" ? "remove the option"
                           : "open a device for each board, or write emulator:queues=N"));
}

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", text); }

const DeviceKind& find_kind(std::string_view name) {
  for (const DeviceKind& kind : device_kinds())
    if (kind.name == name) return kind;
  std::vector<std::string_view> known = device_kind_names();
  for (const std::string_view engine : engine_words()) known.push_back(engine);
  usage_error(unknown_name("device", name, known));
}

/// Writes a name that begins with an engine, as "native:boards=2" or "gpu:1", as that of an
/// emulator: "emulator:engine=native,boards=2". Other names are unchanged.
std::string without_engine_word(std::string_view name) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  const std::string_view engine = name.substr(0, colon);
  const std::vector<std::string_view> engines = engine_words();
  if (std::ranges::find(engines, engine) == engines.end()) return std::string(name);
  std::string_view rest = name.substr(colon);
  if (rest.substr(0, rest.find(',')).find('=') != std::string_view::npos)
    rest.remove_prefix(1);  // options; else a certain GPU
  const bool options = rest.starts_with(':') || rest.empty();
  return fmt::format("emulator:engine={}{}{}", engine, options ? "" : ",", rest);
}

void set_option(DeviceName& device, std::string_view name, std::string_view value) {
  for (const DeviceOption& option : device_options())
    if (option.name == name) return option.set(device, name, value);
  usage_error(unknown_name("device option", name, device_option_names()));
}

}  // namespace

std::optional<std::string_view> nearest_name(std::string_view name,
                                             const std::vector<std::string_view>& known) {
  std::optional<std::string_view> best;
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 2) + 1;
  for (std::string_view candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string unknown_name(std::string_view what, std::string_view name,
                         const std::vector<std::string_view>& known) {
  std::string text = "unknown " + std::string(what) + " " + quoted(name);
  if (const auto near = nearest_name(name, known)) text += "; did you mean " + quoted(*near) + "?";
  text += known.empty() ? " (there are none)" : " (known: ";
  for (std::size_t k = 0; k < known.size(); ++k)
    text += std::string(k > 0 ? ", " : "") + std::string(known[k]);
  return known.empty() ? text : text + ")";
}

std::vector<std::string_view> device_kind_names() {
  std::vector<std::string_view> names;
  for (const DeviceKind& kind : device_kinds()) names.push_back(kind.name);
  return names;
}

std::vector<std::string_view> engine_words() {
  std::vector<std::string_view> words{"exact"};
  for (const std::string_view name : engine_names()) words.push_back(name);
  return words;
}

std::vector<std::string_view> device_option_names() {
  std::vector<std::string_view> names;
  for (const DeviceOption& option : device_options()) names.push_back(option.name);
  return names;
}

DeviceName parse_device_name(std::string_view name, const DeviceOptions& options) {
  DeviceName device;
  device.options = options;
  if (name.empty())
    if (const char* variable = std::getenv("GDR_DEVICE"); variable != nullptr && *variable != 0) {
      try {
        return parse_device_name(variable, options);
      } catch (const Error& e) {  // the name is not in the program
        throw Error(e.category(), std::string("GDR_DEVICE: ") + e.what());
      }
    }
  if (name.empty()) name = "emulator";
  const std::string written = without_engine_word(name);
  name = written;
  const std::size_t colon = name.find(':');
  const DeviceKind& kind = find_kind(name.substr(0, colon));
  device.kind = kind.name;
  std::string_view rest = colon == std::string_view::npos ? "" : name.substr(colon + 1);
  if (kind.has_place) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view place = rest.substr(0, end);
    // The location is optional; the path of a socket may contain any character but commas.
    if (place.starts_with("unix:") || place.find('=') == std::string_view::npos) {
      device.place = place;
      rest = rest.substr(std::min(end + 1, rest.size()));
    }
  }
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      usage_error("device option " + quoted(item) +
                  " has no value; write option=value, separated by commas");
    set_option(device, item.substr(0, equals), item.substr(equals + 1));
  }
  device.options.engine = engine_without_alias(device.options.engine);
  if (device.options.boards < 1 || device.options.boards > max_boards)
    usage_error("a device has from 1 to " + std::to_string(max_boards) + " boards, not " +
                std::to_string(device.options.boards));
  check_queues(device);
  for (const double s : {device.options.queue_timeout, device.options.timeout_seconds,
                         device.options.health_check_interval})
    if (!(s >= 0 && s <= max_seconds))
      usage_error(
          "queue_timeout, timeout and health_check of a device are seconds from 0 to 1e6, not " +
          fmt::format("{}", s));
  if (device.options.threads > max_threads)
    usage_error("a device uses at most " + std::to_string(max_threads) + " threads");
  return device;
}

}  // namespace gdr
