// Command lines of the debugger: splitting, scripts, and the words of a line.
#include "libgdr/cli/debug/session.hpp"

#include <algorithm>
#include <sstream>

#include "libgdr/cli/command.hpp"
#include "libgdr/cli/debug/session_commands.hpp"
#include "libgdr/device/names.hpp"

namespace gdr::cli {
namespace {

/// Words between blanks; `=` and `,` separate and `=` is a word, and # begins a comment.
std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> words;
  bool open = false;
  for (const char c : line) {
    if (c == '#') break;
    const bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',';
    if (blank || c == '=') {
      open = false;
      if (c == '=') words.emplace_back("=");
      continue;
    }
    if (!open) words.emplace_back();
    words.back() += c;
    open = true;
  }
  return words;
}

const SessionCommand& find_command(std::string_view word) {
  std::vector<const SessionCommand*> matching;
  std::vector<std::string_view> known;
  for (const SessionCommand& command : session_commands()) {
    if (command.help.name == word || command.help.alias == word) return command;
    known.push_back(command.help.name);
    if (command.help.name.starts_with(word)) matching.push_back(&command);
  }
  if (matching.size() == 1) return *matching.front();
  if (matching.empty())
    throw usage_error("{}; help lists them", unknown_name("command", word, known));
  std::string names;
  for (const SessionCommand* command : matching) names += fmt::format(" {}", command->help.name);
  throw usage_error("'{}' may be one of{}", word, names);
}

}  // namespace

std::string Words::take(std::string_view what) {
  if (empty()) throw usage_error("{} is missing", what);
  return words_[next_++];
}

bool Words::take_if(std::string_view word, std::size_t least) {
  if (empty() || peek().size() < std::min(least, word.size()) || !word.starts_with(peek()))
    return false;
  ++next_;
  return true;
}

std::optional<std::uint64_t> Words::take_number() {
  if (empty()) return std::nullopt;
  const auto number = parse_all<std::uint64_t>(peek());
  if (number) ++next_;
  return number;
}

std::uint64_t Words::take_number(std::string_view what) {
  const std::string word = take(what);
  const auto number = parse_all<std::uint64_t>(word);
  if (!number) throw usage_error("{} is a whole number, not '{}'", what, word);
  return *number;
}

void Words::finish() const {
  if (!empty()) throw usage_error("unexpected '{}'", peek());
}

void Session::execute(std::string_view line) {
  interrupted_ = 0;
  std::vector<std::string> words = split(line);
  if (words.empty()) return;
  const SessionCommand& command = find_command(words.front());
  words.erase(words.begin());
  Words rest(std::move(words));
  command.run(*this, rest);
}

void Session::execute_script(std::string_view text, const std::string& name) {
  std::istringstream lines{std::string(text)};
  std::size_t number = 0;
  for (std::string line; !finished_ && interrupted_ == 0 && std::getline(lines, line);) {
    ++number;
    try {
      execute(line);
    } catch (const Error& error) {
      // Where a nested script has failed is in the message already.
      throw Error(ErrorCategory::Input, fmt::format("{}:{}: {}", name, number, error.what()));
    }
  }
}

bool Session::repeats(std::string_view line) {
  const std::vector<std::string> words = split(line);
  if (words.empty()) return false;
  try {
    return find_command(words.front()).repeats;
  } catch (const Error&) {
    return false;
  }
}

std::vector<Session::Help> Session::help() {
  std::vector<Help> rows;
  for (const SessionCommand& command : session_commands()) rows.push_back(command.help);
  return rows;
}

}  // namespace gdr::cli
