/**
 * Determines which buffers of a product are read and written by vectors of four, and declares the shader's variables.
 * Invariant: a vector is written as a whole by one invocation.
 */
import { isNarrow } from "../../lib/base/dtype.ts";
import { vec4Grid } from "../../lib/codegen/vec4.ts";
import type { BufferId, BufferView, Loop, LoopKernel, Program, Statement } from "../../lib/loops/ir.ts";
import { accessesOf } from "../../lib/loops/uses.ts";
import type { Dim } from "../../lib/sym/expr.ts";
import { Bindings, type Placement } from "./print/bindings.ts";
import type { ShaderWriter } from "./print/statements.ts";

/** Returns whether a size is known to be a multiple of four. */
export const isOfFours = (size: Dim | undefined): boolean => typeof size === "number" && size % 4 === 0;

/**
 * The dimension of a matrix, the last or the one before, that is contiguous in whole vectors; undefined if there is
 * none.
 */
export function vectorDimension({ offset, shape, strides }: BufferView): number | undefined {
  const rank = strides.length, unit = [rank - 1, rank - 2].find((d) => strides[d] === 1);
  if (unit === undefined || ![shape[unit], offset, ...strides.toSpliced(unit, 1)].every(isOfFours)) {
    return undefined;
  }
  return unit;
}

/** A buffer, and whether a product would access it by vectors. */
export interface Touched {
  readonly buffer: BufferId;
  readonly byVectors: boolean;
}

/** The memory accesses of a product. */
interface FourSetting {
  readonly program: Program;
  readonly placement: Placement;
  readonly statements: readonly Statement[];
  readonly operands: readonly Touched[];
  readonly out: Touched;
  readonly epilogue: LoopKernel | undefined;
}

/** A nest around a call for four elements: its loops, the last of which is a quarter as long, and a loop over four. */
export type FourNest = NonNullable<ReturnType<typeof vec4Grid>>;

/** How a product accesses memory. */
export interface Fours {
  readonly bindings: Bindings;
  /** Whether results are written by vectors, and the epilogue in that case. */
  readonly stores: boolean;
  readonly epilogue: FourNest | undefined;
}

/** Chooses variables such that as much as possible is accessed by vectors. */
export function foursOf(setting: FourSetting): Fours {
  const { program, placement, statements, operands, out, epilogue } = setting;
  const plain = () => new Bindings(program, statements, { placement, lanes: 1 });
  if (!placement.aligned || ![...operands, out].some(({ byVectors }) => byVectors)) {
    return { bindings: plain(), stores: false, epilogue: undefined };
  }
  const singles = operands.flatMap(({ buffer, byVectors }) => byVectors ? [] : [buffer]);
  const nest = epilogue && vec4Grid(...nestOf(epilogue), program.buffers);
  const finish = nest ? [...accessesOf(nest.body)] : [];
  const with4 = (single: readonly BufferId[]) =>
    new Bindings(program, statements, { placement, lanes: 4, single: new Set(single) });
  if (out.byVectors && (nest || !epilogue)) {
    const bindings = with4(singles);
    const isWhole = (buffer: BufferId) =>
      bindings.inFours(buffer) || isNarrow(program.buffers[buffer]?.dtype ?? "bool");
    if (bindings.inFours(out.buffer) && finish.every(({ buffer }) => isWhole(buffer))) {
      return { bindings, stores: true, epilogue: nest };
    }
  }
  const stores = epilogue ? [...accessesOf(epilogue.body)].filter(({ kind }) => kind === "store") : [];
  const written = [out.buffer, ...stores.map(({ buffer }) => buffer)];
  return { bindings: with4([...singles, ...written]), stores: false, epilogue: undefined };
}

/** Writes a function of the counters of a nest that computes four elements; the last counter is divided by four. */
export function printFours(w: ShaderWriter, { loops, body: [four] }: FourNest, name: string): void {
  const parameters = loops.map(({ axis }) => `${w.counter(axis.symbol)}: i32`).join(", ");
  w.line(`fn ${name}(${parameters}) {`);
  if (four?.kind === "loop") w.four(four);
  w.line("}");
}

function nestOf({ body }: LoopKernel): readonly [readonly Loop[], readonly Statement[]] {
  const loops: Loop[] = [];
  let leaf = body;
  for (let [loop] = leaf; loop?.kind === "loop"; [loop] = leaf) {
    loops.push(loop);
    leaf = loop.body;
  }
  return [loops, leaf];
}
