// The table of the debugger's commands, and their functions. Each takes the words of its line and
// prints.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgdr/cli/debug/session.hpp"

namespace gdr::cli {

struct SessionCommand {
  Session::Help help;
  void (*run)(Session& session, Words& words);
  bool repeats = false;  ///< whether an empty line repeats it
};

std::span<const SessionCommand> session_commands() noexcept;

/// Whether a word names a section; `loop` is another word for the body.
bool is_section(std::string_view word) noexcept;
std::string section_named(const std::string& word);

/// The functions of the commands; a friend of the session.
struct SessionCommands {
  // movement_commands.cpp
  static void step(Session& s, Words& words);
  static void back(Session& s, Words& words);
  static void next(Session& s, Words& words);
  static void previous(Session& s, Words& words);
  static void run(Session& s, Words& words);
  static void run_back(Session& s, Words& words);
  static void go_to(Session& s, Words& words);
  static void restart(Session& s, Words& words);
  static void add_break(Session& s, Words& words);
  static void watch(Session& s, Words& words);
  static void for_numbers(Session& s, Words& words, const char* what,
                          const std::function<void(unsigned)>& apply);
  static void remove(Session& s, Words& words);
  static void enable(Session& s, Words& words);
  static void disable(Session& s, Words& words);
  // value_commands.cpp
  static void print_words(Session& s, Words& words);
  static std::string expression_text(Session& s, const std::string& expression,
                                     const PeChoice& choice);
  static std::string values_text(Session& s, const Location& location, const PeChoice& choice,
                                 const std::optional<WordFormat>& format);
  static void set(Session& s, Words& words);
  static std::string table(Session& s, const std::vector<MachineWord>& list,
                           const std::optional<WordFormat>& format);
  static void registers(Session& s, Words& words);
  static void memory(Session& s, Words& words);
  static void reduce(Session& s, Words& words);
  static void results(Session& s, Words& words);
  static void focus(Session& s, Words& words);
  // text_commands.cpp
  static void list(Session& s, Words& words);
  static void info(Session& s, Words& words);
  static void program_info(Session& s);
  static void variables_info(Session& s);
  static void source(Session& s, Words& words);
  static void quit(Session& s, Words& words);
  static void help(Session& s, Words& words);
};

}  // namespace gdr::cli
