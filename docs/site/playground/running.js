// The tab that runs particles, or shows a table of results.
import {axes} from "./axes.js";
import {engine} from "./engine_client.js";
import {page, PARTICLES, state, ui} from "./state.js";

import {counted, make, short} from "./elements.js";
import {STARTS, startOf} from "./starts.js";
import {byRole, mapping, params, usualStart, valuesOf, variablesFrom} from "./variables.js";

export function endRun() {
  if (state.run) state.run.going = false;
}

/** The tab for the kernel in the engine; it computes nothing yet. */
export function buildRun() {
  const m = mapping();
  const r = (state.run = {going: false, mapping: m});
  r.restart = () => begin(r);
  const fields = byRole("parameter").map((v) => {
    const id = `pg-param-${v.name}`;
    const input = make("input", {
      id,
      type: "number",
      step: "any",
      value: String(params()[v.name]),
      onchange: () => {
        state.params[v.name] = Number(input.value);
        state.stepping = undefined;
        r.restart();
      },
    });
    return make("span", {class: "pg-field"}, make("label", { for: id
                }, v.name), input);
  });
  r.note =
      make("p", {class: "pg-hint", role: "status"}, state.searching ? "After the search for a shorter loop …" : "");
  r.table = make("div", {});
  ui.panels.run.dataset.kind = m.moves ? "particles" : "table";
  ui.panels.run.replaceChildren(...(m.moves ? movingParts(r, fields) : tableParts(r, fields)), r.table);
}

function tableParts(r, fields) {
  return [
    make(
        "p", {class: "pg-hint"},
        `One pass of the exact engine: ${PARTICLES} targets, ${PARTICLES} sources. Particles move if targets and ` +
            "sources have coordinates x, y, z and three results are named ax, ay, az or fx, fy, fz."),
    make("div", {class: "pg-bar"}, ...fields),
    r.note,
  ];
}

function movingParts(r, fields) {
  const m = r.mapping;
  r.start = make(
      "select", {id: "pg-start", onchange: r.restart},
      ...Object.entries(STARTS).map(
          ([value, text]) => make("option", {value, selected: value === usualStart(m)}, text)));
  r.stepSize = make("input", {
    id: "pg-dt",
    type: "number",
    step: "any",
    min: "1e-6",
    value: m.attracts ? "0.01" : "0.005",
    onchange: r.restart
  });
  r.button = make("button", {type: "button", class: "pg-button pg-primary", onclick: () => toggle(r)}, "Run");
  r.canvas = make(
      "canvas",
      {class: "pg-canvas", role: "img", "aria-label": `Positions of ${PARTICLES} particles in the plane of x and y`});
  r.plot = make("canvas", {class: "pg-canvas", role: "img", "aria-label": "Error of the energy over time"});
  return [
    make(
        "p", {class: "pg-hint"},
        "The exact engine computes the forces, with the bits of the chip; leapfrog steps in doubles move the " +
            "particles. A result named pot, phi or u is taken as the potential."),
    make(
        "div", {class: "pg-bar"}, r.button,
        make("button", {type: "button", class: "pg-button", onclick: r.restart}, "Restart"),
        make(
            "label",
            { for: "pg-start"
            },
            "Start"),
        r.start,
        make(
            "span", {class: "pg-field"},
            make(
                "label",
                { for: "pg-dt"
                },
                "Time step"),
            r.stepSize),
        ...fields),
    r.note,
    make("div", {class: "pg-plots"}, r.canvas, r.plot),
  ];
}

/** Computes the first forces, when the tab is shown for the first time. */
export function showRun() {
  const r = state.run;
  if (r && !r.began)
    begin(r);
  else
    drawRun(r);
}

async function begin(r) {
  r.began = true;
  r.going = false;
  if (!r.mapping.moves) return runTable(r);
  r.button.textContent = "Run";
  await prepareRun(r);
  drawRun(r);
}

async function toggle(r) {
  if (r.going) {
    r.going = false;
    return;
  }
  if (!r.state) await prepareRun(r);
  if (!r.state) return;
  r.going = true;
  r.button.textContent = "Pause";
  loop(r);
}

async function runTable(r) {
  const m = r.mapping;
  const start = startOf("plummer", PARTICLES);
  const targets = variablesFrom(m.targets, start, PARTICLES), sources = variablesFrom(m.sources, start, PARTICLES);
  const inputs = {...valuesOf(targets, start), ...valuesOf(sources, start)};
  const results = m.results.map((v) => v.name);
  try {
    const answer =
        await engine.call("pass", {inputs, params: params(), targets: PARTICLES, sources: PARTICLES, results});
    r.note.textContent =
        `${PARTICLES * PARTICLES} interactions in ${short(answer.milliseconds, 3)} ms in this browser.`;
    const names = [...m.targets.map((v) => v.name), ...results];
    const comparison = await comparisonTable(r);
    r.table.replaceChildren(
        comparison ?? "",
        make(
            "div", {class: "pg-scroll", tabindex: "0", role: "region", "aria-label": "Results"},
            make(
                "table", {class: "pg-memory"}, make("caption", {}, "Targets and results"),
                make(
                    "thead", {},
                    make(
                        "tr", {}, make("th", {scope: "col"}, "target"),
                        ...names.map((n) => make("th", {scope: "col", class: "pg-value"}, n)))),
                make(
                    "tbody", {},
                    ...Array.from(
                        {length: PARTICLES},
                        (_, k) => make(
                            "tr", {}, make("td", {}, String(k)),
                            ...m.targets.map((v) => make("td", {class: "pg-value"}, short(inputs[v.name][k], 5))),
                            ...results.map(
                                (n) => make("td", {class: "pg-value"}, short(answer.values[n]?.[k], 8)))))))));
    page.dataset.ran = "table";
  } catch (error) {
    r.note.textContent = `error: ${error.message}`;
  }
}

/** The results of the last pass against a sum in doubles. */
async function comparisonTable() {
  if (state.assembly) return undefined;
  const rows = await engine.call("compare", {targets: PARTICLES, sources: PARTICLES});
  return make(
      "table", {class: "pg-memory pg-compared"},
      make("caption", {}, "First pass, compared with the same expressions in doubles"),
      make(
          "thead", {},
          make(
              "tr", {},
              ...["result", "largest value", "largest difference", "relative"].map(
                  (t, k) => make("th", {scope: "col", class: k ? "pg-value" : ""}, t)))),
      make(
          "tbody", {},
          ...rows.map(
              (row) => make(
                  "tr", {}, make("td", {class: "pg-name"}, row.name),
                  make("td", {class: "pg-value"}, short(row.largest)),
                  make("td", {class: "pg-value"}, short(row.difference, 2)),
                  make("td", {class: "pg-value"}, row.largest ? short(row.difference / row.largest, 2) : "0")))));
}

async function prepareRun(r) {
  const m = r.mapping;
  const start = startOf(r.start.value, PARTICLES);
  r.energies = [];
  r.state = undefined;
  r.half = undefined;
  try {
    r.state = await engine.call("simulate", {
      count: PARTICLES,
      step: Number(r.stepSize.value),
      ...start,
      params: params(),
      targetVariables: variablesFrom(m.targets, start, PARTICLES),
      sourceVariables: variablesFrom(m.sources, start, PARTICLES),
      resultNames: m.results.map((v) => v.name),
      forceNames: m.forces,
      potential: m.potential && {name: m.potential, massWeighted: m.attracts},
    });
    r.energies.push([r.state.time, r.state.energyError]);
    r.table.replaceChildren((await comparisonTable(r)) ?? "");
    r.note.textContent = "";
  } catch (error) {
    r.note.textContent = `error: ${error.message}`;
    r.going = false;
  }
}

async function loop(r) {
  let steps = 1;
  while (r.going && r.state && state.run === r) {
    try {
      r.state = await engine.call("advance", {steps});
    } catch (error) {
      r.note.textContent = `error: ${error.message}`;
      r.going = false;
      r.button.textContent = "Run";
      return;
    }
    if (r.state.milliseconds < 12)
      steps = Math.min(steps + 1, 20);
    else if (r.state.milliseconds > 30)
      steps = Math.max(1, steps - 1);
    r.energies.push([r.state.time, r.state.energyError]);
    if (r.energies.length > 2000) r.energies = r.energies.filter((_, k) => k % 2 === 0);
    drawRun(r);
    page.dataset.ran = `particles ${r.state.passes}`;
    await new Promise((done) => requestAnimationFrame(done));
  }
  if (r.button) r.button.textContent = "Run";
}

export function drawRun(r) {
  if (!r?.state || !r.canvas?.isConnected || r.canvas.clientWidth === 0) return;
  const [px, py, pz] = r.state.position;
  if (r.half === undefined) {
    let far = 0;
    for (let k = 0; k < PARTICLES; ++k) far = Math.max(far, Math.min(4, Math.hypot(px[k], py[k], pz[k])));
    r.half = Math.max(1, Math.ceil(far * 1.25 * 2) / 2);
  }
  const range = [-r.half, r.half];
  const {c, toX, toY, style} = axes(r.canvas, {x: range, y: range, xName: "x", yName: "y", square: true});
  // Near particles are larger and drawn last.
  const order = Array.from(px.keys()).sort((a, b) => pz[a] - pz[b]);
  c.fillStyle = style.getPropertyValue("--pg-particle");
  c.strokeStyle = style.getPropertyValue("--pg-paper");
  for (const k of order) {
    const size = 3.2 * Math.min(2, Math.max(0.5, 1 + (0.6 * pz[k]) / r.half));
    c.beginPath();
    c.arc(toX(px[k]), toY(py[k]), size, 0, 2 * Math.PI);
    c.fill();
    c.stroke();
  }
  c.restore();
  const inside = px.filter((x, k) => Math.abs(x) < r.half && Math.abs(py[k]) < r.half).length;
  const error = r.state.energyError;
  r.note.textContent =
      `time ${short(r.state.time)} · ${counted(r.state.passes, "pass")} of ${PARTICLES * PARTICLES} interactions`
          .replace("passs", "passes") +
      (error === undefined ? "" : ` · energy ${short(r.state.energy, 5)}, relative error ${short(error, 2)}`) +
      (inside < PARTICLES ? ` · ${PARTICLES - inside} outside of the picture` : "");
  if (error === undefined) {
    r.plot.hidden = true;
    return;
  }
  r.plot.hidden = false;
  const last = Math.max(r.state.time, Number(r.stepSize.value));
  let size = 1e-9;
  for (const [, e] of r.energies)
    if (Number.isFinite(e)) size = Math.max(size, Math.abs(e));
  const plot = axes(
      r.plot, {x: [0, last], y: [-1.15 * size, 1.15 * size], xName: "time", yName: "relative error of the energy"});
  plot.c.strokeStyle = plot.style.getPropertyValue("--pg-line");
  plot.c.lineWidth = 1.8;
  plot.c.beginPath();
  for (const [t, e] of r.energies) plot.c.lineTo(plot.toX(t), plot.toY(e));
  plot.c.stroke();
  plot.c.restore();
}
