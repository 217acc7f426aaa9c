#include "libgdr/cli/description.hpp"

#include <algorithm>
#include <ranges>

#include "emulator/engine/api/engine.hpp"
#include "emulator/host/isa.hpp"
#include "gdr/kernel.hpp"
#include "libgdr/device/names.hpp"

namespace gdr::cli {
namespace {

/// Types whose values may be files.
constexpr std::string_view file_types[] = {"FILE", "PATH", "OUT.hdf5", "KERNEL", "JOB", "MACHINE"};

/// The values of types that several commands have.
Offer common_offer(std::string_view type) {
  Offer offer;
  offer.files = std::ranges::find(file_types, type) != std::end(file_types);
  offer.folders = type == "DIR";
  const auto add = [&offer](std::string_view word) { offer.words.emplace_back(word); };
  if (type == "KERNEL") {
    std::ranges::for_each(Kernel::builtin_names(), add);
  } else if (type == "ENGINE") {
    std::ranges::for_each(engine_names(), add);
  } else if (type == "ISA") {
    for (const Isa isa : {Isa::Avx512, Isa::Avx2, Isa::Neon, Isa::Portable}) add(isa_name(isa));
  } else if (type == "DEVICE") {
    std::ranges::for_each(device_kind_names(), add);
  } else if (type.find('|') != std::string_view::npos) {
    for (const auto word : std::views::split(type, '|'))
      add(std::string_view(word.begin(), word.end()));
  }
  return offer;
}

Offer offer_of(std::string_view type, const Command& command) {
  Offer offer = common_offer(type);
  if (command.words != nullptr)
    for (const std::string& word : command.words(type)) offer.words.push_back(word);
  return offer;
}

OptionDescription describe(const CLI::Option& option, const Command& command) {
  OptionDescription result;
  result.meaning = option.get_description();
  result.required = option.get_required();
  result.many = option.get_expected_max() > 1 ||
                option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  if (option.get_positional()) {
    result.type = option.get_name(true);
    result.names = {result.type};
  } else {
    for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
    if (option.get_expected_max() != 0 && option.get_items_expected_max() != 0)
      result.type = option.get_type_name();
  }
  result.offer = offer_of(result.type, command);
  return result;
}

}  // namespace

std::string OptionDescription::text() const {
  const std::string list = fmt::format("{}", fmt::join(names, ", "));
  return type.empty() || names.front() == type ? list : fmt::format("{} {}", list, type);
}

std::string CommandDescription::usage() const {
  std::string text = fmt::format("gdr {} [OPTIONS]", name);
  for (const OptionDescription& argument : arguments) {
    const std::string shown = argument.names.front() + (argument.many ? "..." : "");
    text += argument.required ? " " + shown : " [" + shown + "]";
  }
  return text;
}

CommandDescription describe(const CLI::App& app, const Command& command) {
  CommandDescription result{std::string(command.name),
                            std::string(command.summary),
                            std::string(command.example),
                            std::string(command.details),
                            command.group,
                            {},
                            {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    (option->get_positional() ? result.arguments : result.options)
        .push_back(describe(*option, command));
  }
  return result;
}

const std::vector<OptionDescription>& top_options() {
  static const std::vector<OptionDescription> list = {
      {.names = {"-h", "--help"}, .type = {}, .meaning = "print this help", .offer = {}},
      {.names = {"--version"}, .type = {}, .meaning = "print the version", .offer = {}}};
  return list;
}

std::string_view group_title(Group group) noexcept {
  constexpr std::string_view titles[] = {"Simulation", "Kernels", "Machine", "Help", "Hidden"};
  return titles[static_cast<std::size_t>(group)];
}

}  // namespace gdr::cli
