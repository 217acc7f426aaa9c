// `gdr docs` (not listed): prints the pages of docs/ that are generated.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gdr/error.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/output.hpp"
#include "libgdr/cli/reference.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr::cli {
namespace {

struct Options {
  std::string page, output;
};

int run(const Options& options) {
  std::vector<std::string_view> known;
  for (const ReferencePage& page : reference_pages()) {
    known.push_back(page.name);
    if (page.name != options.page) continue;
    if (options.output.empty())
      write_output(page.text());
    else
      write_file_atomically(options.output, page.text());
    return 0;
  }
  throw Error(ErrorCategory::Usage, unknown_name("page", options.page, known));
}

Action prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("PAGE", options->page, "isa, encoding, diagnostics or kernel-diagnostics")
      ->required();
  app.add_option("-o,--output", options->output, "file (default: print it)")->type_name("FILE");
  return [options] { return run(*options); };
}

const Registration registration{{.name = "docs",
                                 .summary = "print a generated page of the documentation",
                                 .example = "gdr docs isa -o docs/isa.md",
                                 .group = Group::Hidden,
                                 .prepare = prepare}};

}  // namespace
}  // namespace gdr::cli
