/** Terminal output of the demo: a progress bar, and images drawn with half-block characters. */
import type { Tensor } from "../../mod.ts";

const encoder = new TextEncoder();

/** Writes without a line break. */
export function write(text: string): void {
  Deno.stdout.writeSync(encoder.encode(text));
}

/** Progress of a task. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly detail: string;
}

/** A bar that redraws itself on a terminal and prints only its last state elsewhere. */
export function progress(label: string, { done, total, detail }: Progress): void {
  const width = 30;
  const filled = Math.round(width * done / total);
  const line = `${label} [${"█".repeat(filled)}${"·".repeat(width - filled)}] ${done}/${total}  ${detail}`;
  if (Deno.stdout.isTerminal()) write(`\r\x1b[K${line}`);
  else if (done === total) write(line);
  if (done === total) write("\n");
}

/** A normalised image [28, 28] as 14 lines of 28 characters. */
export function drawImage(image: Tensor): string[] {
  const values = image.toTypedArray();
  const at = (y: number, x: number) => Number(values[y * 28 + x] ?? 0) > 0.8;
  const blocks = [" ", "▄", "▀", "█"];
  return Array.from(
    { length: 14 },
    (_, row) =>
      Array.from({ length: 28 }, (_, x) => blocks[(at(2 * row, x) ? 2 : 0) + (at(2 * row + 1, x) ? 1 : 0)])
        .join(""),
  );
}

/** Images side by side with a caption below each. */
export function gallery(images: readonly Tensor[], captions: readonly string[]): string {
  const drawn = images.map(drawImage);
  const rows = Array.from({ length: 14 }, (_, y) => drawn.map((lines) => lines[y] ?? "").join("  "));
  return [...rows, captions.map((caption) => caption.padEnd(28)).join("  ")].join("\n");
}
