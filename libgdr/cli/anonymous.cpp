#include "libgdr/cli/anonymous.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

namespace gdr::cli {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Replaces `word` where no letter, digit or underscore precedes or follows it.
std::string with_word_replaced(std::string text, const std::string& word,
                               const std::string& other) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;) {
    const std::size_t end = at + word.size();
    const bool whole = (at == 0 || !in_word(text[at - 1]) || !in_word(word.front())) &&
                       (end == text.size() || !in_word(text[end]) || !in_word(word.back()));
    if (whole) text.replace(at, word.size(), other);
    at += whole ? other.size() : 1;
  }
  return text;
}

/// Replaces the name of the folder after `parent`, such as /home/.
std::string with_folder_replaced(std::string text, std::string_view parent,
                                 std::string_view other) {
  for (std::size_t at = 0; (at = text.find(parent, at)) != std::string::npos;) {
    at += parent.size();
    const std::size_t end = std::min(text.find_first_of("/:,; \t\n'\"", at), text.size());
    text.replace(at, end - at, other);
    at += other.size();
  }
  return text;
}

}  // namespace

PrivateWords private_words() {
  PrivateWords words;
  const auto add = [&words](const char* word, const char* other) {
    if (word == nullptr) return;
    std::string text(word);
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    if (!text.empty() && text != "/") words.emplace_back(text, other);
  };
  const passwd* const account = getpwuid(getuid());
  add(std::getenv("HOME"), "~");
  if (account != nullptr) add(account->pw_dir, "~");
  for (const char* variable : {"USER", "LOGNAME"}) add(std::getenv(variable), "<user>");
  if (account != nullptr) add(account->pw_name, "<user>");
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) {
    add(host.data(), "<host>");
    // The name without its domain.
    add(std::string(host.data(), std::find(host.begin(), host.end(), '.')).c_str(), "<host>");
  }
  add(std::getenv("HOSTNAME"), "<host>");
  return words;
}

std::string anonymous(std::string_view text, const PrivateWords& words) {
  std::string result(text);
  for (const auto& [word, other] : words)
    if (!word.empty()) result = with_word_replaced(std::move(result), word, other);
  for (const std::string_view parent : {"/home/", "/Users/"})
    result = with_folder_replaced(std::move(result), parent, "<user>");
  return with_folder_replaced(std::move(result), "/run/user/", "<uid>");
}

}  // namespace gdr::cli
