#include "emulator/engine/native/cache.hpp"

#include <algorithm>
#include <list>
#include <mutex>

namespace gdr::native {
namespace {

constexpr std::size_t max_programs = 64;

/// Key of the compiled code. Names of variables and files are ignored.
struct Key {
  Program program;
  Geometry geometry;
  Target target;

  bool operator==(const Key& other) const {
    const auto same_place = [](const Variable& a, const Variable& b) {
      return a.kind == b.kind && a.location == b.location;
    };
    return target == other.target && program.sections == other.program.sections &&
           program.elements == other.program.elements &&
           program.fixed_shorts == other.program.fixed_shorts && geometry == other.geometry &&
           std::ranges::equal(program.variables, other.program.variables, same_place);
  }
};

struct Entry {
  Key key;
  std::shared_ptr<const CompiledProgram> compiled;
};

}  // namespace

std::shared_ptr<const CompiledProgram> compiled_program(const Program& program,
                                                        const Geometry& geometry, Target target) {
  static std::mutex mutex;
  static std::list<Entry> entries;  // the one used last comes first
  Key key{program, geometry, target};
  const std::lock_guard lock(mutex);
  const auto found = std::ranges::find(entries, key, &Entry::key);
  if (found != entries.end()) {
    entries.splice(entries.begin(), entries, found);
    return entries.front().compiled;
  }
  auto compiled = std::make_shared<CompiledProgram>(program, geometry, target);
  entries.push_front({std::move(key), compiled});
  if (entries.size() > max_programs) entries.pop_back();
  return compiled;
}

}  // namespace gdr::native
