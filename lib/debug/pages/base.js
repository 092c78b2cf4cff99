/** The common part of all pages' scripts: elements, numbers as text, charts. It runs in browsers, before theirs. */

const packed = await fetch(`data:;base64,${document.getElementById("data").textContent}`);

/** The data of the page. */
export const DATA = await new Response(packed.body.pipeThrough(new DecompressionStream("gzip"))).json();

/** Colours of series, readable on light and dark. */
const COLOURS = ["#3b82d6", "#e0803a", "#3aa66b", "#b45fc4", "#d4a72c", "#d05a6e", "#4fb3bf", "#8a8f98"];

/** Strokes and marks of series, which tell those of one colour apart. */
const DASHES = [null, "6 3", "2 3"], MARKS = ["●", "◍", "○"];

/** Returns the entry of the nth series among those that change where the colours begin again. */
const ofRound = (entries, n) => entries[Math.floor(n / COLOURS.length) % entries.length];

/** An element with attributes (functions are listeners) and children: elements and texts. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same of SVG. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const title = (text) => svg("title", {}, text);

export function milliseconds(micro) {
  if (micro < 100) return `${micro.toFixed(1)} µs`;
  return micro >= 1e6 ? `${(micro / 1e6).toFixed(2)} s` : `${(micro / 1000).toFixed(micro < 1e4 ? 2 : 1)} ms`;
}

export function bytesText(bytes) {
  for (const [unit, name] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"]]) {
    if (Math.abs(bytes) >= unit) return `${(bytes / unit).toFixed(1)} ${name}`;
  }
  return `${bytes} B`;
}

export function countText(count) {
  for (const [unit, name] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(count) >= unit) return `${(count / unit).toFixed(1)} ${name}`;
  }
  return Number.isInteger(count) ? `${count}` : numberText(count);
}

export function numberText(value) {
  if (value === 0 || !Number.isFinite(value)) return `${value}`;
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(2) : `${Number(value.toPrecision(4))}`;
}

/** Rows of a table before all are asked for. */
const FIRST_ROWS = 25;

/** A table whose columns sort. Columns: { title, value(row), cell(row), number }. */
export function table(columns, rows) {
  const body = h("tbody");
  let by = null, down = true, limit = FIRST_ROWS;
  const draw = () => {
    const sorted = by === null ? rows : rows.toSorted((a, b) => {
      const [x, y] = [by.value(a), by.value(b)], order = x > y ? 1 : x < y ? -1 : 0;
      return down ? -order : order;
    });
    body.replaceChildren(
      ...sorted.slice(0, limit).map((row) =>
        h(
          "tr",
          {},
          columns.map((c) => h("td", c.number ? { class: "number" } : {}, (c.cell ?? c.value)(row))),
        )
      ),
    );
    if (rows.length > limit) {
      const click = () => {
        limit = Infinity;
        draw();
      };
      const more = h("button", { click }, `${rows.length - limit} more`);
      body.append(h("tr", {}, h("td", { colspan: columns.length }, more)));
    }
  };
  const head = columns.map((column) =>
    h("th", {
      class: column.number ? "sortable number" : "sortable",
      click: () => {
        down = by === column ? !down : true;
        by = column;
        draw();
      },
    }, column.title)
  );
  draw();
  return h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, head)), body));
}

/** Round numbers between two others. */
function ticks(low, high, count = 4) {
  const raw = (high - low) / count || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) found.push(at);
  return found;
}

/**
 * Lines over a common axis: series are { name, points: [x, y][], colour }. Points that are no numbers leave gaps.
 * `area`: filled to the axis; `log`: logarithmic heights; the readout follows the pointer.
 */
export function lineChart(
  series,
  { width = 640, height = 220, area = false, log = false, x = numberText, y = numberText } = {},
) {
  const left = 58, bottom = 22, top = 8, right = 10;
  const scale = (v) => log ? Math.log10(v) : v;
  const usable = (v) => Number.isFinite(v) && (!log || v > 0);
  const all = series.flatMap(({ points }) => points.filter(([, v]) => usable(v)));
  if (all.length === 0) return h("p", { class: "dim" }, "Nothing so far");
  const xs = all.map(([at]) => at), ys = all.map(([, v]) => scale(v));
  const extent = (values) =>
    values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
  const [x0, x1] = extent(xs), [low, high] = extent(area ? [0, ...ys] : ys);
  const pad = high === low ? Math.abs(high) * 0.1 || 1 : 0.05 * (high - low);
  const y0 = area ? low : low - pad, y1 = high + pad;
  const px = (v) => left + (width - left - right) * (x1 === x0 ? 0.5 : (v - x0) / (x1 - x0));
  const py = (v) => height - bottom - (height - bottom - top) * (v - y0) / (y1 - y0);
  const marks = [
    ...ticks(y0, y1).flatMap((v) => [
      svg("line", { class: "axis", x1: left, x2: width - right, y1: py(v), y2: py(v) }),
      svg("text", { x: left - 6, y: py(v) + 4, "text-anchor": "end" }, y(log ? 10 ** v : v)),
    ]),
    ...ticks(x0, x1, 5).map((v) => svg("text", { x: px(v), y: height - 6, "text-anchor": "middle" }, x(v))),
  ];
  const lines = series.map(({ points, colour }, k) => {
    const stroke = colour ?? COLOURS[k % COLOURS.length];
    let path = "", open = false;
    const lone = [];
    points.forEach(([at, v], k) => {
      if (usable(v)) path += `${open ? "L" : "M"}${px(at).toFixed(1)} ${py(scale(v)).toFixed(1)}`;
      if (usable(v) && !open && !usable(points[k + 1]?.[1])) lone.push([at, v]);
      open = usable(v);
    });
    const shade = area && points.length > 1
      ? `${path}L${px(points.at(-1)[0])} ${py(0)}L${px(points[0][0])} ${py(0)}Z`
      : null;
    return [
      shade && svg("path", { d: shade, fill: stroke, opacity: 0.18 }),
      svg("path", {
        d: path,
        fill: "none",
        stroke,
        "stroke-width": 1.6,
        "stroke-linejoin": "round",
        "stroke-dasharray": ofRound(DASHES, k),
      }),
      lone.map(([at, v]) => svg("circle", { cx: px(at), cy: py(scale(v)), r: 3, fill: stroke })),
    ];
  });
  const cursor = svg("line", { y1: top, y2: height - bottom, stroke: "var(--dim)", visibility: "hidden" });
  const readout = h("div", { class: "dim readout" }, legend(series));
  const chart = svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      style: "width:100%;height:auto;display:block",
      pointermove: (event) => {
        const box = chart.getBoundingClientRect();
        const at = x0 +
          ((event.clientX - box.left) * width / box.width - left) / (width - left - right) * (x1 - x0);
        const found = series.map(({ points }) =>
          points.reduce(
            (best, p) => Math.abs(p[0] - at) < Math.abs(best[0] - at) ? p : best,
            points[0] ?? [at, NaN],
          )
        );
        const shown = Math.min(width - right, Math.max(left, px(found[0][0])));
        for (const end of ["x1", "x2"]) cursor.setAttribute(end, shown);
        cursor.setAttribute("visibility", "visible");
        readout.replaceChildren(legend(series, found.map(([, v]) => y(v))), ` at ${x(found[0][0])}`);
      },
      pointerleave: () => {
        cursor.setAttribute("visibility", "hidden");
        readout.replaceChildren(legend(series));
      },
    },
    marks,
    lines.flat(2),
    cursor,
  );
  return h("div", {}, chart, readout);
}

function legend(series, values = []) {
  return h(
    "span",
    {},
    series.map(({ name, colour }, k) => {
      if (name === "" && !values[k]) return "";
      const dot = `color:${colour ?? COLOURS[k % COLOURS.length]}`;
      return h(
        "span",
        { style: "margin-right:.8rem" },
        h("span", { style: dot }, `${ofRound(MARKS, k)} `),
        name,
        values[k] ? ` ${values[k]}` : "",
      );
    }),
  );
}

/** Spans as rows of boxes, those inside others below them: { name, start, duration, text, click }. */
export function flameChart(spans) {
  const sorted = spans.toSorted((a, b) => a.start - b.start || b.duration - a.duration);
  const begin = Math.min(...sorted.map((s) => s.start)),
    end = Math.max(...sorted.map((s) => s.start + s.duration));
  const total = Math.max(1, end - begin),
    open = [],
    boxes = [],
    names = [...new Set(sorted.map((s) => s.name))];
  let depth = 0;
  for (const span of sorted) {
    while (open.length > 0 && open.at(-1).start + open.at(-1).duration < span.start + span.duration) {
      open.pop();
    }
    const share = span.duration / total;
    if (share > 0.0005) {
      const row = open.length;
      depth = Math.max(depth, row + 1);
      boxes.push(h("div", {
        title: `${span.text ?? span.name}\n${milliseconds(span.duration)}`,
        style: `left:${100 * (span.start - begin) / total}%;width:${100 * share}%;top:${20 * row}px;` +
          `background:${COLOURS[names.indexOf(span.name) % COLOURS.length]}${
            span.click ? ";cursor:pointer" : ""
          }`,
        ...span.click ? { click: span.click } : {},
      }, share > 0.02 ? span.text ?? span.name : ""));
    }
    open.push(span);
  }
  return h("div", { class: "flame", style: `height:${20 * depth}px` }, boxes);
}

/** Bars of a histogram: edges are one more than counts. */
export function bars(edges, counts, { width = 320, height = 120 } = {}) {
  const most = Math.max(...counts) || 1, base = height - 16, step = width / counts.length;
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, style: "width:100%;height:auto;display:block" },
    counts.map((count, k) => {
      const tall = (base - 4) * count / most,
        text = `${numberText(edges[k])} to ${numberText(edges[k + 1])}: ${numberText(count)}`;
      const place = { x: k * step, y: base - tall, width: Math.max(1, step - 1), height: tall };
      return svg("rect", { ...place, fill: "var(--accent)" }, title(text));
    }),
    svg("text", { x: 0, y: height - 3 }, numberText(edges[0])),
    svg("text", { x: width, y: height - 3, "text-anchor": "end" }, numberText(edges.at(-1))),
  );
}
