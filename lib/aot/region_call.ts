/**
 * Calls of a region in a joint graph: one node, and another for its gradient. Invariant: a call computes what the
 * region's graph would compute inline, including gradients and random numbers.
 */
import { InternalError } from "../base/errors.ts";
import { contiguousMeta } from "../graph/meta.ts";
import { type Argument, Node, type Region } from "../graph/node.ts";
import type { DeviceName } from "../loops/device.ts";
import { type GraphValue, isGraphValue } from "../ops/graph_builder.ts";
import { laidOut } from "../ops/rewrite/contract.ts";
import { regionMetas } from "../ops/rewrite/metadata.ts";
import type { FunctionalTensor } from "../autograd/functional.ts";
import type { GraphReplay } from "../autograd/graph_replay.ts";
import type { OwnGradient } from "../autograd/gradient_tape.ts";
import { REGION } from "../autograd/tape_definitions.ts";
import type { Sym } from "../sym/expr.ts";
import type { SavedValue } from "./partition.ts";
import type { RandomKeys } from "./trace.ts";

/** A captured region, differentiated with respect to certain arguments. */
export interface RegionVariant {
  readonly name: string;
  /** Returns results, then saved values. */
  readonly forward: Region;
  /** Position of each result of the captured region among the forward's results. */
  readonly results: readonly number[];
  /** Arguments that the region writes to, and the positions of their new values among the forward's results. */
  readonly writes: readonly { readonly input: number; readonly output: number }[];
  readonly randomOps: number;
  readonly device: DeviceName;
  /** Absent: nothing to differentiate. */
  readonly backward?: RegionBackward;
}

/** The backward half of a region. */
export interface RegionBackward {
  readonly region: Region;
  readonly saved: readonly SavedValue[];
  readonly sizes: readonly Sym[];
  /** The result that requires a gradient: its position in the forward's list. */
  readonly result: number;
  /** For each tensor among the arguments, the position of its gradient; null if it has none. */
  readonly gradients: readonly (number | null)[];
}

/** Appends a call; `args`: tensors in the layout of the region's placeholders, and sizes; `written`: by write. */
export function callVariant(
  replay: GraphReplay,
  variant: RegionVariant,
  { args, written, keys, differentiated }: {
    readonly args: readonly (GraphValue | Argument)[];
    readonly written: readonly FunctionalTensor[];
    readonly keys: RandomKeys;
    /** Called when the gradient of the call is taken. */
    readonly differentiated: () => void;
  },
): FunctionalTensor[] {
  const { builder, recorder } = replay;
  const { forward, name, randomOps, device, results, writes, backward } = variant;
  const values = args.flatMap((each) => isGraphValue(each) ? [each] : []);
  const given = args.map((each) => isGraphValue(each) ? each.node : each);
  if (randomOps > 0) given.push(keys.drawMany(replay, randomOps, device));
  const made = builder.callRegion(forward, {
    name: `${name}_forward`,
    args: given,
    metas: regionMetas(forward),
  });
  const valueAt = (at: number): GraphValue => {
    const value = made[at];
    if (!value) throw new InternalError(`Expected a result ${at} of ${name}`);
    return value;
  };
  if (backward && values.some((value) => recorder.requiring.has(value))) {
    const out = valueAt(backward.result), around = recorder.around?.();
    recorder.tape.push({
      kind: "call",
      definition: REGION,
      args: { inputs: values },
      outs: [out],
      own: gradientOf(replay, backward, {
        name,
        values,
        args: [...args, ...given.slice(args.length)],
        made,
        out,
        differentiated,
      }),
      ...(around ? { around } : {}),
    });
    recorder.requiring.add(out);
  }
  // Writes are not recorded
  replay.functional.recording(false, () => {
    for (const [k, { output }] of writes.entries()) written[k]?.write(valueAt(output));
  });
  return results.map((at) => replay.functional.fresh(valueAt(at)));
}

function gradientOf(
  { builder, core }: GraphReplay,
  { region, saved, sizes, gradients }: RegionBackward,
  { name, values, args, made, out, differentiated }: {
    readonly name: string;
    readonly values: readonly GraphValue[];
    readonly args: readonly (GraphValue | Argument)[];
    readonly made: readonly GraphValue[];
    readonly out: GraphValue;
    readonly differentiated: () => void;
  },
): OwnGradient<GraphValue> {
  return ([grad = null], read) => {
    if (grad === null) return values.map(() => null);
    differentiated();
    // A pass reads all saved values of the call
    if (saved.length > 0) void read(out).node;
    const tangent = laidOut(core, grad, contiguousMeta(out.shape, out.dtype, out.device));
    const kept = saved.map((each) => {
      const value = each.kind === "input" ? args[each.input] : made[each.output];
      if (value instanceof Node) return value;
      if (value === undefined || !isGraphValue(value)) {
        throw new InternalError(`Expected the saved values of ${name}`);
      }
      return read(value).node;
    });
    const found = builder.callRegion(region, {
      name: `${name}_backward`,
      args: [...kept, ...sizes, tangent.node],
      metas: regionMetas(region),
    });
    return gradients.map((at) => at === null ? null : found[at] ?? null);
  };
}
