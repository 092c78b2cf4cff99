/** A module that assigns what it exports. */

let steps = 0;

export function advance(): void {
  steps++;
}

export { steps };
