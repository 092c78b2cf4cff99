/** A training run as it goes: curves, throughput, histograms, images and texts, as they come from /updates. */
import { bars, DATA, h, lineChart, numberText } from "./base.js";

const series = new Map();
const state = h("span", { class: "chip" }, "waiting");
const main = h("main"),
  search = h("input", { type: "search", placeholder: "Filter tags", input: () => draw() });
const smooth = h("input", { type: "range", min: 0, max: 0.99, step: 0.01, value: 0, input: () => draw() });
const log = h("input", { type: "checkbox", change: () => draw() });
document.body.append(
  h(
    "header",
    {},
    h("h1", {}, DATA.title),
    state,
    h("span", { class: "grow" }),
    h("label", { class: "dim" }, "smooth ", smooth),
    h("label", { class: "dim" }, log, " log"),
    search,
  ),
  main,
);

/** Running means that forget at a rate, corrected for their beginning. */
function smoothed(points, rate) {
  if (rate === 0) return points;
  let mean = 0, weight = 0;
  return points.map(([x, y]) => {
    if (!Number.isFinite(y)) return [x, y];
    mean = rate * mean + (1 - rate) * y;
    weight = rate * weight + (1 - rate);
    return [x, mean / weight];
  });
}

const clock = (time) => new Date(time * 1000).toLocaleTimeString();
const kindOf = (kind) => [...series.values()].filter((each) => each.kind === kind && matches(each.tag));
const matches = (tag) => tag.toLowerCase().includes(search.value.trim().toLowerCase());

/** Steps a second of a run, over stretches of its longest curve. */
function throughput() {
  const longest = Map.groupBy([...series.values()].filter(({ kind }) => kind === "scalar"), ({ run }) => run);
  return [...longest].flatMap(([run, all]) => {
    const { values } = all.reduce((best, each) => each.values.length > best.values.length ? each : best);
    const stride = Math.max(1, Math.floor(values.length / 100)), points = [];
    for (let at = stride; at < values.length; at += stride) {
      const [step, time] = values[at], [before, former] = values[at - stride];
      if (time > former) points.push([step, (step - before) / (time - former)]);
    }
    return points.length === 0 ? [] : [{ name: run, points }];
  });
}

function curves() {
  const byTag = Map.groupBy(kindOf("scalar"), ({ tag }) => tag), rate = Number(smooth.value);
  const runs = [...new Set([...series.values()].map(({ run }) => run))];
  return [...byTag].map(([tag, all]) => {
    const lines = all.map(({ run, values }) => ({
      name: runs.length > 1 ? run : "",
      points: smoothed(values.map(([step, , value]) => [step, value]), rate),
    }));
    const last = runs.length > 1 ? "" : numberText(all[0].values.at(-1)[2]);
    return h(
      "div",
      { class: "card", "data-tag": tag },
      h("h2", {}, tag, " ", h("span", { class: "dim" }, last)),
      lineChart(lines, { log: log.checked, width: 420, height: 200 }),
    );
  });
}

/** A card with what a tag had at a step: the last one, until another is chosen. */
function stepCard(series, shown) {
  const { run, tag, values } = series, last = values.length - 1, place = h("div");
  const show = (at) => {
    const [step, , value] = values[at];
    place.replaceChildren(shown(value), h("span", { class: "dim" }, `${run} step ${step}`));
  };
  const chosen = values.indexOf(series.chosen), first = chosen < 0 ? last : chosen;
  const slider = h("input", {
    type: "range",
    min: 0,
    max: last,
    value: first,
    "aria-label": "step",
    style: "width:100%",
    input: () => {
      const at = Number(slider.value);
      series.chosen = at === last ? undefined : values[at];
      show(at);
    },
    // What came while it was moved
    change: () => setTimeout(draw),
  });
  show(first);
  return h("div", { class: "card", "data-tag": tag }, h("h2", {}, tag), place, last > 0 ? slider : "");
}

/** The buckets, of which there are hundreds and unequal ones, as 30 equal ones. */
function histogram({ limits, counts }, bins = 30) {
  const first = counts.findIndex((count) => count > 0), last = counts.findLastIndex((count) => count > 0);
  const low = limits[first], high = limits[last + 1], width = (high - low) / bins || 1;
  const equal = Array(bins).fill(0), edges = Array.from({ length: bins + 1 }, (_, k) => low + k * width);
  for (let k = first; k <= last; k++) {
    if (counts[k] === 0) continue;
    const [from, to] = [limits[k], limits[k + 1]];
    for (let bin = Math.floor((from - low) / width); bin < bins && low + bin * width < to; bin++) {
      const shared = Math.min(to, low + (bin + 1) * width) - Math.max(from, low + bin * width);
      equal[bin] += counts[k] * shared / Math.max(to - from, 1e-300);
    }
  }
  return bars(edges, equal);
}

const picture = (src, alt) => h("img", { class: "pixels", src, alt });

function textCards() {
  return kindOf("text").map(({ run, tag, values }) =>
    h(
      "div",
      { class: "card", "data-tag": tag },
      h("h2", {}, tag),
      values.slice(-5).toReversed().map(([step, time, text]) =>
        h("div", {}, h("span", { class: "dim" }, `${run} step ${step}, ${clock(time)}`), h("pre", {}, text))
      ),
    )
  );
}

function draw() {
  // Elements that are replaced would slip from under the pointer
  if (main.querySelector("input:active")) return;
  const speed = throughput(),
    sections = [
      ["Curves", curves()],
      [
        "Throughput",
        speed.length === 0 ? [] : [
          h(
            "div",
            { class: "card" },
            h("h2", {}, "steps a second"),
            lineChart(speed, { area: true, width: 420, height: 200 }),
          ),
        ],
      ],
      ["Images", kindOf("image").map((each) => stepCard(each, (src) => picture(src, each.tag)))],
      ["Histograms", kindOf("histogram").map((each) => stepCard(each, (value) => histogram(value)))],
      ["Texts", textCards()],
    ].filter(([, cards]) => cards.length > 0);
  main.replaceChildren(...sections.flatMap(([name, cards]) => [
    h("h2", { id: name.toLowerCase() }, name),
    h("div", { class: "cards" }, cards),
  ]));
  if (sections.length === 0) {
    main.append(
      h(
        "section",
        {},
        h("p", {}, "Nothing so far. In the script: "),
        h(
          "pre",
          {},
          'import { Writer } from "jsr:@x/dyn";\nconst writer = new Writer();\nwriter.addScalar("loss", loss, step);',
        ),
      ),
    );
  }
}

const source = new EventSource("/updates");
source.onmessage = ({ data }) => {
  const update = JSON.parse(data);
  if (update.kind === "ended") {
    state.textContent = `ended with code ${update.code}`;
    state.className = update.code === 0 ? "chip good" : "chip bad";
    source.close();
    return;
  }
  state.textContent = DATA.state;
  if (update.all) series.clear();
  for (const { run, tag, kind, values, all } of update.series) {
    const key = JSON.stringify([run, kind, tag]), known = series.get(key) ?? { run, tag, kind, values: [] };
    series.set(key, known);
    // JSON has no NaN and no infinities
    const fresh = kind === "scalar"
      ? values.map(([step, time, value]) => [step, time, Number(value)])
      : values;
    known.values = all ? fresh : [...known.values, ...fresh];
    if (kind !== "scalar") known.values = known.values.slice(-50);
  }
  draw();
};
source.onerror = () => state.textContent = "not connected";
draw();
