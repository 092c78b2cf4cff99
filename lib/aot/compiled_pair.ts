/**
 * The compiled form of a captured graph: the types of the compiled halves and of the values between them, and accessors
 * of their lists. Invariant: forward results come first, then the values saved for the backward.
 */
import { DynError, InternalError } from "../base/errors.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import type { DeviceName } from "../loops/device.ts";
import type { Dim, Sym } from "../sym/expr.ts";
import type { Layout } from "../tensor/layout.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import type { JointGraph, RuntimePlan } from "./joint.ts";
import type { SavedValue } from "./partition.ts";

/** The required layout of a saved value. */
export type SavedLayout =
  /** Not a tensor. */
  | { readonly kind: "any" }
  /** Its sizes are known. */
  | { readonly kind: "known"; readonly layout: Layout }
  /** In row-major order, whatever its sizes. */
  | { readonly kind: "rowMajor" }
  | { readonly kind: "strides"; readonly strides: readonly Dim[] };

/** A compiled graph: takes the placeholders' values, returns the output list. */
export type CompiledGraph = (...args: unknown[]) => unknown;

/** The compiled halves, and the interface between them. */
export interface CompiledPair {
  readonly plan: RuntimePlan;
  readonly forward: CompiledGraph;
  /** The captured graph, which is differentiated for gradients of gradients. */
  readonly captured: GraphModule;
  /** The functional graph behind `forward`. */
  readonly functional: GraphModule;
  /** Absent: nothing to differentiate. */
  readonly backward?: CompiledBackward;
}

/** The compiled backward. */
export interface CompiledBackward {
  readonly run: CompiledGraph;
  /** The functional graph behind `run`. */
  readonly functional: GraphModule;
  readonly saved: readonly SavedValue[];
  readonly sizes: readonly Sym[];
  /** Forward outputs from this index on exist for the backward only. */
  readonly savedFrom: number;
  /** Layouts that the backward expects of saved values. */
  readonly layouts: readonly SavedLayout[];
  /** Devices of the inputs after the tangents that flag which tangents have arrived. */
  readonly arrivals: readonly DeviceName[];
  /** Whether rules receive zeros for results whose tangents do not arrive, where the tape may skip them. */
  readonly fills: boolean;
  /** For each gradient, the positions of the tangents that it depends on. */
  readonly reached: readonly (readonly number[])[];
  readonly origins: JointGraph["origins"];
  /** Outputs of the backward graph that passes have merged with a tangent or with an earlier output. */
  readonly merged: ReadonlySet<number>;
}

/** The tensor at a position of a list. */
export function tensorAt(values: readonly unknown[], index: number): Tensor {
  const found = values[index];
  if (isTensor(found)) return found;
  throw new InternalError(`Expected a tensor at ${index} but found ${typeof found}`);
}

/** The list that a compiled graph returns. */
export function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new DynError(`Expected a list of outputs from a compiled graph but found ${typeof value}`);
}
