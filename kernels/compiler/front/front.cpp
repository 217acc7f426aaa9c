#include "kernels/compiler/front/front.hpp"

#include <filesystem>
#include <iterator>

#include "emulator/assembler/front/text.hpp"
#include "kernels/compiler/front/builder.hpp"
#include "kernels/compiler/front/parser.hpp"

namespace gdr::kc {
namespace {

/// The file's base name converted to an identifier.
std::string kernel_name(const std::string& file_name) {
  std::string name = std::filesystem::path(file_name).stem().string();
  for (char& c : name) {
    if (!assembly::is_word(c)) c = '_';
  }
  if (name.empty() || assembly::is_digit(name.front())) name.insert(0, "_");
  return name;
}

}  // namespace

FrontResult read_kernel(std::string_view text, const std::string& file_name,
                        const std::vector<std::string>& include_dirs, std::size_t max_errors) {
  using namespace front;
  FrontResult result;
  Messages messages(max_errors);
  const bool too_long = text.size() > max_characters;
  Sources sources(too_long ? std::string_view{} : text, file_name, include_dirs);
  Program program;
  program.top = 0;
  program.blocks.emplace_back();
  if (too_long) {
    // The text is not stored, so the message shows no line.
    messages.error(Code::TooLarge, {0, 0, 0, 0},
                   "the text is too long: " + std::to_string(text.size()) +
                       " characters; the limit is 1 MiB (1048576)");
  } else {
    Parser(program, sources, messages, 0).parse_file();
    Graph graph = front::Builder(program, messages).build(kernel_name(file_name));
    if (messages.errors() == 0) result.graph = std::move(graph);
  }
  result.diagnostics.error_count = messages.errors();
  result.diagnostics.list = messages.release();
  result.diagnostics.sources.assign(std::make_move_iterator(sources.texts.begin()),
                                    std::make_move_iterator(sources.texts.end()));
  return result;
}

}  // namespace gdr::kc
