/**
 * Random views: all ways to see the elements of a tensor under another shape, other strides or another offset.
 * Invariant: the view lies inside the tensor; a call that returns several views binds them all.
 */
import { type Draft, type KnownMeta, use, type Variable } from "./draft.ts";
import { FORMS } from "./forms.ts";
import { inferCall, type Planned } from "./inference.ts";
import type { Arg, CallStatement } from "./program.ts";

/** A view before it has a name. */
interface ViewCall {
  readonly style: "method" | "property";
  readonly name: string;
  readonly args: readonly Arg[];
  readonly metas: readonly KnownMeta[];
  readonly several: boolean;
}

/** A method of a view op and its arguments. */
interface Candidate {
  readonly method: string;
  readonly args: readonly (number | boolean | readonly number[] | null)[];
}

const METHODS = new Map(FORMS.filter(({ style }) => style === "method").map((form) => [form.name, form]));

/** The view that a method creates; null if it would fail. */
function viewBy(v: Variable, { method, args }: Candidate): ViewCall | null {
  const form = METHODS.get(method);
  if (!form) return null;
  const self: Planned = { kind: "tensor", meta: v.meta, from: v, transposed: false };
  const inferred = inferCall(form, [self, ...args]);
  const metas = inferred?.results?.filter((meta) => meta !== null) ?? [];
  if (!inferred || metas.length === 0 || metas.length !== inferred.results?.length) return null;
  return { style: "method", name: method, args, metas, several: inferred.several };
}

/** A method with arguments that fit a shape. */
function candidate(draft: Draft, { meta }: Variable): Candidate {
  const { choices } = draft, { shape } = meta;
  const rank = shape.length, count = shape.reduce((a, b) => a * b, 1);
  const dim = () => choices.between(-rank, rank - 1);
  const sizeOf = (d: number) => shape.at(d) ?? 1;
  const whole: readonly (() => Candidate)[] = [
    () => ({ method: "unsqueeze", args: [choices.between(-rank - 1, rank)] }),
    () => ({ method: "reshape", args: [factored(draft, count)] }),
    () => ({ method: "view", args: [factored(draft, count)] }),
    () => ({ method: "squeeze", args: rank > 0 && choices.chance(0.4) ? [dim()] : [] }),
    () => ({ method: "expand", args: [expanded(draft, shape)] }),
    () => ({ method: "flatten", args: [] }),
    () => ({ method: "contiguous", args: [] }),
    () => ({ method: "detach", args: [] }),
    () => ({ method: "ravel", args: [] }),
    () => ({ method: "asStrided", args: strided(draft, meta) }),
  ];
  if (rank === 0) return choices.pick(whole)();
  const sliced = (): Candidate => {
    const d = dim(),
      size = sizeOf(d),
      start = choices.between(-size, size),
      end = choices.between(-1, size + 2);
    return {
      method: "slice",
      args: [d, start, choices.chance(0.3) ? null : end, choices.weighted([[5, 1], [3, 2], [1, 3]])],
    };
  };
  const some: readonly (() => Candidate)[] = [
    () => ({
      method: "select",
      args: [choices.between(-rank, rank - 1), choices.below(Math.max(1, sizeOf(0)))],
    }),
    () => {
      const d = dim(), size = sizeOf(d);
      return { method: "select", args: [d, size > 0 ? choices.between(-size, size - 1) : 0] };
    },
    sliced,
    sliced,
    () => {
      const d = dim(), size = sizeOf(d), start = choices.between(0, size);
      return { method: "narrow", args: [d, start, choices.between(0, size - start)] };
    },
    () => ({ method: "transpose", args: [dim(), dim()] }),
    () => ({ method: "permute", args: [choices.shuffled(shape.map((_, d) => d))] }),
    () => ({ method: "movedim", args: [dim(), dim()] }),
    () => ({ method: "unbind", args: [dim()] }),
    () => ({ method: "split", args: [choices.between(1, 3), dim()] }),
    () => ({ method: "chunk", args: [choices.between(1, 3), dim()] }),
    () => {
      const d = dim(), size = sizeOf(d);
      return {
        method: "unfold",
        args: [d, choices.between(Math.min(1, size), Math.min(3, size)), choices.between(1, 3)],
      };
    },
    () => {
      const from = choices.below(rank);
      return { method: "flatten", args: [from, choices.between(from, rank - 1)] };
    },
  ];
  const square: readonly (() => Candidate)[] = rank < 2 ? [] : [
    () => ({ method: "t", args: [] }),
    () => ({ method: "transpose", args: [-1, -2] }),
    () => ({ method: "diagonal", args: [choices.between(-1, 1), 0, 1] }),
    () => ({ method: "diagonal", args: [choices.between(-1, 1), -1, -2] }),
  ];
  return choices.pick([...whole, ...some, ...some, ...square, ...square])();
}

/** A shape with this many elements, one size of which may be −1. */
function factored(draft: Draft, count: number): number[] {
  const { choices } = draft;
  if (count === 0) return [0, choices.between(1, 3)];
  const sizes: number[] = [];
  let left = count;
  while (left > 1 && sizes.length < 3 && choices.chance(0.7)) {
    const divisors = [1, 2, 3, 4, 5, 6].filter((n) => left % n === 0);
    const size = choices.pick(divisors);
    sizes.push(size);
    left /= size;
  }
  sizes.push(left);
  const order = choices.shuffled(sizes);
  return choices.chance(0.5) ? order : order.with(choices.below(order.length), -1);
}

/** Sizes to which a shape expands. */
function expanded(draft: Draft, shape: readonly number[]): number[] {
  const { choices } = draft;
  const sizes = shape.map((size) => size === 1 ? choices.between(1, 3) : choices.chance(0.3) ? -1 : size);
  return choices.chance(0.4) ? [choices.between(1, 3), ...sizes] : sizes;
}

/** Sizes, strides and offset inside a tensor that is dense from its storage's start. */
function strided(draft: Draft, { shape, strides, offset }: KnownMeta): (readonly number[] | number)[] {
  const { choices } = draft;
  const last = shape.reduce((sum, size, d) => sum + (size - 1) * (strides[d] ?? 0), offset);
  if (shape.includes(0)) return [[0], [1], offset];
  const start = choices.between(0, last), room = last - start;
  const step = choices.between(1, 2), size = choices.between(1, 1 + Math.floor(room / step));
  const left = room - (size - 1) * step;
  if (choices.chance(0.5)) return [[size], [step], start];
  const outer = choices.between(0, 2);
  const rows = outer === 0 ? 2 : choices.between(1, 1 + Math.floor(left / outer));
  return [[Math.min(rows, 4), size], [outer, step], start];
}

/** `x.at(…)` with integers, slices, new dimensions and lists; its view (or copy) as the ops that it is composed of. */
function indexed(draft: Draft, v: Variable): ViewCall | null {
  const { choices } = draft;
  const args: (number | string | null | readonly number[])[] = [];
  let current = v, dim = 0;
  const by = (method: string, ...rest: readonly number[]): boolean => {
    const next = viewBy(current, { method, args: rest })?.metas[0];
    if (next) current = { ...current, meta: next };
    return next !== undefined;
  };
  for (const size of v.meta.shape) {
    const kind = choices.weighted(
      [[3, "select"], [4, "slice"], [2, "whole"], [1, "newaxis"], [1, "end"]] as const,
    );
    if (kind === "end") break;
    if (kind === "newaxis") {
      args.push(null);
      if (!by("unsqueeze", dim)) return null;
      dim++;
    }
    if (kind === "select" && size > 0) {
      const at = choices.between(-size, size - 1);
      args.push(at);
      if (!by("select", dim, at)) return null;
    } else if (kind === "slice") {
      const start = choices.between(0, size),
        end = choices.between(0, size + 1),
        step = choices.weighted([[3, 1], [1, 2]]);
      args.push(step === 1 ? `${start}:${end}` : `${start}:${end}:${step}`);
      if (!by("slice", dim, start, end, step)) return null;
      dim++;
    } else {
      args.push(":");
      dim++;
    }
  }
  if (args.length === 0) args.push("...");
  return { style: "method", name: "at", args, metas: [current.meta], several: false };
}

/** A random view of a variable; null if the one that was drawn is not possible. */
function randomView(draft: Draft, v: Variable): ViewCall | null {
  const { choices } = draft;
  if (choices.chance(0.15)) return indexed(draft, v);
  if (choices.chance(0.08)) {
    const name = v.meta.shape.length >= 2 && choices.chance(0.5) ? "mT" : "T";
    const shape = v.meta.shape;
    const order = shape.map((_, d) => d);
    const turned = name === "T"
      ? order.toReversed()
      : [...order.slice(0, -2), ...order.slice(-2).toReversed()];
    const found = viewBy(v, { method: "permute", args: [turned] });
    return found && { ...found, style: "property", name, args: [] };
  }
  return viewBy(v, candidate(draft, v));
}

/** Adds a view to the function; returns false if none was found. */
export function addView(draft: Draft): boolean {
  const v = draft.pick();
  if (!v) return false;
  for (let attempt = 0; attempt < 5; attempt++) {
    const made = randomView(draft, v);
    if (!made) continue;
    const names = made.metas.map(() => draft.fresh("v"));
    const args = made.args.map((arg) => typeof arg === "number" && arg > 1 ? draft.sizeArg(arg) : arg);
    draft.push(statement(made, v, { names, args }));
    const isTaped = made.name !== "detach";
    made.metas.forEach((meta, k) => {
      const name = names[k], grad = v.grad && isTaped && !draft.isGradOff;
      if (name !== undefined) draft.add({ ...v, name, meta, grad, leaf: v.leaf && isTaped });
    });
    return true;
  }
  return false;
}

/** Adds a view of a tensor of the setup there, which may be passed as an argument. */
export function addSourceView(draft: Draft, v: Variable): Variable | null {
  for (let attempt = 0; attempt < 5; attempt++) {
    const made = randomView(draft, v);
    const [meta] = made?.metas ?? [];
    if (!made || !meta || made.several) continue;
    const name = draft.fresh("x");
    const view = {
      name,
      meta,
      grad: v.grad && made.name !== "detach",
      leaf: v.leaf && made.name !== "detach",
    };
    draft.derivedSource(statement(made, v, { names: [name], args: made.args }), view);
    return view;
  }
  return null;
}

function statement(
  made: ViewCall,
  v: Variable,
  { names, args }: { readonly names: readonly string[]; readonly args: readonly Arg[] },
): CallStatement {
  const bind = made.several ? names : names[0] ?? null;
  return { kind: "call", bind, style: made.style, name: made.name, args: [use(v), ...args] };
}

/** Returns an index for `x.set(index, …)`, and the shape of what it selects. */
export function randomIndex(
  draft: Draft,
  v: Variable,
): { readonly index: readonly Arg[]; readonly meta: KnownMeta } | null {
  const made = indexed(draft, v);
  const [meta] = made?.metas ?? [];
  return made && meta ? { index: made.args, meta } : null;
}
