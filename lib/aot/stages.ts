/**
 * A backend that compiles graphs with data-dependent sizes: where a size or a number is known only after elements have
 * been read, the graph is cut, and each part is compiled with what is known by then. Invariant: a call is a
 * transaction: if a part or a check fails, all former values are intact.
 */
import { agreement, gatherPending, type Wait } from "../base/pending_collectives.ts";
import { InternalError, isUndone, noteUndone } from "../base/errors.ts";
import type { CompiledFunction, GraphBackend } from "../graph/backend.ts";
import { gradientCallOf, takesGradients } from "../graph/gradient_call.ts";
import { gradientPath, lateGradient } from "../ops/gradient_stages.ts";
import { rootOf, shares, viewedValue } from "../ops/computed_from.ts";
import { isHigherOrder } from "../graph/higher_order.ts";
import { type Graph, hasEffect, type Node } from "../graph/node.ts";
import { GraphModule } from "../graph/graph_module.ts";
import {
  type LateBinding,
  lateBindings,
  readBinding,
  readLateBinding,
  sizeBindings,
  symbolsOf,
} from "../graph/sizes.ts";
import type { Attributes, Transaction } from "../graph/interpreter.ts";
import type { Sym } from "../sym/expr.ts";
import { graphRunner } from "../tensor/graph_runner.ts";
import { NotFunctional } from "../autograd/functional.ts";
import { drawingNodes } from "../autograd/graph_replay.ts";
import { aliasesArgument } from "../autograd/aliases_argument.ts";
import { CompiledPart } from "./compiled_part.ts";
import { drawingIn } from "./drawing.ts";
import { GraphPart, type PartNodes, type PreparedPart } from "./graph_part.ts";
import type { Group } from "./groups.ts";
import { hasTime } from "./small_parts.ts";
import { beginningEarly, beginsWork, resultsOf, sharedCallsOf } from "./shared_calls.ts";

/** Returns whether a graph has sizes or numbers that are known only while it runs. */
export function needsStages(graph: Graph): boolean {
  return graph.nodes.some(({ meta }) => meta.onHost === true) ||
    symbolsOf(graph.nodes).values().some(({ node }) =>
      node.kind === "symbol" && node.role.kind === "unbacked"
    );
}

/** Functions whose parts are compiled when calls reach them. */
const staged = new WeakSet<CompiledFunction>();

/** Returns whether parts of a function are compiled when calls reach them. */
export function compilesLater(run: CompiledFunction): boolean {
  return staged.has(run);
}

/**
 * Compiles a graph in stages; `ends`: nodes before which a stage ends in any case. Throws NotFunctional if a gradient
 * is taken across them.
 */
export function inStages(
  captured: GraphModule,
  backend: GraphBackend,
  ends: ReadonlySet<Node> = new Set(),
): CompiledFunction {
  const { graph, attributes, runner } = captured;
  const whole = new GraphModule(graph, withCompiledRegions(attributes, backend), runner);
  const run = runStages(graph, stagesOf(whole, backend, ends));
  staged.add(run);
  return run;
}

/** A graph as a function that runs stages one after the other. */
export function runStages(graph: Graph, stages: readonly Stage[]): CompiledFunction {
  const { placeholders, output } = graph, shared = sharedCallsOf(graph);
  const bindings = new Map(sizeBindings(graph).map((binding) => [binding.symbol, binding]));
  return (...inputs) => {
    const values = new Map<Node, unknown>(placeholders.map((node, at) => [node, inputs[at]]));
    const sizes = new Map<Sym, number>();
    const sizeOf = (symbol: Sym): number => {
      const known = sizes.get(symbol);
      if (known !== undefined) return known;
      const binding = bindings.get(symbol);
      if (!binding) {
        throw new InternalError(`Expected an input that determines the size ${symbol} but found none`);
      }
      const size = readBinding(binding, inputs);
      sizes.set(symbol, size);
      return size;
    };
    if (shared.length > 0) agreement.reach?.(shared);
    const call: Call = { values, sizes, sizeOf, transaction: graphRunner.begin(), begun: new Map() };
    try {
      for (const stage of stages) runStage(stage, call);
      for (const waits of call.begun.values()) waitFor(waits);
    } catch (error) {
      const { stage } = call;
      const isWhole = !(error instanceof InternalError) && (stage === undefined || isUndone(error, stage));
      throw isWhole && call.transaction.rollBack() ? noteUndone(error, graph) : error;
    }
    return GraphPart.resolve(output.args[0] ?? [], values, sizeOf);
  };
}

/** Functions that branches and loops call, compiled by the backend when they are first reached. */
function withCompiledRegions(attributes: Attributes, backend: GraphBackend): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => {
      if (!(value instanceof GraphModule)) return [name, value];
      let compiled: CompiledFunction | undefined;
      return [name, (...values: unknown[]) => (compiled ??= inStages(value, backend))(...values)];
    }),
  );
}

interface Call {
  readonly values: Map<Node, unknown>;
  readonly sizes: Map<Sym, number>;
  readonly sizeOf: (symbol: Sym) => number;
  readonly transaction: Transaction;
  /** Pending results of collectives. */
  readonly begun: Map<Node, readonly Wait[]>;
  /** The graph of the running part. */
  stage?: Graph;
}

/** A part before it is prepared for a call. */
export interface Part {
  readonly nodes: PartNodes;
  prepare(values: ReadonlyMap<Node, unknown>, sizeOf: (symbol: Sym) => number): PreparedPart;
}

/** One part of a graph, and what a call does around it. */
export interface Stage {
  readonly part: Part;
  /** Whether it starts work that continues while others run, and is awaited where its result is read. */
  readonly begins: boolean;
  /** Values computed before the part to which it writes. */
  readonly writes: readonly Node[];
  readonly gives: readonly { readonly node: Node; readonly bindings: readonly LateBinding[] }[];
  /** Values that no later part reads. */
  readonly frees: readonly Node[];
}

function waitFor(waits: readonly Wait[]): void {
  for (const wait of waits) wait();
}

function runStage({ part, begins, writes, gives, frees }: Stage, call: Call): void {
  const { values, sizes, sizeOf, transaction, begun } = call;
  for (const node of part.nodes.inputs) {
    waitFor(begun.get(node) ?? []);
    begun.delete(node);
  }
  for (const node of writes) transaction.willWrite(values.get(node));
  const { graph, run } = part.prepare(values, sizeOf);
  call.stage = graph;
  const { result: results, waits } = begins ? gatherPending(run) : { result: run(), waits: [] };
  delete call.stage;
  if (waits.length > 0) { for (const node of part.nodes.results) begun.set(node, waits); }
  part.nodes.results.forEach((node, at) => values.set(node, results[at]));
  for (const { node, bindings } of gives) {
    for (const binding of bindings) sizes.set(binding.symbol, readLateBinding(binding, values.get(node)));
  }
  for (const node of frees) values.delete(node);
}

function stagesOf(captured: GraphModule, backend: GraphBackend, ends: ReadonlySet<Node>): Stage[] {
  const late = lateBindings(captured.graph), { groups, repeated } = groupsOf(captured, { late, ends });
  return stagesBetween(
    captured.graph,
    { groups, repeated, late },
    ({ kind }, parts, later) =>
      kind !== "compiled" ? new GraphPart(captured, parts) : new CompiledPart(captured, parts, {
        backend,
        writtenLater: shares([...parts.inputs, ...parts.results], later),
      }),
  );
}

/** Groups of nodes, and the earlier nodes that each recomputes. */
interface Grouping {
  readonly groups: readonly Group[];
  readonly repeated: readonly (readonly Node[])[];
  readonly late: ReadonlyMap<Node, readonly LateBinding[]>;
}

/** Turns groups of nodes into stages; `partOf` makes their parts, given the nodes that later ones write to. */
export function stagesBetween(
  graph: Graph,
  { groups, repeated, late }: Grouping,
  partOf: (group: Group, parts: PartNodes, writtenLater: ReadonlySet<Node>) => Part,
): Stage[] {
  const lastUse = new Map<Node, number>();
  for (const [index, { nodes }] of groups.entries()) {
    for (const node of [...repeated[index] ?? [], ...nodes]) {
      for (const input of node.inputs()) lastUse.set(input, index);
    }
  }
  for (const input of graph.output.inputs()) lastUse.set(input, groups.length);
  const written = groups.map(({ nodes }) => writtenBy(nodes, new Set(nodes)));
  return groups.map((group, index): Stage => {
    const { nodes, kind } = group;
    const later = new Set(written.slice(index + 1).flat().map(rootOf));
    const all = [...repeated[index] ?? [], ...nodes], own = new Set(all);
    const inputs = [...new Set(all.flatMap((node) => [...node.inputs()]))].filter((node) => !own.has(node));
    const results = nodes.filter((node) => (lastUse.get(node) ?? -1) > index || late.has(node));
    const gives = nodes.flatMap((node) => {
      const bindings = late.get(node);
      return bindings ? [{ node, bindings }] : [];
    });
    const given = new Set(gives.flatMap(({ bindings }) => bindings.map(({ symbol }) => symbol)));
    const parts: PartNodes = { nodes: all, inputs, results, gives: given };
    return {
      part: partOf(group, parts, later),
      begins: kind === "begins" && hasTime(groups.slice(index)),
      // Nothing after the last part can fail, and a part rolls back its own writes
      writes: index < groups.length - 1 ? written[index] ?? [] : [],
      gives,
      frees: [...lastUse].flatMap(([node, last]) =>
        last === index && node.op !== "placeholder" ? [node] : []
      ),
    };
  });
}

/** The groups of a graph, and what each recomputes for gradients that are taken in it. */
function groupsOf(
  captured: GraphModule,
  where: Pick<Cuts, "late" | "ends">,
): { readonly groups: readonly Group[]; readonly repeated: readonly (readonly Node[])[] } {
  const taped = new Set<Node>();
  while (true) {
    const groups = cut(captured, { ...where, taped }),
      crossings: readonly Crossed[] = groups.map(
        ({ nodes, kind }) => kind === "compiled" ? crossing(captured, nodes) : { repeated: [], taped: [] },
      );
    const more = crossings.flatMap((each) => each.taped);
    if (more.length === 0) return { groups, repeated: crossings.map((each) => each.repeated) };
    // The tape computes these gradients, so the groups change
    for (const node of more) taped.add(node);
  }
}

/** Cuts besides those at host ops and collectives. */
export interface Cuts {
  /** Values determined on the host. */
  readonly late?: ReadonlyMap<Node, readonly LateBinding[]>;
  /** Gradients taken by the tape. */
  readonly taped?: ReadonlySet<Node>;
  /** Nodes before which a group ends. */
  readonly ends?: ReadonlySet<Node>;
}

/**
 * Divides nodes into groups that run one after the other. Host ops wait as long as nothing needs them, so that kernels
 * around them stay together; collectives begin at once, and nodes that do not read their results come before those that
 * do.
 */
export function cut(
  captured: GraphModule,
  { late = new Map(), taped = new Set(), ends = new Set() }: Cuts = {},
): Group[] {
  const groups: Group[] = [], placed = new Map<Node, Node[]>();
  const unknown = new Set([...late.values()].flat().map(({ symbol }) => symbol));
  let open: Node[] = [], waiting: Node[] = [], begun = new Set<Node>();
  const draws = drawingIn(captured);
  /** Groups that ended before some write. */
  const outdated = new Set<readonly Node[]>();
  const close = () => {
    if (open.length > 0) groups.push({ nodes: open, kind: "compiled" });
    if (waiting.length > 0) groups.push({ nodes: waiting, kind: "host" });
    [open, waiting] = [[], []];
  };
  for (const node of beginningEarly(captured)) {
    if (node.meta.begins) {
      begun.add(node);
      if (beginsWork(node)) {
        close();
        groups.push({ nodes: [node, ...resultsOf(node)], kind: "begins" });
      }
      continue;
    }
    if ([...node.inputs()].some((input) => begun.has(input))) {
      close();
      begun = new Set();
    }
    if (ends.has(node)) close();
    // A later group may recompute a view, which would alias the new elements
    const shown = hasEffect(node) ? undefined : viewedValue(node), home = shown && placed.get(shown);
    const isKnown = () => [...symbolsOf([node])].every((symbol) => !unknown.has(symbol));
    // A copy has the elements at the moment of copying
    const isView = () => node.target === "getitem" || aliasesArgument(node);
    // An unrecorded copy has the history at that moment if it precedes the write
    const isInTime = () => !node.meta.noGrad || home === undefined || !outdated.has(home);
    if (home && home !== open && [...node.inputs()].length === 1 && isKnown() && isView() && isInTime()) {
      home.push(node);
      placed.set(node, home);
      continue;
    }
    const [source] = node.target === "getitem" ? node.inputs() : [node];
    if (node.meta.onHost || (source && taped.has(source))) {
      waiting.push(node);
      continue;
    }
    const given = new Set(waiting.flatMap((each) => late.get(each) ?? []).map(({ symbol }) => symbol));
    const needsHost = [...node.inputs()].some((input) => waiting.includes(input)) ||
      [...symbolsOf([node])].some((symbol) => given.has(symbol));
    // Host reads must precede later writes, and random numbers are drawn in order, also inside functions
    const isBehind = hasEffect(node) || waiting.some(isHigherOrder) || (waiting.some(draws) && draws(node));
    if (waiting.length > 0 && (needsHost || isBehind)) close();
    if (hasEffect(node)) { for (const { nodes } of groups) outdated.add(nodes); }
    open.push(node);
    placed.set(node, open);
  }
  close();
  return groups;
}

/** The values from outside that some nodes write to, also through views. */
function writtenBy(nodes: readonly Node[], own: ReadonlySet<Node>): Node[] {
  const found = new Set<Node>();
  for (const node of nodes) {
    if (!hasEffect(node)) continue;
    const [first] = node.inputs();
    let target: Node | undefined = first;
    while (target && own.has(target)) target = viewedValue(target);
    if (target) found.add(target);
  }
  return [...found];
}

/** How gradients of a part reach values that earlier parts have computed. */
interface Crossed {
  /** Nodes to recompute, so that the gradient flows through values of the same part. */
  readonly repeated: readonly Node[];
  /** Gradients that the tape takes instead. */
  readonly taped: readonly Node[];
}

/** Determines how gradients that are taken in a part pass through earlier ones. Throws NotFunctional if they cannot. */
function crossing(captured: GraphModule, nodes: readonly Node[]): Crossed {
  const { graph } = captured;
  const taking = nodes.filter(takesGradients), [first = null] = taking, own = new Set(nodes);
  const calls = taking.map(gradientCallOf);
  const path = gradientPath(graph, calls.flatMap(({ outputs }) => outputs));
  const earlier = path.filter((node) => !own.has(node));
  if (earlier.length === 0) return { repeated: [], taped: [] };
  const drawing = drawingNodes(captured);
  const late = lateGradient(graph, earlier, {
    inputs: calls.flatMap(({ inputs }) => inputs),
    createGraph: calls.some(({ createGraph }) => createGraph),
    before: first,
    draws: (node) => drawing.has(node),
  });
  if (late.kind === "refused") throw new NotFunctional(`Expected gradients of one part but ${late.because}`);
  return late.kind === "repeated" ? { repeated: earlier, taped: [] } : { repeated: [], taped: taking };
}
