/** Curves as SVG. Invariant: a number that is not finite leaves a gap. */
import { escapeHtml } from "../pages/escape.ts";

/** A curve over its steps. */
interface Curve {
  readonly name: string;
  readonly values: readonly number[];
}

const COLOURS = ["#3b82d6", "#e0803a", "#3aa66b", "#b45fc4", "#d4a72c", "#d05a6e"];
const WIDTH = 640, HEIGHT = 240, LEFT = 60, RIGHT = 10, TOP = 24, BOTTOM = 22;

/** The picture; some number is finite. */
export function curvesSvg(curves: readonly Curve[]): string {
  const finite = curves.flatMap(({ values }) => values.filter(Number.isFinite));
  const low = finite.reduce((a, b) => Math.min(a, b)), high = finite.reduce((a, b) => Math.max(a, b));
  const steps = Math.max(1, ...curves.map(({ values }) => values.length - 1)), range = high - low || 1;
  const x = (step: number) => LEFT + (WIDTH - LEFT - RIGHT) * step / steps;
  const y = (value: number) => HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (value - low) / range;
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
    const colour = COLOURS[k % COLOURS.length];
    let path = "", open = false;
    for (const [step, value] of values.entries()) {
      if (Number.isFinite(value)) path += `${open ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}`;
      open = Number.isFinite(value);
    }
    const legend = `<text x="${
      LEFT + 120 * k
    }" y="14" font-size="12" font-family="sans-serif" fill="${colour}">● ${escapeHtml(name)}</text>`;
    return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.6"/>${legend}`;
  });
  const ends = label("0", `x="${LEFT}" y="${HEIGHT - 6}"`) +
    label(`${steps}`, `x="${WIDTH - RIGHT}" y="${HEIGHT - 6}" text-anchor="end"`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}">${
    [...axes, ends, ...lines].join("")
  }</svg>`;
}
