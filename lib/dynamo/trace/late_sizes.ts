/**
 * Finishes a graph with sizes that are known only while it runs: adds a check after the node that determines each
 * size, and removes unread numbers. Invariant: a check runs before anything that relies on it.
 */
import type { Argument, Graph, Node, SourcePosition } from "../../graph/node.ts";
import { isCheck, NUMBER } from "../../graph/numbers.ts";
import { positionText } from "../../graph/place.ts";
import { lateBindings, symbolsIn } from "../../graph/sizes.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import { findTarget } from "../../ops/table.ts";
import { freeSymbols, type Sym } from "../../sym/expr.ts";
import type { ShapeEnv } from "../../sym/shape_env.ts";
import type { SizeGuard } from "../../sym/size_guards.ts";

/** The assumptions, and a lookup of the user's line that needs them. */
interface Assumptions {
  readonly sizes: ShapeEnv;
  placeOfSizes(symbols: Iterable<Sym>): SourcePosition | null;
}

/** Inserts a check of each assumption after the node that determines the last of its sizes. */
export function addChecks(graph: Graph, assumptions: Assumptions): void {
  const { sizes } = assumptions;
  const giver = new Map<Sym, Node>();
  for (const [node, bindings] of lateBindings(graph)) {
    for (const { symbol } of bindings) giver.set(symbol, node);
  }
  for (const assert of sizes.runtimeAsserts()) {
    for (const sides of relationsOf(assert)) {
      const symbols = symbolsOfSides(sides), place = assumptions.placeOfSizes(symbols);
      const needed = [...symbols].flatMap((symbol) => giver.get(symbol) ?? []);
      const { nodes } = graph, last = Math.max(...needed.map((node) => nodes.indexOf(node)));
      const before = nodes[last + 1];
      const by = nodes[last];
      if (!before || !by) continue;
      graph.create("call_function", NUMBER.check, {
        args: [...sides, place ? `${assert.text}, at ${positionText(place)}` : assert.text],
        name: "check",
        meta: { stack: place ? [place] : by.meta.stack, value: { kind: "unknown" }, onHost: true },
        before,
      });
    }
  }
}

type Sides = readonly [relation: "eq" | "ne" | "le", left: Argument, right: Argument];

function relationsOf(assert: SizeGuard): Sides[] {
  switch (assert.kind) {
    case "range": {
      const { symbol, lower, upper } = assert, found: Sides[] = [];
      if (lower > symbol.lower) found.push(["le", lower, symbol]);
      if (upper < symbol.upper) found.push(["le", symbol, upper]);
      return found;
    }
    case "relation":
      return [[assert.relation, assert.left, assert.right]];
    case "source":
      return [];
    default:
      return assert satisfies never;
  }
}

function symbolsOfSides([, left, right]: Sides): Set<Sym> {
  const found = new Set<Sym>();
  symbolsIn([left, right], found);
  return found;
}

/** Returns whether a call may fail because of its elements, such as a singular matrix. */
function mayRefuse({ target }: Node): boolean {
  const definition = findTarget(target)?.definition;
  return definition !== undefined && !definition.inferUnbacked &&
    (definition.implementation.kind === "host" || definition.hostParts === true);
}

/** Returns whether a call has no results, so that it is there for what it does, such as printing. */
function givesNothing({ meta: { value } }: Node): boolean {
  return value.kind === "tensors" && value.tensors.length === 0;
}

/** Drops host nodes if nothing reads their value or a size that they determine. */
export function dropUnreadNumbers(graph: Graph): void {
  if (!graph.nodes.some(({ meta }) => meta.onHost)) return;
  const late = lateBindings(graph), read = new Set<Sym>();
  for (const node of graph.nodes.toReversed()) {
    const { meta } = node;
    const gives = late.get(node) ?? [];
    const isUnread = meta.onHost && !isCheck(node) && !mayRefuse(node) && node.users.size === 0 &&
      !givesNothing(node) &&
      gives.every(({ symbol }) => !read.has(symbol));
    if (isUnread) {
      graph.erase(node);
      continue;
    }
    symbolsIn(node.args, read);
    symbolsIn(node.kwargs, read);
    if (meta.onHost) continue;
    const inMeta = ({ shape, strides, offset }: TensorMeta) => {
      for (const d of [...shape, ...strides, offset]) freeSymbols(d, read);
    };
    if (meta.value.kind === "tensor") inMeta(meta.value.tensor);
    else if (meta.value.kind === "tensors") meta.value.tensors.forEach(inMeta);
  }
}
