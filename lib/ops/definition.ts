/**
 * The definition of an op: one object with its parameters, the metadata of its result, its implementation, its
 * gradient and its samples. Everything else (methods, eager kernels, fake tensors, graph metadata, tape, joint graph,
 * lowering, tests) is derived. Invariant: the functions of a definition are pure and compare sizes only through
 * sym/decide.ts, so that they serve known and symbolic sizes alike.
 */
import { DynError } from "../base/errors.ts";
import type { DType, HostArray } from "../base/dtype.ts";
import type { Dim } from "../sym/expr.ts";
import type { Lowered, Operand } from "../loops/body.ts";
import type { TensorMeta } from "../graph/meta.ts";
import type { ArgsOf, Params } from "./params.ts";
import type { OpApi } from "./generated.ts";
import type { TensorLike } from "./tensor_like.ts";

export type { TensorLike };

/** How the result is computed, in exactly one way. */
export type Implementation<P extends Params> =
  /** Its elements, as a loop body or a library call. One entry per result; a library call may give several. */
  | {
    readonly kind: "lower";
    lower(args: ArgsOf<P, Operand>, out: readonly TensorMeta[]): readonly Lowered[];
  }
  /**
   * An alias of its tensor `of`: `infer` returns the strides and offset (or fresh ones: then it copies, as reshape
   * may). `lower` expresses the same by index arithmetic, for values without storage.
   */
  | ({ readonly kind: "view"; readonly of: string } & View<P>)
  /** Other ops. Runs with eager tensors and with graph nodes alike. */
  | {
    readonly kind: "composite";
    /** Whether it calls at most one op, so that its program would be that op's. */
    readonly isOneCall?: boolean;
    compose<T extends TensorLike>(o: OpApi<T>, args: ArgsOf<P, T>): T | readonly T[];
  }
  /**
   * Random elements: as `lower`, with two further int32 operands `key0`, `key1` (0-d) from the generator; the
   * counter is the flat index of the element.
   */
  | {
    readonly kind: "random";
    lower(
      args: ArgsOf<P, Operand>,
      out: readonly TensorMeta[],
      keys: readonly [Operand, Operand],
    ): readonly Lowered[];
  }
  /** Computed immediately from elements in host memory, by no kernel. */
  | { readonly kind: "host"; compute(args: ArgsOf<P, HostTensor>): readonly HostTensor[] };

/** Reads and writes an alias as index arithmetic. */
export interface View<P extends Params> {
  lower(args: ArgsOf<P, Operand>, out: readonly TensorMeta[]): readonly Lowered[];
  /**
   * Returns whether these arguments allow no alias, so that the op copies: it runs `lower` into fresh memory. Absent:
   * always an alias. This depends on strides; values without storage have none and never copy.
   */
  copies?(args: ArgsOf<P, TensorMeta>): boolean;
  /**
   * The viewed tensor with the elements of result `index` replaced by `value`: how in-place ops on views become
   * functional. Absent: the view of a view is not writable (expand).
   */
  writeBack?<T extends TensorLike>(o: OpApi<T>, args: ArgsOf<P, T>, write: { value: T; index: number }): T;
  /** Whether it shows memory by strides of its own, which may reach beyond the elements of its operand. */
  readonly addresses?: boolean;
  /**
   * The op with the same arguments that gives its elements for values, which have no memory. Absent: the view itself,
   * by `lower`.
   */
  readonly onValues?: OpDefinition;
}

/** Elements of a tensor in host memory, row-major, as numbers (base/bfloat16.ts: numberArray). */
export interface HostTensor {
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly data: HostArray;
}

/** Integer elements that must lie in [low, high). */
export interface ElementRange {
  readonly values: TensorMeta;
  readonly low: Dim;
  readonly high: Dim;
  /** The word for an element in messages: "index", "class". */
  readonly what: string;
}

/** The arguments of a gradient rule. */
export interface GradientContext<P extends Params, T> {
  readonly args: ArgsOf<P, T>;
  /** The results of the forward op. */
  readonly out: readonly T[];
  /** Gradients of the results; null where none reached it. */
  readonly grads: readonly (T | null)[];
  /** Returns whether the gradient of a tensor parameter is needed (others may be left out). */
  needs(param: string): boolean;
}

/** Gradients by parameter; a list parameter has a list. Absent or null: zero. */
export type Gradients<P extends Params, T> = {
  readonly [K in keyof P]?: T | null | readonly (T | null)[];
};

/** How the op is differentiated. Every op has an entry: one that is not differentiable says why. */
export type Gradient<P extends Params> =
  | {
    readonly kind: "rule";
    /** Written with ops, hence differentiable itself. */
    rule<T extends TensorLike>(o: OpApi<T>, context: GradientContext<P, T>): Gradients<P, T>;
    /** Values that the rule reads besides `grads`, so that the rest is not saved: "out" or parameter names. */
    readonly saves: readonly string[];
  }
  /** Differentiated through its composition. */
  | { readonly kind: "composite" }
  | { readonly kind: "none"; readonly because: string };

/**
 * Gradients from that of the first result, for ops whose other results have none. Without one there are no gradients.
 */
interface SingleRule<P extends Params> {
  readonly saves: readonly string[];
  /** Written with ops, hence differentiable itself. */
  single<T extends TensorLike>(o: OpApi<T>, grad: T, context: GradientContext<P, T>): Gradients<P, T>;
}

/**
 * The gradient of an op that PyTorch does not differentiate either: backward passes throw DynError. Without a history
 * its part would be missing from gradients of sums, silently.
 */
export function refusedGradient(what: string) {
  return {
    kind: "rule",
    saves: [],
    rule(): never {
      throw new DynError(
        `Expected no gradient of ${what}, which is not implemented, as in PyTorch, but found one`,
      );
    },
  } as const;
}

/** A sample call for generated tests, as data: tensors are described, not made. */
export interface Sample {
  readonly args: readonly SampleArgument[];
  readonly options?: { readonly [name: string]: SampleArgument };
  /**
   * Whether its gradient is not the derivative by design (rows of an embedding that are not trained), or is rounded to
   * float16.
   */
  readonly frozen?: boolean;
}

export type SampleArgument =
  | number
  | boolean
  | string
  | null
  | readonly SampleArgument[]
  | {
    readonly tensor: readonly number[];
    readonly dtype?: DType;
    /** Values are spread over this open interval; default (−2, 2). */
    readonly range?: readonly [number, number];
    /** Strides other than row-major: the tensor is a transposed view. */
    readonly transposed?: boolean;
  };

/** A call that must fail, with a part of its message. */
interface ErrorSample extends Sample {
  readonly message: string;
}

/** Where an op is exposed besides the table. */
export interface Exposure {
  /** A method of Tensor (its first parameter is the receiver). Default: whether that is a tensor. */
  readonly method?: boolean;
  /** Free function of the module. Default true. */
  readonly free?: boolean;
  /** Also in this namespace: "nn.functional", "linalg", "special", "fft". */
  readonly namespaces?: readonly ("nn.functional" | "linalg" | "special" | "fft")[];
  /** Other public names for the same op (`variance` for var). */
  readonly aliases?: readonly string[];
}

/** Ops that only other ops call. */
export const INTERNAL = { method: false, free: false } as const satisfies Exposure;
/** Ops that exist only in `nn.functional`. */
export const FUNCTIONAL = { ...INTERNAL, namespaces: ["nn.functional"] } as const satisfies Exposure;

/** The description of an op apart from its implementation and gradient. */
interface OpDescription<P extends Params = Params> {
  /** Public name, in camelCase. */
  readonly name: string;
  /** Its name in graphs, if it differs ("truediv" for div). */
  readonly graphName?: string;
  /** One or two sentences with shapes and the PyTorch function it follows. */
  readonly doc: string;
  readonly params: P;
  /** Names under which PyTorch's functions take some parameters, if they differ, with those of the parameters. */
  readonly otherNames?: Readonly<Record<string, string>>;
  /** Brings positional arguments into the order of `params`, if PyTorch has further forms of the call. */
  arrange?(given: readonly unknown[], isTensor: (value: unknown) => boolean): readonly unknown[];
  /** Names of the results, if there are several: ["values", "indices"]. */
  readonly results?: readonly string[];
  /**
   * There are several results only if this parameter is given (not null, not false), else one: `max(x, dim)` and
   * `max(x)`.
   */
  readonly resultsIf?: string;
  /** Further results that exist only if a parameter is true, by the name of each: those of `unique`. */
  readonly resultsWith?: Readonly<Record<string, string>>;
  /** The result is a list whose length depends on the arguments: split, unbind, meshgrid. */
  readonly resultList?: boolean;
  /** Results without a gradient although they are floating: statistics saved for a backward. */
  readonly auxiliary?: readonly string[];
  /**
   * Whether the values of numbers affect the validity or the kind of a call: then they are constants of a graph, except
   * those of parameters that state which numbers change.
   */
  readonly checksNumbers?: boolean;
  /** Whether `src` of an in-place call may be on another device than `self`: it is moved. */
  readonly crossesDevices?: true;
  /** Whether calls may name the generator that random numbers come from. */
  readonly takesGenerator?: true;
  /** The number that fills the result, whatever the elements of the arguments are. */
  readonly fills?: number;
  /** Whether its composition contains ops that the host computes, at least for some arguments. */
  readonly hostParts?: true;
  /**
   * Returns whether sizes of the results depend on elements: then `infer` throws, and a trace must stop before the
   * call.
   */
  dataDependent?(args: ArgsOf<P, TensorLike>): boolean;
  /**
   * Metadata of the results of a data-dependent op that the host computes, one entry per result: `unknown` creates a
   * size that is known after the run, at most `upTo`.
   */
  inferUnbacked?(args: ArgsOf<P, TensorMeta>, unknown: (upTo: Dim) => Dim): readonly TensorMeta[];
  /**
   * Whether each element of the only result depends just on the elements of the broadcast tensors at its own position:
   * dense tensors of one shape may then be processed flattened.
   */
  readonly elementwise?: boolean;
  /**
   * Whether `name_` exists: it computes, converts to the receiver's type and writes into it. "layout": the receiver
   * keeps its elements and adopts the layout of the result.
   */
  readonly inplace?: boolean | "layout";
  /** Defaults of arguments of `name_` that differ from those of the other forms. */
  readonly inplaceDefaults?: Readonly<Record<string, number>>;
  readonly exposure?: Exposure;
  /** Metadata of the results from that of the arguments. Throws DynError for bad arguments. */
  infer(args: ArgsOf<P, TensorMeta>): TensorMeta | readonly TensorMeta[];
  /**
   * Ranges that elements must lie in before kernels run; eager execution reads and checks them. Kernels clamp
   * indices, so that an unchecked bad one never reaches foreign memory.
   */
  ranges?(args: ArgsOf<P, TensorMeta>): readonly ElementRange[];
  /**
   * The closed intervals for elements of operands, by operand: calls on memory that the host reads refuse other
   * elements, compiled ones by marks (`outlierMarks`) beside the op.
   */
  bounds?(args: ArgsOf<P, TensorLike>): Readonly<Record<string, readonly [low: number, high: number]>>;
  readonly samples: readonly Sample[];
  readonly errors?: readonly ErrorSample[];
}

export interface OpDefinition<P extends Params = Params> extends OpDescription<P> {
  readonly implementation: Implementation<P>;
  readonly gradient: Gradient<P>;
}

/** An op composed of other ops. Its gradient is theirs unless it has its own. */
export interface Composition<P extends Params> extends OpDescription<P> {
  compose<T extends TensorLike>(o: OpApi<T>, args: ArgsOf<P, T>): T | readonly T[];
  /** As in `Implementation`; false if absent. */
  readonly isOneCall?: boolean;
  readonly gradient?: Gradient<P> | SingleRule<P>;
}

/** An op whose elements are a loop body or a library call. */
export interface Lowering<P extends Params> extends OpDescription<P> {
  lower(args: ArgsOf<P, Operand>, out: readonly TensorMeta[]): readonly Lowered[];
  readonly gradient: Gradient<P> | SingleRule<P>;
}

/** An op whose result is an alias of `self`. */
interface ViewSource<P extends Params> extends OpDescription<P>, View<P> {
  readonly gradient: Gradient<P> | SingleRule<P>;
}

/** An op that is computed from elements in host memory. */
export interface HostSource<P extends Params> extends OpDescription<P> {
  compute(args: ArgsOf<P, HostTensor>): readonly HostTensor[];
  readonly gradient: Gradient<P> | SingleRule<P>;
}

/** Any op, with its gradient in either form. */
export interface OpSource<P extends Params> extends OpDescription<P> {
  readonly implementation: Implementation<P>;
  readonly gradient: Gradient<P> | SingleRule<P>;
}

function gradientOf<P extends Params>(written: Gradient<P> | SingleRule<P>): Gradient<P> {
  if ("kind" in written) return written;
  const { saves, single } = written;
  return {
    kind: "rule",
    saves,
    rule(o, context) {
      const [grad] = context.grads;
      return grad ? single(o, grad, context) : {};
    },
  };
}

/** Types a definition. The erased result is what the table holds. */
export function defineOp<const P extends Params>(definition: OpSource<P>): OpDefinition<P> {
  return { ...definition, gradient: gradientOf<P>(definition.gradient) };
}

/** Defines an op by its composition. */
export function composeOp<const P extends Params>(composition: Composition<P>): OpDefinition<P> {
  const { compose, isOneCall = false, gradient = { kind: "composite" }, ...description } = composition;
  return defineOp<P>({ ...description, implementation: { kind: "composite", compose, isOneCall }, gradient });
}

/** Defines an op by its elements. */
export function lowerOp<const P extends Params>({ lower, ...described }: Lowering<P>): OpDefinition<P> {
  return defineOp<P>({ ...described, implementation: { kind: "lower", lower } });
}

/** Returns whether an op views memory rather than the elements of its operand. */
export const viewsMemory = ({ implementation }: OpDefinition): boolean =>
  implementation.kind === "view" && implementation.addresses === true;

/** Defines an op that returns an alias of `self`. */
export function viewOp<const P extends Params>(source: ViewSource<P>): OpDefinition<P> {
  const { lower, copies, writeBack, onValues, addresses = false, ...described } = source;
  const view: View<P> = {
    lower,
    addresses,
    ...(copies ? { copies } : {}),
    ...(writeBack ? { writeBack } : {}),
    ...(onValues ? { onValues } : {}),
  };
  return defineOp<P>({ ...described, implementation: { kind: "view", of: "self", ...view } });
}

/** Defines an op that the host computes. */
export function hostOp<const P extends Params>({ compute, ...described }: HostSource<P>): OpDefinition<P> {
  return defineOp<P>({ ...described, implementation: { kind: "host", compute } });
}
