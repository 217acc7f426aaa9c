// The command `gdr debug`: scripts of commands, what they print, and errors in them.
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli/shell.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

const char* const pull_kernel = R"(.kernel pull
ivar long xi f64to72
ivar short idi i64int
jvar long xj mj f64to72
param long k f64to72
fvar long force f64to72 fadd at $lr24v
alias dx = $lr8v
.start
    ipass force 0
    vlen 1
    bget $lr4 k
.body
    bget $lr0v xj.v         # one word for each element
    vlen 4
    fsub dx:$t:m0.neg $lr0 xi
    dmul dx dx $lr2
    fadd force force dx     # the sum
.end
    dmul force force $lr4
)";

/// The kernel with three targets and five sources.
struct Pull : Shell {
  Pull() {
    std::string text = pull_kernel;
    text.replace(text.find("bget $lr0v"), 0, "vlen 2\n    ");
    write("pull.gds", text);
    write("i.txt", "1 7\n-2 8\n0.5 9\n");
    write("j.txt", "2 1\n-3 2\n4 0.5\n0.25 8\n-1 3\n");
  }
  Outcome debug(const std::string& arguments) const {
    return run(
        "gdr debug pull.gds --targets i.txt --sources j.txt --set k=2 "
        "--device emulator:blocks=2,pes=2,threads=1 " +
        arguments);
  }
  /// Standard output of commands that must succeed.
  std::string output(const std::string& commands) const {
    write("commands", commands);
    const Outcome done = debug("-x commands");
    CAPTURE(commands, done.err);
    CHECK(done.status == 0);
    CHECK(done.err.empty());
    return done.out;
  }
};

bool has(const std::string& text, const std::string& part) {
  CAPTURE(text, part);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("gdr debug steps in both directions and shows the instruction and what it changed") {
  const Pull shell;
  const std::string out = shell.output("next pass\nstep 2\nback\n");
  has(out, "body 0 of ");
  has(out, ", pass 0 of 5, clock ");
  has(out, "bget $lr0v xj.v         # one word for each element");
  has(out, "changed in block 0, PE 0\n");
  const std::string forwards = shell.output("goto 4\nstep\n");
  has(forwards, "  dx         0 0 0 0 -> 1 4 1.5 2\n");
  has(forwards, "  $t         0 0 0 0 -> 1 4 1.5 2\n");
  const std::string backwards = shell.output("goto 5\nback\n");
  has(backwards, "  dx         1 4 1.5 2 -> 0 0 0 0\n");
  has(backwards, ", position 4\n");
  has(shell.output("step 4 clocks\ninfo position\n"), "clock 4, position 1\n");
}

TEST_CASE("gdr debug shows the results of gdr run at the end") {
  const Pull shell;
  const Outcome ran = shell.run("gdr run pull.gds --targets i.txt --sources j.txt --set k=2");
  REQUIRE(ran.status == 0);
  const std::string out = shell.output("continue\nresults\n");
  has(out, "end of the program, ");
  has(out, ran.out);
  has(shell.output("c\nresults 2\n"), "# 2 of 3 targets (results N prints N)\n");
}

TEST_CASE("gdr debug prints variables, elements, halves and locations in several formats") {
  const Pull shell;
  const std::string out = shell.output(
      "next\nprint xi idi xj mj k\nprint xi[1] hex\nprint xi.hi\np $lm0 int\np m0\np t\n"
      "p xi pe 1\np idi pe all block all\nreduce xi\nmemory $lm0 2\nx idi 3 int\nregisters\n");
  has(out, "xi[0] = 1  (0x3ff000000000000000)\nxi[1] = -2  (0xc00000000000000000)\n");
  has(out, "idi[0] = 7  (0x000000007)\n");
  has(out, "xj = 2  (0x400000000000000000)\nmj = 1  (");
  has(out, "k = 2  (");
  has(out, "xi[1] = 0xc00000000000000000\n");
  has(out, "xi.hi[2] = 0.5  (0x3fe000000)\n");
  has(out, "$lm0 = 1179438699212804456448  (");  // 1023 2^60
  has(out, "m0[3] = 0\n");
  has(out, "t[0] = 0  (");
  has(out, "idi[2] (block 0, PE 0) = 9  (");
  has(out, "idi[3] (block 1, PE 1) = ");
  has(out, "fadd over 2 blocks, PE 0\nxi[0] = 1  (");
  has(out, "block 0, PE 0\n  $lm0     3ff000000000000000  1                        xi[0]\n");
  has(out, "  m0        0 0 0 0\n");
  has(out, "  flags of the block: none\n");
}

TEST_CASE("gdr debug prints expressions of variables, element by element") {
  const Pull shell;
  const std::string out = shell.output(
      "next\nprint mj*(xj - xi) idi + 1\nprint 2*mj - -3 / (1+1)\nprint xi[1]*xi[1]\n"
      "p idi*xi pe all\np -1.5e+1*k xi[0]\np ( xj+1 ) * 2 hex mj\n");
  has(out, "(mj*(xj - xi))[0] = 1\n(mj*(xj - xi))[1] = 4\n(mj*(xj - xi))[2] = 1.5\n");
  has(out, "(idi + 1)[0] = 8\n(idi + 1)[1] = 9\n");
  has(out, "2*mj - -3 / (1+1) = 3.5\n");
  has(out, "xi[1]*xi[1] = 4\n");
  has(out, "(idi*xi)[1] (block 0, PE 0) = -16\n");
  has(out, "(idi*xi)[1] (block 0, PE 1) = 0\n");
  has(out, "-1.5e+1*k = -30\nxi[0] = 1  (");
  has(out, "( xj+1 ) * 2 = 6\nmj = 0x3ff000000000000000\n");
  for (const auto& [command, message] :
       {std::pair{"p xi*", "a variable, a location or a number is missing"},
        std::pair{"p (xi", "a closing parenthesis is missing"},
        std::pair{"p (xi))", "')' is unexpected"},
        std::pair{"p xi*forse", "did you mean \"force\"?"},
        std::pair{"p xi*(xi.hi xi)", "a closing parenthesis is missing"}}) {
    const Outcome done = shell.debug(std::string("-e \"") + command + "\"");
    CHECK(done.status == 1);
    has(done.err, message);
  }
  const std::string deep(300, '(');
  has(shell.debug("-e 'p " + deep + "'").err, "nested too deeply");
}

TEST_CASE("gdr debug stops at breakpoints and watches in both directions") {
  const Pull shell;
  const std::string out = shell.output(
      "break body 2 pass 3\nwatch force[1]\nbreak clock 1\ninfo breakpoints\ncontinue\ncontinue\n"
      "delete 1\ndisable 3\ncontinue\nreverse-continue\ninfo breakpoints\n");
  has(out,
      "breakpoint 1: body 2 pass 3\nwatch 2: force[1] (block 0, PE 0)\nbreakpoint 3: clock 1\n");
  has(out, "  2  watch                    0 stops  force[1] (block 0, PE 0)\n");
  has(out, "breakpoint 3, clock 1\n");
  has(out, "watch 2: force[1] (block 0, PE 0) has changed by body ");
  has(out, ": fadd force force dx\n  force[1] (block 0, PE 0)  0 -> 4\n");
  has(out, "  force[1] (block 0, PE 0)  4 -> 2\n");
  has(out, "  3  breakpoint disabled      1 stop   clock 1\n");
  const std::string lines = shell.output("break 18\nc\nbreak\nc\nrc\nlist\n");
  has(lines, "breakpoint 1: pull.gds:18\n");
  has(lines, "=>*");
  const std::string loop = shell.output("break loop\nc\nc\nc\nrc\n");
  has(loop, ", pass 2 of 5, ");
  CHECK(loop.rfind("pass 1 of 5") > loop.rfind("pass 2 of 5"));
}

TEST_CASE("words that gdr debug sets change what follows, and stay when it goes back") {
  const Pull shell;
  const std::string out = shell.output(
      "next\nset force = 1 2 3 4\nset xi[0] = 0x400000000000000000\nset m0 = 1\nset idi pe 1 = -5\n"
      "c\nresults\nrestart\np force[1]\nnext\np force[1]\n");
  has(out, "force[3] = 4  (");
  has(out, "xi[0] = 2  (");
  has(out, "m0[2] = 1\n");
  has(out, "idi[1] = -5  (0xffffffffb)\n");
  has(out, "force[1] = 0  (0x000000000000000000)\n");
  CHECK(out.rfind("force[1] = 2  (") > out.rfind("force[1] = 0  ("));
}

TEST_CASE("gdr debug lists source lines, microcode, variables and the program") {
  const Pull shell;
  const std::string out = shell.output(
      "list body\nlist end\ninfo variables\ninfo program\npe 1 0\n"
      "pe\nhelp\nhelp step\n");
  has(out, "fadd force force dx     # the sum\n");
  has(out, "section end, ");
  has(out, "  fvar   force                $lr24v   f64to72 fadd\n");
  has(out, "         dx                   $lr8v\n");
  has(out, "targets               3 of 16 that fit\n");
  has(out, "block 1, PE 0: no targets\n");
  has(out, "step [N] [clocks]\n    execute one or N instructions");
  has(out, "reverse-continue  rc ");
}

TEST_CASE("gdr debug shows the assembly of a kernel-language source, and library kernels") {
  const Shell shell;
  shell.write("spin.gdk", "VARI x; VARJ y; VARF f; f += (y - x)*(y - x);\n");
  shell.write("i.txt", "1\n");
  shell.write("j.txt", "3\n4\n");
  const Outcome done = shell.run(
      "gdr debug spin.gdk --targets i.txt --sources j.txt -e 'list body' -e 'break body' -e c -e c "
      "-e 'p f x'");
  CHECK(done.err.empty());
  CHECK(done.status == 0);
  has(done.out, "# (y - x)*(y - x), y - x");
  has(done.out, "x[0] = 1  (");
  shell.write("x.txt", "0 0 0 1\n");
  shell.write("s.txt", "1 0 0 1 2\n");
  const Outcome library =
      shell.run("gdr debug gravity --targets x.txt --sources s.txt -e c -e 'p ax[0]'");
  CHECK(library.status == 0);
  has(library.out, "ax[0] = 1.00000009");
}

TEST_CASE("gdr debug shows the instructions of templates, and outputs in the broadcast memory") {
  const Shell shell;
  shell.write("r.gds",
              ".kernel twice\njvar long xj f64to72\novar long y f64to72 pass\n"
              ".template DOUBLE(P)\n fadd P P P\n.endtemplate\n.body\n vlen 1\n bget $lr0 xj\n"
              " DOUBLE($lr0)\n bput y $lr0 0   # the output\n");
  shell.write("j.txt", "1\n3\n");
  const std::string debug = "gdr debug r.gds --sources j.txt ";
  const Outcome done = shell.run(debug + "-e 'list body' -e next -e 'watch y' -e c");
  CHECK(done.err.empty());
  has(done.out, "fadd P P P\n");  // used once: the source line
  has(done.out, " has changed by body 4: bput y $lr0 0\n");
  has(done.out, "0 -> 6\n");
  shell.write("r.gds", shell.read("r.gds") + " DOUBLE($lr2)\n DOUBLE($lr4)\n");
  const std::string out = shell.run(debug + "-e 'list body' -e 'break 5' -e c").out;
  has(out, "fadd $lr0 $lr0 $lr0\n");
  has(out, "fadd $lr2 $lr2 $lr2\n");
  has(out, "# the output\n");
  has(out, "breakpoint 1: r.gds:5, 2 places\n");
  has(shell.run(debug + "-e results").err, "the kernel has no results: it declares no fvar");
}

TEST_CASE("gdr debug reads commands from a file, an option and standard input") {
  const Pull shell;
  shell.write("steps", "step 2   # a comment\n\n# another\ninfo position\n");
  const std::string out = shell.debug("-x steps").out;
  has(out, "position 2\n");
  CHECK(shell.debug("< steps").out == out);
  CHECK(shell.debug("-e 'step 2' -e 'info position'").out == out);
  CHECK(shell.debug("-e 'source steps'").out == out);
  const Outcome none = shell.debug("</dev/null");
  CHECK(none.status == 0);
  CHECK(none.out.empty());
  const Outcome quit = shell.debug("-e quit -e wrong");
  CHECK(quit.status == 0);
  CHECK(quit.err.empty());
}

TEST_CASE("an error in a script of gdr debug has file and line, and ends it with status 1") {
  const Pull shell;
  shell.write("bad", "step\n\nprint forse\nstep\n");
  const Outcome done = shell.debug("-x bad");
  CHECK(done.status == 1);
  has(done.err,
      "gdr: error: bad:3: unknown variable or location \"forse\"; did you mean \"force\"?");
  CHECK(done.out.find("position 2") == std::string::npos);
  has(shell.debug("< bad").err, "standard input:3: unknown");
  has(shell.debug("-e 'stpe'").err, "-e 'stpe': unknown command \"stpe\"; did you mean \"step\"?");
  shell.write("outer", "step\nsource bad\n");
  has(shell.debug("-x outer").err, "outer:2: bad:3: unknown");
  shell.write("endless", "source endless\n");
  has(shell.debug("-x endless").err, "scripts are nested too deeply: does endless read itself?");
  has(shell.debug("-x missing").err, "cannot read 'missing'");
}

TEST_CASE("commands that gdr debug cannot execute are refused with the reason") {
  const Pull shell;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"p", "what to print is missing"},
      {"p $lr9", "a long has an even address"},
      {"p $lr400", "the last address of this memory is 62"},
      {"p xi[7]", "it has 4 elements, counted from 0"},
      {"p idi.hi", "only longs have the halves"},
      {"p xi@1", "only a jvar has several items"},
      {"p xj@1", "a group has 1 item, counted from 0"},
      {"p m9", "masks are m0 to m7"},
      {"p xi pe 2", "PE 2: the last one is 1"},
      {"p xi fixed.99", "binary point from 0 to 71"},
      {"pe 9", "PE 9: the last one is 1"},
      {"pe 5 0", "block 5: the last one is 1"},
      {"break 3", "line 3 of pull.gds has no instructions; the next one is line 9"},
      {"break body 99", "section body has no instruction 99"},
      {"break start pass 1", "only the body has several passes"},
      {"break there", "'there' is no place"},
      {"break other.gds:3", "unknown source file \"other.gds\""},
      {"delete 3", "there is no breakpoint or watch with the number 3"},
      {"delete", "there is nothing to delete"},
      {"watch", "what to watch"},
      {"step x", "unexpected 'x'"},
      {"step 1 2", "unexpected '2'"},
      {"goto -1", "the position is a whole number"},
      {"set force = a", "expected a number"},
      {"set force = 1 2", "force has 4 words: give one value, or one for each"},
      {"set idi = 99999999999", "does not fit into the 36 bits of a short"},
      {"set m0 = 2", "a mask is 0 or 1"},
      {"set xi", "the value is missing"},
      {"set xi = 0x1234567890123456789", "0x and up to 18 hex digits"},
      {"reduce idi", "joins longs"},
      {"reduce xi add", "unknown reduction \"add\""},
      {"re", "'re' may be one of"},
      {"info", "info about what"},
      {"info weather", "no info about 'weather'"},
      {"list foo", "unexpected 'foo'"},
      {"help foo", "there is no command 'foo'"},
      {"quit now", "unexpected 'now'"},
  };
  for (const auto& [command, message] : cases) {
    const Outcome done = shell.debug("-e '" + command + "'");
    INFO(command);
    CHECK(done.status == 1);
    has(done.err, message);
  }
}

TEST_CASE("gdr debug refuses a partition of the sources instead of summing them once a block") {
  const Pull shell;
  const Outcome refused = shell.run(
      "gdr debug pull.gds --targets i.txt --sources j.txt --set k=2 "
      "--device emulator:blocks=2,pes=2,partition=sources -e continue");
  CHECK(refused.status == 2);
  has(refused.err, "leave out \"partition=sources\"");
}

TEST_CASE("gdr debug refuses wrong inputs like gdr run") {
  const Pull shell;
  CHECK(shell.run("gdr debug pull.gds --sources j.txt").status == 2);
  has(shell.run("gdr debug pull.gds --sources j.txt").err, "--targets is missing");
  has(shell.debug("--set kk=1").err, "unknown param \"kk\"");
  has(shell.debug("--engine native").err, "cannot be stepped");
  CHECK(shell.run("gdr debug").status == 2);
  CHECK(shell.run("gdr debug missing.gds").status == 1);
  shell.write("broken.gds", ".body\n  fad $lr0 $lr2\n");
  const Outcome broken = shell.run("gdr debug broken.gds");
  CHECK(broken.status == 1);
  has(broken.err, "broken.gds:2:");
}

TEST_CASE("the guide and the manual page describe every command of gdr debug") {
  const Shell shell;
  const std::string guide =
      file_text(std::filesystem::path(GDR_SOURCE_DIR) / "docs/guides/debugging.md");
  const Outcome manual = shell.run("gdr man debug");
  REQUIRE(manual.status == 0);
  shell.write("k.gds", ".body\n nop\n");
  const Outcome help = shell.run("gdr debug k.gds -e help");
  REQUIRE(help.status == 0);
  std::istringstream lines(help.out);
  std::size_t commands = 0;
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    if (line.starts_with(' ')) continue;
    const std::string name = line.substr(0, line.find(' '));
    ++commands;
    const bool in_guide = guide.find("`" + name + "`") != std::string::npos ||
                          guide.find("`" + name + " ") != std::string::npos;
    INFO(name);
    CHECK(in_guide);
    std::string escaped = name;  // as in a manual page
    if (const std::size_t dash = escaped.find('-'); dash != std::string::npos)
      escaped.insert(dash, "\\");
    CHECK(manual.out.find("\n" + escaped) != std::string::npos);
  }
  CHECK(commands >= 20);
}

TEST_CASE("gdr debug shows programs without source lines as assembly") {
  const Pull shell;
  REQUIRE(shell.run("gdr asm pull.gds -o pull.gdo").status == 0);
  REQUIRE(shell.run("mkdir away && mv pull.gds away").status == 0);
  const Outcome done = shell.run(
      "gdr debug pull.gdo --targets i.txt --sources j.txt -e step -e list -e 'watch force' -e c");
  CHECK(done.status == 0);
  has(done.out, "=>    1    ");
  has(done.out, "has changed by body 4: fadd force force dx");
}

}  // namespace gdr::test
