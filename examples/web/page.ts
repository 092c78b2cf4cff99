/**
 * The script of the page: after each stroke, the drawn digit goes through the packaged model. Runs in browsers, with
 * the runtime alone.
 */
import { loadPackage, PackageTensor } from "../../runtime/mod.ts";

/** The parts of a page's document that are used here; this project does not include browser types. */
interface Canvas {
  addEventListener(name: string, listener: (event: Pointer) => void): void;
  readonly width: number;
  getContext(kind: "2d"): Context;
  getBoundingClientRect(): { readonly left: number; readonly top: number };
}

interface Context {
  fillStyle: string;
  fillRect(x: number, y: number, width: number, height: number): void;
  beginPath(): void;
  arc(x: number, y: number, radius: number, from: number, to: number): void;
  fill(): void;
  getImageData(x: number, y: number, width: number, height: number): { readonly data: Uint8ClampedArray };
}

interface Page {
  querySelector<T>(selector: string): T;
}

interface Pointer {
  readonly clientX: number;
  readonly clientY: number;
  readonly buttons: number;
}

const document: Page = Reflect.get(globalThis, "document");
const canvas = document.querySelector<Canvas>("canvas"), context = canvas.getContext("2d");
const answer = document.querySelector<{ textContent: string }>("#answer");

const SIDE = 28, model = await loadPackage("/digits.dyn", { webgpu: true });
document.querySelector<{ textContent: string }>("#engine").textContent = `by ${model.engine}`;

function clear(): void {
  context.fillStyle = "black";
  context.fillRect(0, 0, canvas.width, canvas.width);
  context.fillStyle = "white";
  answer.textContent = "";
}

/** The drawing as 28 × 28 pixels in [0, 1], each the mean of a square. */
function pixels(): Float32Array {
  const each = canvas.width / SIDE, { data } = context.getImageData(0, 0, canvas.width, canvas.width);
  const found = new Float32Array(SIDE * SIDE);
  for (let at = 0; at < data.length / 4; at++) {
    const row = Math.floor(at / canvas.width / each), column = Math.floor((at % canvas.width) / each);
    const place = row * SIDE + column;
    found[place] = (found[place] ?? 0) + (data[4 * at] ?? 0) / 255 / each ** 2;
  }
  return found;
}

/** The probability of each digit. */
async function shares(): Promise<number[]> {
  const result = await model.run(new PackageTensor(pixels(), [1, 1, SIDE, SIDE]));
  return result instanceof PackageTensor ? Array.from(result.data, Number) : [];
}

async function tell(): Promise<void> {
  const found = await shares(), best = found.indexOf(Math.max(...found));
  answer.textContent = `${best}, ${(100 * (found[best] ?? 0)).toFixed(0)} %`;
}

canvas.addEventListener("pointermove", ({ clientX, clientY, buttons }) => {
  if (buttons === 0) return;
  const { left, top } = canvas.getBoundingClientRect();
  context.beginPath();
  context.arc(clientX - left, clientY - top, 11, 0, 2 * Math.PI);
  context.fill();
});
canvas.addEventListener("pointerup", () => void tell());
document.querySelector<EventTarget>("button").addEventListener("click", clear);
clear();
// For other scripts of the page
Object.assign(globalThis, { pixels: () => Array.from(pixels()), shares });
