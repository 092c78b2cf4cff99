/**
 * Joins products over steps. The gradient of a weight that many steps use is a sum of products of few rows each, Σ
 * Aₜᵀ·Bₜ: it equals one product of all their rows, [A₁; A₂; …]ᵀ·[B₁; B₂; …], which writes its result once instead of
 * once for each step. The gradient of a bias, a sum of sums over the same rows, becomes one sum of them. Invariant:
 * the same numbers are added up, in another order.
 */
import { sameList } from "../../base/lists.ts";
import { type Graph, isList, Node } from "../../graph/node.ts";
import { builtBy } from "../graph_api.ts";
import { GraphBuilder, type GraphValue, placeOf, valueOfNode } from "../graph_builder.ts";
import { isCall } from "./calls.ts";
import type { GraphPass } from "./passes.ts";
import { type Stack, Stacks, unstacked } from "./stacks.ts";
import { type Sum, sumsOf } from "./sum_terms.ts";

/** Fewer terms stay a sum. */
const MANY = 8;

/** Replaces sums of products by one product. */
export const JOINED_PRODUCTS: GraphPass = { name: "join_products", run: joinProducts };

/** A term leftᵀ·right, of matrices of equally many rows. */
interface Product {
  readonly term: Node;
  readonly left: Node;
  readonly right: Node;
}

/** A term that is the sum of a matrix's rows. */
interface RowSum {
  readonly term: Node;
  readonly matrix: Node;
}

/** The joined value, and the terms that it replaces. */
interface Joined {
  readonly value: GraphValue;
  readonly terms: ReadonlySet<Node>;
}

function joinProducts(graph: Graph): boolean {
  let changed = false;
  // Products first: row sums can then read the same stacks
  const sums = sumsOf(graph, MANY).toReversed(), known = unstacked(graph);
  for (const join of [joinedProduct, joinedRowSums]) {
    for (const sum of sums) {
      if (sum.node.users.size === 0) continue;
      const builder = new GraphBuilder(graph, sum.node), api = builtBy(builder);
      builder.shared = placeOf(sum.node);
      const joined = join(sum, new Stacks(known, sum.node, api));
      if (!joined) continue;
      const rest = sum.terms.filter((each) => !joined.terms.has(each));
      const whole = rest.reduce((added, each) => api.add(added, valueOfNode(each)), joined.value);
      sum.node.replaceAllUsesWith(whole.node);
      changed = true;
    }
  }
  if (changed) graph.eliminateDeadCode();
  return changed;
}

function joinedProduct({ terms }: Sum, stacks: Stacks): Joined | undefined {
  const products = terms.flatMap((term) => productOf(term) ?? []);
  const [first] = products;
  if (!first) return undefined;
  const alike = products.filter((each) => haveShapesOf(each, first));
  // The left factor of a step is multiplied only once; steps come last first
  const lefts = new Map(alike.toReversed().map((each) => [each.left, each]));
  const rights = new Set(alike.map(({ right }) => right));
  if (lefts.size < MANY || lefts.size !== alike.length || rights.size !== alike.length) return undefined;
  const ordered = [...lefts.values()];
  const left = stacks.find(ordered.map((each) => each.left), MANY);
  const right = stacks.find(ordered.map((each) => each.right), MANY);
  const run = runOf(ordered, left, right);
  if (run.length < MANY) return undefined;
  const inLeft = left ?? stacks.make(run.map((each) => each.left));
  const inRight = right ?? stacks.make(run.map((each) => each.right));
  const rows = (stack: Stack, begin: Node | undefined): GraphValue => {
    const from = begin ? stack.places.get(begin) ?? 0 : 0;
    return stacks.rows(stack, from, from + run.length);
  };
  const a = rows(inLeft, run[0]?.left), b = rows(inRight, run[0]?.right);
  return {
    value: stacks.api.mm(stacks.api.permute(a, [1, 0]), b),
    terms: new Set(run.map(({ term }) => term)),
  };
}

/** The longest run of products whose matrices are adjacent in existing stacks, in that order. */
function runOf(products: readonly Product[], left: Stack | undefined, right: Stack | undefined): Product[] {
  const placed = products.flatMap((product) => {
    const l = left ? left.places.get(product.left) : undefined;
    const r = right ? right.places.get(product.right) : undefined;
    if ((left && l === undefined) || (right && r === undefined)) return [];
    return [{ product, at: l ?? r ?? 0, apart: l !== undefined && r !== undefined ? l - r : 0 }];
  });
  if (!left && !right) return [...products];
  placed.sort((a, b) => a.apart - b.apart || a.at - b.at);
  let most: typeof placed = [], run: typeof placed = [];
  for (const each of placed) {
    const last = run.at(-1);
    run = last && last.apart === each.apart && last.at + 1 === each.at ? [...run, each] : [each];
    if (run.length > most.length) most = run;
  }
  return most.map(({ product }) => product);
}

/** The product of a term, if it has so few rows that writing the result takes longer than copying both matrices. */
function productOf(term: Node): Product | undefined {
  const [turned, right] = term.args;
  if (!isCall(term, "mm") || term.users.size !== 1) return undefined;
  if (!(turned instanceof Node) || !(right instanceof Node)) return undefined;
  const [left, dims] = turned.args;
  if (!isCall(turned, "permute") || !(left instanceof Node)) return undefined;
  if (dims === undefined || !isList(dims) || `${dims}` !== "1,0") return undefined;
  const [k, m] = sizesOf(left), [, n] = sizesOf(right);
  if (k === undefined || m === undefined || n === undefined) return undefined;
  return k * (m + n) < m * n ? { term, left, right } : undefined;
}

function haveShapesOf({ left, right }: Product, like: Product): boolean {
  return sameList(sizesOf(left), sizesOf(like.left)) && sameList(sizesOf(right), sizesOf(like.right));
}

/** The sizes of a matrix; empty if they are not known. */
function sizesOf({ meta: { value } }: Node): readonly number[] {
  if (value.kind !== "tensor" || value.tensor.shape.length !== 2) return [];
  return value.tensor.shape.every((size) => typeof size === "number") ? value.tensor.shape : [];
}

function joinedRowSums({ terms, meta: { shape } }: Sum, stacks: Stacks): Joined | undefined {
  const sums = terms.flatMap((term) => rowSumOf(term) ?? []);
  const matrices = new Set(sums.map(({ matrix }) => matrix));
  const stack = matrices.size === sums.length ? stacks.find([...matrices], MANY) : undefined;
  if (!stack || stack.places.size > sums.length) return undefined;
  const inside = sums.filter(({ matrix }) => stack.places.has(matrix));
  if (inside.length !== stack.places.size) return undefined;
  return {
    value: stacks.api.reshape(stacks.api.sum(stack.value, [0, 1], true), shape),
    terms: new Set(inside.map(({ term }) => term)),
  };
}

/** A sum over the rows of a matrix, of any shape. */
function rowSumOf(term: Node): RowSum | undefined {
  const [inner] = term.args, sum = isCall(term, "reshape") && inner instanceof Node ? inner : term;
  const [matrix, dims] = sum.args;
  if (term.users.size !== 1 || sum.op !== "call_function" || sum.target !== "sum") return undefined;
  if (!(matrix instanceof Node) || dims === undefined || !isList(dims) || `${dims}` !== "0") {
    return undefined;
  }
  return sizesOf(matrix).length === 2 && !("dtype" in sum.kwargs) ? { term, matrix } : undefined;
}
