// What a program costs: clocks, rates, use of the units.
import {PARTICLES, ui} from "./state.js";
import {counted, make, short} from "./elements.js";

export function drawSummary(result, searching) {
  const p = result.program;
  const clocks = (name) => p.sections.find((s) => s.name === name).clocks;
  const passClocks = (n) => clocks("start") + clocks("body") * Math.ceil(n / p.group) + clocks("end");
  const rate = (p.pes * p.clockHz) / p.clocksPerInteraction;
  const rows = [];
  const row = (name, ...value) => rows.push(make("dt", {}, name), make("dd", {}, ...value));
  row("An interaction", make("strong", {}, `${short(p.clocksPerInteraction)} clocks`),
      searching ? " in a PE, before the search" : " in a PE");
  row("The loop",
      `${counted(clocks("body"), "clock")} for ${counted(p.elements, "target")} × ${
          counted(p.group, "source")} in a PE`);
  if (result.interval !== undefined && result.pipelined) {
    const limit = /lower bound \d+ \(([^)]*)\)/.exec(result.report);
    const reached = result.interval === result.leastInterval;
    row("Initiation interval", `${counted(result.interval, "instruction")}; `,
        reached ? make("strong", {}, "the lower bound") : `the lower bound is ${result.leastInterval}`,
        limit ? ` (${limit[1]})` : "");
  } else if (result.interval !== undefined)
    row("Initiation interval", `${result.interval} instructions, without overlap of sources`);
  row(`A pass of ${PARTICLES} sources`,
      `${passClocks(PARTICLES)} clocks, ${short((passClocks(PARTICLES) / p.clockHz) * 1e6, 3)} µs at ${
          p.clockHz / 1e6} MHz, for up to ${p.elements * p.pes} targets`);
  row(`A chip of ${p.pes} PEs`, `${short(rate / 1e9, 3)} × 10⁹ interactions/s`,
      p.flops ? `, ${short((rate * p.flops) / 1e9, 3)} Gflop/s at ${p.flops} operations` : "");
  const unit = (k) => {
    const body = p.sections.find((s) => s.name === "body").instructions;
    const used = body.filter((i) => i.units[k]).length;
    const share = body.length ? used / body.length : 0;
    return make(
        "div", {class: `pg-use pg-unit${k}`}, make("span", {}, ["multiplier", "adder, integer unit", "transfer"][k]),
        make("span", {class: "pg-track"}, make("span", {class: "pg-fill", style: `width:${100 * share}%`})),
        make("span", {class: "pg-share"}, `${used} of ${body.length}`));
  };
  ui.summary.replaceChildren(
      make("h3", {}, p.name), make("dl", {}, ...rows),
      make("div", {class: "pg-uses", "aria-label": "Use of the units by the loop"}, unit(0), unit(1), unit(2)),
      ...(result.remarks ?? []).map((r) => make("p", {class: "pg-remark"}, r)));
}
