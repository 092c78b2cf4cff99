/**
 * Rewrites vector loops into forms that compilers vectorise: straight runs of statements. Uniform statements precede
 * them; bodies of several runs are processed in blocks; reductions directly over memory become folds. Invariant: that
 * of lane_forms.ts.
 */
import type { DType } from "../base/dtype.ts";
import { InternalError } from "../base/errors.ts";
import { substituteIndices } from "../loops/nest.ts";
import { add, sub, substitute } from "../sym/expr.ts";
import type { BufferDecl, BufferId, Fold, Loop, Program, Statement } from "../loops/ir.ts";
import { cachedRewrite } from "../loops/canonical_form.ts";
import { LANES } from "../loops/reductions.ts";
import { nextId, valueTypes } from "../loops/value_types.ts";
import { axisOf } from "./strip_mining.ts";
import { rewriteNests } from "./kernels.ts";
import { inBlocks, type LaneRoom } from "./lane_blocks.ts";
import { type LaneForm, laneForm } from "./lane_forms.ts";

/** Turns the vector loops of a program into runs. */
export function runsOfLanes(program: Program): Program {
  const buffers: BufferDecl[] = [...program.buffers];
  const local = (dtype: DType, length: number): BufferId =>
    buffers.push({ name: `lanes${buffers.length}`, dtype, length, role: { kind: "local" } }) - 1;
  const another = (id: BufferId): BufferId => {
    const { dtype, length } = buffers[id] ?? missing(`a buffer b${id}`);
    return typeof length === "number" ? local(dtype, length) : missing("a known length of lanes");
  };
  const inRuns = cachedRewrite((body) => runs(body, { buffers, local }), another);
  return { ...rewriteNests(program, inRuns), buffers };
}

interface Place {
  readonly buffers: readonly BufferDecl[];
  readonly local: LaneRoom["local"];
}

function runs(body: readonly Statement[], { buffers, local }: Place): readonly Statement[] {
  const types = valueTypes(body);
  let next = nextId(body);
  const dtypeOf = (id: BufferId): DType => buffers[id]?.dtype ?? missing(`a buffer b${id}`);
  const room: LaneRoom = {
    local,
    typeOf: (id) => types.get(id) ?? missing(`a type of v${id}`),
    fresh(dtype) {
      types.set(next, dtype);
      return next++;
    },
  };
  const visit = (list: readonly Statement[]): readonly Statement[] =>
    list.flatMap((s) => {
      if (s.kind !== "loop") return [s];
      if (!s.vector) return [{ ...s, body: visit(s.body) }];
      const inLanes = (loop: Loop) => inForm(loop, laneForm(loop, dtypeOf), room);
      return s.share === "team" ? [inParts(s, inLanes)] : inLanes(s);
    });
  return visit(body);
}

/** Splits a loop that a team divides into whole groups of lanes. */
function inParts(loop: Loop, inLanes: (part: Loop) => readonly Statement[]): Loop {
  const { axis: { symbol: whole, size }, share = "team", ...rest } = loop;
  const start = axisOf("from", size), { symbol: end } = axisOf("to", add(size, 1));
  const axis = { symbol: axisOf("i", size).symbol, size: sub(end, start.symbol) };
  const body = substituteIndices(loop.body, (s) => s === whole ? add(start.symbol, axis.symbol) : s);
  return {
    ...rest,
    axis: start,
    share,
    part: { end, grain: LANES },
    vector: false,
    body: inLanes({ ...rest, axis, body }),
  };
}

function inForm(loop: Loop, form: LaneForm, room: LaneRoom): readonly Statement[] {
  switch (form.kind) {
    case "scalar":
      return [{ ...loop, vector: false }];
    case "run":
    case "groups":
      return [...form.uniform, { ...loop, body: form.lanes }];
    case "fold":
      return [...form.uniform, folded(loop, form)];
    case "blocks":
      return [inBlocks(loop, form, room)];
    default:
      return form satisfies never;
  }
}

/** A reduction directly over memory, as a fold after a single iteration. */
function folded(loop: Loop, { load }: Extract<LaneForm, { readonly kind: "fold" }>): Loop {
  const { axis: { symbol, size }, reductions } = loop;
  const values = { buffer: load.buffer, index: substitute(load.index, (s) => s === symbol ? 0 : s) };
  const folds = reductions.map(({ id, op, dtype }): Fold => ({ id, op, dtype, values, count: size }));
  return { ...loop, axis: axisOf("b", 1), vector: false, body: [], reductions: [], folds };
}

function missing(what: string): never {
  throw new InternalError(`Expected ${what} but found none`);
}
