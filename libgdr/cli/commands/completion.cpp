// `gdr completion`: scripts that complete commands, options and names in a shell.
#include "libgdr/cli/completion.hpp"

#include "libgdr/device/names.hpp"

namespace gdr::cli::completion_command {
namespace {

struct Options {
  std::string shell, file;
};

constexpr std::pair<std::string_view,
                    std::string (*)(const std::vector<CommandDescription>& commands)>
    shells[] = {{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};

std::vector<std::string> words(std::string_view type) {
  std::vector<std::string> names;
  if (type == "SHELL")
    for (const auto& [name, script] : shells) names.emplace_back(name);
  return names;
}

int run(const Options& options) {
  for (const auto& [name, script] : shells)
    if (options.shell == name) {
      write_text(options.file, script(describe_commands()));
      return 0;
    }
  const std::vector<std::string> names = words("SHELL");
  throw usage_error("{}", unknown_name("shell", options.shell, {names.begin(), names.end()}));
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("SHELL", options.shell, "bash, zsh or fish")->required();
  add_text(app, "-o,--output", options.file, "FILE", "file for the script (default: print it)");
}

const Registration registration{
    {.name = "completion",
     .summary = "print a script that completes command lines in a shell",
     .example = "gdr completion bash >~/.local/share/bash-completion/completions/gdr\n"
                "gdr completion zsh >~/.zfunc/_gdr\n"
                "gdr completion fish >~/.config/fish/completions/gdr.fish",
     .group = Group::Help,
     .prepare = prepare<Options, add_options, run>,
     .details = "Completes commands, options, files, and the names of engines, instruction sets,\n"
                "devices, kernels, benchmarks and machines. An installation has the scripts where\n"
                "the shells find them.",
     .words = words}};

}  // namespace
}  // namespace gdr::cli::completion_command
