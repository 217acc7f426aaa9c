#include "cli/shell.hpp"

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "support/catch.hpp"

namespace gdr::test {

namespace fs = std::filesystem;

const char* const sums_kernel = R"(.kernel sums
.flops 3
ivar  long xi    f64to72
jvar  long mj    f64to72
param long scale f64to72
fvar  long total f64to72 fadd at $lr24v

.start
    ipass total 0
.body
    bget  $lr0 mj
    bget  $lr2 scale
    fsub  $lr8v $lr0 xi
    dmul  $lr16v $lr8v $lr2
    fadd  total total $lr16v
)";

Outcome Shell::run(const std::string& line) const {
  const std::string program_folder = fs::path(GDR_COMMAND).parent_path().string();
  // The line is in a file, so that it needs no quoting.
  write(".line", line + "\n");
  const std::string command = "cd '" + folder_.path() +
                              "' && env -u GDR_ENGINE -u GDR_ISA "
                              "-u GDR_DEVICE PATH='" +
                              program_folder + "':\"$PATH\" bash .line >.out 2>.err </dev/null";
  const int status = std::system(command.c_str());
  Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(".out"),
                  read(".err")};
  return outcome;
}

void Shell::write(const std::string& name, const std::string& text) const {
  std::ofstream file(folder() / name, std::ios::binary);
  file << text;
  REQUIRE(file.flush().good());
}

std::string Shell::read(const std::string& name) const { return file_text(folder() / name); }

bool Shell::exists(const std::string& name) const { return fs::exists(folder() / name); }

std::string file_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  INFO(path.string());
  REQUIRE(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace gdr::test
