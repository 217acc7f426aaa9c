// The playground: an editor for kernels, and what the engine says about them. Works from any folder of any server.
import {fragmentOf, stateOf} from "./address.js";
import {drawMarks, followScroll} from "./editor.js";
import {counted, make, short} from "./elements.js";
import {engine} from "./engine_client.js";
import {drawMicrocode} from "./microcode.js";
import {buildRun, drawRun, endRun, showRun} from "./running.js";
import {PARTICLES, page, state, ui} from "./state.js";
import {buildStep, startSteps} from "./stepping.js";
import {drawSummary} from "./summary.js";

const folder = new URL(".", import.meta.url);

function tabs(names) {
  const list = make("div", {class: "pg-tabs", role: "tablist", "aria-label": "Results"});
  const panels = {};
  const show = (chosen, focus = false) => {
    for (const name of Object.keys(names)) {
      const tab = document.getElementById(`pg-tab-${name}`);
      tab.setAttribute("aria-selected", String(name === chosen));
      tab.tabIndex = name === chosen ? 0 : -1;
      panels[name].hidden = name !== chosen;
      if (focus && name === chosen) tab.focus();
    }
    ui.tab = chosen;
    tabShown(chosen);
  };
  const keys = Object.keys(names);
  for (const [name, title] of Object.entries(names)) {
    list.append(
        make(
            "button", {
              type: "button",
              role: "tab",
              id: `pg-tab-${name}`,
              "aria-controls": `pg-panel-${name}`,
              onclick: () => show(name),
              onkeydown: (event) => {
                const move = {ArrowRight: 1, ArrowLeft: -1}[event.key];
                if (move) show(keys[(keys.indexOf(name) + move + keys.length) % keys.length], true);
              },
            },
            title),
    );
    panels[name] = make("div", {
      class: "pg-panel",
      role: "tabpanel",
      id: `pg-panel-${name}`,
      "aria-labelledby": `pg-tab-${name}`,
      hidden: true,
    });
  }
  return {list, panels, show};
}

function build() {
  ui.examples = make("select", {id: "pg-example", onchange: () => chooseExample(ui.examples.value)});
  ui.language = make(
      "select", {
        id: "pg-language",
        onchange: () => {
          state.assembly = ui.language.value === "gds";
          edited();
        },
      },
      make("option", {value: "gdk"}, "kernel language"), make("option", {value: "gds"}, "assembly"));
  ui.share = make("button", {type: "button", class: "pg-button", onclick: share}, "Copy link");
  ui.compile = make(
      "button", {
        type: "button",
        class: "pg-button pg-primary",
        title: "Ctrl+Enter",
        onclick: () => compile(),
      },
      "Compile");
  ui.stop = make("button", {type: "button", class: "pg-button", hidden: true, onclick: stop}, "Stop");
  ui.status = make("span", {class: "pg-status", role: "status", "aria-live": "polite"}, "The engine is loading …");
  ui.numbers = make("div", {class: "pg-numbers", "aria-hidden": "true"});
  ui.marks = make("pre", {class: "pg-marks", "aria-hidden": "true"});
  ui.text = make("textarea", {
    id: "pg-text",
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    wrap: "off",
    "aria-label": "Source of the kernel",
    "aria-describedby": "pg-messages",
    oninput: edited,
    onscroll: followScroll,
    onkeydown: (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        compile();
      }
    },
  });
  ui.messages = make("div", {id: "pg-messages", class: "pg-messages"});
  ui.summary = make("div", {class: "pg-summary"});
  const {list, panels, show} = tabs({
    microcode: "Microcode",
    step: "Step the chip",
    run: `Run ${PARTICLES} particles`,
    assembly: "Assembly",
    report: "Report",
  });
  ui.panels = panels;
  ui.show = show;
  page.replaceChildren(
      make(
          "div", {class: "pg-bar"},
          make(
              "label",
              { for: "pg-example"
              },
              "Example"),
          ui.examples,
          make(
              "label",
              { for: "pg-language"
              },
              "Language"),
          ui.language, ui.compile, ui.stop, ui.share, ui.status),
      make(
          "div", {class: "pg-top"},
          make(
              "div", {class: "pg-left"},
              make("div", {class: "pg-editor"}, ui.numbers, make("div", {class: "pg-code"}, ui.marks, ui.text)),
              ui.messages),
          ui.summary),
      list, ...Object.values(panels));
  show("microcode");
}

let timer;
function edited() {
  state.text = ui.text.value;
  drawMarks();
  clearTimeout(timer);
  timer = setTimeout(compile, 500);
}

function chooseExample(name) {
  const example = state.examples.find((e) => e.name === name);
  if (!example) return;
  showExample(example);
  history.replaceState(undefined, "", location.pathname + location.search);
  compile();
}

function setSource(text, assembly) {
  state.text = ui.text.value = text;
  state.assembly = assembly;
  ui.language.value = assembly ? "gds" : "gdk";
  ui.text.scrollTop = 0;
  drawMarks();
}

async function share() {
  const fragment = await fragmentOf({text: state.text, assembly: state.assembly, params: state.params});
  history.replaceState(undefined, "", fragment);
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is in the clipboard and in the address.");
  } catch {
    say("The link is in the address of this page.");
  }
}

const say = (text) => {
  ui.status.textContent = text;
};

let compilation = 0;
/**
 * Compiles the text and shows all results: first without the search for a pipelined loop, at once, then with it. A
 * compilation in progress for an older text is ended.
 */
async function compile() {
  clearTimeout(timer);
  const number = ++compilation;
  endRun();
  if (state.compiling) engine.restart();
  state.compiling = true;
  const source = {text: state.text, assembly: state.assembly};
  const begin = performance.now();
  const ask = async (pipeline) => {
    try {
      return await engine.call("compile", {...source, pipeline});
    } catch (error) {
      return {ok: false, diagnostics: [], rendered: `error: ${error.message}\n`};
    }
  };
  let result = await ask(false);
  if (number !== compilation) return;
  if (!state.assembly) {
    if (result.ok) {
      show(result, true);
      say("The search for the shortest loop …");
      ui.stop.hidden = false;
    }
    result = await ask(true);
    if (number !== compilation) return;
  }
  state.compiling = false;
  ui.stop.hidden = true;
  show(result, false);
  page.dataset.ok = String(result.ok);
  page.dataset.compiled = String(number);
  if (result.ok)
    say(`${state.assembly ? "Assembled" : "Compiled"} in ${short((performance.now() - begin) / 1000, 2)} s.`);
}

/** The program without overlap of sources, instead of the one that the search would find. */
async function stop() {
  const number = ++compilation;
  engine.restart();
  state.compiling = true;
  ui.stop.hidden = true;
  const result = await engine.call("compile", {text: state.text, assembly: false, pipeline: false});
  if (number !== compilation) return;
  state.compiling = false;
  show(result, false);
  say("The search was stopped: the loop below processes one source after the other.");
}

/** Shows a compilation; `searching`: a shorter loop may follow. */
function show(result, searching) {
  drawMarks(result.diagnostics);
  ui.messages.replaceChildren(result.rendered ? make("pre", {}, result.rendered) : "");
  page.dataset.firstResult ??= String(Math.round(performance.now()));
  page.classList.toggle("pg-stale", !result.ok);
  if (!result.ok) {
    const errors = result.diagnostics.filter((d) => d.error).length;
    say(`${counted(errors || 1, "error")}${
        state.compiled ? ": results below are those of the last program without errors" : ""}.`);
    return;
  }
  state.compiled = result;
  state.searching = searching;
  state.stepping = undefined;
  drawSummary(result, searching);
  drawMicrocode(result);
  ui.panels.assembly.replaceChildren(codeBlock(result.assembly));
  ui.panels.report.replaceChildren(codeBlock(result.report));
  buildStep();
  buildRun();
  tabShown(ui.tab);
}

const codeBlock = (text) => make("pre", {class: "pg-block", tabindex: "0"}, text);

function tabShown(name) {
  if (!state.compiled) return;
  // The engine has one program: the one that the search finds replaces this one.
  if (name === "step" && !state.searching) startSteps();
  if (name === "run" && !state.searching) showRun();
  if (name !== "run") endRun();
}

async function begin() {
  build();
  const shared = await stateOf(location.hash);
  if (shared) restore(shared);
  const examples = await (await fetch(new URL("examples.json", folder))).json();
  state.examples = examples;
  ui.examples.replaceChildren(
      make("option", {value: ""}, "—"), ...examples.map((e) => make("option", {value: e.name}, e.title)));
  if (!shared) showExample(exampleOf(location.hash) ?? examples[0]);
  await compile();
}

/** The example that an address names, "#example=gravity". */
function exampleOf(fragment) {
  return state.examples.find((e) => fragment === `#example=${e.name}`);
}

function showExample(example) {
  ui.examples.value = example.name;
  state.params = {};
  setSource(example.text, example.language === "gds");
}

function restore(shared) {
  state.params = typeof shared.params === "object" && shared.params !== null ? shared.params : {};
  setSource(shared.text, shared.assembly === true);
}

window.addEventListener("hashchange", async () => {
  const example = exampleOf(location.hash);
  if (example) {
    showExample(example);
    page.scrollIntoView();
    return compile();
  }
  const shared = await stateOf(location.hash);
  if (!shared) return;
  restore(shared);
  ui.examples.value = "";
  compile();
});
new ResizeObserver(() => state.run?.state && drawRun(state.run)).observe(page);
new MutationObserver(() => state.run?.state && drawRun(state.run))
    .observe(document.body, {attributes: true, attributeFilter: ["data-md-color-scheme"]});

/** For tests and the console: calls of the engine (worker.js). */
window.gdrPlayground = {
  call: (name, values) => engine.call(name, values),
  energyError: () => state.run?.state?.energyError,
  fragmentOf,
};

if (page)
  begin().catch((error) => {
    (ui.status ?? page).textContent = `The playground does not start: ${error.message}`;
  });
