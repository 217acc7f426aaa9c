#include "libgdr/cli/debug/session_commands.hpp"

#include <array>

#include "libgdr/cli/command.hpp"

namespace gdr::cli {
namespace {

constexpr std::array all_commands{
    SessionCommand{{"step", "s", "[N] [clocks]",
                    "execute one or N instructions, or the instructions of N clocks"},
                   &SessionCommands::step,
                   true},
    SessionCommand{
        {"back", "u", "[N]", "go back by one or N instructions"}, &SessionCommands::back, true},
    SessionCommand{{"next", "n", "[pass]", "go to the beginning of the next pass of the body"},
                   &SessionCommands::next,
                   true},
    SessionCommand{
        {"previous", "v", "[pass]", "go back to the beginning of this pass, or of the one before"},
        &SessionCommands::previous,
        true},
    SessionCommand{{"continue", "c", "", "run to the next breakpoint or change of a watched word"},
                   &SessionCommands::run,
                   true},
    SessionCommand{
        {"reverse-continue", "rc", "", "the same, back in time"}, &SessionCommands::run_back, true},
    SessionCommand{{"goto", "g", "POSITION", "go to a position: a number of executed instructions"},
                   &SessionCommands::go_to},
    SessionCommand{{"restart", "", "", "go to the beginning; breakpoints and watches stay"},
                   &SessionCommands::restart},
    SessionCommand{{"break", "b", "[WHERE]",
                    "stop before a source line (95, FILE:95), an instruction (body 12 [pass N]), a "
                    "section (start, body or loop [pass N], end), or after a time (clock N); "
                    "without WHERE here"},
                   &SessionCommands::add_break},
    SessionCommand{{"watch", "w", "EXPR [pe N|all] [block N|all]",
                    "stop when a variable, register, memory word, T or mask changes"},
                   &SessionCommands::watch},
    SessionCommand{
        {"delete", "d", "[N...]", "delete breakpoints and watches, all without a number"},
        &SessionCommands::remove},
    SessionCommand{{"enable", "", "[N...]", "enable breakpoints and watches"},
                   &SessionCommands::enable},
    SessionCommand{{"disable", "", "[N...]", "disable them, without deleting them"},
                   &SessionCommands::disable},
    SessionCommand{{"print", "p", "EXPR... [FORMAT] [pe N|all] [block N|all]",
                    "print variables, locations or expressions of them, mj*(xj - xi); FORMAT is "
                    "hex, int, float or fixed.N"},
                   &SessionCommands::print_words},
    SessionCommand{{"set", "", "EXPR [pe N|all] [block N|all] = VALUE...",
                    "change words from this position on"},
                   &SessionCommands::set},
    SessionCommand{{"registers", "r", "[short|long] [FORMAT] [pe N] [block N]",
                    "print registers, T, masks and exception flags"},
                   &SessionCommands::registers},
    SessionCommand{{"memory", "x", "EXPR [COUNT] [FORMAT]",
                    "print COUNT words of a memory from an address ($lm0, $b4) or a variable on"},
                   &SessionCommands::memory},
    SessionCommand{{"reduce", "", "EXPR [OPERATION]",
                    "print what the reduction network makes of the blocks' words"},
                   &SessionCommands::reduce},
    SessionCommand{{"results", "", "[N]", "print the results of the targets as they are now"},
                   &SessionCommands::results},
    SessionCommand{{"pe", "", "[[BLOCK] PE]", "choose the PE that other commands show"},
                   &SessionCommands::focus},
    SessionCommand{{"list", "l", "[SECTION] [N]",
                    "list instructions around the next one or number N, or a whole section"},
                   &SessionCommands::list},
    SessionCommand{{"info", "i", "breakpoints|program|variables|position", "print a table"},
                   &SessionCommands::info},
    SessionCommand{{"source", "", "FILE", "execute the commands of a file"},
                   &SessionCommands::source},
    SessionCommand{{"help", "h", "[COMMAND]", "list the commands, or explain one"},
                   &SessionCommands::help},
    SessionCommand{{"quit", "q", "", "end the session"}, &SessionCommands::quit},
};

}  // namespace

bool is_section(std::string_view word) noexcept {
  return word == "start" || word == "body" || word == "loop" || word == "end";
}
std::string section_named(const std::string& word) { return word == "loop" ? "body" : word; }

std::span<const SessionCommand> session_commands() noexcept { return all_commands; }

void SessionCommands::help(Session&, Words& words) {
  std::string text;
  const auto usage = [](const Session::Help& h) {
    return fmt::format("{}{}{}", h.name, h.arguments.empty() ? "" : " ", h.arguments);
  };
  if (!words.empty()) {
    const std::string word = words.take("command");
    words.finish();
    for (const SessionCommand& command : all_commands)
      if (command.help.name.starts_with(word) || command.help.alias == word)
        text += fmt::format(
            "{}\n    {}{}\n", usage(command.help), wrap(command.help.meaning, 4, 80),
            command.help.alias.empty() ? std::string()
                                       : fmt::format("; short: {}", command.help.alias));
    if (text.empty()) throw usage_error("there is no command '{}'; help lists them", word);
    return print("{}", text);
  }
  for (const SessionCommand& command : all_commands)
    text += fmt::format("{:<17} {:<3} {}\n", command.help.name, command.help.alias,
                        wrap(command.help.meaning, 22, 76));
  text +=
      "\nEXPR is a variable of the kernel (info variables), one of its elements (ax[2]), an item\n"
      "of the group (xj@1) or a half (ax.hi), or a location as in assembly: $lr8, $m4v, $th,\n"
      "$lb10, m0. help COMMAND shows arguments; commands may be shortened.\n";
  print("{}", text);
}

}  // namespace gdr::cli
