/**
 * Joins several small collectives into one: calls of one op with the same arguments, on tensors of one type, become a
 * call on their concatenated elements, and the results are views of its result. Invariants: no call depends on one that
 * it is joined with; which calls are joined follows from the graph alone, and so is the same in all processes.
 */
import { itemSize } from "../base/dtype.ts";
import { counters } from "../base/logs.ts";
import { isConstant, sharedOpNamed } from "../autograd/shared_ops.ts";
import type { TensorMeta } from "../graph/meta.ts";
import { contiguousMeta } from "../graph/meta.ts";
import { type Graph, Node } from "../graph/node.ts";
import { builtBy } from "../ops/graph_api.ts";
import { GraphBuilder, placeOf, valueOfNode } from "../ops/graph_builder.ts";
import { type GraphPass, runPasses } from "../ops/rewrite/passes.ts";
import { beginsWork, resultsOf } from "./shared_calls.ts";

/** A call that may be joined with others. */
interface Joinable {
  readonly node: Node;
  readonly input: Node;
  readonly result: TensorMeta;
  readonly elements: number;
  /** The properties that calls must share to be joined. */
  readonly kind: string;
  /** Maximum number of elements of all of them together. */
  readonly most: number;
}

type Attributes = Readonly<Record<string, unknown>>;

/** Joins calls of a graph; `attributes`: the functions that it calls by name. */
export function joinSharedCalls(
  graph: Graph,
  { ownResults, attributes }: { readonly ownResults: number; readonly attributes: Attributes },
): void {
  const pass: GraphPass = { name: "join_shared_calls", run: () => join(graph, attributes) };
  runPasses(graph, [pass], { ownResults, laidOut: ownResults, part: "graph_passes" });
}

function join(graph: Graph, attributes: Attributes): boolean {
  const groupsOf = new Map<string, Joinable[][]>(), groupOf = new Map<Node, readonly Joinable[]>();
  for (const node of graph.nodes) {
    const call = joinable(node, attributes);
    if (!call) continue;
    const groups = groupsOf.get(call.kind) ?? [];
    groupsOf.set(call.kind, groups);
    // The last possible group delays the call least
    let group = groups.findLast((each) => fits(call, each) && !dependsOn(call, each, groupOf));
    if (!group) groups.push(group = []);
    group.push(call);
    groupOf.set(node, group);
  }
  const groups = [...groupsOf.values()].flat().filter(({ length }) => length > 1);
  for (const group of groups) joinGroup(graph, group);
  if (groups.length > 0) graph.sort();
  counters.add("aot", "joined_calls", groups.reduce((sum, { length }) => sum + length - 1, 0));
  return groups.length > 0;
}

function fits({ elements, most }: Joinable, group: readonly Joinable[]): boolean {
  return group.reduce((sum, each) => sum + each.elements, elements) <= most;
}

function joinable(node: Node, attributes: Attributes): Joinable | null {
  const { target, args: [input, ...rest], meta: { value } } = node;
  if (!beginsWork(node) || value.kind !== "tensors" || !(input instanceof Node)) return null;
  const [result] = value.tensors, op = sharedOpNamed(target, attributes);
  if (!result || !op || resultsOf(node).length === 0) return null;
  const { shape, dtype, device } = result;
  let elements = 1;
  for (const size of shape) {
    if (typeof size !== "number") return null;
    elements *= size;
  }
  const most = op.mostJoined(rest.filter(isConstant)) / itemSize(dtype);
  return most === 0 ? null : {
    node,
    input,
    result,
    elements,
    kind: [target, ...rest, dtype, device].join(" "),
    most,
  };
}

/** Returns whether a call depends on any of a group; joined calls depend on everything that any of them depends on. */
function dependsOn(
  { node }: Joinable,
  group: readonly Joinable[],
  groupOf: ReadonlyMap<Node, readonly Joinable[]>,
): boolean {
  const needed = new Set(node.inputs());
  for (const each of needed) {
    const joined = groupOf.get(each);
    if (joined === group) return true;
    for (const one of joined ?? [{ node: each }]) for (const input of one.node.inputs()) needed.add(input);
  }
  return false;
}

/** Joins calls into one, right before the last of them. */
function joinGroup(graph: Graph, group: readonly Joinable[]): void {
  const last = group.at(-1);
  if (!last) return;
  const { node: { target, args: [, ...rest] }, result: { dtype, device } } = last;
  const builder = new GraphBuilder(graph, last.node), api = builtBy(builder);
  builder.shared = placeOf(last.node);
  const flat = group.map(({ input, elements }) => api.reshape(valueOfNode(input), [elements]));
  const whole = api.cat(flat), total = group.reduce((sum, { elements }) => sum + elements, 0);
  const metas = [contiguousMeta([total], dtype, device)];
  const [all] = builder.callShared(target, { args: [whole.node, ...rest], metas });
  if (!all) return;
  let start = 0;
  for (const { node, result, elements } of group) {
    const part = api.view(api.slice(all, 0, start, start + elements), result.shape);
    start += elements;
    for (const item of resultsOf(node)) {
      item.replaceAllUsesWith(part.node);
      graph.erase(item);
    }
    graph.erase(node);
  }
}
