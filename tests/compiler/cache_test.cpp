// The cache of compiled kernels: the same results from it, whatever happens to its files.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gdr/error.hpp"
#include "kernels/compiler/cache/compilation.hpp"
#include "kernels/compiler/cache/folder.hpp"
#include "kernels/compiler/compiler.hpp"
#include "support/catch.hpp"
#include "support/environment_variable.hpp"
#include "support/temporary_folder.hpp"

namespace gdr::test {
namespace {

namespace fs = std::filesystem;

/// Gravity and its derivative: so many operations that the quickest search makes several attempts.
const std::string law =
    "kernel law;\nCONST eps2;\nVARI x, y, z, vx, vy, vz;\nVARJ xj, yj, zj, vxj, vyj, vzj, m;\n"
    "VARF ax, ay, az, jx, jy, jz, pot;\n"
    "dx = xj - x; dy = yj - y; dz = zj - z; dvx = vxj - vx; dvy = vyj - vy; dvz = vzj - vz;\n"
    "ri = rsqrt(dx*dx + dy*dy + dz*dz + eps2);\n"
    "mr = m*ri; f = mr*ri*ri; a = -3*(dx*dvx + dy*dvy + dz*dvz)*ri*ri;\n"
    "ax += f*dx; ay += f*dy; az += f*dz; pot -= mr;\n"
    "jx += f*(dvx + a*dx); jy += f*(dvy + a*dy); jz += f*(dvz + a*dz);\n";

/// A cache of its own.
struct OwnCache {
  TemporaryFolder folder;
  EnvironmentVariable variable{"GDR_CACHE_DIR", folder.path().c_str()};

  /// The only file.
  std::string entry() const {
    REQUIRE(folder.names().size() == 1);
    return folder.file(folder.names().front());
  }
};

/// Options with a search that ends soon.
CompileOptions quick() {
  CompileOptions options;
  options.effort = 0;
  return options;
}

CompileResult compile(const std::string& text = law, const CompileOptions& options = quick()) {
  CompileResult result = compile_kernel(text, "test.gdk", options);
  INFO(result.diagnostics.render());
  REQUIRE(result.ok());
  return result;
}

void check_equal(const CompileResult& a, const CompileResult& b) {
  CHECK(*a.program == *b.program);
  CHECK(a.diagnostics.render() == b.diagnostics.render());
  CHECK(a.assembly == b.assembly);
  CHECK(a.report == b.report);
  CHECK(a.remarks == b.remarks);
  CHECK(a.initiation_interval == b.initiation_interval);
  CHECK(a.min_interval == b.min_interval);
  CHECK(a.pipelined == b.pipelined);
}

TEST_CASE("the second compilation comes from the cache, is equal and searches for nothing") {
  const OwnCache cache;
  // The unused variable is a warning, and the options leave a remark.
  const std::string text = law + "unused = dx*2;\n";
  CompileOptions options = quick();
  options.elements = 2;
  int steps = 0;  // of the search
  options.progress = [&](double) { ++steps; };
  const CompileResult first = compile(text, options);
  CHECK(!first.from_cache);
  CHECK(std::exchange(steps, 0) > 0);
  CHECK(!first.diagnostics.list.empty());
  const CompileResult second = compile(text, options);
  CHECK(steps == 0);
  CHECK(second.from_cache);
  check_equal(first, second);
  CHECK(second.pipelined);
  CHECK(second.diagnostics.list.size() == first.diagnostics.list.size());
}

TEST_CASE("remarks come from the cache") {
  const TemporaryFolder folder;
  CompileResult result;
  result.program.emplace();
  result.assembly = "# text\n";
  result.report = "a\nreport 3:with colons";
  result.remarks = {"", "first", "12:second\n"};
  result.initiation_interval = 17;
  result.min_interval = 16;
  CompileResult restored;
  const std::string text = kc::cache_text(compile());
  CHECK(kc::restore(text, "law", {}, restored));
  check_equal(restored, compile());
  restored.remarks.clear();
  result.assembly = compile().assembly;
  REQUIRE(kc::restore(kc::cache_text(result), "law", {}, restored));
  CHECK(restored.remarks == result.remarks);
  CHECK(restored.report == result.report);
  CHECK(restored.initiation_interval == 17);
  CHECK(restored.min_interval == 16);
  CHECK(!restored.pipelined);
  // Whatever is no such text is refused.
  for (const std::string& bad :
       {std::string(), text.substr(0, text.size() - 1), text + "0:", std::string("7:garbage")})
    CHECK(!kc::restore(bad, "law", {}, restored));
}

TEST_CASE("every option, the name, every text and the version belong to the key of the cache") {
  const std::vector<SourceText> sources{{"a.gdk", "one"}, {"b.gdk", "two"}};
  const std::string usual = kc::cache_key("law", sources, {}, "1");
  std::vector<std::string> keys{usual, kc::cache_key("law2", sources, {}, "1"),
                                kc::cache_key("law", sources, {}, "2")};
  const auto add = [&](const std::vector<SourceText>& texts, auto change) {
    CompileOptions options;
    change(options);
    keys.push_back(kc::cache_key("law", texts, options, "1"));
  };
  const auto nothing = [](CompileOptions&) {};
  add({{"a.gdk", "one"}, {"b.gdk", "twice"}}, nothing);
  add({{"a.gdk", "onet"}, {"b.gdk", "wo"}}, nothing);
  add({{"a.gdk", "two"}, {"b.gdk", "one"}}, nothing);
  add({{"a.gdk", "one"}}, nothing);
  add(sources, [](CompileOptions& o) { o.elements = 1; });
  add(sources, [](CompileOptions& o) { o.effort = 3; });
  add(sources, [](CompileOptions& o) { o.pipeline = false; });
  add(sources, [](CompileOptions& o) { o.relaxed = true; });
  for (const char* field :
       {"chips", "blocks", "pes", "registers", "local", "bm", "dram", "clock", "instructions"})
    add(sources, [&](CompileOptions& o) {
      REQUIRE(set_geometry_field(o.geometry, field, field == std::string("dram") ? "1048576" : "48")
                  .empty());
    });
  const std::size_t count = keys.size();
  std::ranges::sort(keys);
  CHECK(std::ranges::unique(keys).empty());
  CHECK(count == 20);
  // Names of files do not reach the program: it is found after a move.
  CHECK(kc::cache_key("law", std::vector<SourceText>{{"c", "one"}, {"d", "two"}}, {}, "1") ==
        usual);
  CHECK(kc::compiler_version().size() == 64);
}

TEST_CASE("other options, another text and a changed include are not taken from the cache") {
  const OwnCache cache;
  const TemporaryFolder sources;
  sources.make("part.gdk", "VARI x, y, z, vx, vy, vz;\n");
  std::string text = law;
  text.replace(text.find("VARI x, y, z, vx, vy, vz;"), 25, "include \"part.gdk\";");
  const std::string main = sources.make("law.gdk", text);
  CompileOptions options = quick();
  CHECK(!compile_kernel_file(main, options).from_cache);
  CHECK(compile_kernel_file(main, options).from_cache);
  sources.make("part.gdk", "VARI x, y, z, vx, vy, vz; // changed\n");
  CHECK(!compile_kernel_file(main, options).from_cache);
  CHECK(compile_kernel_file(main, options).from_cache);
  options.elements = 1;
  CHECK(!compile_kernel_file(main, options).from_cache);
  CHECK(compile_kernel_file(main, options).from_cache);
  options.cache = false;
  CHECK(!compile_kernel_file(main, options).from_cache);
}

TEST_CASE("a damaged file of the cache is ignored and replaced") {
  const OwnCache cache;
  const CompileResult right = compile();
  const std::string entry = cache.entry();
  const std::string content = content_of(entry);
  // A stride that meets every part of the file, and all of its first bytes.
  for (std::size_t at = 0; at < content.size(); at += at < 64 ? 1 : content.size() / 40) {
    std::string damaged = content;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    INFO("byte " << at);
    cache.folder.make(fs::path(entry).filename().string(), damaged);
    const kc::CacheFolder folder{cache.folder.path()};
    const std::string key = kc::cache_key("law", right.diagnostics.sources, quick());
    CHECK(!folder.load(key));
    if (at % 5 != 0 || at > 20) continue;
    const CompileResult again = compile();
    CHECK(!again.from_cache);
    check_equal(right, again);
    CHECK(content_of(entry) == content);
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, content.size() - 1}) {
    cache.folder.make(fs::path(entry).filename().string(), content.substr(0, size));
    CHECK(!compile().from_cache);
    CHECK(compile().from_cache);
  }
  cache.folder.make(fs::path(entry).filename().string(), content + "x");
  CHECK(!compile().from_cache);
  // A folder, a pipe or a file that cannot be read in the place of the file.
  fs::remove(entry);
  fs::create_directory(entry);
  check_equal(right, compile());
  fs::remove(entry);
  REQUIRE(::mkfifo(entry.c_str(), 0600) == 0);
  check_equal(right, compile());
  CHECK(compile().from_cache);
  CHECK(cache.folder.names().size() == 1);
}

TEST_CASE("a kernel with the hash of another one is not mistaken for it") {
  const TemporaryFolder folder;
  const kc::CacheFolder cache{folder.path()};
  cache.store("key", "text");
  REQUIRE(folder.names().size() == 1);
  const std::string name = folder.names().front();
  CHECK(cache.load("key") == "text");
  cache.store("other", "other text");
  for (const std::string& other : folder.names())
    if (other != name) fs::rename(folder.file(other), folder.file(name));
  CHECK(!cache.load("key"));
}

TEST_CASE("a cache that another user can write is not trusted, and a remark says why") {
  OwnCache cache;
  const std::string folder = cache.folder.path();
  const CompileResult right = compile();
  REQUIRE(cache.folder.names().size() == 1);
  const std::string entry = cache.folder.file(cache.folder.names().front());
  const auto check_distrusted = [&](const std::string& path, const std::string& why) {
    const CompileResult result = compile();
    CHECK(!result.from_cache);
    CHECK(result.assembly == right.assembly);
    REQUIRE(!result.remarks.empty());
    CHECK(result.remarks.back() ==
          "'" + path + "' is not read from the cache of compiled kernels: it " + why);
  };
  const std::string writable = "can be written by others (chmod go-w ends that)";
  for (const mode_t mode : {0770, 0707, 01777}) {
    REQUIRE(::chmod(folder.c_str(), mode) == 0);
    check_distrusted(folder, writable);
  }
  REQUIRE(::chmod(folder.c_str(), 0755) == 0);
  CHECK(compile().from_cache);
  for (const mode_t mode : {0620, 0602}) {
    REQUIRE(::chmod(entry.c_str(), mode) == 0);
    check_distrusted(entry, writable);  // and the file is replaced
    CHECK(compile().from_cache);
  }
  if (::geteuid() != 0) return;  // root can give files away
  const std::string foreign = "belongs to user 12345, neither to this user nor to root";
  REQUIRE(::chown(entry.c_str(), 12345, 12345) == 0);
  check_distrusted(entry, foreign);
  CHECK(compile().from_cache);
  REQUIRE(::chown(folder.c_str(), 12345, 12345) == 0);
  check_distrusted(folder, foreign);
}

TEST_CASE("a cache of root's is shared by all users") {
  if (::geteuid() != 0) return;
  OwnCache cache;
  REQUIRE(!compile().from_cache);
  REQUIRE(::chmod(cache.folder.path().c_str(), 0755) == 0);
  REQUIRE(::chmod(cache.folder.file(cache.folder.names().front()).c_str(), 0644) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool other = ::setgid(12345) == 0 && ::setuid(12345) == 0;
    ::_exit(other && compile().from_cache ? 0 : 1);
  }
  int status = 1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("kernels are compiled without a usable cache") {
  const TemporaryFolder folder;
  const std::string file = folder.make("file", "");
  // Also root cannot create a folder below these.
  for (const std::string& path : {file, file + "/below", std::string("/proc/nothing"),
                                  std::string("/dev/null"), std::string("/dev/full/below")}) {
    const EnvironmentVariable variable("GDR_CACHE_DIR", path.c_str());
    CHECK(!compile().from_cache);
    CHECK(!compile().from_cache);
  }
  if (::geteuid() == 0) return;  // permissions do not restrict root
  fs::create_directory(folder.file("closed"));
  ::chmod(folder.file("closed").c_str(), 0500);
  const EnvironmentVariable variable("GDR_CACHE_DIR", folder.file("closed").c_str());
  CHECK(!compile().from_cache);
  CHECK(!compile().from_cache);
}

TEST_CASE("the folder of the cache is GDR_CACHE_DIR, or gdr in the user's folder of caches") {
  const TemporaryFolder folder;
  const EnvironmentVariable home("HOME", folder.file("home").c_str());
  const EnvironmentVariable caches("XDG_CACHE_HOME", folder.file("caches").c_str());
  const EnvironmentVariable given("GDR_CACHE_DIR", folder.file("given/below").c_str());
  const auto store = [](const std::string& expected) {
    const auto cache = kc::CacheFolder::of_user();
    REQUIRE(cache);
    cache->store("key", "text");
    CHECK(fs::exists(expected));
    struct stat status {};
    REQUIRE(::stat(expected.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
    CHECK(std::distance(fs::directory_iterator(expected), {}) == 1);
  };
  store(folder.file("given/below"));
  {
    const EnvironmentVariable off("GDR_CACHE_DIR", "none");
    CHECK(!kc::CacheFolder::of_user());
  }
  const EnvironmentVariable not_given("GDR_CACHE_DIR", "");
  store(folder.file("caches/gdr"));
  const EnvironmentVariable relative("XDG_CACHE_HOME", "relative");
  store(folder.file("home/.cache/gdr"));
  const EnvironmentVariable homeless("HOME", nullptr);
  CHECK(!kc::CacheFolder::of_user());
}

TEST_CASE("the cache removes what was not used for the longest time") {
  const TemporaryFolder folder;
  folder.make("notes.txt", std::string(5000, 'x'));
  folder.make("0123456789abcdef.kernel.backup", std::string(5000, 'x'));
  const std::string abandoned = folder.make("0123456789abcdef.kernel.aBc123", "part");
  fs::last_write_time(abandoned, fs::file_time_type::clock::now() - std::chrono::hours(2));
  const std::string being_written = folder.make("0123456789abcdef.kernel.Xyz123", "part");
  const kc::CacheFolder cache(folder.path(), 3500);
  const std::string text(1000, 't');
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(15)); };
  for (const char* key : {"a", "b", "c"}) {
    cache.store(key, text);
    pause();
  }
  CHECK(cache.load("a"));  // the others are older now
  pause();
  cache.store("d", text);
  CHECK(cache.load("a") == text);
  CHECK(!cache.load("b"));
  CHECK(cache.load("c") == text);
  CHECK(cache.load("d") == text);
  cache.store("large", std::string(4000, 'l'));
  CHECK(!cache.load("large"));
  CHECK(cache.load("d"));
  pause();
  cache.store("nearly all", std::string(3400, 'n'));
  CHECK(cache.load("nearly all"));
  CHECK(!cache.load("d"));
  // Files of others stay; what a killed process has left does not.
  CHECK(fs::exists(folder.file("notes.txt")));
  CHECK(fs::exists(folder.file("0123456789abcdef.kernel.backup")));
  CHECK(fs::exists(being_written));
  CHECK(!fs::exists(abandoned));
}

TEST_CASE("many threads and processes use a cache at a time") {
  const TemporaryFolder folder;
  const std::string key(300, 'k');
  const auto text_of = [](int n) {
    return std::string(20000 + 100 * static_cast<std::size_t>(n), static_cast<char>('a' + n));
  };
  // Room for some of the texts only, so that files are removed all the time.
  const auto work = [&](int worker) {
    const kc::CacheFolder cache(folder.path(), 100000);
    for (int round = 0; round < 60; ++round) {
      const int n = (worker + round) % 8;
      const std::string own_key = key + std::to_string(n);
      if (const auto found = cache.load(own_key); found && *found != text_of(n)) return false;
      cache.store(own_key, text_of(n));
    }
    return true;
  };
  std::vector<pid_t> children;
  for (int worker = 0; worker < 4; ++worker) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) ::_exit(work(worker) ? 0 : 1);
    children.push_back(child);
  }
  std::atomic<int> failures = 0;
  {
    std::vector<std::jthread> threads;
    for (int worker = 0; worker < 4; ++worker)
      threads.emplace_back([&, worker] { failures += work(worker) ? 0 : 1; });
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(failures == 0);
  std::uintmax_t bytes = 0;
  for (const auto& file : fs::directory_iterator(folder.path())) bytes += file.file_size();
  CHECK(bytes <= 100000);
  CHECK(bytes > 20000);
}

TEST_CASE("kernels that are compiled in many threads at a time are equal") {
  const OwnCache cache;
  std::vector<CompileResult> results(8);
  {
    std::vector<std::jthread> threads;
    const CompileOptions options = quick();
    for (CompileResult& result : results)
      threads.emplace_back([&] { result = compile_kernel(law, "test.gdk", options); });
  }
  for (const CompileResult& result : results) check_equal(results.front(), result);
  CHECK(cache.folder.names().size() == 1);
}

TEST_CASE("cancelled and refused compilations are not cached") {
  const OwnCache cache;
  std::stop_source stop;
  CompileOptions options = quick();
  options.stop = stop.get_token();
  int calls = 0;
  options.progress = [&](double) {
    if (++calls == 3) stop.request_stop();
  };
  CHECK_THROWS_AS(compile_kernel(law, "test.gdk", options), Error);
  CHECK(calls >= 3);
  CHECK(cache.folder.names().empty());
  CHECK(!compile_kernel("kernel bad; VARI x; f += x;", "bad.gdk").ok());
  CHECK(cache.folder.names().empty());
  // Once stopped, not even the cache is asked.
  compile();
  CHECK(cache.folder.names().size() == 1);
  CHECK_THROWS_AS(compile_kernel(law, "test.gdk", options), Error);
}

TEST_CASE("compilations without a search, which take no time, are not cached") {
  const OwnCache cache;
  CompileOptions options;
  options.pipeline = false;
  const CompileResult quick = compile("kernel k; VARI x; VARJ y; VARF f; f += x*y;", options);
  CHECK(!quick.from_cache);
  CHECK(cache.folder.names().empty());
}

}  // namespace
}  // namespace gdr::test
