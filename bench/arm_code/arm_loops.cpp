#include "bench/arm_code/arm_loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>

#include "bench/gpu_code/run_tool.hpp"
#include "gdr/error.hpp"

namespace gdr::bench {
namespace {

std::vector<std::string> versions_of(const std::string& name) {
  std::vector<std::string> names;
  for (int version = 16; version <= 22; ++version)
    names.push_back(fmt::format("{}-{}", name, version));
  names.push_back(name);
  return names;
}

std::filesystem::path written(const WorkFolder& folder, const char* name, const std::string& text) {
  std::filesystem::path path = folder.path() / name;
  std::ofstream file(path);
  if (!(file << text) || !file.flush())
    throw Error(ErrorCategory::Io, path.string() + " cannot be written");
  return path;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool multiplies(const std::string& line) {
  return line.find("fmla") != std::string::npos || line.find("fmls") != std::string::npos;
}

/// The loop of a function with the most multiplications: from a label to a branch to it, without
/// another branch between them.
std::vector<std::string> main_loop_of(std::span<const std::string> lines) {
  static const std::regex label(R"(^(\.L\w+):.*)"), branch(R"(^\s+b\S*\s+(?:\S+, )?(\.L\w+)$)"),
      other(R"(^\s*[.#@/].*|^\S+:.*|^\s*$)"), any_branch(R"(^\s+(?:b|b\.\w+|cbz|cbnz)\s.*)");
  std::map<std::string, std::size_t> labels;
  std::vector<std::string> best;
  std::ptrdiff_t most = 0;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    std::smatch match;
    if (std::regex_match(lines[n], match, label)) labels[match[1]] = n;
    if (!std::regex_match(lines[n], match, branch) || !labels.contains(match[1])) continue;
    std::vector<std::string> body;
    for (std::size_t k = labels[match[1]]; k < n; ++k)
      if (!std::regex_match(lines[k], other)) body.push_back(lines[k]);
    const std::ptrdiff_t count = std::ranges::count_if(body, multiplies);
    const bool branches = std::ranges::any_of(
        body, [](const std::string& line) { return std::regex_match(line, any_branch); });
    if (branches || count <= most) continue;
    most = count;
    best = body;
  }
  return best;
}

}  // namespace

ArmTools::ArmTools() {
  const auto find = [&](const std::vector<std::string>& names, const char* package) {
    const std::optional<std::string> found = find_tool(names);
    if (!found && missing_.empty())
      missing_ = fmt::format("{} is missing: install {}", names.back(), package);
    return found.value_or("");
  };
  assembler_ = find(versions_of("llvm-mc"), "llvm-16");
  analyser_ = find(versions_of("llvm-mca"), "llvm-16");
  compiler_ = find({"aarch64-linux-gnu-g++"}, "g++-aarch64-linux-gnu");
}

std::vector<std::string> ArmTools::disassembled(std::span<const std::uint32_t> words) const {
  std::string bytes;
  for (const std::uint32_t word : words)
    for (unsigned shift = 0; shift < 32; shift += 8)
      bytes += fmt::format("{:#04x} ", word >> shift & 0xff);
  const WorkFolder folder;
  const std::string text =
      run_required_tool({assembler_, "--disassemble", "-triple=aarch64", "-mattr=+neon",
                         written(folder, "loop.txt", bytes + "\n").string()});
  std::vector<std::string> instructions = lines_of(text);
  std::erase_if(instructions, [](const std::string& line) {
    return line.find_first_not_of(" \t") == std::string::npos ||
           line.find(".text") != std::string::npos;
  });
  if (instructions.size() != words.size())
    throw Error(ErrorCategory::Internal, "llvm-mc does not know all instructions of a loop");
  return instructions;
}

double ArmTools::cycles(const ArmLoop& loop, std::string_view processor) const {
  // Enough to hide the first iterations: the exact engine's have thousands of instructions.
  const std::size_t iterations =
      std::clamp<std::size_t>(20'000 / loop.instructions.size(), 10, 100);
  const WorkFolder folder;
  const std::string text = fmt::format("{}\n", fmt::join(loop.instructions, "\n"));
  const std::string told =
      run_required_tool({analyser_, "-march=aarch64", fmt::format("-mcpu={}", processor),
                         fmt::format("-iterations={}", iterations), "-instruction-info=0",
                         "-resource-pressure=0", written(folder, "loop.s", text).string()});
  static const std::regex total(R"(Total Cycles:\s+(\d+))");
  std::smatch match;
  if (!std::regex_search(told, match, total))
    throw Error(ErrorCategory::Internal, "llvm-mca reports no cycles");
  return std::stod(match[1]) / static_cast<double>(iterations);
}

std::string ArmTools::compiled(const std::string& file, const std::string& include_folder) const {
  const WorkFolder folder;
  const std::filesystem::path to = folder.path() / "loops.s";
  run_required_tool(
      {compiler_, "-std=c++20", "-O3", "-S", "-I" + include_folder, "-o", to.string(), file});
  std::ifstream in(to);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<ArmLoop> native_arm_loops(const std::string& assembly, std::string_view vector_type,
                                      std::string_view law) {
  // The last number of the name is that of the vectors; loops with two steps are compared.
  static const std::regex function(R"(^(_ZN\S*9pair_loop\S*Li2E\S*Lm(\d)E\S*):.*)"),
      end(R"(^\s+\.size\s+_ZN\S*9pair_loop.*)");
  const std::vector<std::string> lines = lines_of(assembly);
  std::vector<ArmLoop> found;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    std::smatch match;
    if (!std::regex_match(lines[n], match, function)) continue;
    const std::string name = match[1];
    if (name.find(vector_type) == std::string::npos || name.find(law) == std::string::npos)
      continue;
    const auto last = std::find_if(lines.begin() + static_cast<std::ptrdiff_t>(n), lines.end(),
                                   [](const std::string& l) { return std::regex_match(l, end); });
    ArmLoop loop;
    loop.instructions = main_loop_of({lines.begin() + static_cast<std::ptrdiff_t>(n) + 1, last});
    const double lanes = vector_type == "Double2" ? 2 : 4;
    loop.interactions = lanes * std::stod(match[2]);
    if (!loop.empty()) found.push_back(std::move(loop));
  }
  return found;
}

}  // namespace gdr::bench
