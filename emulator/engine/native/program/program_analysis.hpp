// Which sections of a program host numbers can execute, and what each must compute.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "emulator/engine/native/program/cross_section_types.hpp"

namespace gdr::native {

/// Translates the sections of a program, and finds what is live in each: live-in words of one
/// section are live-out in others. Sections that host numbers cannot execute run on the exact
/// engine, which reads and writes all words, so that others may become unsupported, too.
class ProgramAnalysis {
 public:
  ProgramAnalysis(const Program& program, const Geometry& geometry, bool longs_are_doubles);

  /// A section; null: it runs on the exact engine.
  SectionModel* model(std::size_t section) const { return models_[section].get(); }
  SectionModel* model(Section section) const { return model(index_of(section)); }
  /// Why it does; else empty.
  const std::string& reason(std::size_t section) const { return reasons_[section]; }
  const Liveness& liveness(std::size_t section) const { return liveness_[section]; }
  /// The contents of the tables that a section reads, in the order of its model's.
  const std::vector<std::vector<TableShort>>& tables(std::size_t section) const {
    return tables_[section];
  }

 private:
  void translate_sections(const Geometry& geometry, bool longs_are_doubles);
  void find_tables();
  void match_left_stores();
  void find_live_words();
  bool analyse(std::size_t section, const CrossSectionTypes& types);
  bool reject_all(const TypeConflict& conflict);
  void reject(std::size_t section, const std::string& reason);
  void reject_alone(std::size_t section, const std::string& reason);

  const Program& program_;
  const Geometry& geometry_;
  CellMap map_;
  SectionModels models_;
  std::array<std::string, section_count> reasons_;
  std::array<Liveness, section_count> liveness_;
  std::array<std::vector<std::vector<TableShort>>, section_count> tables_;
  LiveOut live_;              ///< words that the host or a section reads
  LiveOut read_by_sections_;  ///< words that a section reads
};

}  // namespace gdr::native
