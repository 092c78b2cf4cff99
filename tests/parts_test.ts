/**
 * The parts in which graphs run: which nodes may join the part before them, and what keeps small parts apart. Invariant:
 * nothing runs before what it reads.
 */
import { assert, assertEquals } from "@std/assert";
import type { Group } from "../lib/aot/groups.ts";
import { bannedFromRecomputation, Classifier } from "../lib/aot/recompute.ts";
import { hasTime, mergeSmallParts } from "../lib/aot/small_parts.ts";
import { Node } from "../lib/graph/node.ts";
import { traced } from "./support/graph_programs.ts";

/** Returns the values of a graph, in order: each is the sum of the numbered ones before it, of many elements or few. */
function values(
  sums: readonly { readonly of: readonly [number, number]; readonly isLarge?: boolean }[],
): Node[] {
  const graph = traced([[4], [64, 64]], (o, [small, large]) => {
    assert(small && large);
    const made = [small];
    for (const { of: [a, b], isLarge = false } of sums) {
      const [left = small, right = small] = [made[a], made[b]];
      made.push(isLarge ? o.sum(o.mul(large, o.sum(left)), [0, 1]) : o.add(left, right));
    }
    return made;
  });
  const output = graph.nodes.at(-1), results = output?.args[0];
  assert(Array.isArray(results));
  return results.filter((each): each is Node => each instanceof Node);
}

const compiled = (...nodes: readonly (Node | undefined)[]): Group => ({
  nodes: nodes.filter((node) => node !== undefined),
  kind: "compiled",
});
const host = (...nodes: readonly (Node | undefined)[]): Group => ({ ...compiled(...nodes), kind: "host" });

/** Groups with their nodes by number. */
const shown = (groups: readonly Group[], nodes: readonly Node[]) =>
  groups.map(({ kind, nodes: own }) => [kind, ...own.map((node) => nodes.indexOf(node))]);

Deno.test("small parts join the part before the calls that precede them, unless they read a result of these", () => {
  const nodes = values([{ of: [0, 0] }, { of: [0, 0] }, { of: [1, 1] }, { of: [2, 2] }, { of: [1, 0] }]);
  const [, first, call, apart, reader, last] = nodes;
  const end = [host(last)];
  const joined = mergeSmallParts([compiled(first), host(call), compiled(apart), ...end]);
  assertEquals(shown(joined, nodes), [["compiled", 1, 3], ["host", 2], ["host", 5]]);
  const kept = mergeSmallParts([compiled(first), host(call), compiled(reader), ...end]);
  assertEquals(shown(kept, nodes), [["compiled", 1], ["host", 2], ["compiled", 4], ["host", 5]]);
  // The read call is the one directly behind the part, or a later one
  const far = mergeSmallParts([compiled(first), host(call), host(apart), compiled(reader), ...end]);
  assertEquals(shown(far, nodes), [["compiled", 1], ["host", 2], ["host", 3], ["compiled", 4], ["host", 5]]);
});

Deno.test("small parts wait for the next one, and the last one is a part of its own", () => {
  const nodes = values([{ of: [0, 0] }, { of: [1, 1] }, { of: [2, 2] }]);
  const [, first, second, third] = nodes;
  const joined = mergeSmallParts([compiled(first), compiled(second), compiled(third)]);
  assertEquals(shown(joined, nodes), [["compiled", 1, 2, 3]]);
  const last = mergeSmallParts([compiled(first), host(second), compiled(third)]);
  assertEquals(shown(last, nodes), [["compiled", 1], ["host", 2], ["compiled", 3]]);
});

Deno.test("a call has time to run beside other work if that is large and comes before the first reader", () => {
  const nodes = values([{ of: [0, 0] }, { of: [0, 0], isLarge: true }, { of: [0, 0] }, { of: [1, 1] }]);
  const [, call, large, small, reader] = nodes;
  const inner = (node: Node | undefined) => compiled(node, ...node?.inputs() ?? []);
  assert(hasTime([host(call), inner(large), compiled(reader)]));
  assert(!hasTime([host(call), compiled(small), compiled(reader)]));
  assert(!hasTime([host(call), compiled(reader), inner(large)]));
});

Deno.test("what may be computed again is found in one walk, also where each value is used twice", () => {
  const graph = traced([[4]], (o, [x]) => {
    assert(x);
    let y = x;
    for (let i = 0; i < 40; i++) y = o.mul(o.sin(y), o.cos(y));
    return [y];
  });
  const nodes = new Set(graph.nodes.filter(({ op }) => op !== "output"));
  // Without a mark at visited values the walk would take 2⁴⁰ steps
  const banned = bannedFromRecomputation({
    required: nodes,
    independent: nodes,
    classifier: new Classifier(),
  });
  assert(banned.size < nodes.size);
});
