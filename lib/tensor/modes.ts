/**
 * The ambient state of tensor programs: whether gradients are recorded, and which mode receives calls before eager
 * execution. Invariant: every change is undone when its body ends, for promises when they settle; a mode never receives
 * its own calls.
 */
import { refuseSurplus } from "../base/checked_input.ts";
import { type AnyFunction, type RequiredFlag, requiredFlagOf } from "../base/arguments.ts";
import { decoratedBy, scoped } from "../base/scoped.ts";
import type { AutocastType } from "../ops/autocast.ts";
import type { OpDefinition } from "../ops/definition.ts";
import type { ArgsOf, Params } from "../ops/params.ts";

/** A call of an op, resolved. */
export interface ResolvedCall<T> {
  readonly definition: OpDefinition;
  readonly args: ArgsOf<Params, T>;
  /** Whether the result is written into the first tensor, which is then the result. */
  readonly inplace: boolean;
}

/** Code that reads elements of its inputs. */
export type OpaqueCode<T> = (inputs: readonly (T | null)[]) => readonly (T | null)[];

/** A handler of calls that replaces eager execution: tracing, fake tensors, counting. */
export interface DispatchMode<T> {
  /** Whether compiled functions run op by op under it: its tensors have no elements that kernels could read. */
  readonly opByOp?: boolean;
  /** Whether compiled backward graphs run op by op under it, so that it handles their calls, too. */
  readonly inlines?: boolean;
  /** Calls code that is not an op; for tensors without elements, once for each tensor that they represent. */
  readonly apart?:
    | ((inputs: readonly (T | null)[], run: OpaqueCode<T>) => readonly (T | null)[])
    | undefined;
  /** Returns the results: one tensor, or several if the definition has several. */
  call(call: ResolvedCall<T>): T | readonly T[];
}

/** Ambient state, readable as plain fields because every op reads it. */
interface Ambient {
  gradEnabled: boolean;
  inference: boolean;
  /** The type of matrix products and similar ops in a region of autocast; null: that of their operands. */
  autocast: AutocastType | null;
  autocastCaches: boolean;
}

/** The current state. Change it only with the functions of this file and of autocast.ts. */
export const ambient: Ambient = {
  gradEnabled: true,
  inference: false,
  autocast: null,
  autocastCaches: true,
};

/** Runs `body` with recording of gradients on or off. Throws DynError unless a boolean says which. */
export function setGradEnabled<R>(enabled: RequiredFlag<"mode">, body: () => R): R {
  if (arguments.length > 2) refuseSurplus("setGradEnabled", 2, arguments);
  const former = ambient.gradEnabled;
  ambient.gradEnabled = typeof enabled === "boolean"
    ? enabled
    : requiredFlagOf("setGradEnabled", "mode", enabled);
  return scoped(body, () => ambient.gradEnabled = former);
}

/** Decorates a method, which then runs without recording gradients: `@noGrad`. */
export function noGrad<F extends AnyFunction>(method: F, context: ClassMethodDecoratorContext): F;
/** Runs `body` without recording gradients, as `torch.no_grad`. */
export function noGrad<R>(body: () => R, context?: undefined): R;
export function noGrad(body: () => unknown, context: unknown = undefined): unknown {
  const decorated = decoratedBy(noGrad, body, context);
  if (decorated) return decorated;
  if (arguments.length > 1) refuseSurplus("noGrad", 1, arguments);
  return setGradEnabled(false, body);
}

/** Decorates a method, which then runs recording gradients: `@enableGrad`. */
export function enableGrad<F extends AnyFunction>(method: F, context: ClassMethodDecoratorContext): F;
/** Runs `body` recording gradients, as `torch.enable_grad`. */
export function enableGrad<R>(body: () => R, context?: undefined): R;
export function enableGrad(body: () => unknown, context: unknown = undefined): unknown {
  const decorated = decoratedBy(enableGrad, body, context);
  if (decorated) return decorated;
  if (arguments.length > 1) refuseSurplus("enableGrad", 1, arguments);
  return setGradEnabled(true, body);
}

/** Modes that compiled code tracks through a program as regions begin and end. */
export interface RegionModes {
  readonly gradEnabled: boolean;
  /** Whether views do not record their bases. */
  readonly inference: boolean;
  /** The type of a region of autocast; "" outside of one. */
  readonly autocast: AutocastType | "";
}

/**
 * Runs `body`, which starts inside regions that another function entered and may leave them: `enter` sets the modes of
 * the region that it has reached. The initial modes are restored at the end. Conversions of parameters are not cached
 * meanwhile, since the end of the region is unknown.
 */
export function throughRegions<R>(body: (enter: (modes: RegionModes) => void) => R): R {
  let former: Ambient | null = null;
  const enter = ({ gradEnabled, inference, autocast }: RegionModes) => {
    former ??= { ...ambient };
    Object.assign(ambient, { gradEnabled, inference, autocast: autocast || null, autocastCaches: false });
  };
  try {
    return body(enter);
  } finally {
    if (former) Object.assign(ambient, former);
  }
}

/** The current modes. */
export function regionModes(): RegionModes {
  const { gradEnabled, inference, autocast } = ambient;
  return { gradEnabled, inference, autocast: autocast ?? "" };
}

/** Returns whether two places of a program are under the same modes. */
export function sameModes(a: RegionModes, b: RegionModes): boolean {
  return a.gradEnabled === b.gradEnabled && a.inference === b.inference && a.autocast === b.autocast;
}

/** Returns whether gradients are recorded now. */
export function isGradEnabled(): boolean {
  if (arguments.length > 0) refuseSurplus("isGradEnabled", 0, arguments);
  return ambient.gradEnabled;
}

/** Decorates a method, which then runs without recording gradients: `@inferenceMode`. */
export function inferenceMode<F extends AnyFunction>(method: F, context: ClassMethodDecoratorContext): F;
/**
 * Runs `body` without recording gradients, as `torch.inference_mode`. Tensors that it makes are as those of `noGrad`:
 * they may be written and differentiated afterwards.
 */
export function inferenceMode<R>(body: () => R, context?: undefined): R;
export function inferenceMode(body: () => unknown, context: unknown = undefined): unknown {
  const decorated = decoratedBy(inferenceMode, body, context);
  if (decorated) return decorated;
  if (arguments.length > 1) refuseSurplus("inferenceMode", 1, arguments);
  const { gradEnabled, inference } = ambient;
  ambient.gradEnabled = false;
  ambient.inference = true;
  return scoped(body, () => {
    ambient.gradEnabled = gradEnabled;
    ambient.inference = inference;
  });
}

/** Returns whether inference mode is on. */
export function isInferenceMode(): boolean {
  if (arguments.length > 0) refuseSurplus("isInferenceMode", 0, arguments);
  return ambient.inference;
}

/** A stack of modes over tensors of type T. */
export class ModeStack<T> {
  /** The innermost mode, which receives calls first; null: calls run eagerly. */
  top: DispatchMode<T> | null = null;

  /** Runs `body` with a mode as the innermost. */
  with<R>(mode: DispatchMode<T>, body: () => R): R {
    const former = this.top;
    this.top = mode;
    return scoped(body, () => this.top = former);
  }

  /** Runs `body` without modes, as a mode does for its own calls. */
  without<R>(body: () => R): R {
    const former = this.top;
    this.top = null;
    return scoped(body, () => this.top = former);
  }
}

/** Returns whether a compiled function is being captured: true in the code that is. */
export function isCaptured(): boolean {
  return false;
}
