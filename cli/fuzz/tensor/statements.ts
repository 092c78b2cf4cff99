/**
 * Random statements besides plain calls of ops: writes, conversions, gradients inside the function, hooks, blocks,
 * effects. Invariant: each function returns whether it added anything, so that the caller may draw again.
 */
import { complexType, isFloat } from "../../../lib/base/dtype.ts";
import { contiguousMeta } from "../../../lib/graph/meta.ts";
import type { Weighted } from "../choices.ts";
import type { Feature } from "./features.ts";
import { type Draft, knownMeta, use, type Variable } from "./draft.ts";
import { COMPLEX_FORMS, INPLACE_FORMS } from "./forms.ts";
import { addOpCall, step } from "./op_calls.ts";
import { type Arg, type Statement, variable } from "./program.ts";
import { addView, randomIndex } from "./view_calls.ts";

/** Adds a statement; returns false if the one that was drawn is not possible here. */
type Add = (draft: Draft) => boolean;

const floats = ({ meta }: Variable): boolean => isFloat(meta.dtype);
const recorded = (v: Variable): boolean => v.grad && floats(v);

/** The most common in-place calls, drawn more often than the rest. */
const USUAL_WRITES = INPLACE_FORMS.filter(({ name }) =>
  [
    "add_",
    "mul_",
    "sub_",
    "copy_",
    "fill_",
    "zero_",
    "div_",
    "clamp_",
    "neg_",
    "maskedFill_",
    "indexAdd_",
    "scatter_",
  ]
    .includes(name)
);

const addWrite: Add = (draft) =>
  addOpCall(draft, draft.choices.chance(0.5) && USUAL_WRITES.length > 0 ? USUAL_WRITES : INPLACE_FORMS);

/** Returns whether a write into a variable is worth trying here. */
function isWritable(draft: Draft, { meta, leaf }: Variable): boolean {
  const overlaps = meta.shape.some((size, d) => size > 1 && meta.strides[d] === 0);
  return !overlaps && (!leaf || draft.isGradOff);
}

/** `x.set([…], value)`. */
const addSet: Add = (draft) => {
  const { choices } = draft;
  if (!draft.has("write")) return false;
  const v = draft.pick((each) => isWritable(draft, each));
  if (!v) return false;
  if (choices.chance(0.2)) {
    const mask = draft.pick(({ meta }) => meta.dtype === "bool" && `${meta.shape}` === `${v.meta.shape}`) ??
      step(draft, v, "gt", 0);
    return write(draft, v, [use(mask)], choices.pick([0, 1, -1]));
  }
  const target = randomIndex(draft, v);
  if (!target) return false;
  const source = draft.pick(({ meta }) =>
    `${meta.shape}` === `${target.meta.shape}` && (floats(v) || !isFloat(meta.dtype))
  );
  if (source && choices.chance(0.6)) {
    write(draft, v, target.index, use(source));
    if (source.grad && floats(v) && !draft.isGradOff) draft.gainHistory(v.name);
    return true;
  }
  return write(draft, v, target.index, choices.pick([0, 1, 3, floats(v) ? 0.5 : 2]));
};

function write(draft: Draft, v: Variable, index: readonly Arg[], value: Arg): boolean {
  draft.push({ kind: "call", bind: null, style: "method", name: "set", args: [use(v), index, value] });
  return true;
}

/** `x.to("float64")` and the like. */
const addConversion: Add = (draft) => {
  const v = draft.pick();
  if (!v) return false;
  const dtype = draft.dtype();
  const meta = dtype === v.meta.dtype ? v.meta : knownMeta(contiguousMeta(v.meta.shape, dtype, "cpu"));
  if (!meta) return false;
  const name = draft.fresh("v");
  draft.push({ kind: "call", bind: name, style: "method", name: "to", args: [use(v), dtype] });
  draft.add({
    name,
    meta,
    grad: recorded(v) && isFloat(dtype) && !draft.isGradOff,
    leaf: v.leaf && dtype === v.meta.dtype,
  });
  return true;
};

/** Complex numbers of a tensor's elements, by functions and by conversion. */
const addComplex: Add = (draft) => {
  const { choices } = draft;
  const v = draft.pick(({ meta }) => meta.dtype === "float32" || meta.dtype === "float64");
  if (!v) return false;
  const { dtype, shape } = v.meta, made = complexType(dtype), name = draft.fresh("v");
  const other = draft.pick(({ meta }) => meta.dtype === dtype && `${meta.shape}` === `${shape}`) ?? v;
  const meta = knownMeta(contiguousMeta(shape, made, "cpu"));
  if (!meta) return false;
  if (choices.chance(0.25)) {
    draft.push({ kind: "call", bind: name, style: "method", name: "to", args: [use(v), made] });
  } else {
    const args = choices.shuffled([use(v), use(other)]);
    draft.push({
      kind: "call",
      bind: name,
      style: "function",
      name: choices.pick(["complex", "polar"]),
      args,
    });
  }
  draft.add({ name, meta, grad: (v.grad || other.grad) && !draft.isGradOff, leaf: false });
  for (let left = choices.between(1, 3); left > 0; left--) addOpCall(draft, COMPLEX_FORMS);
  return true;
};

/** Keeps intermediate results from growing without bounds. */
const addTaming: Add = (draft) => {
  const v = draft.pick(floats);
  if (!v) return false;
  step(draft, v, draft.choices.pick(["tanh", "sin", "sigmoid", "atan"]));
  return true;
};

/** `x.at(indices)`: a gather by an index tensor. */
const addGatherAt: Add = (draft) => {
  const v = draft.pick(({ meta }) => meta.shape.length > 0 && (meta.shape[0] ?? 0) > 0);
  const index = draft.pick(({ meta }) => meta.dtype === "int64" && meta.shape.length <= 2);
  if (!v || !index) return false;
  const safe = step(draft, index, "remainder", v.meta.shape[0] ?? 1);
  const meta = knownMeta(contiguousMeta([...safe.meta.shape, ...v.meta.shape.slice(1)], v.meta.dtype, "cpu"));
  if (!meta) return false;
  const name = draft.fresh("v");
  draft.push({ kind: "call", bind: name, style: "method", name: "at", args: [use(v), use(safe)] });
  draft.add({ name, meta, grad: v.grad && !draft.isGradOff, leaf: false });
  return true;
};

const addNumber: Add = (draft) => {
  const v = draft.pick();
  if (!v) return false;
  const bind = draft.fresh("n");
  draft.push({ kind: "number", bind, of: v.name, how: draft.choices.pick(["item", "primitive"]) });
  draft.numbers.push({ name: bind, value: floats(v) ? 1.5 : 3 });
  return true;
};

const addHook: Add = (draft) => {
  const v = draft.isGradOff ? undefined : draft.pick(recorded);
  if (!v) return false;
  draft.push({ kind: "hook", of: v.name, scale: draft.choices.pick([1, 2, 0.5, -1]) });
  return true;
};

const addBackward: Add = (draft) => {
  const v = draft.isGradOff ? undefined : draft.pick(recorded);
  if (!v) return false;
  draft.push({ kind: "backward", of: v.name, retainGraph: draft.choices.chance(0.5) });
  const leaf = draft.choices.pickAny(draft.variables.filter((each) => each.leaf));
  if (leaf && draft.choices.chance(0.6)) {
    const name = draft.fresh("g");
    draft.push({ kind: "call", bind: name, style: "property", name: "grad", args: [use(leaf)] });
    draft.unsized.push(name);
  }
  return true;
};

const addGrad: Add = (draft) => {
  const { choices } = draft;
  const of = draft.isGradOff ? undefined : draft.pick(recorded);
  const input = draft.pick(recorded);
  if (!of || !input) return false;
  const other = choices.chance(0.3) ? draft.pick(recorded) : undefined;
  const inputs = other && other.name !== input.name ? [input, other] : [input];
  const names = inputs.map(() => draft.fresh("g"));
  const createGraph = choices.chance(0.4);
  draft.push({ kind: "grad", bind: names, of: of.name, inputs: inputs.map(({ name }) => name), createGraph });
  inputs.forEach(({ meta }, k) => {
    const name = names[k];
    const dense = knownMeta(contiguousMeta(meta.shape, meta.dtype, "cpu"));
    if (name === undefined || !dense) return;
    if (choices.chance(0.5)) draft.add({ name, meta: dense, grad: createGraph, leaf: false });
    else draft.unsized.push(name);
  });
  return true;
};

/** Text between operations, in order. */
const addLog: Add = (draft) => {
  const { choices } = draft;
  const v = draft.pick(({ meta }) => meta.shape.length > 0);
  const values: Arg[] = [draft.fresh("mark ")];
  if (v && choices.chance(0.6)) {
    values.push({ kind: "shape", of: v.name, dim: choices.below(v.meta.shape.length) });
  }
  const number = choices.pickAny(draft.numbers);
  if (number && choices.chance(0.5)) values.push(variable(number.name));
  draft.push({ kind: "log", to: choices.weighted([[4, "log"], [1, "console"]]), values });
  return true;
};

const addSeed: Add = (draft) => {
  draft.push({ kind: "seed", seed: draft.choices.below(100) });
  return true;
};

/** A call that fails: because of its metadata, an element, or a rule of autograd. */
const addFailure: Add = (draft) => {
  const { choices } = draft;
  const v = draft.pick();
  if (!v) return false;
  const count = v.meta.shape.reduce((a, b) => a * b, 1);
  const calls: readonly (readonly [string, readonly Arg[]])[] = [
    ["reshape", [use(v), [count + 1]]],
    ["select", [use(v), 0, 99]],
    ["select", [use(v), 7, 0]],
  ];
  if (choices.chance(0.5) && v.meta.shape.length > 0) {
    // Only its elements make it fail
    const index = draft.param(draft.source({ shape: [2], dtype: "int64", low: 40, high: 50, plain: true }));
    draft.push({
      kind: "call",
      bind: null,
      style: "method",
      name: "indexSelect",
      args: [use(v), 0, use(index)],
    });
    return true;
  }
  const [name, args] = choices.pick(calls);
  draft.push({ kind: "call", bind: null, style: "method", name, args });
  return true;
};

/** One or two statements as a separate list. */
function some(draft: Draft, adds: readonly Weighted<Add>[], count: number): readonly Statement[] {
  return draft.inside(() => {
    for (let k = 0; k < count; k++) draft.choices.weighted(adds)(draft);
  });
}

const addNoGrad: Add = (draft) => {
  const former = draft.isGradOff;
  draft.isGradOff = true;
  const body = some(
    draft,
    [[3, addWrite], [2, addOpCall], [1, addView], [2, addSet]],
    draft.choices.between(1, 2),
  );
  draft.isGradOff = former;
  if (body.length === 0) return false;
  draft.push({ kind: "noGrad", body });
  return true;
};

const addLoop: Add = (draft) => {
  const body = some(
    draft,
    [[3, addWrite], [1, addSet], [1, addLog], [1, addOpCall]],
    draft.choices.between(1, 2),
  );
  if (body.length === 0) return false;
  draft.push({ kind: "loop", count: draft.choices.between(1, 3), body });
  return true;
};

const addTry: Add = (draft) => {
  const { choices } = draft;
  const body = draft.inside(() => {
    if (choices.chance(0.6)) addWrite(draft);
    if (choices.chance(0.8)) addFailure(draft);
    if (choices.chance(0.5)) addOpCall(draft);
  });
  const handler = some(draft, [[3, addWrite], [1, addLog]], choices.below(2));
  if (body.length === 0) return false;
  draft.push({ kind: "try", body, handler });
  return true;
};

const addIf: Add = (draft) => {
  const v = draft.pick();
  if (!v) return false;
  const adds: readonly Weighted<Add>[] = [[3, addWrite], [1, addOpCall], [1, addLog]];
  const body = some(draft, adds, 1);
  const otherwise = draft.choices.chance(0.5) ? some(draft, adds, 1) : [];
  draft.push({ kind: "if", of: v.name, body, otherwise });
  return true;
};

/** The statements of a function's body, with their frequencies and features. */
const STATEMENTS: readonly (readonly [weight: number, add: Add, feature?: Feature])[] = [
  [32, (draft) => addOpCall(draft)],
  [22, (draft) => addView(draft)],
  [14, addWrite, "write"],
  [6, addSet, "write"],
  [3, addConversion],
  [5, addTaming],
  [3, addGatherAt],
  [3, addComplex, "complex"],
  [3, addNumber, "effect"],
  [3, addHook, "backward"],
  [3, addBackward, "backward"],
  [3, addGrad, "backward"],
  [3, addLog, "effect"],
  [1, addSeed],
  [4, addNoGrad, "block"],
  [2, addLoop, "block"],
  [3, addTry, "failure"],
  [2, addIf, "block"],
];

/** Adds one random statement. */
export function addStatement(draft: Draft): boolean {
  const drawn = STATEMENTS.filter(([, , feature]) => feature === undefined || draft.has(feature));
  return draft.choices.weighted(drawn.map(([weight, add]) => [weight, add]))(draft);
}

/** A training step at the end of the body: loss, backward pass, update. */
export function addTrainingStep(draft: Draft): boolean {
  const { optimizer } = draft;
  const loss = draft.pick((v) => recorded(v) && !v.leaf);
  if (!optimizer || !loss) return false;
  draft.push({ kind: "optimizer", action: "zeroGrad" });
  draft.push({ kind: "backward", of: loss.name, retainGraph: false });
  draft.push({ kind: "optimizer", action: "step" });
  return true;
}

/** A product that brings a captured parameter into the computation. */
export function addUseOf(draft: Draft, v: Variable): void {
  const other = draft.pick(({ meta, name }) => name !== v.name && isFloat(meta.dtype));
  const meta = knownMeta(contiguousMeta(v.meta.shape, v.meta.dtype, "cpu"));
  if (!other || !meta) return;
  const mean = draft.fresh("v"), product = draft.fresh("v");
  draft.push({ kind: "call", bind: mean, style: "method", name: "mean", args: [use(other)] });
  draft.push({ kind: "call", bind: product, style: "method", name: "mul", args: [use(v), variable(mean)] });
  draft.add({ name: product, meta, grad: true, leaf: false });
}
