/** Curves as SVG. Invariant: a number that is not finite leaves a gap; every other one is seen, and every name. */
import { escapeHtml } from "../pages/escape.ts";

/** A curve over its steps. */
interface Curve {
  readonly name: string;
  readonly values: readonly number[];
}

const COLOURS = ["#3b82d6", "#e0803a", "#3aa66b", "#b45fc4", "#d4a72c", "#d05a6e"];
/** Strokes and marks of the curves of one colour. */
const STYLES = [["", "●"], [` stroke-dasharray="6 3"`, "◍"], [` stroke-dasharray="2 3"`, "○"]] as const;
const WIDTH = 640, PLOT = 194, LEFT = 60, RIGHT = 10, BOTTOM = 22;
/** Height of a row of names, and the width of a letter and of what surrounds a name. */
const ROW = 16, LETTER = 7, AROUND = 30;

/** Places of names, in as many rows as they need. */
function placesOf(names: readonly string[]): readonly { readonly x: number; readonly row: number }[] {
  let end = LEFT, row = 0;
  return names.map((name) => {
    const length = LETTER * name.length + AROUND;
    if (end > LEFT && end + length > WIDTH) [end, row] = [LEFT, row + 1];
    end += length;
    return { x: end - length, row };
  });
}

/** The picture; some number is finite. */
export function curvesSvg(curves: readonly Curve[]): string {
  const finite = curves.flatMap(({ values }) => values.filter(Number.isFinite));
  const low = finite.reduce((a, b) => Math.min(a, b)), high = finite.reduce((a, b) => Math.max(a, b));
  const steps = Math.max(1, ...curves.map(({ values }) => values.length - 1)), range = high - low || 1;
  const places = placesOf(curves.map(({ name }) => name)), top = 8 + ROW * (1 + (places.at(-1)?.row ?? 0));
  const height = top + PLOT + BOTTOM;
  const x = (step: number) => LEFT + (WIDTH - LEFT - RIGHT) * step / steps;
  const y = (value: number) => top + PLOT - PLOT * (value - low) / range;
  const label = (text: string, at: string) =>
    `<text ${at} font-size="11" font-family="sans-serif" fill="#888">${escapeHtml(text)}</text>`;
  const axes = [low, (low + high) / 2, high].map((value) =>
    `<path d="M${LEFT} ${y(value).toFixed(1)}H${WIDTH - RIGHT}" stroke="#8885"/>` +
    label(
      `${Number(value.toPrecision(3))}`,
      `x="${LEFT - 6}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end"`,
    )
  );
  const lines = curves.map(({ name, values }, k) => {
    const colour = COLOURS[k % COLOURS.length], place = places[k] ?? { x: LEFT, row: 0 };
    const [dashes, mark] = STYLES[Math.floor(k / COLOURS.length) % STYLES.length] ?? STYLES[0];
    let path = "", dots = "";
    for (const [step, value] of values.entries()) {
      if (!Number.isFinite(value)) continue;
      const [before, after] = [values[step - 1], values[step + 1]].map(Number.isFinite);
      const [left, above] = [x(step).toFixed(1), y(value).toFixed(1)];
      path += `${before ? "L" : "M"}${left} ${above}`;
      if (!before && !after) dots += `<circle cx="${left}" cy="${above}" r="2.5" fill="${colour}"/>`;
    }
    return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.6"${dashes}/>${dots}` +
      `<text x="${place.x}" y="${
        14 + ROW * place.row
      }" font-size="12" font-family="sans-serif" fill="${colour}">` +
      `${mark} ${escapeHtml(name)}</text>`;
  });
  const ends = label("0", `x="${LEFT}" y="${height - 6}"`) +
    label(`${steps}`, `x="${WIDTH - RIGHT}" y="${height - 6}" text-anchor="end"`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}">${
    [...axes, ends, ...lines].join("")
  }</svg>`;
}
