/** The report of a trace: what was compiled, why, from which lines, into what, and what ran. */
import { bytesText, countText, DATA, flameChart, h, lineChart, milliseconds, table } from "./base.js";

const layout = h("div", { class: "layout" }), main = h("main"), tree = h("nav");
const search = h("input", {
  type: "search",
  placeholder: "Search everything",
  "aria-label": "Search",
  input: () => find(),
});
document.body.append(
  h(
    "header",
    {},
    h("h1", {}, DATA.title),
    h("span", { class: "dim" }, DATA.counts),
    h("span", { class: "grow" }),
    search,
  ),
  layout,
);
layout.append(tree, main);

const baseName = (path) => path?.split("/").at(-1) ?? "";
const titleOf = ({ id, name }) => id === null ? name : `[${id}] ${name}`;
const link = (at, { id, name }, text) =>
  h("a", { href: `#p${at}/${id ?? "outside"}` }, text ?? titleOf({ id, name }));
const totalOf = ({ phases }) => phases.find(({ name }) => name === "compile")?.duration ?? 0;
const texts = ({ texts }, name) => texts.filter((each) => each.name === name);

/** "m.ts:5" for each line of a text: the place that comments or annotations in it or above it name. */
function placesOf(text) {
  let current = [], above = false;
  return text.split("\n").map((line) => {
    const file = /\/\/ File: (.*?):(\d+) in /.exec(line);
    const from = /^\s*\/\/ from (\S+?):(\d+) /.exec(line), trailing = /\s{2}# (.*)$/.exec(line);
    if (file) current = [`${baseName(file[1])}:${file[2]}`];
    else if (from) current = above ? [...current, `${from[1]}:${from[2]}`] : [`${from[1]}:${from[2]}`];
    else if (trailing && /:\d+ /.test(trailing[1])) {
      current = [...trailing[1].matchAll(/(?:^|; )([^\s;]+?:\d+) /g)].map(([, place]) => place);
    } else if (/^(function|program|\}|OUTL|extern)/.test(line)) current = [];
    above = from !== null;
    return current;
  });
}

/** Lines of code that are highlighted together with those of the other panels that come from the same places. */
function codePanel(lines, group) {
  const element = h(
    "div",
    { class: "code" },
    lines.map(({ text, places }) => {
      if (places.length === 0) return h("div", {}, text);
      const row = h("div", {
        class: "linked",
        "data-places": places.join(" "),
        mouseenter: () => group.show(places, null),
        click: () => group.show(places, element),
      }, text);
      return row;
    }),
  );
  return element;
}

function highlightGroup() {
  const panels = [];
  return {
    panels,
    /** Marks what comes of the places; with `from`, the other panels scroll there. */
    show(places, from) {
      for (const panel of panels) {
        let first = null;
        for (const row of panel.querySelectorAll("[data-places]")) {
          const on = row.dataset.places.split(" ").some((place) => places.includes(place));
          row.classList.toggle("on", on);
          if (on) first ??= row;
        }
        if (from && panel !== from && first) panel.scrollTop = first.offsetTop - panel.offsetTop - 40;
      }
    },
  };
}

/** Three panels: the program's lines, a graph, kernels. */
function panels(compile) {
  const group = highlightGroup();
  let file = null;
  const user = compile.lines.flatMap(({ file: path, line, code }) => [
    ...path === file ? [] : [{ text: `── ${file = path}`, places: [] }],
    { text: `${String(line).padStart(5)}  ${code}`, places: [`${baseName(path)}:${line}`] },
  ]);
  const choice = (names) => {
    const offered = names.flatMap((name) => texts(compile, name));
    const place = h("div"),
      select = h(
        "select",
        { change: () => show() },
        offered.map(({ part, name }, k) => h("option", { value: k }, `${part ?? ""} ${name}`.trim())),
      );
    let panel = null;
    const show = () => {
      const chosen = offered[Number(select.value)] ?? { text: "" }, places = placesOf(chosen.text);
      const made = codePanel(
        chosen.text.split("\n").map((text, k) => ({ text, places: places[k] ?? [] })),
        group,
      );
      if (panel) group.panels.splice(group.panels.indexOf(panel), 1, made);
      else group.panels.push(made);
      panel?.replaceWith(made);
      panel = made;
    };
    show();
    place.append(h("div", { class: "head" }, select), panel);
    return place;
  };
  const left = codePanel(user, group);
  group.panels.push(left);
  return h(
    "section",
    { id: "panels" },
    h("h2", {}, "Lines, graphs, kernels"),
    h("p", { class: "dim" }, "Point at a line to see what comes of it, click to bring the others there"),
    h(
      "div",
      { class: "panels" },
      h("div", {}, h("div", { class: "head" }, "Lines of the program"), left),
      choice(["graph_code", "aot_joint_graph", "aot_graphs", "fx_graph_transformed"]),
      choice(["ir_post_fusion", "output_code", "ir_pre_fusion"]),
    ),
  );
}

/** Returns a table of the values that guards expected and those of the call. */
function recompileTable(at, compiles) {
  const rows = compiles.flatMap((compile) => compile.recompiles.map((change) => ({ compile, ...change })));
  if (rows.length === 0) return null;
  return h(
    "section",
    { id: "recompiles" },
    h("h2", {}, "Recompilations"),
    table([
      { title: "Compilation", value: (row) => row.compile.id, cell: (row) => link(at, row.compile) },
      { title: "Compiled for", value: (row) => row.old, cell: (row) => h("code", { class: "old" }, row.old) },
      {
        title: "Called with",
        value: (row) => row.found,
        cell: (row) => h("code", { class: "new" }, row.found || "something else"),
      },
      { title: "Needed by", value: (row) => row.needs, cell: (row) => h("code", {}, row.needs) },
    ], rows),
  );
}

function breakList(at, process) {
  if (process.breaks.length === 0) return null;
  const of = (id) => process.compiles.find((compile) => compile.id === id);
  return h(
    "section",
    { id: "breaks" },
    h("h2", {}, "Graph breaks"),
    process.breaks.map(({ kind, compile, text }) =>
      h(
        "div",
        {},
        h(
          "h3",
          {},
          kind === "uncompiled" ? h("span", { class: "bad" }, "runs uncompiled ") : "",
          of(compile) ? link(at, of(compile)) : "",
        ),
        h("pre", {}, text),
      )
    ),
  );
}

function compileTable(at, compiles) {
  const sum = (compile, key) => compile.cache.reduce((all, meta) => all + Number(meta[key] ?? 0), 0);
  return h(
    "section",
    {},
    h("h2", {}, "Compilations"),
    table([
      { title: "Compilation", value: (c) => c.id, cell: (c) => link(at, c) },
      {
        title: "Where",
        value: (c) => `${c.file}:${c.line}`,
        cell: (c) => c.file ? `${baseName(c.file)}:${c.line}` : "",
      },
      { title: "Time", value: totalOf, cell: (c) => milliseconds(totalOf(c)), number: true },
      {
        title: "Graphs",
        value: (c) => texts(c, "graph_code").length,
        cell: (c) => `${texts(c, "graph_code").length}`,
        number: true,
      },
      {
        title: "Breaks",
        value: (c) => texts(c, "graph_breaks").length,
        cell: (c) => `${texts(c, "graph_breaks").length}`,
        number: true,
      },
      {
        title: "Kernel cache, hits / misses",
        value: (c) => sum(c, "hits"),
        cell: (c) => c.cache.length === 0 ? "" : `${sum(c, "hits")} / ${sum(c, "misses")}`,
        number: true,
      },
      {
        title: "Outcome",
        value: (c) => c.error ?? "",
        cell: (c) => c.error === null ? "" : h("span", { class: "bad" }, c.error.split("\n")[0]),
      },
    ], compiles.filter(({ id }) => id !== null)),
  );
}

function flames(at, compiles, heading) {
  const spans = compiles.flatMap((compile) =>
    compile.phases.map((phase) => ({
      ...phase,
      text: phase.name === "compile" ? titleOf(compile) : phase.name,
      click: () => location.hash = `p${at}/${compile.id ?? "outside"}`,
    }))
  );
  return spans.length === 0 ? null : h("section", {}, h("h2", {}, heading), flameChart(spans));
}

/** Returns how close a kernel comes to the limits of its device. */
function shareOf({ device, bytes, operations, time }) {
  const limit = DATA.limits[device];
  if (!limit || time <= 0 || limit.bytesPerSecond <= 0 || limit.operationsPerSecond <= 0) return null;
  return 1e6 * Math.max(bytes / limit.bytesPerSecond, operations / limit.operationsPerSecond) / time;
}

function kernelTable(at, process, kernels) {
  if (kernels.length === 0) return null;
  const whole = Math.max(1e-9, kernels.reduce((sum, { time }) => sum + time, 0));
  const compileOf = ({ compile }) => process.compiles.find(({ id }) => id === compile && id !== null);
  const rates = Object.entries(DATA.limits).map(([device, { bytesPerSecond, operationsPerSecond }]) =>
    `${device}: ${(bytesPerSecond / 1e9).toFixed(1)} GB/s, ${(operationsPerSecond / 1e9).toFixed(0)} GFLOP/s`
  );
  return h(
    "section",
    { id: "kernels" },
    h("h2", {}, "Kernels"),
    h(
      "p",
      { class: "dim" },
      rates.length === 0 ? "" : `The limit, measured where this page was made: ${rates.join("; ")}`,
    ),
    table([
      { title: "Kernel", value: (k) => k.name, cell: (k) => h("code", {}, k.name) },
      { title: "Of", value: (k) => k.part, cell: (k) => compileOf(k) ? link(at, compileOf(k)) : k.part },
      { title: "Calls", value: (k) => k.calls, cell: (k) => countText(k.calls), number: true },
      {
        title: "Time",
        value: (k) => k.time,
        cell: (k) => k.time > 0 ? milliseconds(k.time) : "",
        number: true,
      },
      {
        title: "Share",
        value: (k) => k.time,
        cell: (k) =>
          h(
            "div",
            { style: "width:6rem" },
            h("div", { class: "bar", style: `width:${100 * k.time / whole}%` }),
          ),
      },
      { title: "Bytes", value: (k) => k.bytes, cell: (k) => bytesText(k.bytes), number: true },
      { title: "FLOPs", value: (k) => k.operations, cell: (k) => countText(k.operations), number: true },
      {
        title: "Of limit",
        value: (k) => shareOf(k) ?? -1,
        cell: (k) => shareOf(k) === null ? "" : `${Math.round(100 * shareOf(k))} %`,
        number: true,
      },
    ], kernels),
  );
}

function memoryChart({ runtime }) {
  if (!runtime || runtime.memory.length < 2) return null;
  const start = runtime.memory[0][0], devices = [...new Set(runtime.memory.map(([, device]) => device))];
  const series = devices.map((device) => ({
    name: device,
    points: runtime.memory.filter((sample) => sample[1] === device).map((
      [time, , bytes],
    ) => [(time - start) / 1e6, bytes]),
  }));
  return h(
    "section",
    { id: "memory" },
    h("h2", {}, "Memory in use"),
    lineChart(series, {
      width: 1000,
      area: true,
      x: (s) => `${s.toFixed(2)} s`,
      y: (b) => bytesText(Math.round(b)),
    }),
  );
}

function compileView(at, compile) {
  const process = DATA.processes[at];
  const others = compile.texts.map(({ name, part, text }, k) =>
    h(
      "details",
      // Long texts are laid out once they are looked at
      { id: `text${k}`, toggle: ({ target }) => target.children[1] ?? target.append(h("pre", {}, text)) },
      h("summary", {}, part === null ? name : `${part}: ${name}`),
    )
  );
  const place = compile.file ? `${compile.file}:${compile.line}` : "";
  main.replaceChildren(...[
    h(
      "section",
      {},
      h("h2", {}, titleOf(compile)),
      h("p", { class: "dim" }, place, " · ", milliseconds(totalOf(compile))),
      compile.error === null ? "" : h("pre", { class: "bad" }, compile.error),
      texts(compile, "graph_breaks").map(({ text }) => h("pre", { class: "warn" }, text)),
    ),
    recompileTable(at, [compile]),
    texts(compile, "graph_code").length > 0 ? panels(compile) : null,
    flames(at, [compile], "Phases"),
    kernelTable(
      at,
      process,
      process.runtime?.kernels.filter(({ compile: id }) => id !== null && id === compile.id) ?? [],
    ),
    h("section", {}, h("h2", {}, "All texts"), others),
  ].filter(Boolean));
}

function overview() {
  main.replaceChildren(...DATA.processes.flatMap((process, at) =>
    [
      h(
        "section",
        {},
        h("h2", {}, process.heading),
        h("p", { class: "dim" }, `${process.command} (${process.log})`),
        process.skipped > 0 ? h("p", { class: "bad" }, `${process.skipped} lines could not be read`) : "",
      ),
      flames(at, process.compiles.filter(({ id }) => id !== null), "Where compile time goes"),
      compileTable(at, process.compiles),
      breakList(at, process),
      recompileTable(at, process.compiles),
      kernelTable(at, process, process.runtime?.kernels ?? []),
      memoryChart(process),
    ].filter(Boolean)
  ));
}

/** The program's lines as a tree: files, functions, their compilations, the lines in their graphs. */
function drawTree() {
  const processes = DATA.processes.map((process, at) => {
    const files = Map.groupBy(
      process.compiles.filter(({ id }) => id !== null),
      ({ file }) => file ?? "elsewhere",
    );
    return h(
      "li",
      {},
      DATA.processes.length > 1 ? process.heading : "",
      h(
        "ul",
        {},
        [...files].map(([file, compiles]) =>
          h(
            "li",
            {},
            h("span", { title: file }, baseName(file)),
            h(
              "ul",
              {},
              compiles.toSorted((a, b) => a.line - b.line).map((compile) => {
                const marks = [
                  texts(compile, "graph_breaks").length > 0
                    ? h("span", { class: "warn", title: "graph break" }, " ⚡")
                    : "",
                  compile.recompiles.length > 0
                    ? h("span", { class: "warn", title: "recompiled" }, " ↻")
                    : "",
                  compile.error === null ? "" : h("span", { class: "bad", title: compile.error }, " ✗"),
                ];
                const lines = compile.lines.map((line) =>
                  h(
                    "li",
                    { class: "dim", title: `${line.file}:${line.line}` },
                    h("code", {}, `${baseName(line.file)}:${line.line} ${line.code}`),
                  )
                );
                return h(
                  "li",
                  {},
                  h(
                    "details",
                    {},
                    h("summary", {}, `${compile.line}: `, link(at, compile), marks),
                    h("ul", {}, lines),
                  ),
                );
              }),
            ),
          )
        ),
      ),
    );
  });
  const outside = DATA.processes.flatMap(({ compiles }, at) =>
    compiles.filter(({ id }) => id === null).map((compile) => h("li", {}, link(at, compile)))
  );
  tree.replaceChildren(h("ul", {}, h("li", {}, h("a", { href: "#" }, "Overview")), processes, outside));
}

/** Everything in which a text occurs. */
function find() {
  const wanted = search.value.trim().toLowerCase();
  if (wanted === "") return route();
  const hits = DATA.processes.flatMap((process, at) =>
    process.compiles.flatMap((compile) => {
      const own = [{
        name: "name",
        part: null,
        text: `${titleOf(compile)} ${compile.file ?? ""}:${compile.line ?? ""}`,
      }];
      return [...own, ...compile.texts].flatMap(({ name, part, text }) => {
        const lines = text.split("\n").filter((line) => line.toLowerCase().includes(wanted));
        return lines.length === 0
          ? []
          : [{ at, compile, title: part === null ? name : `${part}: ${name}`, lines }];
      });
    })
  );
  const kernels = DATA.processes.flatMap(({ runtime }, at) =>
    (runtime?.kernels ?? []).filter(({ name }) => name.toLowerCase().includes(wanted)).map((kernel) => ({
      at,
      kernel,
    }))
  );
  main.replaceChildren(
    h(
      "section",
      {},
      h("h2", {}, `${hits.length} texts with ${search.value}`),
      hits.slice(0, 100).map(({ at, compile, title, lines }) =>
        h(
          "div",
          {},
          h("h3", {}, link(at, compile), h("span", { class: "dim" }, ` ${title}`)),
          h("pre", {}, lines.slice(0, 5).join("\n")),
        )
      ),
    ),
    ...kernels.length === 0 ? [] : [kernelTable(0, DATA.processes[0], kernels.map(({ kernel }) => kernel))],
  );
}

function route() {
  const [, at, id] = /^#p(\d+)\/(.+)$/.exec(location.hash) ?? [];
  const compile = DATA.processes[Number(at)]?.compiles.find((each) => (each.id ?? "outside") === id);
  if (compile) compileView(Number(at), compile);
  else overview();
  for (const each of tree.querySelectorAll("a")) {
    each.classList.toggle("here", each.getAttribute("href") === (location.hash || "#"));
  }
  scrollTo(0, 0);
}

addEventListener("hashchange", () => {
  search.value = "";
  route();
});
drawTree();
route();
