// Plans of runs: the time grid, restarts on the same grid, and invalid options.
#include <cmath>

#include "libgdr/nbody/run.hpp"
#include "support/expect_error.hpp"

namespace gdr::test {
namespace {

RunRequest request(double eps, double dt, double t_end) {
  RunRequest r;
  r.softening = eps;
  r.time_step = dt;
  r.end_time = t_end;
  return r;
}

Snapshot at_time(double time) {
  Snapshot s;
  s.time = time;
  s.mass = {1};
  return s;
}

void refused(const Snapshot& s, const RunRequest& r, const std::string& word) {
  expect_error(ErrorCategory::Usage, {word}, [&] { plan_run(s, r); });
}

TEST_CASE("the number of steps reaches the end time") {
  CHECK(plan_run(at_time(0), request(0, 1.0 / 1024, 1)).last_step == 1024);
  CHECK(plan_run(at_time(0), request(0, 0.1, 1)).last_step == 10);
  CHECK(plan_run(at_time(0.3), request(0, 0.1, 0.9)).last_step == 6);
  CHECK(plan_run(at_time(0), request(0, 1e-3, 10)).last_step == 10000);
  // If dt does not divide the interval: the first step that reaches the end.
  const RunPlan over = plan_run(at_time(0), request(0, 0.3, 1));
  CHECK(over.last_step == 4);
  CHECK(over.end_time() == Approx(1.2));
  CHECK(plan_run(at_time(2), request(0, 0.3, 2)).steps() == 0);
}

TEST_CASE("times are shown with the digits that distinguish steps") {
  CHECK(time_text(0.10919999999999999, 0.0013) == "0.1092");
  CHECK(time_text(100000.0001, 0.0001) == "100000.0001");
  CHECK(time_text(1.0 / 3, 0.5) == "0.3333333");
  CHECK(time_text(1.0 / 3, 1e-20) == "0.333333333333");
  CHECK(time_text(-0.0078125, 0.0078125) == "-0.0078125");
  CHECK(time_text(0, 0) == "0");
}

TEST_CASE("a run may end at the time of its snapshot, within the rounding of steps") {
  CHECK(plan_run(at_time(84 * 0.0013), request(0, 0.0013, 0.1092)).steps() == 0);
  const double above = std::nextafter(0.1092, 1);
  CHECK(plan_run(at_time(above), request(0, 0.0013, 0.1092)).steps() == 0);
  refused(at_time(0.1093), request(0, 0.0013, 0.1092), "before the time of the snapshot, 0.1093");
}

TEST_CASE("a restart continues grid, softening and energy of the run") {
  Snapshot s = at_time(0);
  s.run = RunState{0, 0.1, 7, 0.01, 2, -0.25};
  s.time = s.run->time();
  RunRequest r;
  r.end_time = 2;
  const RunPlan plan = plan_run(s, r);
  CHECK(plan.restarted);
  CHECK(plan.start == *s.run);
  CHECK(plan.last_step == 20);
  r.time_step = 0.1;  // an equal value is no change
  CHECK(plan_run(s, r).restarted);
  r.time_step = 0.05;
  const RunPlan other = plan_run(s, r);
  CHECK_FALSE(other.restarted);
  CHECK(other.start.start_time == s.time);
  CHECK(other.start.step == 0);
  CHECK(other.start.softening == 0.01);
  CHECK(other.start.gravity == 2);
  CHECK(other.last_step == 26);
}

RunRequest hermite(double dt, double t_end) {
  RunRequest r = request(0.01, dt, t_end);
  r.integrator = IntegratorKind::Hermite4;
  return r;
}

TEST_CASE("a run with the Hermite scheme has default accuracies, and a restart keeps them") {
  const RunPlan plan = plan_run(at_time(0), hermite(0.0625, 1));
  CHECK(plan.last_step == 16);
  CHECK(plan.start.eta == 0.02);
  CHECK(plan.start.eta_start == 0.01);
  CHECK(plan.start.smallest_step == 0);
  Snapshot s = at_time(0);
  s.run = plan.start;
  s.run->step = 3;
  s.run->fraction = 0.25;
  s.run->eta_start = 0.005;
  s.time = s.run->time();
  CHECK(s.time == 3.25 * 0.0625);
  RunRequest r;
  r.end_time = s.time;
  const RunPlan rest = plan_run(s, r);
  CHECK(rest.restarted);
  CHECK(rest.start == *s.run);
  CHECK(rest.last_step == 4);
  r.eta = 0.02;
  CHECK(plan_run(s, r).restarted);
  for (const auto& change :
       {+[](RunRequest& o) { o.eta = 0.01; }, +[](RunRequest& o) { o.eta_start = 0.01; },
        +[](RunRequest& o) { o.smallest_step = 1e-4; },
        +[](RunRequest& o) { o.time_step = 0.125; }}) {
    RunRequest other = r;
    change(other);
    const RunPlan begun = plan_run(s, other);
    CHECK_FALSE(begun.restarted);
    CHECK(begun.start.integrator == IntegratorKind::Hermite4);
    CHECK(begun.start.step == 0);
    CHECK(begun.start.fraction == 0);
    CHECK(begun.start.start_time == s.time);
  }
  r.integrator = IntegratorKind::Leapfrog;
  r.eta.reset();
  const RunPlan leapfrog = plan_run(s, r);
  CHECK_FALSE(leapfrog.restarted);
  CHECK(leapfrog.start.eta == 0);
}

TEST_CASE("invalid parameters of the Hermite scheme raise an error with their name") {
  RunRequest r = hermite(0.0625, 1);
  r.eta = 0;
  refused(at_time(0), r, "--eta:");
  r = hermite(0.0625, 1);
  r.eta_start = INFINITY;
  refused(at_time(0), r, "--eta-start");
  r = hermite(0.0625, 1);
  r.smallest_step = 0.1;
  refused(at_time(0), r, "--dt-min 0.1 is above --dt");
  r.smallest_step = 1e-20;
  refused(at_time(0), r, "resolution of times");
  r = request(0.01, 0.0625, 1);
  r.eta = 0.02;
  refused(at_time(0), r, "--eta is an option of --integrator hermite4");
  expect_error(ErrorCategory::Usage, {"--integrator 'euler'", "leapfrog or hermite4"},
               [] { parse_integrator("euler"); });
}

TEST_CASE("times do not accumulate rounding errors") {
  RunState run{0.1, 0.1, 0, 0, 1, 0};
  run.step = 1000000;
  CHECK(run.time() == 0.1 + 1000000 * 0.1);
}

TEST_CASE("missing and invalid options raise an error with their name") {
  refused(at_time(0), request(-1, 0.1, 1), "--eps");
  refused(at_time(0), request(NAN, 0.1, 1), "--eps");
  refused(at_time(0), request(0, 0, 1), "--dt");
  refused(at_time(0), request(0, -0.1, 1), "--dt");
  refused(at_time(0), request(0, INFINITY, 1), "--dt");
  refused(at_time(1), request(0, 0.1, 0.5), "before the time of the snapshot");
  refused(at_time(0), request(0, 1e-300, 1), "too many");
  refused(at_time(0), request(0, 0.1, INFINITY), "--t-end");
  RunRequest r = request(0, 0.1, 1);
  r.gravity = 0;
  refused(at_time(0), r, "--G");
  r = request(0, 0.1, 1);
  r.softening.reset();
  CHECK(plan_run(at_time(0), r).start.softening == 0);
  r = request(0, 0.1, 1);
  r.time_step.reset();
  refused(at_time(0), r, "--dt is required");
  r = request(0, 0.1, 1);
  r.end_time.reset();
  refused(at_time(0), r, "--t-end is required");
}

TEST_CASE("intervals are parsed as times or steps") {
  RunRequest r = request(0, 0.25, 10);
  CHECK(plan_run(at_time(0), r).snapshot_every == 0);
  r.snapshot_every = parse_interval("--snapshot-every", "0.5");
  r.energy_every = parse_interval("--energy-every", "3steps");
  CHECK(plan_run(at_time(0), r).snapshot_every == 2);
  CHECK(plan_run(at_time(0), r).energy_every == 3);
  r.snapshot_every = parse_interval("--snapshot-every", "1e-9");  // shorter than a step: every step
  CHECK(plan_run(at_time(0), r).snapshot_every == 1);
  for (const char* bad :
       {"", "0", "-1", "nan", "inf", "x", "1.5steps", "steps", "0steps", "1 steps"}) {
    INFO(bad);
    expect_error(ErrorCategory::Usage, {"--snapshot-every", "64steps"},
                 [&] { parse_interval("--snapshot-every", bad); });
  }
}

}  // namespace
}  // namespace gdr::test
