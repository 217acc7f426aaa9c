#include "emulator/assembler/assembler.hpp"

#include <filesystem>

#include "emulator/assembler/front/assembly.hpp"
#include "emulator/assembler/front/files.hpp"
#include "emulator/assembler/front/finish.hpp"
#include "emulator/assembler/front/macros.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

/// Default kernel name: the file's base name without extension.
std::string default_name(const std::string& file_name) {
  return std::filesystem::path(file_name).stem().string();
}

}  // namespace

AssembleResult assemble(std::string_view text, const std::string& file_name,
                        const AssembleOptions& options) {
  assembly::Assembly a(options);
  const std::string name = std::filesystem::path(file_name).lexically_normal().string();
  assembly::add_source(a, name, std::string(text));
  a.open_files.push_back(0);
  a.program.name = default_name(file_name);
  assembly::LineReader reader(a.sources.front().text, 0);
  assembly::parse_lines(a, reader);
  assembly::finish(a);

  AssembleResult result;
  result.diagnostics.error_count = a.report.errors();
  result.diagnostics.list = a.report.release();
  for (SourceText& source : a.sources) result.diagnostics.sources.push_back(std::move(source));
  if (result.diagnostics.error_count == 0) result.program = std::move(a.program);
  return result;
}

AssembleResult assemble_file(const std::string& path, const AssembleOptions& options) {
  const auto text = assembly::read_text(path);
  if (!text) {
    throw Error(
        ErrorCategory::Io,
        path + ": the source file cannot be read; check that it exists and is a regular file");
  }
  return assemble(*text, path, options);
}

}  // namespace gdr
