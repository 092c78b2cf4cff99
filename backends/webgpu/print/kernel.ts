/**
 * Loop nests that are mapped to a grid as WGSL compute shaders, with their dispatch size. Each point of the grid is
 * an invocation, or a workgroup whose invocations divide loops and finish reductions in workgroup memory. Invariant:
 * barriers occur only in uniform control flow.
 */
import { type Dim, product } from "../../../lib/sym/expr.ts";
import type { Loop, LoopKernel, Program, Statement } from "../../../lib/loops/ir.ts";
import { byVectors, storedSingly, vec4LoopsIn } from "../../../lib/codegen/vec4.ts";
import { INVOCATIONS } from "../target.ts";
import { Bindings, type Placement } from "./bindings.ts";
import { finished, openMain, POINT, type Shader } from "./entry.ts";
import { ShaderWriter } from "./statements.ts";

/** The shader of one loop kernel. */
export function printKernel(kernel: LoopKernel, program: Program, placement: Placement): Shader {
  const { name, body, workgroup, points } = kernel,
    threads = workgroup ?? INVOCATIONS,
    { loops, leaf } = gridOf(body);
  const fours = vec4LoopsIn(leaf), lanes = fours.length > 0 && fours.every(byVectors) ? 4 : 1;
  const bindings = new Bindings(program, body, { placement, lanes, single: storedSingly(leaf) });
  const cooperative = workgroup !== undefined;
  const writer = new ShaderWriter({ program, bindings, threads, cooperative, ...points && { points } });
  openMain(writer, threads);
  if (!cooperative) writer.line(`var point = i32((${POINT}) * ${threads}u + lane);`);
  else if (points) {
    // Neighbouring invocations share a point, or each has one
    const by = points.interleaved ? points.count : threads / points.count;
    const [own, shared] = points.interleaved ? ["%", "/"] : ["/", "%"];
    writer.line(`let slot = i32(lane); let lid = slot ${shared} ${by};`);
    writer.line(`var point = i32(${POINT}) * ${points.count} + slot ${own} ${by};`);
  } else writer.line(`let lid = i32(lane); var point = i32(${POINT});`);
  const total = openGrid(writer, loops);
  writer.statements(leaf);
  writer.line("}");
  return finished(writer, name, { items: total, each: cooperative ? points?.count ?? 1 : threads });
}

/** The loops that form the grid, and the body of each of its points. */
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

/** Derives the counters of the grid's loops from `point`, the last loop's first; returns the number of points. */
function openGrid(writer: ShaderWriter, loops: readonly Loop[]): Dim {
  const total = product(loops.map((loop) => loop.axis.size));
  writer.line(`if (point >= ${writer.setting.bindings.parameters.number("points", total)}) { return; }`);
  for (const [at, { axis }] of [...loops.entries()].reverse()) {
    const counter = writer.counter(axis.symbol), size = at > 0 ? writer.index(axis.size) : undefined;
    writer.line(
      size ? `let ${counter} = point % ${size}; point = point / ${size};` : `let ${counter} = point;`,
    );
  }
  return total;
}
