// The `gdr` command.
#include "libgdr/cli/command.hpp"

int main(int argc, char** argv) { return gdr::cli::run_command_line(argc, argv); }
