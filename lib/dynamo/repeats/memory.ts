/**
 * Equal calls of a trace: the layers of a model, the updates of parameters by an optimizer. The first is traced; its
 * operations are appended again for another, on the other's tensors, or for an update as one call, and the facts about the subject of the first are
 * transferred to that of the other.
 *
 * Why that is correct: a trace is a function of what it reads. A call reads its arguments, the state of the trace, its
 * module with everything reachable from it, and the variables of its functions with everything reachable from those. So
 * it repeats an earlier one if the arguments are alike, if the trace shows the program's state unchanged (both times),
 * if the two modules have equal structure, object by object, and if nothing reachable from variables is part of either
 * of them. A call that does anything besides appending operations, or reads anything else, is never reused (calls.ts).
 * An update reads its parameter, the gradient, the state and the numbers of its group: it is a function of dyn that
 * calls no code of the program.
 *
 * Invariant: a failed attempt to reuse a call leaves only guards that hold.
 */
import { invariant, isOwnModule } from "../../base/errors.ts";
import { sameList } from "../../base/lists.ts";
import { counters, logs } from "../../base/logs.ts";
import { appendCall, type TracedUpdate } from "../../graph/captured_module.ts";
import { type Argument, mapNodes, type Node } from "../../graph/node.ts";
import { writtenBy } from "../../graph/updates.ts";
import { sameModes } from "../../tensor/modes.ts";
import type { Source } from "../source.ts";
import type { CallMemory, Frame, Interpreter } from "../trace/interpreter.ts";
import { newArray } from "../trace/contents.ts";
import type { OutputGraph } from "../trace/output_graph.ts";
import { modesOf } from "../trace/region_modes.ts";
import { TensorValue, type Value } from "../variables/value.ts";
import {
  areFresh,
  begun,
  type Gave,
  givenOf,
  isUntouched,
  type OpenCall,
  putAway,
  recorded,
  type RecordedCall,
  sameMeta,
  type Subject,
  subjectOf,
} from "./calls.ts";
import { leadsThrough, MovedPlaces, type PlacedFact, relyOnMoved } from "./facts.ts";
import { counterparts, formOf, type IsRead, type ObjectForm, objectsFrom } from "./forms.ts";
import { propertiesOnce } from "../disk_cache/shapes.ts";
import { PlacedGuards } from "./placed_guards.ts";
import { reachable } from "./reach.ts";
import { updateRegion } from "./update_regions.ts";

/** State shared by the attempts of one compilation. */
export interface RepeatPlan {
  /**
   * Whether calls may be reused: not once an attempt that did so has to restart, since restarting relies on counted
   * steps.
   */
  allowed: boolean;
  /** Number of calls of this attempt that were not traced. */
  made: number;
}

/** Number of earlier calls of a function with which a new one is compared; for updates, one for each shape. */
const MOST_KNOWN = 3, MOST_UPDATES = 32;

/** Data about a recorded call, computed when others are compared with it. */
interface Prepared {
  readonly form: ObjectForm;
  readonly isRead: IsRead;
  /** Objects that it may have read besides its module. */
  readonly outside: ReadonlySet<object>;
  readonly facts: readonly PlacedFact[];
  /** Parts of the module that the trace had found by another path before, and relies on there. */
  readonly strays: ReadonlySet<object>;
  /** Objects that the trace has found at the sources of these facts. */
  readonly realAt: ReadonlyMap<string, object>;
  /** The nodes that its operations read, besides their own results. */
  readonly inputs: ReadonlySet<Node>;
  /** The region that equal updates call; null: their operations are appended. */
  readonly update: TracedUpdate | null;
}

interface Known {
  readonly call: RecordedCall;
  /** Undefined: not requested yet; null: the call cannot be reused. */
  prepared: Prepared | null | undefined;
}

/** The calls of one attempt. */
export class RepeatedCalls implements CallMemory {
  readonly #open: OpenCall[] = [];
  /** By the class of the module, then by the function. */
  readonly #known = new Map<object, Map<object, readonly Known[]>>();
  readonly #guards = new PlacedGuards();

  constructor(readonly plan: RepeatPlan) {}

  recall(m: Interpreter, frame: Frame): Value | null {
    const subject = this.plan.allowed ? subjectOf(m, frame) : null, callee = frame.callee?.real;
    const known = subject && callee &&
      this.#known.get(Object.getPrototypeOf(subject.self.real))?.get(callee);
    if (!known || (!subject.updates && !isUntouched(m))) return null;
    for (const each of known) {
      const value = this.#repeat(m, each, { frame, subject });
      if (value) return value;
    }
    return null;
  }

  begin(m: Interpreter, frame: Frame): void {
    const subject = this.plan.allowed ? subjectOf(m, frame) : null, around = this.#open.at(-1);
    if (around?.subject.updates && !isOwnModule(frame.code.module.url)) around.refused = true;
    if (subject) this.#open.push(begun(m, frame, subject));
  }

  end(m: Interpreter, frame: Frame, value: Value): void {
    const call = this.#close(frame), made = call && recorded(m, call, value);
    if (!made) return;
    const { callee, subject: { self, updates } } = made;
    const prototype: object = Object.getPrototypeOf(self.real);
    const known = this.#known.get(prototype) ?? new Map<object, readonly Known[]>();
    this.#known.set(prototype, known);
    const former = known.get(callee) ?? [], most = updates ? MOST_UPDATES : MOST_KNOWN;
    known.set(callee, [{ call: made, prepared: undefined }, ...former].slice(0, most));
  }

  abandon(frame: Frame): void {
    this.#close(frame);
  }

  fetched(value: Value): void {
    const open = this.#open.at(-1);
    if (open && (value.kind === "object" || value.kind === "tensor") && value.real) {
      open.roots.add(value.real);
    }
  }

  refuse(): void {
    const open = this.#open.at(-1);
    if (open) open.refused = true;
  }

  /** Ends a call; its reads count as reads of the enclosing calls, too. */
  #close(frame: Frame): OpenCall | null {
    if (this.#open.at(-1)?.frame !== frame) return null;
    const call = this.#open.pop() ?? null, around = this.#open.at(-1);
    if (call && around) {
      around.refused ||= call.refused;
      for (const root of call.roots) around.roots.add(root);
    }
    return call;
  }

  #repeat(
    m: Interpreter,
    known: Known,
    { frame, subject }: { readonly frame: Frame; readonly subject: Subject },
  ): Value | null {
    const { call } = known, { moved, updates } = subject;
    if (!sameModes(call.modes, modesOf(m)) || call.subject.moved.length !== moved.length) return null;
    if (updates ? call.subject.self !== subject.self : call.putAway !== putAway(m)) return null;
    const nodes = fitting(m, call, subject);
    if (!nodes) return null;
    if (known.prepared === undefined) known.prepared = this.#prepare(m, call);
    const { prepared } = known, propertiesOf = propertiesOnce();
    const objects = prepared && objectsFrom(moved.map(({ real }) => real), propertiesOf);
    const form = objects && formOf(objects, prepared.isRead, propertiesOf);
    const pairs = form && counterparts(prepared.form, form);
    if (!prepared || !pairs) return null;
    const { outside, strays } = prepared;
    for (const [one, other] of pairs) {
      if (one !== other && (outside.has(one) || outside.has(other) || strays.has(one))) return null;
    }
    if (updates && !areFresh(m, form.objects)) return null;
    const places = new MovedPlaces(
      call.subject.moved.flatMap(({ source }, at) => moved[at] ? [[source, moved[at].source] as const] : []),
      pairs,
    );
    if (!prepared.facts.every((fact) => relyOnMoved(m, fact, places, prepared.realAt))) return null;
    if (!takeInputs(m, prepared, places, nodes) || !isThere(m, call.gave, places)) return null;
    const around = this.#open.at(-1);
    for (const root of outside) around?.roots.add(root);
    this.plan.made++;
    counters.add("repeated_calls", frame.code.name);
    logs.emit("dynamo", () => `trace ${frame.code.name || "<anonymous>"} as a former call of it`, "debug");
    if (prepared.update) appendUpdate(m, prepared.update, nodes);
    else append(m, call, nodes);
    return valueOf(m, call.gave, places, nodes);
  }

  #prepare(m: Interpreter, call: RecordedCall): Prepared | null {
    this.#guards.enter(m.output.guards);
    return prepare(m, call, this.#guards);
  }
}

/** Returns the replacements of a recorded call's argument nodes; null if the new arguments do not match. */
function fitting(m: Interpreter, { given }: RecordedCall, subject: Subject): Map<Node, Node> | null {
  const nodes = new Map<Node, Node>(), taken = new Set<Node>();
  if (given.length !== subject.args.length) return null;
  for (const [at, value] of subject.args.entries()) {
    const one = given[at], other = givenOf(m, subject, value);
    if (one?.kind !== other?.kind || !one || !other) return null;
    if (one.kind === "made" && other.kind === "made") {
      const former = nodes.get(one.node);
      if (former ? former !== other.node : taken.has(other.node)) return null;
      if (!sameMeta(one.meta, other.meta) || one.requiresGrad !== other.requiresGrad) return null;
      nodes.set(one.node, other.node);
      taken.add(other.node);
    } else if (one.kind === "constant" && other.kind === "constant") {
      if (!Object.is(one.value.value, other.value.value)) return null;
    } else if (one.kind === "moved" && other.kind === "moved") {
      if (one.at !== other.at) return null;
    } else if (one.kind !== "same" || other.kind !== "same" || one.value !== other.value) return null;
  }
  return nodes;
}

/** Determines what the trace relied on about a call's module, and what else the call may have read. */
function prepare(m: Interpreter, call: RecordedCall, guards: PlacedGuards): Prepared | null {
  const { subject: { moved, updates }, roots, given, guards: count } = call,
    objects = objectsFrom(moved.map(({ real }) => real));
  const isRead = objects && readsOf(m, objects, (name) => guards.propertiesOf(name, count)),
    form = isRead && formOf(objects, isRead);
  if (!form) return null;
  const own = new Set(form.objects), starts = new Set(moved.map(({ source }) => source.name));
  const passed = given.flatMap((each) => each.kind === "same" && each.value.real ? [each.value.real] : []);
  const outside = updates
    ? new Set<object>()
    : reachable([...roots, ...passed, ...form.identities], m.wrapper);
  if (!outside) return null;
  const isOwn = (source: Source | null) => source !== null && leadsThrough(source, { starts, own });
  const met = form.objects.flatMap((object) => m.wrapper.find(object) ?? []);
  const strays = new Set(met.flatMap(({ source, real }) => real && !isOwn(source) ? [real] : []));
  if (
    met.some((value) => value.kind === "tensor" && value.meta.shape.some((size) => typeof size !== "number"))
  ) {
    return null;
  }
  if (guards.distinguishes(isOwn, count)) return null;
  const facts = guards.behind(starts, own, count);
  const places = new Set(facts.map((fact) => (fact.kind === "same" ? fact.other : fact.source).name));
  const realAt = new Map<string, object>();
  for (const list of [m.wrapper.objects, m.wrapper.tensors]) {
    for (const { source, real } of list) {
      if (source && real && places.has(source.name)) realAt.set(source.name, real);
    }
  }
  const made = new Set(call.appended.map(({ node }) => node));
  const inputs = new Set([...made].flatMap((node) => [...node.inputs()])).difference(made);
  const update = updates ? updateRegion(call) : null;
  return { form, isRead, outside, facts, strays, realAt, inputs, update };
}

/** Returns the properties of objects that guards concern: a trace that reads a primitive has a guard on it. */
function readsOf(
  { wrapper }: Interpreter,
  objects: readonly object[],
  guarded: (name: string) => ReadonlySet<string | symbol>,
): IsRead {
  const read = objects.map((object) => {
    const source = wrapper.find(object)?.source;
    return source ? guarded(source.name) : null;
  });
  return (at, key) => read[at]?.has(key) === true;
}

/** Finds the tensors that a call reads besides its arguments; returns false if one does not exist. */
function takeInputs(
  m: Interpreter,
  { inputs }: Prepared,
  places: MovedPlaces,
  nodes: Map<Node, Node>,
): boolean {
  for (const input of inputs) {
    if (nodes.has(input) || m.output.scalars.has(input)) continue;
    const former = m.output.tensors.get(input),
      found = former?.real && m.wrapper.find(places.objectFor(former.real));
    if (!former || found?.kind !== "tensor" || found.requiresGrad !== former.requiresGrad) return false;
    if (!sameMeta(found.meta, former.meta)) return false;
    nodes.set(input, m.output.nodeOf(found));
  }
  return true;
}

/** Appends the operations of a call again, on other inputs, at the current place of the trace. */
function append({ output }: Interpreter, { appended, depth }: RecordedCall, nodes: Map<Node, Node>): void {
  const move = (argument: Argument) => mapNodes(argument, (node) => nodes.get(node) ?? node);
  const stack = output.whereabouts.stack();
  for (const { node, args, kwargs, meta, tensor } of appended) {
    const { value, noGrad } = meta, lines = [...stack, ...meta.stack.slice(depth)];
    const made = output.graph.create(node.op, node.target, {
      name: node.name.replace(/_\d+$/, ""),
      args: args.map(move),
      kwargs: Object.fromEntries(Object.entries(kwargs).map(([key, each]) => [key, move(each)])),
      meta: {
        value,
        // Calls at the same place share their lines
        stack: sameList(lines, meta.stack) ? meta.stack : lines,
        ...(noGrad ? { noGrad } : {}),
      },
    });
    output.noteOperation(made);
    nodes.set(node, made);
    noteWrites(output, made);
    if (!tensor) continue;
    const result = new TensorValue(tensor.meta, tensor.requiresGrad, made, null, null);
    result.written = tensor.written;
    output.tensors.set(made, result);
  }
  const operations = appended.map(({ node }) => node),
    [first] = operations.flatMap((node) => nodes.get(node) ?? []);
  if (first) output.copies.set(first, { operations, nodes });
}

/** Appends an update as a call of a region. */
function appendUpdate({ output }: Interpreter, update: TracedUpdate, nodes: ReadonlyMap<Node, Node>): void {
  const { region, args } = update;
  const stack = output.whereabouts.stack(), { stack: former } = region.graph.output.meta;
  const made = appendCall(output.graph, region, {
    args: args.map((node) => nodes.get(node) ?? node),
    stack: sameList(stack, former) ? former : stack,
  });
  output.noteOperation(made);
  noteWrites(output, made);
  output.updates.add(update);
}

function noteWrites({ tensors }: OutputGraph, node: Node): void {
  for (const target of writtenBy(node)) {
    const written = tensors.get(target);
    if (written) written.written = true;
  }
}

/** Returns whether the program's objects in a call's result are known. */
function isThere(m: Interpreter, gave: Gave, places: MovedPlaces): boolean {
  if (gave.kind === "array") return gave.items.every((each) => isThere(m, each, places));
  return gave.kind !== "object" || m.wrapper.find(places.objectFor(gave.real)) !== undefined;
}

/** The result of a call. */
function valueOf(m: Interpreter, gave: Gave, places: MovedPlaces, nodes: ReadonlyMap<Node, Node>): Value {
  const found = (value: Value | undefined): Value => {
    invariant(value, "Expected a value for each part of a result");
    return value;
  };
  switch (gave.kind) {
    case "constant":
      return gave.value;
    case "node": {
      const node = nodes.get(gave.node);
      return found(node && m.output.tensors.get(node));
    }
    case "object":
      return found(m.wrapper.find(places.objectFor(gave.real)));
    case "array":
      return newArray(m, gave.items.map((each) => valueOf(m, each, places, nodes)));
    default:
      return gave satisfies never;
  }
}
