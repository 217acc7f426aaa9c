// `gdr man`: manual pages.
#include <filesystem>

#include "libgdr/cli/manual.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr::cli::man_command {
namespace {

struct Options {
  std::string command, folder;
};

std::vector<std::string> words(std::string_view type) {
  return type == "COMMAND" ? command_names() : std::vector<std::string>();
}

int write_all(const std::filesystem::path& folder, const std::vector<CommandDescription>& all) {
  make_writable_folder(folder.string());
  write_file_atomically((folder / "gdr.1").string(), manual_page(all));
  for (const CommandDescription& command : all)
    write_file_atomically((folder / ("gdr-" + command.name + ".1")).string(), manual_page(command));
  return 0;
}

int run(const Options& options) {
  const std::vector<CommandDescription> all = describe_commands();
  if (!options.folder.empty() && !options.command.empty())
    throw usage_error("--all writes the pages of all commands: name none");
  if (!options.folder.empty()) return write_all(options.folder, all);
  // Pages are named gdr and gdr-NAME.
  std::string_view wanted = options.command;
  if (wanted.starts_with("gdr-")) wanted.remove_prefix(4);
  if (wanted.empty() || wanted == "gdr") {
    write_output(manual_page(all));
    return 0;
  }
  for (const CommandDescription& command : all)
    if (command.name == wanted) {
      write_output(manual_page(command));
      return 0;
    }
  const std::vector<std::string> names = command_names();
  throw usage_error("{}", unknown_name("command", options.command, {names.begin(), names.end()}));
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("COMMAND", options.command, "command whose page is printed (default: gdr itself)");
  add_text(app, "--all", options.folder, "DIR", "write the pages of all commands to a folder");
}

const Registration registration{
    {.name = "man",
     .summary = "print the manual page of a command",
     .example = "gdr man asm | man -l -\ngdr man --all ~/.local/share/man/man1",
     .group = Group::Help,
     .prepare = prepare<Options, add_options, run>,
     .details = "Pages are in the language of man(7). An installation has them in share/man/man1.",
     .words = words}};

}  // namespace
}  // namespace gdr::cli::man_command
