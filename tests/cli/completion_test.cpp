// Completion in real shells: bash always, zsh and fish where they are installed.
#include <string>

#include "cli/shell.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

namespace gdr::test {
namespace {

/// Files that are offered.
void write_files(const Shell& shell) {
  shell.write("sums.gds", sums_kernel);
  shell.write("sun and moon.gds", sums_kernel);
  REQUIRE(shell.run("mkdir folder").status == 0);
}

/// A shell that asks the script's function as bash does: the words of a line, the last of them
/// incomplete.
struct Bash : Shell {
  Bash() { write_files(*this); }

  /// The offers, each followed by a bar.
  std::string offers(const std::string& words) const {
    return run("source <(gdr completion bash)\nCOMP_WORDS=(gdr " + words +
               ") COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_gdr\nprintf '%s|' \"${COMPREPLY[@]}\"")
        .out;
  }
};

}  // namespace

TEST_CASE("bash completes commands, options, names and files") {
  const Bash bash;
  CHECK(bash.offers("co") == "compile|copy|completion|");
  CHECK(bash.offers("--v") == "--version|");
  CHECK(bash.offers("asm --st") == "--stalls|");
  CHECK(bash.offers("asm --stalls ''") == "pad|error|");
  CHECK(bash.offers("asm --stalls = e") == "error|");
  CHECK(bash.offers("asm --stalls =") == "pad|error|");
  CHECK(bash.offers("force --engine native-") == "native-mixed|native-float|native-fast|");
  CHECK(bash.offers("nbody x.hdf5 --isa a") == "avx512|avx2|");
  CHECK(bash.offers("run --device b") == "board|");
  CHECK(bash.offers("force --kernel gravity_j") ==
        "gravity_jerk|gravity_jerk_long|gravity_jerk_moving|gravity_jerk_neighbours|");
  CHECK(bash.offers("asm sum") == "sums.gds|");
  CHECK(bash.offers("asm sun") == "sun and moon.gds|");
  CHECK(bash.offers("asm -I ''") == "folder|");
  CHECK(bash.offers("predict --machine plan") == "plan4096|");
  CHECK(bash.offers("predict lu --partition s") == "sources|");
  CHECK(bash.offers("selftest --only l") == "loops|");
  CHECK(bash.offers("bench acc") == "accuracy|");
  CHECK(bash.offers("man c") == "compile|copy|completion|");
  CHECK(bash.offers("completion ''") == "bash|zsh|fish|");
  CHECK(bash.offers("nosuch ''") == "|");
  // A number: nothing is offered.
  CHECK(bash.offers("force --threads ''") == "|");
}

TEST_CASE("bash completes every option of every command") {
  const Bash bash;
  const std::string commands = bash.offers("''");
  for (const char* name : {"asm", "bench", "boards", "compile", "completion", "disasm", "force",
                           "fp", "header", "copy", "info", "man", "nbody", "predict", "profile",
                           "relay", "run", "selftest", "serve"}) {
    INFO(name);
    CHECK(contains(commands, std::string(name) + "|"));
    const std::string offers = "|" + bash.offers(std::string(name) + " -");
    const std::string help = bash.run("gdr " + std::string(name) + " --help").out;
    for (std::size_t at = 0; (at = help.find("\n  -", at)) != std::string::npos; ++at) {
      std::size_t begin = at + 3;
      while (help[begin] == '-') {
        const std::size_t end = help.find_first_of(" ,\n", begin);
        INFO(help.substr(begin, end - begin));
        CHECK(contains(offers, "|" + help.substr(begin, end - begin) + "|"));
        begin = help[end] == ',' ? end + 2 : at;
      }
    }
  }
}

TEST_CASE("zsh completes commands, options, names and files") {
  const Shell shell;
  if (shell.run("command -v zsh").status != 0) {
    WARN("no zsh: its completion is not tested (install zsh)");
    return;
  }
  write_files(shell);
  // Keys are typed on a pseudo-terminal; the command that results is recorded.
  shell.write("type.zsh", R"(zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "autoload -U compinit; $1; gdr() { print -r -- \$* >>typed }"
for line in $'gdr compl\tba\t' $'gdr asm --stal\ter\t sum\t' $'gdr predict --partition tar\tgravity_je\t' \
            $'gdr force --engine refe\t' $'gdr force --device emu\t' $'gdr asm -I fol\t'; do
  zpty -w shell "$line"
done
zpty -w shell exit
while zpty -r shell answer; do :; done
)");
  REQUIRE(shell.run("gdr completion zsh -o _gdr").status == 0);
  for (const char* load : {"compinit -u -D; source _gdr", "fpath=($PWD $fpath); compinit -u -D"}) {
    INFO(load);
    const Outcome outcome =
        shell.run(std::string("rm -f typed; timeout 60 zsh -f type.zsh '") + load + "'");
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(shell.read("typed") ==
          "completion bash\nasm --stalls error sums.gds\n"
          "predict --partition targets gravity_jerk\nforce --engine reference\n"
          "force --device emulator\nasm -I folder\n");
  }
}

TEST_CASE("fish completes commands, options, names and files") {
  const Shell shell;
  if (shell.run("command -v fish").status != 0) {
    WARN("no fish: its completion is not tested (install fish)");
    return;
  }
  write_files(shell);
  REQUIRE(shell.run("gdr completion fish -o gdr.fish").status == 0);
  // The offers without their descriptions, each followed by a bar.
  const auto offers = [&](const std::string& line) {
    return shell
        .run("HOME=$PWD fish -N -c 'source gdr.fish; complete -C \"gdr " + line +
             "\"' | cut -f 1 | tr '\\n' '|'")
        .out;
  };
  CHECK(offers("co") == "compile|completion|copy|");
  CHECK(offers("asm --st") == "--stalls|");
  CHECK(offers("asm --stalls ") == "error|pad|");
  CHECK(offers("force --engine native-") == "native-fast|native-float|native-mixed|");
  CHECK(offers("run --device b") == "board|");
  CHECK(offers("asm sum") == "sums.gds|");
  CHECK(offers("asm -I fol") == "folder/|");
  CHECK(contains(offers("force --kernel gravity_j"), "gravity_jerk|"));
}

TEST_CASE("gdr completion names the shells that it knows") {
  const Shell shell;
  const Outcome wrong = shell.run("gdr completion fisch");
  CHECK(wrong.status == 2);
  CHECK(contains(wrong.err, "did you mean \"fish\"?"));
  CHECK(contains(shell.run("gdr completion").err, "SHELL is required"));
}

}  // namespace gdr::test
