/**
 * Which modules are the house's own.
 *
 * Input: URLs. Output: yes or no. Invariant: examples, tests and tools are programs like those of users.
 */

const OWN = ["mod.ts", "cli.ts", "preload.ts", "lib/", "backends/", "cli/"].map((path) =>
  new URL(`../../../${path}`, import.meta.url).href
);

/** Whether a module is a part of dyn. */
export function isOwn(url: string): boolean {
  return OWN.some((own) => url.startsWith(own));
}
