/** The history of benchmarks: for each and each machine the last figures, and how the ratios went. */
import { DATA, h, lineChart, milliseconds, numberText, table } from "./base.js";

const main = h("main");
document.body.append(
  h(
    "header",
    {},
    h("h1", {}, "dyn bench"),
    h(
      "span",
      { class: "dim" },
      `${DATA.runs.length} results${DATA.skipped > 0 ? `, ${DATA.skipped} lines could not be read` : ""}`,
    ),
  ),
  main,
);

const ratioOf = ({ base, timings }, name) => {
  const of = (wanted) => timings.find((each) => each.name === wanted)?.median ?? NaN;
  return of(name) / of(base);
};

/** One benchmark on one machine. */
function card(title, machine, runs) {
  const last = runs.at(-1),
    before = runs.at(-2),
    names = [...new Set(runs.flatMap(({ timings }) => timings.map(({ name }) => name)))];
  const change = (name) => before ? ratioOf(last, name) / ratioOf(before, name) - 1 : NaN;
  const shown = (name) => {
    const part = change(name);
    if (!Number.isFinite(part) || Math.abs(part) < 0.005) return "";
    return h(
      "span",
      { class: part > 0 ? "bad" : "good" },
      `${part > 0 ? "+" : "−"}${Math.abs(100 * part).toFixed(1)} %`,
    );
  };
  return h(
    "section",
    { "data-title": title },
    h("h2", {}, title),
    h("p", { class: "dim" }, `${machine} · ${new Date(last.time).toLocaleString()} · ${runs.length} runs`),
    table([
      { title: "Competitor", value: ({ name }) => name },
      {
        title: "Median",
        value: ({ median }) => median,
        cell: ({ median }) => milliseconds(1000 * median),
        number: true,
      },
      {
        title: `× ${last.base}`,
        value: ({ name }) => ratioOf(last, name),
        cell: ({ name }) => numberText(ratioOf(last, name)),
        number: true,
      },
      {
        title: "Since the run before",
        value: ({ name }) => change(name),
        cell: ({ name }) => shown(name),
        number: true,
      },
    ], last.timings),
    runs.length < 2 ? "" : lineChart(
      names.filter((name) => name !== last.base).map((name) => ({
        name,
        points: runs.map((run, at) => [at + 1, ratioOf(run, name)]),
      })),
      { width: 1000, x: (run) => Number.isInteger(run) ? `run ${run}` : "" },
    ),
  );
}

const groups = Map.groupBy(DATA.runs, ({ title, machine }) => JSON.stringify([title, machine]));
main.append(
  ...[...groups].map(([key, runs]) => card(...JSON.parse(key), runs.toSorted((a, b) => a.time - b.time))),
);
if (groups.size === 0) {
  main.append(h("section", {}, "Nothing so far: run dyn bench and the name of a benchmark"));
}
