/**
 * Equal calls of a trace: the layers of a model. The first is stepped through; its operations are appended again for
 * another, on the other's parameters, and the facts about the one module are transferred to the other.
 *
 * Why that is correct: a trace is a function of what it reads. A call reads its arguments, the state of the trace,
 * its module with everything reachable from it, and the variables of its functions with everything reachable from
 * those. So it repeats a former one if arguments are alike, if the trace shows the program's state unchanged (both
 * times), if the two modules have equal structure, object by object, and if nothing reachable from variables is part
 * of either of them. A call that does anything besides appending operations, or reads anything else, is never reused
 * (calls.ts).
 *
 * Invariant: a failed attempt to reuse a call leaves only guards that hold.
 */
import { invariant } from "../../base/errors.ts";
import { counters, logs } from "../../base/logs.ts";
import { type Argument, mapNodes, type Node } from "../../graph/node.ts";
import { sameModes } from "../../tensor/modes.ts";
import type { Source } from "../source.ts";
import type { CallMemory, Frame, Interpreter } from "../trace/interpreter.ts";
import { newArray } from "../trace/objects.ts";
import { modesOf } from "../trace/region_modes.ts";
import { TensorValue, type Value } from "../variables/value.ts";
import {
  begun,
  type Gave,
  type Given,
  givenOf,
  isUntouched,
  moduleOf,
  type OpenCall,
  putAway,
  recorded,
  type RecordedCall,
  sameMeta,
} from "./calls.ts";
import { leadsThrough, MovedPlaces, type PlacedFact, relyOnMoved } from "./facts.ts";
import { counterparts, formOf, type IsRead, type ObjectForm, objectsFrom } from "./forms.ts";
import { reachable } from "./reach.ts";

/** State shared by the attempts of one compilation. */
export interface RepeatPlan {
  /** Whether calls may stand for others: not once an attempt that did so has to begin again, which counts steps. */
  allowed: boolean;
  /** Number of calls of this attempt that were not stepped through. */
  made: number;
}

/** Number of former calls of a function that a new one is compared with. */
const MOST_KNOWN = 3;

/** Data of a recorded call, computed when others are compared with it. */
interface Prepared {
  readonly form: ObjectForm;
  readonly isRead: IsRead;
  /** Objects that it may have read besides its module. */
  readonly outside: ReadonlySet<object>;
  readonly facts: readonly PlacedFact[];
  /** Parts of the module that the trace had found on another way before, and relies on there. */
  readonly strays: ReadonlySet<object>;
  /** Objects that the trace has found at the sources of these facts. */
  readonly realAt: ReadonlyMap<string, object>;
}

interface Known {
  readonly call: RecordedCall;
  /** Undefined: nobody has asked yet; null: it can stand for no other. */
  prepared: Prepared | null | undefined;
}

/** The calls of one attempt. */
export class RepeatedCalls implements CallMemory {
  readonly #open: OpenCall[] = [];
  /** By the class of the module, then by the function. */
  readonly #known = new Map<object, Map<object, readonly Known[]>>();

  constructor(readonly plan: RepeatPlan) {}

  recall(m: Interpreter, frame: Frame): Value | null {
    const self = this.plan.allowed ? moduleOf(m, frame) : null, callee = frame.callee?.real;
    const known = self && callee && this.#known.get(Object.getPrototypeOf(self.real))?.get(callee);
    if (!known || !isUntouched(m)) return null;
    for (const each of known) {
      const value = this.#repeat(m, each, { frame, self });
      if (value) return value;
    }
    return null;
  }

  begin(m: Interpreter, frame: Frame): void {
    if (this.plan.allowed && moduleOf(m, frame)) this.#open.push(begun(m, frame));
  }

  end(m: Interpreter, frame: Frame, value: Value): void {
    const call = this.#close(frame), made = call && recorded(m, call, value);
    if (!made) return;
    const prototype: object = Object.getPrototypeOf(made.self.real);
    const known = this.#known.get(prototype) ?? new Map<object, readonly Known[]>();
    this.#known.set(prototype, known);
    const former = known.get(made.callee) ?? [];
    known.set(made.callee, [{ call: made, prepared: undefined }, ...former].slice(0, MOST_KNOWN));
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

  /** Ends a call; what it has read, the calls around it have read. */
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
    { frame, self }: { readonly frame: Frame; readonly self: RecordedCall["self"] },
  ): Value | null {
    const { call } = known;
    if (!sameModes(call.modes, modesOf(m)) || call.putAway !== putAway(m)) return null;
    const nodes = fitting(m, call.given, frame.args);
    if (!nodes || !self.source || !call.self.source) return null;
    if (known.prepared === undefined) known.prepared = prepare(m, call);
    const { prepared } = known, objects = prepared && objectsFrom(self.real);
    const form = objects && formOf(objects, prepared.isRead);
    const pairs = form && counterparts(prepared.form, form);
    if (!prepared || !pairs) return null;
    const { outside, strays } = prepared;
    for (const [one, other] of pairs) {
      if (one !== other && (outside.has(one) || outside.has(other) || strays.has(one))) return null;
    }
    const places = new MovedPlaces(call.self.source, self.source, pairs);
    if (!prepared.facts.every((fact) => relyOnMoved(m, fact, places, prepared.realAt))) return null;
    if (!takeInputs(m, call, places, nodes) || !isThere(m, call.gave, places)) return null;
    const around = this.#open.at(-1);
    for (const root of outside) around?.roots.add(root);
    this.plan.made++;
    counters.add("repeated_calls", frame.code.name);
    logs.emit("dynamo", () => `trace ${frame.code.name || "<anonymous>"} as a former call of it`, "debug");
    append(m, call, nodes);
    return valueOf(m, call.gave, places, nodes);
  }
}

/** Returns the replacements of a recorded call's argument nodes; null if the new arguments do not match. */
function fitting(m: Interpreter, given: readonly Given[], args: readonly Value[]): Map<Node, Node> | null {
  const nodes = new Map<Node, Node>();
  if (given.length !== args.length) return null;
  for (const [at, value] of args.entries()) {
    const one = given[at], other = givenOf(m, value);
    if (one?.kind !== other?.kind || !one || !other) return null;
    if (one.kind === "made" && other.kind === "made") {
      const former = nodes.get(one.node);
      if (former ? former !== other.node : [...nodes.values()].includes(other.node)) return null;
      if (!sameMeta(one.meta, other.meta) || one.requiresGrad !== other.requiresGrad) return null;
      nodes.set(one.node, other.node);
    } else if (one.kind === "constant" && other.kind === "constant") {
      if (!Object.is(one.value.value, other.value.value)) return null;
    } else if (one.kind !== "same" || other.kind !== "same" || one.value !== other.value) return null;
  }
  return nodes;
}

/** Finds out what the trace relied on of a call's module, and what else the call may have read. */
function prepare(m: Interpreter, call: RecordedCall): Prepared | null {
  const { self, roots, given } = call, root = self.source, objects = objectsFrom(self.real);
  const isRead = objects && readsOf(m, objects, call.guards), form = isRead && formOf(objects, isRead);
  if (!form || !root) return null;
  const own = new Set(form.objects);
  const passed = given.flatMap((each) => each.kind === "same" && each.value.real ? [each.value.real] : []);
  const outside = reachable([...roots, ...passed, ...form.identities], m.wrapper);
  if (!outside) return null;
  const isOwn = (source: Source | null) => source !== null && leadsThrough(source, root, own);
  const met = form.objects.flatMap((object) => m.wrapper.find(object) ?? []);
  const strays = new Set(met.flatMap(({ source, real }) => real && !isOwn(source) ? [real] : []));
  if (
    met.some((value) => value.kind === "tensor" && value.meta.shape.some((size) => typeof size !== "number"))
  ) {
    return null;
  }
  const facts = m.output.guards.slice(0, call.guards).flatMap(({ fact }): PlacedFact[] =>
    "source" in fact && isOwn(fact.source) ? [fact] : []
  );
  const realAt = new Map<string, object>();
  for (const { source, real } of [...m.wrapper.objects, ...m.wrapper.tensors]) {
    if (source && real) realAt.set(source.name, real);
  }
  return { form, isRead, outside, facts, strays, realAt };
}

/**
 * Returns the properties of objects that the first guards are about: a trace that reads a primitive has a guard on
 * it.
 */
function readsOf(m: Interpreter, objects: readonly object[], guards: number): IsRead {
  const read = new Map<string, Set<string | symbol>>();
  for (const { fact } of m.output.guards.slice(0, guards)) {
    if (!("source" in fact) || fact.source.kind !== "property") continue;
    const { base: { name }, key } = fact.source, keys = read.get(name) ?? new Set();
    keys.add(key);
    read.set(name, keys);
  }
  const names = objects.map((object) => m.wrapper.find(object)?.source?.name ?? null);
  return (at, key) => {
    const name = names[at] ?? null;
    return name !== null && read.get(name)?.has(key) === true;
  };
}

/** Finds the tensors that a call reads besides its arguments; false where one is not there. */
function takeInputs(
  m: Interpreter,
  { appended }: RecordedCall,
  places: MovedPlaces,
  nodes: Map<Node, Node>,
): boolean {
  const own = new Set(appended.map(({ node }) => node));
  const inputs = new Set(appended.flatMap(({ node }) => [...node.inputs()]));
  for (const input of inputs) {
    if (own.has(input) || nodes.has(input)) continue;
    const former = m.output.tensors.get(input),
      found = former?.real && m.wrapper.find(places.objectFor(former.real));
    if (!former || found?.kind !== "tensor" || found.requiresGrad !== former.requiresGrad) return false;
    if (!sameMeta(found.meta, former.meta)) return false;
    nodes.set(input, m.output.nodeOf(found));
  }
  return true;
}

/** Appends what a call has appended, on other inputs, at the place where the trace is now. */
function append({ output }: Interpreter, { appended, depth }: RecordedCall, nodes: Map<Node, Node>): void {
  const move = (argument: Argument) => mapNodes(argument, (node) => nodes.get(node) ?? node);
  const stack = output.whereabouts.stack();
  for (const { node, args, kwargs, meta, tensor } of appended) {
    const { value, noGrad } = meta;
    const made = output.graph.create(node.op, node.target, {
      name: node.name.replace(/_\d+$/, ""),
      args: args.map(move),
      kwargs: Object.fromEntries(Object.entries(kwargs).map(([key, each]) => [key, move(each)])),
      meta: { value, stack: [...stack, ...meta.stack.slice(depth)], ...(noGrad ? { noGrad } : {}) },
    });
    output.noteOperation(made);
    nodes.set(node, made);
    if (tensor) output.tensors.set(made, new TensorValue(tensor.meta, tensor.requiresGrad, made, null, null));
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
