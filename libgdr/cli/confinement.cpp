#include "libgdr/cli/confinement.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "gdr/error.hpp"
#include "libgdr/driver/file.hpp"

namespace gdr::cli {
namespace {

// Numbers and structures of Linux's interface (include/uapi/linux/landlock.h), which headers of
// older systems lack.
constexpr long create_ruleset = 444, add_rule = 445, restrict_self = 446;
constexpr unsigned version_flag = 1, rule_path_beneath = 1;

struct Ruleset {
  std::uint64_t file_rights, network_rights;
};
struct [[gnu::packed]] PathRule {
  std::uint64_t rights;
  std::int32_t folder;
};

enum FileRight : std::uint64_t {
  execute = 1 << 0,
  write_file = 1 << 1,
  read_file_right = 1 << 2,
  read_folder = 1 << 3,
  remove_folder = 1 << 4,
  remove_file = 1 << 5,
  make_folder = 1 << 7,
  make_file = 1 << 8,
  truncate_file = 1 << 14,
};
constexpr std::uint64_t rights_of_version_1 = (1 << 13) - 1, refer = 1 << 13;
constexpr std::uint64_t tcp_rights = 3;  // to listen, and to connect
constexpr std::uint64_t reading = execute | read_file_right | read_folder;
constexpr std::uint64_t writing =
    write_file | remove_folder | remove_file | make_folder | make_file | truncate_file;
constexpr std::uint64_t rights_of_files = execute | write_file | read_file_right | truncate_file;

long landlock_version() noexcept { return syscall(create_ruleset, nullptr, 0, version_flag); }

[[noreturn]] void fail() {
  throw Error(ErrorCategory::Unsupported,
              std::string("this process cannot be confined to its folders by Landlock: ") +
                  std::strerror(errno));
}

}  // namespace

bool can_confine() noexcept { return landlock_version() >= 1; }

void confine(std::span<const AllowedPath> allowed) {
  const long version = landlock_version();
  if (version < 1) fail();
  Ruleset rules{rights_of_version_1, 0};
  if (version >= 2) rules.file_rights |= refer;
  if (version >= 3) rules.file_rights |= truncate_file;
  if (version >= 4) rules.network_rights = tcp_rights;
  const std::size_t bytes = version >= 4 ? sizeof(rules) : sizeof(rules.file_rights);
  const driver::File ruleset(static_cast<int>(syscall(create_ruleset, &rules, bytes, 0)));
  if (!ruleset) fail();
  for (const AllowedPath& path : allowed) {
    const driver::File file(open(path.path.c_str(), O_PATH | O_CLOEXEC));
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0) continue;
    PathRule rule{(reading | (path.write ? writing : 0)) & rules.file_rights, file.get()};
    if (!S_ISDIR(status.st_mode)) rule.rights &= rights_of_files;
    if (syscall(add_rule, ruleset.get(), rule_path_beneath, &rule, 0) != 0) fail();
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(restrict_self, ruleset.get(), 0) != 0)
    fail();
}

}  // namespace gdr::cli
