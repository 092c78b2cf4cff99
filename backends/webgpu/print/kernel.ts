/**
 * Loop nests that are mapped to a grid as WGSL compute shaders, with their dispatch size. Each point of the grid is
 * an invocation, or a workgroup whose invocations divide loops and finish reductions in workgroup memory. Invariant:
 * barriers occur only in uniform control flow.
 */
import { type Dim, product } from "../../../lib/sym/expr.ts";
import type { Loop, LoopKernel, Program, Statement } from "../../../lib/loops/ir.ts";
import { INVOCATIONS } from "../target.ts";
import { Bindings, type Placement } from "./bindings.ts";
import { finished, openMain, POINT, type Shader } from "./entry.ts";
import { ShaderWriter } from "./statements.ts";

/** The shader of one loop kernel. */
export function printKernel(kernel: LoopKernel, program: Program, placement: Placement): Shader {
  const { name, body, workgroup } = kernel,
    threads = workgroup ?? INVOCATIONS,
    { loops, leaf } = gridOf(body);
  const four = workgroup === undefined ? fourIn(leaf) : undefined;
  const bindings = new Bindings(program, body, { placement, lanes: four ? 4 : 1 });
  const writer = new ShaderWriter({ program, bindings, threads, cooperative: workgroup !== undefined });
  openMain(writer, threads);
  writer.line(workgroup ? `var point = i32(${POINT});` : `var point = i32((${POINT}) * ${threads}u + lane);`);
  if (workgroup) writer.line("let lid = i32(lane);");
  const total = openGrid(writer, loops);
  if (four) writer.four(four);
  else writer.statements(leaf);
  writer.line("}");
  return finished(writer, name, { items: total, each: workgroup ? 1 : threads });
}

/** The loops that make the grid, and what each of its points does. */
function gridOf(
  body: readonly Statement[],
): { readonly loops: readonly Loop[]; readonly leaf: readonly Statement[] } {
  const loops: Loop[] = [];
  let leaf = body;
  for (let [loop] = leaf; loop?.kind === "loop" && loop.share === "grid"; [loop] = leaf) {
    loops.push(loop);
    leaf = loop.body;
  }
  return { loops, leaf };
}

/** The loop over four neighbours that an invocation does as vectors. */
function fourIn([only]: readonly Statement[]): Loop | undefined {
  return only?.kind === "loop" && only.vector && only.order === "parallel" ? only : undefined;
}

/** Takes the counters of the grid's loops from `point`, the last one's first; gives the number of points. */
function openGrid(writer: ShaderWriter, loops: readonly Loop[]): Dim {
  const total = product(loops.map((loop) => loop.axis.size));
  writer.line(`if (point >= ${writer.index(total)}) { return; }`);
  for (const { axis } of loops.toReversed()) {
    const counter = writer.counter(axis.symbol), size = writer.index(axis.size);
    writer.line(`let ${counter} = point % ${size}; point = point / ${size};`);
  }
  return total;
}
