#include "emulator/engine/native/program/program_analysis.hpp"

#include "emulator/engine/native/program/list_conditions.hpp"
#include "emulator/engine/native/program/live_words.hpp"
#include "emulator/engine/native/translate/list_appends.hpp"

namespace gdr::native {
namespace {

constexpr std::size_t start_index = index_of(Section::Start);
constexpr std::size_t body_index = index_of(Section::Body);
constexpr std::size_t end_index = index_of(Section::End);

constexpr const char* store_outside_of_list = "a word is stored through T, and not to a list";

}  // namespace

ProgramAnalysis::ProgramAnalysis(const Program& program, const Geometry& geometry,
                                 bool longs_are_doubles)
    : program_(program),
      geometry_(geometry),
      map_(geometry),
      live_(words_read_by_host(program, map_)),
      read_by_sections_(map_) {
  translate_sections(geometry, longs_are_doubles);
  find_tables();
  match_left_stores();
  find_live_words();
  for (std::size_t s = 0; s < section_count; ++s)
    if (models_[s]) mark_read_by_sections(read_by_sections_, liveness_[s]);
}

void ProgramAnalysis::translate_sections(const Geometry& geometry, bool longs_are_doubles) {
  for (std::size_t s = 0; s < section_count; ++s) {
    models_[s] = std::make_unique<SectionModel>(geometry, longs_are_doubles);
    try {
      translate(program_, Section(s), *models_[s]);
      if (s == body_index && !models_[s]->bm_stores.empty())
        throw Unsupported("the loop stores words to the broadcast memory");
    } catch (const Unsupported& e) {
      reject(s, e.what());
    }
  }
}

void ProgramAnalysis::find_tables() {
  for (std::size_t s = 0; s < section_count; ++s) {
    if (!models_[s]) continue;
    try {
      for (const Table& table : models_[s]->tables) {
        if (s != body_index && s != end_index)
          throw Unsupported("local memory is read through T outside of the loop");
        tables_[s].push_back(table_contents(program_, models_[start_index].get(), table));
      }
    } catch (const Unsupported& e) {
      reject(s, e.what());
    }
  }
}

/// Stores through T that iterations leave to the next one must be completed in section End.
void ProgramAnalysis::match_left_stores() {
  const auto& body = models_[body_index];
  const auto& end = models_[end_index];
  if (body && !body->left.empty() && (!end || !completes(*end, *body)))
    reject(body_index, store_outside_of_list);
  if (!body && end && !end->left.empty()) reject(end_index, store_outside_of_list);
}

/// Iterates to a fixed point.
void ProgramAnalysis::find_live_words() {
  const CrossSectionTypes types(program_, geometry_, models_);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t s = 0; s < section_count; ++s) {
      if (models_[s]) {
        changed = analyse(s, types) || changed;
      } else if (const auto found = types.check(Section(s), program_, map_)) {
        changed = reject_all(*found) || changed;
      }
    }
  }
}

/// Finds the live values of a compiled section. True if live words or the sections that are
/// compiled have changed.
bool ProgramAnalysis::analyse(std::size_t s, const CrossSectionTypes& types) {
  try {
    const SectionModel& model = *models_[s];
    liveness_[s] = analyse_liveness(*models_[s], live_, s == body_index);
    check_lists(model, models_[start_index].get(), liveness_[s], live_, Section(s));
    if (const auto found = types.check(Section(s), model, liveness_[s])) {
      reject_all(*found);
      return true;
    }
    const LiveOut own = live_in(model, liveness_[s]);
    read_by_sections_.merge(own);
    return live_.merge(own);
  } catch (const Unsupported& e) {
    reject(s, e.what());
    return true;
  }
}

/// True if some of them were compiled.
bool ProgramAnalysis::reject_all(const TypeConflict& conflict) {
  bool some = false;
  for (std::size_t s = 0; s < section_count; ++s) {
    if (!conflict.contains(s) || !models_[s]) continue;
    some = true;
    reject(s, conflict.reason);
  }
  return some;
}

/// Lets a section run on the exact engine; with the body also an End that stores what the body has
/// left to it.
void ProgramAnalysis::reject(std::size_t s, const std::string& reason) {
  reject_alone(s, reason);
  if (s == body_index && models_[end_index] && !models_[end_index]->left.empty())
    reject_alone(end_index, reason);
}

void ProgramAnalysis::reject_alone(std::size_t s, const std::string& reason) {
  reasons_[s] = reason;
  models_[s].reset();
  mark_words_read(program_, Section(s), geometry_, map_, read_by_sections_);
  live_.merge(read_by_sections_);
}

}  // namespace gdr::native
