// Generation of C headers (`gdr header`) from a template with the kernel's names, members and
// object.
#include <fmt/core.h>

#include <cctype>
#include <string>
#include <vector>

#include "gdr/error.hpp"
#include "libgdr/device/headers.hpp"

namespace gdr {
namespace {

std::string c_member(const Member& m) {
  constexpr const char* types[] = {"double", "float", "int64_t", "uint64_t"};
  return fmt::format("  {} {}{}{}; /* {} */\n", types[static_cast<unsigned>(m.first->type)],
                     member_name(m.name), m.sizes_text(), m.first->host_bytes == 16 ? "[2]" : "",
                     m.first->conversion);
}

/// The structure members for the variables of a role, and the array list for the C interface.
struct CRoleText {
  std::string members, arrays;
  std::size_t count = 0;
};

CRoleText c_role_text(const Kernel& kernel, Role role, const std::string& p) {
  constexpr const char* types[] = {"GDR_F64", "GDR_F32", "GDR_I64", "GDR_RAW"};
  CRoleText text;
  for (const Member& m : members_of(kernel, role)) {
    text.members += c_member(m);
    for (std::size_t k = 0; k < m.count(); ++k, ++text.count)
      text.arrays +=
          fmt::format("  {}_grape_array(list + {}, \"{}\", {}, &all->{}{}, sizeof *all);\n", p,
                      text.count, m.variable(k), types[static_cast<unsigned>(m.first->type)],
                      member_name(m.name), m.index_text(k));
  }
  // C has no empty structures.
  if (text.count == 0) text.members = "  char none; /* the kernel declares none */\n";
  return text;
}

std::string param_functions(const Kernel& kernel, const std::string& p) {
  std::string text;
  for (const Member& m : members_of(kernel, Role::Param)) {
    const bool single = m.sizes.empty();
    text += fmt::format(R"(
/* Set the parameter{3} {1} ({2}) for the runs that follow. */
static inline int {0}_grape_set_{1}({4}) {{
  return (int)gdr_job_set{5}({0}_grape.job, "{1}", {6});
}}
)",
                        p, m.name, m.first->conversion, single ? "" : "s",
                        single ? "double value" : fmt::format("const double values[{}]", m.count()),
                        single ? "" : "_values",
                        single ? "value" : fmt::format("{}, values", m.count()));
  }
  return text;
}

// {0}: prefix; {1}: its capitals; {2} {3} {4}: members of j, i and result; {5}: the object's bytes;
// {6} {7} {8}: arrays of j, i and result; {9} {10} {11}: how many; {12}: functions of params.
constexpr const char* c_header_text =
    R"(/* The host interface of kernel {0}, written by `gdr header`.
 *
 *   {0}_grape_init();
 *   {0}_send_j_particle(&j, index);         for all sources, index = 0 .. n - 1
 *   {0}_send_i_particles(i, ni);            all targets
 *   {0}_grape_run(n);                       starts the run in the background
 *   {0}_get_result(result, ni);             waits, and copies the results
 *
 * Every function returns 0 or a gdr_status as in <gdr.h>; gdr_last_error() has the message
 * of errors of the library (a null pointer or an invalid index is GDR_ERROR_USAGE without
 * one). Include this in one C99 or C++ source and link with -lgdr. The device is selected by
 * GDR_DEVICE.
 */
#ifndef {1}_GRAPE_H
#define {1}_GRAPE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gdr.h>

/* A source, a target, a result: one member for each declaration, in order. */
struct {0}_grape_j_particle_struct {{
{2}}};
struct {0}_grape_i_particle_struct {{
{3}}};
struct {0}_grape_result_struct {{
{4}}};

static const unsigned char {0}_grape_object[] = {{{5}
}};

/* The open device, and a copy of the sources; those from `unsent_first` up to `unsent_end`
 * have not been sent to the device yet. */
static struct {{
  gdr_device *device;
  gdr_kernel *kernel;
  gdr_job *job;
  struct {0}_grape_j_particle_struct *j;
  size_t j_capacity, j_sent, j_given, unsent_first, unsent_end;
  struct {0}_grape_result_struct *results;
  size_t targets, result_capacity;
  int done; /* whether a run was started for these targets */
}} {0}_grape;

static inline void {0}_grape_array(gdr_input *array, const char *name, gdr_type type,
                                   const void *data, size_t stride) {{
  array->name = name;
  array->data = data;
  array->type = type;
  array->stride = (ptrdiff_t)stride;
}}

/* Close the device and reset all state. */
static inline void {0}_grape_close(void) {{
  gdr_job_free({0}_grape.job);
  gdr_kernel_free({0}_grape.kernel);
  gdr_device_close({0}_grape.device);
  free({0}_grape.j);
  free({0}_grape.results);
  memset(&{0}_grape, 0, sizeof {0}_grape);
}}

/* Open the device and load the kernel. */
static inline int {0}_grape_init(void) {{
  gdr_status status;
  {0}_grape_close();
  status = gdr_device_open(NULL, &{0}_grape.device);
  if (status == GDR_OK)
    status = gdr_kernel_object({0}_grape_object, sizeof {0}_grape_object, &{0}_grape.kernel);
  if (status == GDR_OK)
    status = gdr_job_create({0}_grape.device, {0}_grape.kernel, &{0}_grape.job);
  return (int)status;
}}
{12}
/* Grow an array to at least n elements, doubling its capacity; 0 or GDR_ERROR_MEMORY. */
static inline int {0}_grape_grow(void **data, size_t *capacity, size_t n, size_t size) {{
  size_t more = *capacity < 64 ? 64 : *capacity;
  void *moved;
  if (*data != NULL && n <= *capacity) return GDR_OK;
  while (more < n) {{
    if (more > (size_t)-1 / 2 / size) return GDR_ERROR_MEMORY;
    more *= 2;
  }}
  moved = realloc(*data, more * size);
  if (moved == NULL) return GDR_ERROR_MEMORY;
  memset((char *)moved + *capacity * size, 0, (more - *capacity) * size);
  *data = moved;
  *capacity = more;
  return GDR_OK;
}}

/* Set n sources from index `address` on. */
static inline int {0}_send_j_particles(const struct {0}_grape_j_particle_struct *j, int address,
                                       int n) {{
  void *place = {0}_grape.j;
  size_t first = (size_t)address, end = first + (size_t)n;
  int status;
  if (address < 0 || n < 0 || (j == NULL && n > 0)) return GDR_ERROR_USAGE;
  if (n == 0) return GDR_OK;
  status = {0}_grape_grow(&place, &{0}_grape.j_capacity, end, sizeof *j);
  if (status != GDR_OK) return status;
  {0}_grape.j = (struct {0}_grape_j_particle_struct *)place;
  memcpy({0}_grape.j + first, j, (size_t)n * sizeof *j);
  if (end > {0}_grape.j_sent) {0}_grape.j_sent = end;
  if ({0}_grape.unsent_first == {0}_grape.unsent_end) {{
    {0}_grape.unsent_first = first;
    {0}_grape.unsent_end = end;
  }}
  if (first < {0}_grape.unsent_first) {0}_grape.unsent_first = first;
  if (end > {0}_grape.unsent_end) {0}_grape.unsent_end = end;
  return GDR_OK;
}}

/* Set the source at index `address`. */
static inline int {0}_send_j_particle(const struct {0}_grape_j_particle_struct *j, int address) {{
  return {0}_send_j_particles(j, address, 1);
}}

/* Set n targets. */
static inline int {0}_send_i_particles(const struct {0}_grape_i_particle_struct *i, int n) {{
  static struct {0}_grape_i_particle_struct none; /* for a null pointer without elements */
  const struct {0}_grape_i_particle_struct *all = i == NULL ? &none : i;
  gdr_input list[{10} + 1];
  gdr_status status;
  if (n < 0 || (i == NULL && n > 0)) return GDR_ERROR_USAGE;
  memset(list, 0, sizeof list);
{7}  (void)all;
  status = gdr_job_targets({0}_grape.job, (size_t)n, list, {10});
  if (status == GDR_OK) {0}_grape.targets = (size_t)n;
  {0}_grape.done = 0;
  return (int)status;
}}

/* Send the changed ones of the first n sources to the device. */
static inline gdr_status {0}_grape_update(size_t n) {{
  const int whole = n != {0}_grape.j_given;
  const size_t first = whole ? 0 : {0}_grape.unsent_first;
  const size_t end = whole || {0}_grape.unsent_end > n ? n : {0}_grape.unsent_end;
  void *place = {0}_grape.j;
  const struct {0}_grape_j_particle_struct *all;
  gdr_input list[{9} + 1];
  gdr_status status;
  if (!whole && first >= end) return GDR_OK;
  if ({0}_grape_grow(&place, &{0}_grape.j_capacity, n, sizeof *all) != GDR_OK)
    return GDR_ERROR_MEMORY;
  {0}_grape.j = (struct {0}_grape_j_particle_struct *)place;
  all = {0}_grape.j + first;
  memset(list, 0, sizeof list);
{6}  (void)all;
  status = whole ? gdr_job_sources({0}_grape.job, n, list, {9})
                 : gdr_job_update_sources({0}_grape.job, first, end - first, list, {9});
  if (status != GDR_OK) return status;
  {0}_grape.j_given = n;
  /* sources from n on remain to be sent */
  if ({0}_grape.unsent_first < n)
    {0}_grape.unsent_first = {0}_grape.unsent_end < n ? {0}_grape.unsent_end : n;
  return GDR_OK;
}}

/* Start the loop over the first n sources, for all targets that were sent. */
static inline int {0}_grape_run(int n) {{
  void *place = {0}_grape.results;
  const struct {0}_grape_result_struct *all;
  gdr_input list[{11} + 1];
  gdr_result results[{11} + 1];
  gdr_status status;
  size_t k;
  if (n < 0 || (size_t)n > {0}_grape.j_sent) return GDR_ERROR_USAGE;
  status = gdr_job_wait({0}_grape.job);
  if (status == GDR_OK) status = {0}_grape_update((size_t)n);
  if (status != GDR_OK) return (int)status;
  if ({0}_grape_grow(&place, &{0}_grape.result_capacity, {0}_grape.targets, sizeof *all) != GDR_OK)
    return GDR_ERROR_MEMORY;
  {0}_grape.results = (struct {0}_grape_result_struct *)place;
  all = {0}_grape.results;
  memset(list, 0, sizeof list);
{8}  (void)all;
  for (k = 0; k < {11}; ++k) {{
    results[k].name = list[k].name;
    results[k].data = (char *){0}_grape.results +
                      ((const char *)list[k].data - (const char *){0}_grape.results);
    results[k].type = list[k].type;
    results[k].stride = list[k].stride;
  }}
  status = gdr_job_start({0}_grape.job, results, {11});
  {0}_grape.done = status == GDR_OK;
  return (int)status;
}}

/* Wait for the run, and copy the results of the first n targets. */
static inline int {0}_get_result(struct {0}_grape_result_struct *result, int n) {{
  const gdr_status status = gdr_job_wait({0}_grape.job);
  if (status != GDR_OK) return (int)status;
  if (!{0}_grape.done || n < 0 || (size_t)n > {0}_grape.targets || (result == NULL && n > 0))
    return GDR_ERROR_USAGE;
  if (n > 0) memcpy(result, {0}_grape.results, (size_t)n * sizeof *result);
  return GDR_OK;
}}

#endif /* {1}_GRAPE_H */
)";

}  // namespace

std::string c_header(const Kernel& kernel, std::string_view prefix) {
  const std::string name(prefix.empty() ? std::string_view(kernel.name()) : prefix);
  if (!is_c_identifier(name))
    throw Error(
        ErrorCategory::Usage,
        fmt::format("\"{}\" cannot begin the names of a C header; give letters, digits and _",
                    name));
  std::string capitals = name;
  for (char& c : capitals) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const CRoleText j = c_role_text(kernel, Role::Source, name),
                  i = c_role_text(kernel, Role::Target, name),
                  r = c_role_text(kernel, Role::Result, name);
  return fmt::format(fmt::runtime(c_header_text), name, capitals, j.members, i.members, r.members,
                     bytes_text(kernel.object()), j.arrays, i.arrays, r.arrays, j.count, i.count,
                     r.count, param_functions(kernel, name));
}

}  // namespace gdr
