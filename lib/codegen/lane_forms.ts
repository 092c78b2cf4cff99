/**
 * Classifies how a vector loop runs in lanes; lanes.ts turns each form into straight runs, folds and blocks.
 * Invariant: every form produces the same bits: reductions keep 16 partial results, element i in number i mod 16.
 */
import { storesDisjointly } from "./disjoint_sums.ts";
import type { DType } from "../base/dtype.ts";
import {
  type BufferId,
  isPosition,
  type Loop,
  type Reduction,
  type Statement,
  type ValueId,
} from "../loops/ir.ts";
import { coefficientOf } from "../loops/nest.ts";
import { collides, deepUses, indirect, storedBuffers } from "../loops/uses.ts";
import { type LanePlan, planLanes, varyingValues } from "./lane_runs.ts";
import { masksLoops } from "./vectorise.ts";

type Load = Statement & { readonly kind: "load" };

/** Uniform statements and per-lane statements: one straight run. */
interface Run {
  readonly uniform: readonly Statement[];
  readonly lanes: readonly Statement[];
}

/** The form of a loop. */
export type LaneForm =
  /** One iteration at a time. */
  | { readonly kind: "scalar" }
  /** One run for all lanes. */
  | ({ readonly kind: "run" } & Run)
  /**
   * One run for whole groups of lanes, each followed by its reductions, so that contributions never leave registers.
   */
  | ({ readonly kind: "groups" } & Run)
  /** One reduction directly over memory. */
  | { readonly kind: "fold"; readonly uniform: readonly Statement[]; readonly load: Load }
  /**
   * Blocks of lanes whose values are in arrays between runs; reductions of values that are in memory anyway read them
   * there.
   */
  | { readonly kind: "blocks"; readonly plan: LanePlan; readonly direct: ReadonlyMap<ValueId, Load> };

/** The form of a loop over buffers of these types. */
export function laneForm(loop: Loop, dtypeOf: (buffer: BufferId) => DType): LaneForm {
  const { body, reductions } = loop;
  const nested = body.some((s) => s.kind === "loop");
  const adds = collides(body) && (nested || reductions.length > 0 || !storesDisjointly(loop));
  if (!loop.vector || loop.carried.length > 0 || masksLoops(body) || adds) return { kind: "scalar" };
  const direct = new Map(
    reductions.flatMap((r) => {
      const load = directLoad(loop, r, dtypeOf);
      return load ? [[r.value, load] as const] : [];
    }),
  );
  const only = reductions.length === 1 && direct.size === 1;
  const inGroups = !only && reductions.every((r) => !isPosition(r.op) && r.dtype !== "bool");
  if (!nested && (reductions.length === 0 || inGroups)) {
    const { varies } = varyingValues(body, loop.axis.symbol);
    return {
      kind: reductions.length === 0 ? "run" : "groups",
      uniform: body.filter((s) => !varies(s)),
      lanes: body.filter(varies),
    };
  }
  const plan = planLanes({ ...loop, body: body.filter((s) => s.kind !== "load" || !direct.has(s.id)) });
  const [load] = direct.values();
  const uniform = plan.items.flatMap((item) => item.kind === "uniform" ? [item.statement] : []);
  return only && load && uniform.length === plan.items.length
    ? { kind: "fold", uniform, load }
    : { kind: "blocks", plan, direct };
}

/** The load that a reduction can fold directly from memory: unit stride, and no other use. */
function directLoad(loop: Loop, r: Reduction, dtypeOf: (buffer: BufferId) => DType): Load | undefined {
  if (isPosition(r.op) || r.op === "any" || r.op === "all" || r.dtype === "bool") return undefined;
  const load = loop.body.find((s) => s.kind === "load" && s.id === r.value);
  if (load?.kind !== "load" || indirect(load.index).length > 0) return undefined;
  if (dtypeOf(load.buffer) !== r.dtype) return undefined;
  if (coefficientOf(load.index, loop.axis.symbol) !== 1 || storedBuffers(loop.body).has(load.buffer)) {
    return undefined;
  }
  let uses = 0;
  for (const s of loop.body) deepUses(s, (id) => uses += id === load.id ? 1 : 0);
  const positions = loop.reductions.some((other) => isPosition(other.op) && other.value === load.id);
  return uses === 0 && !positions ? load : undefined;
}
