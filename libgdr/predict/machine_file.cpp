// Reading and writing of machine files.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "gdr/error.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/io/atomic_file.hpp"
#include "libgdr/predict/machine.hpp"

namespace gdr::predict {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& file, std::string_view path, const std::string& what) {
  throw Error(ErrorCategory::Input,
              fmt::format("{}: {}{}{}", file, path, path.empty() ? "" : ": ", what));
}

/// Calls a function; its error gets the file and the path of a key.
template <typename Function>
decltype(auto) at(const std::string& file, std::string_view path, const Function& function) {
  try {
    return function();
  } catch (const Error& error) {
    refuse(file, path, error.what());
  }
}

/// `FILE:LINE:COLUMN` of a byte.
std::string place_of(const std::string& file, std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const std::size_t line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
  const std::size_t start =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return fmt::format("{}:{}:{}", file, line, before.size() - start + 1);
}

/// Rejects keys that are given twice: JSON would take the last value.
class OnlyOnce {
 public:
  bool operator()(int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) seen_.emplace_back();
    if (event == Json::parse_event_t::object_end) seen_.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto key = parsed.get<std::string>();
      if (!seen_.back().insert(key).second) throw Error(ErrorCategory::Input, key);
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> seen_;
};

Json parse_json(std::string_view text, const std::string& file) {
  try {
    return Json::parse(text.begin(), text.end(), OnlyOnce{}, true, true);
  } catch (const Json::parse_error& error) {
    // The message of the JSON library starts with the location in bytes.
    const std::string_view all = error.what();
    const std::size_t reason = all.find("syntax error");
    const std::size_t byte = error.byte == 0 ? 0 : error.byte - 1;
    throw Error(ErrorCategory::Input,
                fmt::format("{}: invalid JSON: {}", place_of(file, text, byte),
                            reason == std::string_view::npos ? all : all.substr(reason)));
  } catch (const Json::exception& error) {
    refuse(file, "", error.what());
  } catch (const Error& twice) {
    refuse(file, twice.what(), "is given twice");
  }
}

std::string text_of(const Json& json, const std::string& file, const std::string& path) {
  if (!json.is_string()) refuse(file, path, "a string is needed");
  return json.get<std::string>();
}

/// One value: a number, or an object with its unit, origin and source.
Quantity read_quantity(const Json& json, const KeyInfo& info, const std::string& file) {
  const std::string path(info.name);
  Quantity quantity{0, Origin::Assumed, "given in " + file + " without a source"};
  if (json.is_number()) {
    quantity.value = json.get<double>();
    return quantity;
  }
  if (!json.is_object()) refuse(file, path, "a number, or an object with a \"value\", is needed");
  bool has_value = false;
  for (const auto& [name, item] : json.items()) {
    const std::string inner = path + "." + name;
    if (name == "value") {
      if (!item.is_number()) refuse(file, inner, "a number is needed");
      quantity.value = item.get<double>();
      has_value = true;
    } else if (name == "unit") {
      const std::string unit = text_of(item, file, inner);
      if (unit != info.unit)
        refuse(file, inner,
               fmt::format("\"{}\": the unit of this value is \"{}\"", unit, info.unit));
    } else if (name == "origin") {
      const std::string origin = text_of(item, file, inner);
      quantity.origin = at(file, inner, [&] { return parse_origin(origin); });
    } else if (name == "source") {
      quantity.source = text_of(item, file, inner);
    } else {
      refuse(file, inner, unknown_name("field", name, {"value", "unit", "origin", "source"}));
    }
  }
  if (!has_value) refuse(file, path, "has no \"value\"");
  return quantity;
}

void read_group(Machine& machine, const std::string& group, const Json& json,
                const std::string& file) {
  if (!json.is_object()) refuse(file, group, "an object with values is needed");
  for (const auto& [name, item] : json.items()) {
    const std::string path = group + "." + name;
    const KeyInfo& info = at(file, path, [&]() -> const KeyInfo& { return find_key(path); });
    const Quantity quantity = read_quantity(item, info, file);
    at(file, path, [&] { machine.set(info.key, quantity); });
  }
}

/// The parts of the names of keys before the dot.
std::vector<std::string_view> groups() {
  std::vector<std::string_view> list;
  for (const KeyInfo& info : key_table()) {
    const std::string_view group = info.name.substr(0, info.name.find('.'));
    if (std::ranges::find(list, group) == list.end()) list.push_back(group);
  }
  return list;
}

Machine read_base(const Json& json, const std::string& file) {
  if (!json.contains("base"))
    refuse(file, "base", "is missing; name the machine that this one is derived from, e.g. board4");
  const std::string base = text_of(json["base"], file, "base");
  return at(file, "base", [&] { return preset(base); });
}

}  // namespace

Machine parse_machine(std::string_view text, const std::string& file) {
  const Json json = parse_json(text, file);
  if (!json.is_object()) refuse(file, "", "a machine is an object, { ... }");
  Machine machine = read_base(json, file);
  machine.name = file;
  machine.summary = "as described in " + file;
  const std::vector<std::string_view> known = groups();
  for (const auto& [name, item] : json.items()) {
    if (name == "base") continue;
    if (name == "name") {
      machine.name = text_of(item, file, name);
    } else if (name == "summary") {
      machine.summary = text_of(item, file, name);
    } else if (std::ranges::find(known, name) != known.end()) {
      read_group(machine, name, item, file);
    } else {
      std::vector<std::string_view> all{"name", "summary", "base"};
      all.insert(all.end(), known.begin(), known.end());
      refuse(file, name, unknown_name("part of a machine", name, all));
    }
  }
  return machine;
}

Machine find_machine(const std::string& name) {
  if (name.find_first_of("./") == std::string::npos) return preset(name);
  return parse_machine(read_file(name), name);
}

std::string machine_json(const Machine& machine) {
  Json json{{"name", machine.name}, {"summary", machine.summary}};
  json["base"] = presets().front().name;
  for (const KeyInfo& info : key_table()) {
    const std::size_t dot = info.name.find('.');
    const Quantity& q = machine.values[static_cast<std::size_t>(info.key)];
    json[std::string(info.name.substr(0, dot))][std::string(info.name.substr(dot + 1))] = {
        {"value", q.value},
        {"unit", info.unit},
        {"origin", origin_name(q.origin)},
        {"source", q.source}};
  }
  return json.dump(2) + "\n";
}

}  // namespace gdr::predict
