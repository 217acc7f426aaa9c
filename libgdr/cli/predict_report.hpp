// Reports of `gdr predict`: a job, a scaling table, the published figures, a machine.
#pragma once

#include <vector>

#include "libgdr/predict/jobs.hpp"
#include "libgdr/predict/machine.hpp"
#include "libgdr/predict/published.hpp"
#include "libgdr/predict/response.hpp"
#include "libgdr/predict/scaling.hpp"
#include "libgdr/predict/streams.hpp"

namespace gdr::cli {

/// Print a report as text, or as one JSON object with `json`.
void report_prediction(const predict::Prediction& prediction, const predict::Machine& machine,
                       const std::vector<predict::Gain>& gains, bool json);
void report_scaling(const std::vector<predict::ScalingPoint>& points,
                    const predict::Machine& machine, bool json);
void report_published(const predict::PublishedTable& table, bool json);
/// `seconds`: the time that the averages are of.
void report_streams(const predict::Path& path, const std::vector<predict::Stream>& streams,
                    const predict::StreamsResult& result, double seconds, bool json);
void report_response(const std::vector<predict::ResponsePoint>& points, bool json);
void report_machine(const predict::Machine& machine);
void report_machines(bool json);

}  // namespace gdr::cli
