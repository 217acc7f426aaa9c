// The generated headers of the library's kernels: structures compared with named arrays.
#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "all_kernels.hpp"
#include "gdr/gdr.hpp"
#include "support/catch.hpp"

namespace {

using namespace gdr;

constexpr const char* small = "exact:chips=2,blocks=2,pes=4,threads=1";

/// A number that depends on the position; an integer for integer variables.
double some_number(std::size_t record, std::size_t field) {
  return 0.25 + static_cast<double>((record * 37 + field * 11) % 64) / 16;
}

template <typename Record, std::size_t count>
std::vector<Record> records(std::size_t n, const std::array<kernels::Field, count>& fields) {
  std::vector<Record> list(n);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t f = 0; f < count; ++f) {
      auto* at = reinterpret_cast<std::byte*>(&list[r]) + fields[f].offset;
      REQUIRE((fields[f].type == HostNumber::F64 || fields[f].type == HostNumber::I64));
      if (fields[f].type == HostNumber::F64) {
        const double number = some_number(r, f);
        std::memcpy(at, &number, sizeof number);
      } else {
        const auto number = static_cast<std::int64_t>(r);
        std::memcpy(at, &number, sizeof number);
      }
    }
  }
  return list;
}

/// The members of structures as separate arrays by name, eight bytes each.
template <typename Record, std::size_t count>
std::map<std::string, std::vector<double>> columns(
    const std::vector<Record>& list, const std::array<kernels::Field, count>& fields) {
  std::map<std::string, std::vector<double>> made;
  for (const kernels::Field& field : fields) {
    std::vector<double>& column = made[std::string(field.name)];
    for (const Record& record : list) {
      double bits = 0;
      std::memcpy(&bits, reinterpret_cast<const std::byte*>(&record) + field.offset, sizeof bits);
      column.push_back(bits);
    }
  }
  return made;
}

HostNumber type_of(const Kernel& kernel, const std::string& name) {
  for (const KernelVariable& v : kernel.variables())
    if (v.name == name) return v.type;
  FAIL("no variable " << name);
  return HostNumber::F64;
}

template <typename Named, typename Columns>
std::vector<Named> named(const Kernel& kernel, Columns& all) {
  std::vector<Named> list;
  for (auto& [name, column] : all) {
    Named one{name, column};
    one.array.type = type_of(kernel, name);
    list.push_back(one);
  }
  return list;
}

template <typename TypedJob, typename Definition>
void compare(const std::string& name) {
  INFO(name);
  const auto sources = records<typename Definition::Source>(11, Definition::source_fields);
  const auto targets = records<typename Definition::Target>(7, Definition::target_fields);
  const Kernel kernel = Kernel::builtin(name);
  REQUIRE(Definition::source_fields.size() + Definition::target_fields.size() +
              Definition::result_fields.size() + Definition::output_fields.size() <=
          kernel.variables().size());
  Device device = Device::open(small);

  TypedJob typed(device);
  gdr::Job untyped = device.job(kernel);
  std::size_t params = 0;
  for (const KernelVariable& v : kernel.variables()) {
    if (v.role != Role::Param) continue;
    const double value = 0.5 + 0.25 * static_cast<double>(params++);
    typed.untyped().set(v.name, value);
    untyped.set(v.name, value);
  }
  typed.sources(sources);
  typed.targets(targets);
  std::vector<typename Definition::Result> results(targets.size());
  typed.run(results);

  auto j = columns(sources, Definition::source_fields);
  auto i = columns(targets, Definition::target_fields);
  auto f = columns(results, Definition::result_fields);
  const auto got = f;
  for (auto& [result, column] : f) std::fill(column.begin(), column.end(), 0.0);
  untyped.sources(sources.size(), named<NamedInput>(kernel, j));
  untyped.targets(targets.size(), named<NamedInput>(kernel, i));
  untyped.run(named<NamedResult>(kernel, f));
  for (const auto& [result, column] : f) {
    INFO(result);
    const std::vector<double>& other = got.at(result);
    CHECK(std::memcmp(column.data(), other.data(), column.size() * sizeof(double)) == 0);
  }
}

}  // namespace

TEST_CASE("structures and named arrays give the same results for every kernel") {
  std::vector<std::string> compared;
#define GDR_COMPARE(NAME)                                                  \
  compare<gdr::kernels::NAME::Job, gdr::kernels::NAME::Definition>(#NAME); \
  compared.emplace_back(#NAME);
  GDR_ALL_KERNELS(GDR_COMPARE)
#undef GDR_COMPARE
  std::vector<std::string> known = Kernel::builtin_names();
  std::sort(known.begin(), known.end());
  std::sort(compared.begin(), compared.end());
  CHECK(compared == known);
}

TEST_CASE("a library kernel runs in one call") {
  namespace lj = gdr::kernels::lennard_jones;
  Device device = Device::open(small);
  const std::vector<lj::Source> sources{{.xj = 0}, {.xj = 1}, {.xj = 2.5}};
  const std::vector<lj::Target> targets{{.xi = 0}, {.xi = 1}};
  const auto results = lj::compute(device, {.rc2 = 4}, sources, targets);
  REQUIRE(results.size() == 2);
  // At distance 1 the force is 24 (2 - 1), and the energy nothing; 2.5 is out of reach of 0.
  CHECK(results[0].fx == Approx(-24).epsilon(1e-6));
  CHECK(results[1].fx > 23);
  CHECK(std::abs(results[0].u) < 1e-5);

  // With result lists given as pointer and length.
  lj::Result mine[2];
  lj::compute(device, {.rc2 = 4}, {sources.data(), 3}, {targets.data(), 2}, mine);
  CHECK(mine[1].fx == results[1].fx);
}

TEST_CASE("lists of the wrong length are errors, empty ones are valid") {
  namespace pot = gdr::kernels::gravity_potential;
  Device device = Device::open(small);
  pot::Job job(device);
  job.set({.eps2 = 0.25});
  job.sources({});
  const std::vector<pot::Target> targets(3);
  job.targets(targets);
  std::vector<pot::Result> results(2);
  try {
    job.run(results);
    FAIL("two results for three targets");
  } catch (const Error& error) {
    CHECK(error.category() == ErrorCategory::Usage);
    CHECK(std::string(error.what()).find("2 results for 3 targets") != std::string::npos);
  }
  results.resize(3, {.pot = 5});
  job.start(results);
  job.wait();
  CHECK(results[2].pot == 0);
}
