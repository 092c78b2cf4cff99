/**
 * Replays captured calls of collectives: the result is a call in the new graph with a gradient on the tape. Invariant:
 * the gradient is one call of a collective, after all earlier calls of the pass, as on every other process.
 */
import { InternalError } from "../base/errors.ts";
import { contiguousMeta, type TensorMeta } from "../graph/meta.ts";
import type { Node } from "../graph/node.ts";
import type { OpApi } from "../ops/generated.ts";
import type { GraphBuilder, GraphValue } from "../ops/graph_builder.ts";
import type { Recorder } from "./recorder.ts";
import type { Constant, SharedOp } from "./shared_ops.ts";
import { SHARED } from "./tape_definitions.ts";

/** The destination of replayed calls. */
interface Replaying {
  readonly builder: GraphBuilder;
  readonly core: OpApi<GraphValue>;
  readonly recorder: Recorder;
  /** The functions of such ops by name. */
  readonly shared: Record<string, unknown>;
}

/** Appends a captured call; `rest`: its arguments after the tensor. */
export function callShared(
  replay: Replaying,
  { node, op, input, rest }: {
    readonly node: Node;
    readonly op: SharedOp;
    readonly input: GraphValue;
    readonly rest: readonly Constant[];
  },
): GraphValue {
  const { value } = node.meta, [meta] = value.kind === "tensors" ? value.tensors : [];
  if (!meta) throw new InternalError(`Expected one result of ${node.name}`);
  const { recorder, core } = replay;
  const out = op.isCopy ? core.clone(input) : append(replay, op, { input, rest, meta });
  if (!recorder.enabled || !recorder.requiring.has(input)) return out;
  const around = recorder.around?.();
  recorder.tape.push({
    kind: "call",
    definition: SHARED,
    args: { input },
    outs: [out],
    own: ([grad = null]) => {
      if (grad === null) return [null];
      const { op: other, rest: others, divisor } = op.transposed(rest);
      const back = contiguousMeta(input.shape, input.dtype, input.device);
      const found = other.isCopy ? grad : append(replay, other, { input: grad, rest: others, meta: back });
      return [divisor === undefined ? found : core.div(found, divisor)];
    },
    ...(around ? { around } : {}),
  });
  recorder.requiring.add(out);
  return out;
}

function append(
  { builder, shared }: Replaying,
  { name, run }: SharedOp,
  { input, rest, meta }: {
    readonly input: GraphValue;
    readonly rest: readonly Constant[];
    readonly meta: TensorMeta;
  },
): GraphValue {
  shared[name] = run;
  const [out] = builder.callShared(name, { args: [input.node, ...rest], metas: [meta] });
  if (!out) throw new InternalError(`Expected a result of ${name}`);
  return out;
}
