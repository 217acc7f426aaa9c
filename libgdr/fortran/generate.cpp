// Writes the Fortran module from the C header: generate gdr.h gdr.f90.in gdr.f90
//
// The template has the parts that no declaration implies, and lines "!@ declarations",
// "!@ interfaces" and "!@ procedures" that are replaced. A procedure that the template has itself
// is not generated. The rules by which a declaration becomes a procedure:
//
//   gdr_x* x                 type(gdr_x); created by gdr_x**; set to null by what frees or closes
//   it gdr_status               the last argument, `status` const char* character(len=*), without
//   trailing blanks; or an allocatable result size_t, int, unsigned    integer; a result of type
//   int is a logical index, first, *_pivot    counted from 1 instead of 0 (and 0 instead of -1);
//   pivots likewise enum                     integer, or a letter of BLAS for those in
//   `blas_letters` gdr_input* x, count      arrays made by gdr_array struct* x, size type(struct)
//   T* x, capacity, count    allocatable array
//   double* x, ldx           matrix x(ldx, *)
//   "x(n, m)" in the comment the shape of x; with a parameter step_x, x(n, m, :) gives all sizes
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using Lines = std::vector<std::string>;

struct Parameter {
  std::string type, name;  ///< type without blanks around *
};

struct Function {
  std::string result, name, doc;
  std::vector<Parameter> parameters;
};

struct Header {
  Lines declarations;  ///< constants and types, in Fortran
  std::vector<Function> functions;
  std::set<std::string> handles, enums, structs;
};

/// Enumerations that BLAS names by letters: the letters of the values 0 and 1.
const std::map<std::string, std::string> blas_letters = {
    {"gdr_transpose", "NT"}, {"gdr_side", "LR"}, {"gdr_triangle", "LU"}, {"gdr_diagonal", "NU"}};

/// C types of the same representation in Fortran.
const std::map<std::string, std::string> scalars = {
    {"double", "real(c_double)"},      {"float", "real(c_float)"},
    {"int", "integer(c_int)"},         {"unsigned", "integer(c_int)"},
    {"size_t", "integer(c_size_t)"},   {"ptrdiff_t", "integer(c_intptr_t)"},
    {"int64_t", "integer(c_int64_t)"}, {"uint64_t", "integer(c_int64_t)"},
    {"constchar*", "type(c_ptr)"},     {"void*", "type(c_ptr)"},
    {"constvoid*", "type(c_ptr)"}};

std::string read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string squeeze(const std::string& text) {
  const std::string one = std::regex_replace(text, std::regex(R"(\s+)"), " ");
  return std::regex_replace(one, std::regex("^ | $"), "");
}

Lines split(const std::string& text, char separator) {
  Lines parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(squeeze(part));
  return parts;
}

/// Text in lines of at most 98 columns, `first` before the first one and `next` before the others;
/// `glue` stands at the end of a line that is continued.
Lines wrap(const std::string& text, const std::string& first, const std::string& next,
           const std::string& glue) {
  Lines lines{first};
  bool empty = true;
  std::stringstream words(text);
  for (std::string word; words >> word;) {
    if (!empty && lines.back().size() + word.size() + glue.size() > 97) {
      lines.back() += glue;
      lines.push_back(next);
      empty = true;
    }
    lines.back() += (empty ? "" : " ") + word;
    empty = false;
  }
  return lines;
}

Lines statement(const std::string& text, const std::string& indent) {
  return wrap(text, indent, indent + "     ", " &");
}

Lines comment(const std::string& text, const std::string& indent) {
  if (text.empty()) return {};
  return wrap(text, indent + "! ", indent + "! ", "");
}

void append(Lines& to, const Lines& more) { to.insert(to.end(), more.begin(), more.end()); }

/// "const double* a" as type and name; an array's length follows the name.
Parameter parse_variable(const std::string& text) {
  static const std::regex callback(R"(.*\(\*(\w+)\)\(.*\))"), plain(R"((.*?)(\w+(\[\d+\])?)$)");
  std::smatch m;
  if (std::regex_match(text, m, callback)) return {"callback", m[1]};
  if (!std::regex_match(text, m, plain)) throw std::runtime_error("cannot parse: " + text);
  return {std::regex_replace(m[1].str(), std::regex(" "), ""), m[2]};
}

void parse_enum(const std::string& text, const std::string& doc, Header& header) {
  static const std::regex form(R"(typedef enum (\w+) \{(.*)\} \w+)");
  std::smatch m;
  if (!std::regex_match(text, m, form)) throw std::runtime_error("cannot parse: " + text);
  header.enums.insert(m[1]);
  append(header.declarations, comment(doc, "  "));
  append(header.declarations,
         statement("integer, parameter, public :: " + lower(squeeze(m[2])), "  "));
}

std::string fortran_type(const Header& header, const std::string& type) {
  if (header.enums.count(type) != 0) return "integer(c_int)";
  const auto found = scalars.find(type);
  if (found == scalars.end()) throw std::runtime_error("no Fortran type for " + type);
  return found->second;
}

/// `body` still has its comments, which become those of the members.
void parse_struct(const std::string& body, const std::string& doc, Header& header) {
  static const std::regex form(R"(typedef struct (\w+) \{([\s\S]*)\} \w+)"),
      member(R"(([^;]+);\s*(/\*([\s\S]*?)\*/)?)"), array(R"((\w+)\[(\d+)\])");
  std::smatch m;
  if (!std::regex_match(body, m, form)) throw std::runtime_error("cannot parse: " + body);
  const std::string name = m[1], members = m[2];
  if (name == "gdr_input" || name == "gdr_result") return;  // c_array of the template
  header.structs.insert(name);
  append(header.declarations, comment(doc, "  "));
  header.declarations.push_back("  type, bind(c), public :: " + name);
  for (std::sregex_iterator at(members.begin(), members.end(), member), end; at != end; ++at) {
    const Parameter v = parse_variable(squeeze((*at)[1]));
    std::smatch dimension;
    std::string line = std::regex_match(v.name, dimension, array)
                           ? fmt::format("character(kind=c_char) :: {}({})", dimension[1].str(),
                                         dimension[2].str())
                           : fortran_type(header, v.type) + " :: " + v.name;
    if ((*at)[3].matched) line += "  ! " + squeeze((*at)[3]);
    header.declarations.push_back("     " + line);
  }
  header.declarations.push_back("  end type " + name);
}

void parse_function(const std::string& text, const std::string& doc, Header& header) {
  static const std::regex form(R"((.*?)(gdr_\w+)\((.*)\))");
  std::smatch m;
  if (!std::regex_match(text, m, form)) throw std::runtime_error("cannot parse: " + text);
  Function f{std::regex_replace(m[1].str(), std::regex(" "), ""), m[2], doc, {}};
  std::string list = m[3];
  if (list != "void") {
    int depth = 0;
    for (char& c : list) {
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (c == ',' && depth == 0) c = '\n';
    }
    for (const std::string& p : split(list, '\n')) f.parameters.push_back(parse_variable(p));
  }
  header.functions.push_back(f);
}

std::string doc_text(std::string text) {
  text = std::regex_replace(text, std::regex(R"(\n \* ?)"), "\n");
  return squeeze(text);
}

Header parse(std::string text) {
  Header header;
  text = std::regex_replace(text, std::regex(R"(^[\s\S]*?extern "C" \{\s*#endif)"), "");
  text = std::regex_replace(text, std::regex(R"(#ifdef[\s\S]*$)"), "");
  static const std::regex item(
      R"(\s*(?:/\*([\s\S]*?)\*/)?\s*(typedef [^;{]*\{[\s\S]*?\}[^;]*|[^;/]+);)");
  for (std::sregex_iterator at(text.begin(), text.end(), item), end; at != end; ++at) {
    const std::string doc = doc_text((*at)[1]), raw = (*at)[2], line = squeeze(raw);
    std::smatch handle;
    if (line.starts_with("typedef enum"))
      parse_enum(line, doc, header);
    else if (line.starts_with("typedef struct") && line.find('{') != std::string::npos)
      parse_struct(raw, doc, header);
    else if (std::regex_match(line, handle, std::regex(R"(typedef struct (\w+) \w+)")))
      header.handles.insert(handle[1]);
    else
      parse_function(line, doc, header);
  }
  for (const std::string& name : header.handles)
    append(header.declarations, {"  type, public :: " + name, "     private",
                                 "     type(c_ptr) :: handle = c_null_ptr", "  end type " + name});
  return header;
}

/// The parts of a procedure, from which it is put together.
struct Procedure {
  Lines arguments, declarations, locals, before, call, after;
};

class Writer {
 public:
  Writer(const Header& header, const Function& function) : h_(header), f_(function) {
    for (const Parameter& p : f_.parameters) {
      batched_ = batched_ || p.name.starts_with("step_");
      sized_ = sized_ || p.type == "size_t";
    }
  }

  /// The C function as Fortran sees it.
  Lines interface_lines() const {
    const bool is_void = f_.result == "void";
    Lines names, lines;
    for (const Parameter& p : f_.parameters) names.push_back(p.name);
    const std::string kind = is_void ? "subroutine" : "function";
    append(lines, statement(fmt::format("{} {}({}) bind(c, name=\"{}\"){}", kind, c_name(),
                                        fmt::join(names, ", "), f_.name,
                                        is_void ? "" : " result(returned)"),
                            "     "));
    lines.push_back("       import");
    for (const Parameter& p : f_.parameters)
      lines.push_back("       " + c_declaration(p) + " :: " + p.name + (is_array(p) ? "(*)" : ""));
    if (!is_void)
      lines.push_back("       " +
                      (f_.result == "gdr_status" ? "integer(c_int)" : fortran_type(h_, f_.result)) +
                      " :: returned");
    lines.push_back("     end " + kind + " " + c_name());
    return lines;
  }

  Lines procedure_lines() {
    for (std::size_t k = 0; k < f_.parameters.size(); ++k) k += convert(k);
    const bool status = f_.result == "gdr_status" && !f_.parameters.empty();
    const bool subroutine = status || f_.result == "void";
    if (status) argument("status", "integer, intent(out)");
    const std::string call = fmt::format("{}({})", c_name(), fmt::join(p_.call, ", "));
    const std::string kind = subroutine ? "subroutine" : "function";
    Lines lines = comment(f_.doc, "  ");
    append(lines, statement(fmt::format("{} {}({}){}", kind, f_.name, fmt::join(p_.arguments, ", "),
                                        subroutine ? "" : " result(returned)"),
                            "  "));
    append(lines, p_.declarations);
    if (!subroutine) lines.push_back("    " + result_type() + " :: returned");
    append(lines, p_.locals);
    append(lines, p_.before);
    append(lines, statement(status               ? "status = " + call
                            : subroutine         ? "call " + call
                            : f_.result == "int" ? "returned = " + call + " /= 0"
                            : is_text()          ? "returned = gdr_text(" + call + ")"
                                                 : "returned = int(" + call + ")",
                            "    "));
    append(lines, p_.after);
    lines.push_back("  end " + kind + " " + f_.name);
    return lines;
  }

 private:
  std::string c_name() const { return "c_" + f_.name.substr(4); }
  bool is_text() const { return f_.result == "constchar*"; }
  std::string result_type() const {
    if (f_.result == "int") return "logical";
    return is_text() ? "character(len=:), allocatable" : "integer";
  }

  static std::string pointee(const Parameter& p) {
    const std::string type = p.type.starts_with("const") ? p.type.substr(5) : p.type;
    return type.substr(0, type.find('*'));
  }
  bool is_handle(const Parameter& p) const { return h_.handles.count(pointee(p)) != 0; }
  static bool is_string(const Parameter& p) { return p.type == "constchar*"; }
  static bool is_named_array(const Parameter& p) {
    return pointee(p) == "gdr_input" || pointee(p) == "gdr_result";
  }
  bool is_list(const Parameter& p) const {
    const std::size_t k = index_of(p);
    return p.type.ends_with("*") &&
           std::any_of(f_.parameters.begin() + static_cast<std::ptrdiff_t>(k), f_.parameters.end(),
                       [](const Parameter& q) { return q.name == "capacity"; });
  }
  /// A pointer to several values: without a size among the parameters there are none.
  bool is_array(const Parameter& p) const {
    if (!p.type.ends_with("*") || is_handle(p)) return false;
    const std::string to = pointee(p);
    return is_string(p) || is_named_array(p) || p.type == "constvoid*" || p.name == "pivots" ||
           (sized_ && (to == "double" || to == "float")) || is_list(p);
  }
  std::size_t index_of(const Parameter& p) const {
    return static_cast<std::size_t>(&p - f_.parameters.data());
  }

  std::string c_declaration(const Parameter& p) const {
    const std::string intent = p.type.starts_with("const") ? ", intent(in)" : ", intent(inout)";
    if (p.type == "callback") return "type(c_funptr), value";
    if (p.type == "void*") return "type(c_ptr), value";
    if (p.type == "constvoid*") return "integer(c_int8_t), intent(in)";
    if (is_string(p)) return "character(kind=c_char), intent(in)";
    if (is_named_array(p)) return "type(c_array), intent(in)";
    if (is_handle(p))
      return p.type.ends_with("**") ? "type(c_ptr), intent(out)" : "type(c_ptr), value";
    if (!p.type.ends_with("*")) return fortran_type(h_, p.type) + ", value";
    if (h_.structs.count(pointee(p)) != 0) return "type(" + pointee(p) + ")" + intent;
    return fortran_type(h_, pointee(p)) + intent;
  }

  void argument(const std::string& name, const std::string& declaration,
                const std::string& shape = "") {
    p_.arguments.push_back(name);
    append(p_.declarations, statement(declaration + " :: " + name + shape, "    "));
  }
  void local(const std::string& declaration) { p_.locals.push_back("    " + declaration); }
  void before(const std::string& text) { append(p_.before, statement(text, "    ")); }
  void after(const std::string& text) { append(p_.after, statement(text, "    ")); }

  /// Dimensions of "name(n, m)" in the comment; empty if it has none.
  Lines shape_of(const std::string& name) const {
    std::smatch m;
    const std::regex form("\\b" + name + R"(\(([\w, ]+)\))");
    return std::regex_search(f_.doc, m, form) ? split(m[1], ',') : Lines{};
  }

  /// Number of pivots, by the sizes that the function has.
  std::string pivot_count() const {
    for (const Parameter& p : f_.parameters)
      if (p.name == "m") return "min(m, n)";
    return "n";
  }

  /// Declares parameter k and passes it on; returns how many parameters after it it takes along.
  std::size_t convert(std::size_t k) {
    const Parameter& p = f_.parameters[k];
    const auto next = [&](std::size_t d) {
      return k + d < f_.parameters.size() ? f_.parameters[k + d].name : std::string();
    };
    const std::string& name = p.name;
    const bool is_const = p.type.starts_with("const");
    if (batched_ && p.type == "size_t") {
      convert_batch_size(name);
      return 0;
    }
    if (is_handle(p)) {
      convert_handle(p);
    } else if (is_string(p)) {
      argument(name, "character(len=*), intent(in)");
      p_.call.push_back("trim(" + name + ")//c_null_char");
    } else if (is_named_array(p)) {
      argument(name, "type(gdr_named_array), intent(in), target", "(:)");
      append(p_.call, {"c_arrays(" + name + ")", "size(" + name + ", kind=c_size_t)"});
      return 1;
    } else if (is_list(p)) {
      return convert_list(k);
    } else if (h_.structs.count(pointee(p)) != 0) {
      argument(name, "type(" + pointee(p) + "), intent(out)");
      p_.call.push_back(name);
      if (next(1) != "size") return 0;
      p_.call.push_back("c_sizeof(" + name + ")");
      return 1;
    } else if (h_.enums.count(p.type) != 0) {
      convert_enum(p);
    } else if (name == "pivots") {
      convert_pivots(is_const);
    } else if (is_array(p)) {
      convert_array(k);
    } else if (p.type.ends_with("*")) {
      convert_result(p);
    } else if (p.type == "double" || p.type == "float") {
      argument(name, fortran_type(h_, p.type) + ", intent(in)");
      p_.call.push_back(name);
    } else {
      argument(name, "integer, intent(in)");
      const bool index = name == "index" || name == "first";
      const std::string kind = p.type == "size_t" ? "c_size_t" : "c_int";
      p_.call.push_back(fmt::format("int({}{},{})", name, index ? " - 1" : "", kind));
    }
    return 0;
  }

  /// A size of a batch, which is that of an array.
  void convert_batch_size(const std::string& name) {
    p_.call.push_back(name);
    local("integer(c_size_t) :: " + name);
    const std::string rows = fmt::format("size({}, 1, c_size_t)", matrix_);
    if (name.starts_with("ld")) before(fmt::format("{} = max({}, 1_c_size_t)", name, rows));
    if (name.starts_with("step_"))
      before(fmt::format("{} = {} * size({}, 2, c_size_t)", name, rows, matrix_));
  }

  void convert_handle(const Parameter& p) {
    const bool frees = f_.result == "void";
    const char* const intent = p.type.ends_with("**") ? "out" : frees ? "inout" : "in";
    argument(p.name, fmt::format("type({}), intent({})", pointee(p), intent));
    p_.call.push_back(p.name + "%handle");
    if (frees) after(p.name + "%handle = c_null_ptr");
  }

  void convert_enum(const Parameter& p) {
    const auto letters = blas_letters.find(p.type);
    argument(p.name,
             letters == blas_letters.end() ? "integer, intent(in)" : "character, intent(in)");
    p_.call.push_back(letters == blas_letters.end()
                          ? "int(" + p.name + ",c_int)"
                          : fmt::format("letter_code({}, \"{}\")", p.name, letters->second));
  }

  /// Results of a length that the call tells: one entry for each rank at most.
  std::size_t convert_list(std::size_t k) {
    const Parameter& p = f_.parameters[k];
    const bool is_struct = h_.structs.count(pointee(p)) != 0;
    argument(p.name,
             (is_struct ? "type(" + pointee(p) + ")" : std::string("integer")) +
                 ", allocatable, intent(out)",
             "(:)");
    local((is_struct ? "type(" + pointee(p) + ")" : fortran_type(h_, pointee(p))) +
          ", allocatable :: list(:)");
    local("integer(c_size_t) :: count");
    before("allocate (list(max(1, gdr_device_ranks(device))))");
    before("count = 0");
    p_.call.push_back("list");
    const bool has_size = f_.parameters[k + 1].name == "size";
    if (has_size) p_.call.push_back("c_sizeof(list(1))");
    append(p_.call, {"size(list, kind=c_size_t)", "count"});
    after(p.name + " = list(1:count)");
    return has_size ? 3 : 2;
  }

  void convert_pivots(bool is_const) {
    const std::string shape = batched_ ? "(:, :)" : "(*)";
    argument("pivots",
             std::string("integer(c_int64_t), ") + (batched_ ? "contiguous, " : "") +
                 (is_const ? "intent(in)" : "intent(inout)"),
             shape);
    if (batched_) check_shape("pivots", shape_of("pivots"));
    const std::string section =
        batched_ ? std::string() : fmt::format("(1:max({}, 0))", pivot_count());
    if (is_const) {
      local(std::string("integer(c_int64_t), allocatable :: from_zero") +
            (batched_ ? "(:, :)" : "(:)"));
      before("from_zero = pivots" + section + " - 1");
      p_.call.push_back("from_zero");
    } else {
      p_.call.push_back("pivots");
      after(fmt::format("if (status == gdr_ok) pivots{0} = pivots{0} + 1", section));
    }
  }

  void convert_array(std::size_t k) {
    const Parameter& p = f_.parameters[k];
    const bool is_const = p.type.starts_with("const");
    const std::string type =
        p.type == "constvoid*" ? "integer(c_int8_t)" : fortran_type(h_, pointee(p));
    const std::string intent = is_const ? ", intent(in)" : ", intent(inout)";
    const Lines shape = shape_of(p.name);
    std::string dimensions = "(*)";
    if (k + 1 < f_.parameters.size() && f_.parameters[k + 1].name.starts_with("ld"))
      dimensions = "(" + f_.parameters[k + 1].name + ", *)";
    else if (!shape.empty())
      dimensions = fmt::format("({})", fmt::join(shape, ", "));
    if (batched_) {
      dimensions = "(:, :, :)";
      matrix_ = p.name;
      check_shape(p.name, shape);
    }
    argument(p.name, type + (batched_ ? ", contiguous" : "") + intent, dimensions);
    p_.call.push_back(p.name);
  }

  /// Takes sizes that are not known yet from the shape of an array of a batch, and compares the
  /// others.
  void check_shape(const std::string& name, Lines shape) {
    if (shape.empty()) throw std::runtime_error(f_.name + ": the comment lacks a shape of " + name);
    shape.push_back("count");
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::string extent = fmt::format("size({}, {}, c_size_t)", name, d + 1);
      if (sizes_.insert(shape[d]).second) {
        before(shape[d] + " = " + extent);
        continue;
      }
      if (!std::exchange(checks_, true)) before("status = gdr_error_usage");
      before(fmt::format("if ({} /= {}) return", extent, shape[d]));
    }
  }

  /// A number that is a result; one that counts from 0 is -1 where there is none.
  void convert_result(const Parameter& p) {
    if (pointee(p) == "double") {
      argument(p.name, "real(c_double), intent(out)");
      p_.call.push_back(p.name);
      return;
    }
    const bool index = p.name.ends_with("_pivot");
    argument(p.name, "integer, intent(out)");
    const std::string c = "c_" + p.name;
    local(fortran_type(h_, pointee(p)) + " :: " + c);
    p_.before.insert(p_.before.begin(),
                     {"    " + p.name + " = 0", fmt::format("    {} = {}", c, index ? "-1" : "0")});
    p_.call.push_back(c);
    after(fmt::format("{} = int({}){}", p.name, c, index ? " + 1" : ""));
  }

  const Header& h_;
  const Function& f_;
  Procedure p_;
  std::set<std::string> sizes_;  ///< sizes of a batch that an array has given
  std::string matrix_;           ///< the last array of a batch
  bool batched_ = false, sized_ = false, checks_ = false;
};

void write(std::ofstream& out, const Lines& lines) {
  for (const std::string& line : lines) out << line << '\n';
}

void generate(const std::string& header_path, const std::string& template_path,
              const std::string& out_path) {
  const Header header = parse(read(header_path));
  const std::string frame = read(template_path);
  Lines names, interfaces, procedures;
  for (const Function& f : header.functions) {
    names.push_back("  public :: " + f.name);
    append(interfaces, Writer(header, f).interface_lines());
    if (std::regex_search(frame, std::regex("(subroutine|function) " + f.name + "\\("))) continue;
    append(procedures, Writer(header, f).procedure_lines());
    procedures.push_back("");
  }
  std::ofstream out(out_path);
  out << "! Generated from gdr.h by libgdr/fortran/generate.cpp.\n";
  std::stringstream lines(frame);
  for (std::string line; std::getline(lines, line);) {
    if (line == "!@ declarations") {
      write(out, header.declarations);
      write(out, names);
    } else if (line == "!@ interfaces") {
      write(out, interfaces);
    } else if (line == "!@ procedures") {
      write(out, procedures);
    } else {
      out << line << '\n';
    }
  }
  if (!out.flush()) throw std::runtime_error("cannot write " + out_path);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 4) throw std::runtime_error("usage: generate gdr.h gdr.f90.in gdr.f90");
    generate(argv[1], argv[2], argv[3]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "generate: %s\n", error.what());
    return 1;
  }
}
