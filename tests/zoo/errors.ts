/**
 * Judges float32 runs by the size of their errors. Invariant: an error is accepted if it is no larger than those of
 * other runs of the same computation, never because it is small compared to a fixed tolerance, except for the rounding
 * of a result, which every run has.
 */
import type { Numbers, Result } from "./numbers.ts";
import type { Elements } from "./runner.ts";

/** Groups of results. */
export const GROUPS = ["logits", "loss", "grad", "losses", "final"] as const;
export type Group = typeof GROUPS[number];

/** Root mean square errors: of each result, and of each group relative to its size. */
export interface Errors {
  readonly results: ReadonlyMap<string, number>;
  readonly groups: Readonly<Record<Group, number>>;
}

const rms = (elements: Float64Array): number =>
  Math.sqrt(elements.reduce((sum, x) => sum + x * x, 0) / Math.max(1, elements.length));

function groupOf(name: string): Group {
  const found = GROUPS.find((group) => group === name.split(".")[0]);
  if (!found) throw new Error(`Expected a result of a known group but found ${name}`);
  return found;
}

/** Errors against elements of the same names. Complains of results that are missing, left over or of another size. */
export function errorsOf(found: Elements, wanted: Elements): Errors {
  const results = new Map<string, number>();
  const off = new Map<Group, number>(), size = new Map<Group, number>();
  const names = new Set([...wanted.keys(), ...found.keys()]);
  for (const name of names) {
    const got = found.get(name), want = wanted.get(name), group = groupOf(name);
    if (!got || !want || got.length !== want.length) {
      throw new Error(
        `Expected ${want?.length ?? "no"} elements of ${name} but found ${got?.length ?? "none"}`,
      );
    }
    const difference = got.map((x, i) => Object.is(x, want[i]) ? 0 : x - (want[i] ?? NaN));
    results.set(name, rms(difference));
    const add = (sums: Map<Group, number>, elements: Float64Array) =>
      sums.set(group, (sums.get(group) ?? 0) + rms(elements) ** 2 * elements.length);
    add(off, difference);
    add(size, want);
  }
  const relative = (group: Group) =>
    Math.sqrt((off.get(group) ?? 0) / Math.max(Number.MIN_VALUE, size.get(group) ?? 0));
  return {
    results,
    groups: {
      logits: relative("logits"),
      loss: relative("loss"),
      grad: relative("grad"),
      losses: relative("losses"),
      final: relative("final"),
    },
  };
}

/** The elements of PyTorch's results. */
export function wantedOf({ results }: Numbers): Elements {
  return new Map([...results].map(([name, { elements }]: [string, Result]) => [name, elements]));
}

/** PyTorch's own errors in float32. */
export function torchErrors(numbers: Numbers): Errors {
  const wanted = wantedOf(numbers);
  // A run that is off by the known error everywhere
  const shifted = new Map(
    [...numbers.results].map(([name, { elements, error }]) =>
      [name, elements.map((x) => x + error)] as const
    ),
  );
  return errorsOf(shifted, wanted);
}

/** Half a unit in the last place of a float32, relative. */
const ROUNDING = 2 ** -24;

/** Factor by which an error may exceed that of another correct run: for a group, and for a single result. */
const SLACK = { group: 4, result: 16 };

/**
 * Returns errors that exceed those of other runs: the larger of theirs times the slack, and the rounding of a handful
 * of operations at the size of the result or of the group's typical one.
 */
export function complaints(found: Errors, wanted: Elements, measures: readonly Errors[]): string[] {
  const list: string[] = [];
  for (const group of new Set([...found.results.keys()].map(groupOf))) {
    const known = Math.max(...measures.map((each) => each.groups[group]));
    const allowed = SLACK.group * known + 4 * ROUNDING;
    if (!(found.groups[group] <= allowed)) {
      list.push(`${group}: error ${found.groups[group].toExponential(1)}, others' ${known.toExponential(1)}`);
    }
  }
  for (const [name, error] of found.results) {
    const elements = wanted.get(name), group = groupOf(name);
    if (!elements) continue;
    const known = Math.max(...measures.map((each) => each.results.get(name) ?? 0));
    const typical = sizeOfGroup(wanted, group);
    const allowed = SLACK.result * known + 16 * ROUNDING * rms(elements) + 2 * ROUNDING * typical;
    if (!(error <= allowed)) {
      list.push(
        `${name}: error ${error.toExponential(1)}, others' ${known.toExponential(1)}, size ${
          rms(elements).toExponential(1)
        }`,
      );
    }
  }
  return list;
}

function sizeOfGroup(wanted: Elements, group: Group): number {
  const sizes = [...wanted].filter(([name]) => groupOf(name) === group).map(([, elements]) => rms(elements));
  return Math.sqrt(sizes.reduce((sum, x) => sum + x * x, 0) / Math.max(1, sizes.length));
}
