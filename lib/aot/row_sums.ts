/**
 * Shortens row sums of large products, as softmax computes them from the gradients of its weights: Σₙ (t · vᵀ)ₘₙ wₘₙ
 * equals Σ_c tₘ_c (w · v)ₘ_c, and the forward's product with the weights is much narrower than they are (the δ of Dao
 * et al. 2022). Invariant: both sums are the same real number with different rounding: the long one adds rounded
 * products of a row, the short one products with its rounded results.
 */
import { isEqual } from "../sym/decide.ts";
import { type Graph, isList, Node } from "../graph/node.ts";
import { findDevice } from "../loops/device.ts";
import { builtBy } from "../ops/graph_api.ts";
import { GraphBuilder, placeOf, valueOfNode } from "../ops/graph_builder.ts";
import { callOf } from "../ops/rewrite/calls.ts";
import type { GraphPass } from "../ops/rewrite/passes.ts";
import { sameShape } from "../ops/shapes.ts";
import { metasOf, spreads } from "./recompute.ts";

/** Shortens sums over rows of products that are much larger than their operands. */
export const SHORT_ROW_SUMS: GraphPass = {
  name: "short_row_sums",
  run(graph) {
    const before = new Set<Node>();
    const found = graph.nodes.flatMap((node) => {
      const short = shortSum(node, before);
      before.add(node);
      return short ? [{ node, short }] : [];
    });
    for (const { node, short } of found) shorten(graph, node, short);
    return found.length > 0;
  },
};

/** The two matrices of the same shape whose elementwise product a short sum adds up, row by row. */
interface ShortSum {
  readonly left: Node;
  readonly right: Node;
}

const shapeOf = (node: Node) => metasOf(node)[0]?.shape ?? [];

/** The value that a node merely reshapes. */
function unshaped(node: Node): Node {
  const inner = callOf(node, "reshape")?.args[0];
  return inner instanceof Node ? unshaped(inner) : node;
}

/** Returns the factors of an elementwise product. */
function factorsOf(node: Node): readonly Node[] {
  const [a, b] = callOf(unshaped(node), "mul")?.args ?? [];
  const whole = a instanceof Node && b instanceof Node &&
    [a, b].every((each) => sameShape(shapeOf(each), shapeOf(unshaped(node))));
  return whole ? [...factorsOf(a), ...factorsOf(b)] : [unshaped(node)];
}

/** The matrices of which another is a transpose in its last two dimensions. */
function turnedOf(node: Node): readonly Node[] {
  const turns = (other: Node | undefined): other is Node => {
    const dims = other?.args[1], rank = other ? shapeOf(other).length : 0;
    const order = Array.from({ length: rank }, (_, d) => d < rank - 2 ? d : 2 * rank - 3 - d);
    return dims !== undefined && isList(dims) && dims.every((dim, d) => dim === order[d]);
  };
  const own = callOf(node, "permute"), from = own?.args[0];
  return [
    ...turns(own) && from instanceof Node ? [from] : [],
    ...[...node.users.keys()].filter((user) => turns(callOf(user, "permute"))),
  ];
}

/** The equivalent short sum, over nodes before this one; undefined if the pattern does not match. */
function shortSum(node: Node, before: ReadonlySet<Node>): ShortSum | undefined {
  const [summed, dims, keep] = callOf(node, "sum")?.args ?? [];
  if (!(summed instanceof Node) || keep !== true) return undefined;
  const dim = isList(dims ?? null) && Array.isArray(dims) && dims.length === 1 ? dims[0] : dims;
  const { dtype, device } = metasOf(node)[0] ?? {}, rank = shapeOf(summed).length;
  if (device === undefined || !findDevice(device)?.costlyRowSums) return undefined;
  if ((dim !== -1 && dim !== rank - 1) || (dtype !== "float32" && dtype !== "float64")) return undefined;
  const factors = factorsOf(summed);
  for (const [at, factor] of factors.entries()) {
    const product = callOf(factor, "bmm", "mm"), [left, keys] = product?.args ?? [];
    if (!product || !(left instanceof Node) || !(keys instanceof Node)) continue;
    if (
      !spreads(product, [left, keys]) || !isEqual(shapeOf(product).at(-1) ?? 1, shapeOf(summed).at(-1) ?? 1)
    ) {
      continue;
    }
    const right = turnedOf(keys).flatMap((values) => [...values.users.keys()]).find((user) => {
      const made = callOf(user, product.target), weights = made?.args[0];
      return made && before.has(made) && weights instanceof Node && weights !== made.args[1] &&
        turnedOf(keys).some((values) => values === made.args[1]) &&
        isSame(factorsOf(weights), factors.toSpliced(at, 1)) && sameShape(shapeOf(made), shapeOf(left));
    });
    if (right && metasOf(right)[0]?.dtype === dtype) return { left, right };
  }
  return undefined;
}

function isSame(some: readonly Node[], others: readonly Node[]): boolean {
  const left = [...others];
  return some.length === others.length && some.every((each) => {
    const at = left.indexOf(each);
    return at >= 0 && left.splice(at, 1).length === 1;
  });
}

function shorten(graph: Graph, node: Node, { left, right }: ShortSum): void {
  const builder = new GraphBuilder(graph, node), api = builtBy(builder);
  builder.shared = placeOf(node);
  const sum = api.sum(api.mul(valueOfNode(left), valueOfNode(right)), -1, true);
  node.replaceAllUsesWith(api.reshape(sum, shapeOf(node)).node);
  graph.erase(node);
}
