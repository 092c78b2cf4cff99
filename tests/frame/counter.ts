/** A module that assigns what it exports. */

let steps = 0;

export function advance(): void {
  steps++;
}

export let next = (n: number): number => n + 1;

export function replaceNext(by: (n: number) => number): void {
  next = by;
}

export { steps };
