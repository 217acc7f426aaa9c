// The tab that steps a small chip.
import {engine} from "./engine_client.js";
import {page, PARTICLES, state, ui} from "./state.js";

import {counted, make, short} from "./elements.js";
import {microcodeTable} from "./microcode.js";
import {startOf} from "./starts.js";
import {mapping, params, usualStart, valuesOf, variablesFrom} from "./variables.js";

const STEP_SHAPE = {
  blocks: 2,
  pes: 4,
  sources: 6
};

export function buildStep() {
  const s = (state.step = {block: 0, pe: 0, before: undefined});
  const number = (label, id, most, key) => {
    const input = make("input", {
      id,
      type: "number",
      min: "0",
      max: String(most),
      value: "0",
      onchange: () => {
        s[key] = Math.min(most, Math.max(0, Math.trunc(Number(input.value) || 0)));
        input.value = s[key];
        s.before = undefined;
        showState();
      },
    });
    return [
      make(
          "label",
          { for: id
          },
          label),
      input
    ];
  };
  const button = (text, title, work, primary) =>
      make("button", {type: "button", class: `pg-button${primary ? " pg-primary" : ""}`, title, onclick: work}, text);
  s.place = make("div", {class: "pg-place", role: "status", "aria-live": "polite"});
  s.code = make("div", {class: "pg-scroll pg-walk", tabindex: "0", role: "region", "aria-label": "Instructions"});
  s.memories = make("div", {class: "pg-memories"});
  const p = state.compiled.program;
  s.most = STEP_SHAPE.blocks * STEP_SHAPE.pes * p.elements;
  ui.panels.step.replaceChildren(
      make(
          "p", {class: "pg-hint"},
          `A chip of ${STEP_SHAPE.blocks} blocks of ${STEP_SHAPE.pes} PEs, with ${s.most} targets and ${
              STEP_SHAPE.sources} sources. ` +
              "Keys: → one instruction, ← one back, Page Down the next source, Home the start, End the end."),
      make(
          "div", {class: "pg-bar"}, button("|◀ Start", "to the first instruction (Home)", () => stepTo(0)),
          button("◀ Back", "one instruction back, by replay (←)", () => stepBy(-1)),
          button("Step ▶", "one instruction (→)", () => stepBy(1), true),
          button("Next source ▶▶", "to the same place in the next group of sources (Page Down)", nextSource),
          button("End ▶|", "to the end of the program (End)", () => stepTo(1e9)),
          ...number("Block", "pg-block", STEP_SHAPE.blocks - 1, "block"),
          ...number("PE", "pg-pe", STEP_SHAPE.pes - 1, "pe")),
      s.place, make("div", {class: "pg-bench"}, s.code, s.memories));
  ui.panels.step.onkeydown = (event) => {
    if (event.target.tagName === "INPUT" || event.ctrlKey || event.altKey || event.metaKey) return;
    const work = {
      ArrowRight: () => stepBy(1),
      ArrowLeft: () => stepBy(-1),
      PageDown: nextSource,
      Home: () => stepTo(0),
      End: () => stepTo(1e9)
    }[event.key];
    if (!work) return;
    event.preventDefault();
    work();
  };
}

export async function startSteps() {
  if (state.stepping === state.compiled) return;
  state.stepping = state.compiled;
  const m = mapping();
  const start = startOf(usualStart(m), PARTICLES);
  const inputs = {
    ...valuesOf(variablesFrom(m.targets, start, PARTICLES), start),
    ...valuesOf(variablesFrom(m.sources, start, PARTICLES), start)
  };
  try {
    await engine.call("stepBegin", {
      blocks: STEP_SHAPE.blocks,
      pes: STEP_SHAPE.pes,
      targets: state.step.most,
      sources: STEP_SHAPE.sources,
      inputs,
      params: params(),
    });
    await showState();
  } catch (error) {
    state.step.place.textContent = `This program cannot be stepped here: ${error.message}`;
  }
}

const stepBy = (n) => state.step.now && stepTo(state.step.now.executed + n);
async function stepTo(count) {
  const s = state.step;
  if (!s.now || s.busy) return;
  s.busy = true;
  try {
    s.before = s.now;
    await engine.call("stepTo", {count: Math.max(0, count)});
    await showState();
  } finally {
    s.busy = false;
  }
}

function nextSource() {
  const now = state.step.now;
  if (!now) return;
  const body = state.compiled.program.sections.find((x) => x.name === "body").instructions.length;
  const start = state.compiled.program.sections.find((x) => x.name === "start").instructions.length;
  if (now.section === "body")
    stepTo(now.executed + body);
  else if (now.section === "start")
    stepTo(start);
  else
    stepTo(1e9);
}

/** Names of the longs of a memory: by address in shorts, for all targets of the PE. */
function namesOf(memory) {
  const found = new Map();
  const p = state.compiled.program;
  for (const n of p.names) {
    if (n.memory !== memory) continue;
    const count = n.vector ? p.elements : 1;
    for (let e = 0; e < count; ++e) {
      const address = n.address + e * (n.long ? 2 : 1);
      const text = n.name + (n.vector ? `[${e}]` : "");
      const even = address - (address % 2);
      const list = found.get(even) ?? [];
      if (!list.some((x) => x.text === text)) list.push({text, long: n.long, lower: address % 2 === 1});
      found.set(even, list);
    }
  }
  return found;
}

function memoryTable(title, memory, words, before, prefix) {
  const names = namesOf(memory);
  const old = new Map((before ?? []).map((w) => [w[0], w]));
  const present = new Map(words.map((w) => [w[0], w]));
  for (const [address] of old)
    if (!present.has(address)) present.set(address, [address, "000000000", "000000000", 0, 0, 0]);
  for (const address of names.keys())
    if (!present.has(address)) present.set(address, [address, "000000000", "000000000", 0, 0, 0]);
  const rows = [...present.values()].sort((a, b) => a[0] - b[0]).map((w) => {
    const was = old.get(w[0]);
    const changed = before !== undefined &&
        (was === undefined ? w[1] + w[2] !== "0".repeat(18) : was[1] !== w[1] || was[2] !== w[2]);
    const called = names.get(w[0]) ?? [];
    const isShort = called.length > 0 && called.every((n) => !n.long);
    return make(
        "tr", {class: changed ? "pg-changed" : ""}, make("td", {}, `${prefix}${w[0]}`),
        make("td", {class: "pg-name"}, called.map((n) => n.text).join(", ")),
        make("td", {class: "pg-hex"}, `${w[1]} ${w[2]}`),
        make("td", {class: "pg-value"}, isShort ? `${short(w[4], 7)} | ${short(w[5], 7)}` : short(w[3], 10)),
        make("td", {class: "pg-flag"}, changed ? "◀ new" : ""));
  });
  if (rows.length === 0) return undefined;
  return make(
      "table", {class: "pg-memory"}, make("caption", {}, title),
      make(
          "thead", {},
          make(
              "tr", {},
              ...["place", "name", "bits", "value", ""].map(
                  (t) => make("th", {scope: "col", class: t === "value" ? "pg-value" : ""}, t)))),
      make("tbody", {}, ...rows));
}

async function showState() {
  const s = state.step;
  const now = (s.now = await engine.call("stepState", {block: s.block, pe: s.pe}));
  const p = state.compiled.program;
  const section = now.end ? "end" : now.section;
  if (s.shown !== section || s.shownFor !== state.compiled) {
    s.code.replaceChildren(microcodeTable(p, section));
    s.shown = section;
    s.shownFor = state.compiled;
  }
  for (const row of s.code.querySelectorAll("tr[aria-current]")) row.removeAttribute("aria-current");
  const row = now.end ? undefined : s.code.querySelector(`tr[data-at="${section}:${now.instruction}"]`);
  if (row) {
    row.setAttribute("aria-current", "step");
    const box = s.code;
    const top = row.offsetTop - box.clientHeight / 2;
    box.scrollTop = Math.max(0, top);
  } else
    s.code.scrollTop = s.code.scrollHeight;
  const targets = now.targets.length ? `targets ${now.targets[0]} to ${now.targets.at(-1)}` : "no targets";
  const flags = Object.entries(now.flags).filter(([, set]) => set).map(([name]) => name);
  s.place.replaceChildren(
      make(
          "strong", {},
          now.end ? "End of the program" :
                    `Next: ${now.section}, instruction ${now.instruction}${
                        now.section === "body" ? `, group of sources ${now.pass}` : ""}`),
      ` · clock ${now.clock} · ${counted(now.executed, "instruction")} executed · block ${s.block}, PE ${s.pe}: ${
          targets}`,
      flags.length ? ` · flags of the block: ${flags.join(", ")}` : "",
      now.end ? "" : make("div", {class: "pg-next"}, now.text));
  page.dataset.executed = String(now.executed);
  const masks = [];
  for (let mask = 0; mask * 4 < now.masks.length; ++mask) {
    const bits = now.masks.slice(mask * 4, mask * 4 + 4);
    if (bits.some((b) => b)) masks.push(`m${mask} = ${bits.slice(0, p.elements).join(" ")}`);
  }
  const before = s.before ?? {};
  s.memories.replaceChildren(
      ...[memoryTable("Registers", "registers", now.registers, before.registers, "$r"),
          memoryTable("T, one word for each target", "t", now.t, before.t, "T "),
          make("p", {class: "pg-masks"}, `Masks by target: ${masks.length ? masks.join("; ") : "all clear"}`),
          memoryTable("Local memory", "local", now.local, before.local, "$m"),
          make(
              "details", {}, make("summary", {}, "Broadcast memory of the block"),
              memoryTable("", "broadcast", now.broadcast, before.broadcast, "$bm") ?? "all zero"),
  ].filter((x) => x !== undefined));
}
