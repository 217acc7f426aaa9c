#include "libgdr/device/quantities.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace gdr {
namespace {

struct NamedQuantity {
  std::string_view name, quantity;
  unsigned component = 0;
  HostType type = HostType::F64;
};
constexpr NamedQuantity known[] = {{"x", "pos", 0},
                                   {"y", "pos", 1},
                                   {"z", "pos", 2},
                                   {"vx", "vel", 0},
                                   {"vy", "vel", 1},
                                   {"vz", "vel", 2},
                                   {"ax", "acc", 0},
                                   {"ay", "acc", 1},
                                   {"az", "acc", 2},
                                   {"m", "mass"},
                                   {"id", "id", 0, HostType::I64},
                                   {"slot", "index", 0, HostType::I64}};

/// By the name of the variable.
InputQuantity derived(const Variable& v) {
  if (v.kind == VarKind::Param && v.name == "eps2") return {"eps", 0, true};
  if (v.kind != VarKind::Target && v.kind != VarKind::Source) return {};
  const bool target = v.kind == VarKind::Target;
  std::string_view name = v.name;
  const bool has_letter = name.ends_with(target ? 'i' : 'j');
  if (has_letter) name.remove_suffix(1);
  const auto* const found = std::ranges::find(known, name, &NamedQuantity::name);
  if (found == std::end(known) || found->type != v.conversion.host) return {};
  InputQuantity out{std::string(found->quantity), found->component};
  if (found->quantity == "id" && has_letter) out.default_value = target ? -1 : -2;
  return out;
}

}  // namespace

std::vector<InputQuantity> quantities_of(const Program& program) {
  const bool declared = std::ranges::any_of(program.variables, [](const Variable& v) {
    return !v.quantity.empty() || v.default_value.has_value();
  });
  std::map<std::pair<VarKind, std::string_view>, unsigned> components;
  std::vector<InputQuantity> out;
  out.reserve(program.variables.size());
  for (const Variable& v : program.variables) {
    if (!declared)
      out.push_back(derived(v));
    else
      out.push_back({v.quantity, v.quantity.empty() ? 0 : components[{v.kind, v.quantity}]++,
                     v.squared, v.default_value});
  }
  return out;
}

}  // namespace gdr
