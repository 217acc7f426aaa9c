// Where the time of a job goes, and what to change: measured on this host, and predicted for the
// real board.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "gdr/statistics.hpp"
#include "gdr/timeline.hpp"
#include "libgdr/cli/output.hpp"

namespace gdr::cli {

/// A part of a time.
struct ProfilePart {
  std::string name;
  double seconds = 0;
};

/// A time and its parts. Parts of the measured time add up to it; those of the predicted time
/// overlap.
struct ProfileTime {
  double seconds = 0;
  std::vector<ProfilePart> parts;
};

/// A job that was run several times while its device recorded a timeline.
struct ProfiledJob {
  std::string kernel, device;
  std::size_t targets = 0, sources = 0, runs = 0;
  std::size_t target_slots = 0;  ///< targets that a board holds at once
  bool resident = false;         ///< sources were given once, not for each run
  double clock_hz = 0;           ///< clock of the chips
  unsigned pes = 0;              ///< PEs of a chip
  double seconds = 0;            ///< measured, of all runs
  Statistics statistics;         ///< statistics of these runs
  std::vector<TimelineEvent> events;
};

/// Times of one run, and advice, the most important first.
struct Profile {
  ProfileTime measured, predicted;
  double gflops = 0;  ///< predicted
  double joules = 0;  ///< predicted energy of the chips for one run, by constants::pe_clock_energy
  double joules_waiting = 0;  ///< part while PEs wait for ports
  double joules_each = 0;     ///< energy of an interaction
  double port_waiting = 0;    ///< predicted: part of the loops' clocks in which PEs wait for ports
  double emulated_runs = 0;   ///< part of the block sections that ran in emulated arithmetic
  std::vector<std::string> advice;
};

/// The mean times of a job's runs.
Profile profile_of(const ProfiledJob& job);
/// A table for people.
std::string profile_text(const ProfiledJob& job, const Profile& profile);
/// The same as an object, times in seconds.
Json profile_json(const ProfiledJob& job, const Profile& profile);
/// Both times as bars, in SVG.
std::string profile_svg(const ProfiledJob& job, const Profile& profile);

}  // namespace gdr::cli
