// Build tool: writes the generated pages of docs/reference, or checks that they are up to date.
//
// usage: gdr_docs_generator FOLDER            write all pages into FOLDER
//        gdr_docs_generator --check FOLDER    exit status 1 if a page differs from its table
#include <cstdio>
#include <exception>
#include <fstream>
#include <sstream>
#include <string>

#include "docs/generator/pages.hpp"
#include "emulator/assembler/diagnostics/page.hpp"
#include "kernels/compiler/diagnostics/table.hpp"

namespace gdr::docs {

std::span<const Page> pages() noexcept {
  static constexpr Page all[] = {
      {"instruction-set", instruction_set_page},
      {"device-options", device_options_page},
      {"assembler-diagnostics", diagnostics_page},
      {"kernel-diagnostics", kc::kernel_diagnostics_page},
  };
  return all;
}

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int run(bool check, const std::string& folder) {
  int status = 0;
  for (const Page& page : pages()) {
    const std::string path = folder + "/" + std::string(page.name) + ".md";
    const std::string text = page.text();
    if (contents(path) == text) continue;
    if (check) {
      std::fprintf(stderr, "%s differs from the table it is generated from; run `make docs`\n",
                   path.c_str());
      status = 1;
      continue;
    }
    std::ofstream file(path);
    if (!(file << text).flush()) {
      std::fprintf(stderr, "%s cannot be written\n", path.c_str());
      status = 1;
    }
  }
  return status;
}

}  // namespace
}  // namespace gdr::docs

int main(int argc, char** argv) {
  const bool check = argc == 3 && std::string(argv[1]) == "--check";
  if (argc != 2 && !check) {
    std::fprintf(stderr, "usage: gdr_docs_generator [--check] FOLDER\n");
    return 2;
  }
  try {
    return gdr::docs::run(check, argv[argc - 1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gdr_docs_generator: %s\n", error.what());
    return 1;
  }
}
