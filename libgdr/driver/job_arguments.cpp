#include "libgdr/driver/job_arguments.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "gdr/error.hpp"

namespace gdr::driver {
namespace {

using Kind = ArgumentKind;

/// Arguments of both commands.
constexpr JobArgument common[] = {
    {"FILE", Kind::Input},
    {"--omit"},
    {"--eps"},
    {"--G"},
    {"--accuracy"},
    {"--engine"},
    {"--isa"},
    {"--threads"},
    {"--json", Kind::Flag},
    {"--quiet", Kind::Flag},
    {"--verbose", Kind::Flag},
};

template <std::size_t n>
constexpr auto with_common(const JobArgument (&own)[n]) {
  std::array<JobArgument, std::size(common) + n> all;
  std::ranges::copy(own, std::ranges::copy(common, all.begin()).out);
  return all;
}

constexpr auto force = with_common({
    {"--output", Kind::Output},
    {"--kernel", Kind::Kernel},
    {"--set"},
});

constexpr auto nbody = with_common({
    {"--integrator"},
    {"--dt"},
    {"--t-end"},
    {"--eta"},
    {"--eta-start"},
    {"--dt-min"},
    {"--out", Kind::Folder, "nbody-out"},
    {"--snapshot-every"},
    {"--energy-every"},
    {"--format"},
    {"--compare", Kind::Flag},
    {"--trace", Kind::Output},
});

}  // namespace

std::span<const JobArgument> job_arguments(std::string_view command) noexcept {
  if (command == "force") return force;
  if (command == "nbody") return nbody;
  return {};
}

const JobArgument* find_argument(std::span<const JobArgument> arguments,
                                 std::string_view name) noexcept {
  const auto found = std::ranges::find(arguments, name, &JobArgument::name);
  return found == arguments.end() ? nullptr : &*found;
}

bool names_file(ArgumentKind kind, std::string_view value) noexcept {
  if (kind == Kind::Kernel) return value.find_first_of("./") != std::string_view::npos;
  return kind == Kind::Input || kind == Kind::Output || kind == Kind::Folder;
}

std::vector<GivenArgument> parse_job(std::span<const std::string> arguments) {
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorCategory::Usage, what + "; use a command and a server of the same release");
  };
  const std::span known =
      arguments.empty() ? std::span<const JobArgument>() : job_arguments(arguments[0]);
  if (known.empty()) refuse("servers run the commands force and nbody only");
  std::vector<GivenArgument> given;
  for (const std::string& text : arguments.subspan(1)) {
    const std::size_t equals = text.find('=');
    const JobArgument* const argument = find_argument(known, text.substr(0, equals));
    const bool flag = argument != nullptr && argument->kind == Kind::Flag;
    if (argument == nullptr || flag != (equals == std::string::npos))
      refuse("a server does not know '" + text + "' of 'gdr " + arguments[0] + "'");
    given.push_back({argument, flag ? "" : text.substr(equals + 1)});
  }
  return given;
}

}  // namespace gdr::driver
