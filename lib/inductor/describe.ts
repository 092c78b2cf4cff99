/**
 * Describes decisions of the code generator for logs and debug folders: the schedule, the memory plan, and both as a
 * Graphviz graph. Invariant: read-only.
 */
import { itemSize } from "../base/dtype.ts";
import type { BufferId, Program } from "../loops/ir.ts";
import { mul } from "../sym/expr.ts";
import { usesOf } from "../loops/uses.ts";
import type { Group } from "./group.ts";
import type { Storage } from "./tensors.ts";

/** Groups in execution order, each with the computations of its members. */
export function scheduleText(groups: readonly Group[], storages: readonly Storage[]): string {
  const named = (id: BufferId) => storages[id]?.name ?? `b${id}`;
  return groups.map((group, i) => {
    const lines = group.members.map(({ computation: c, level }) => {
      const reads = [...new Set(c.reads.map((r) => named(r.buffer)))].join(", ");
      const space = [...c.outer.map((a) => `${a.size}`), ...c.inner.map((a) => `${a.size} reduced`)].join(
        " × ",
      );
      const what = c.labels.map((l) => l.target).join("+");
      return `  ${named(c.target.buffer)} = ${c.work.kind} ${what}(${reads}) over ${
        space || "one element"
      }, ${level}`;
    });
    return [`group ${i} (${group.kind})`, ...lines].join("\n");
  }).join("\n");
}

/** Returns the kernels that use each buffer, and the offsets of temporaries in the arena. */
export function memoryPlanText(program: Program): string {
  const uses = program.kernels.map(usesOf);
  const lines = program.buffers.map(({ name, dtype, length, role }, id) => {
    const users = uses.flatMap(({ all }, at) => all.has(id) ? [at] : []);
    const place = role.kind === "temporary" ? `arena @${role.offset}` : role.kind;
    const span = users.length === 0 ? "no kernel" : `kernels ${users[0]} to ${users.at(-1)}`;
    return `b${id} ${name}: ${dtype}[${length}], ${mul(length, itemSize(dtype))} bytes, ${place}, ${span}`;
  });
  return [`arena ${program.arenaBytes} bytes`, ...lines].join("\n") + "\n";
}

/** Kernels and the buffers between them as a Graphviz digraph, for `dot -Tsvg`. */
export function scheduleDiagram(program: Program): string {
  const label = (text: string) => JSON.stringify(text);
  const lines = program.buffers.map(({ name, dtype, length, role }, id) =>
    `  b${id} [shape=ellipse, label=${label(`${name}\n${dtype}[${length}] ${role.kind}`)}];`
  );
  program.kernels.forEach((kernel, at) => {
    const { all, written } = usesOf(kernel);
    lines.push(`  k${at} [shape=box, label=${label(kernel.name)}];`);
    for (const id of all) if (!written.has(id)) lines.push(`  b${id} -> k${at};`);
    for (const id of written) lines.push(`  k${at} -> b${id};`);
  });
  return `digraph ${label(program.name)} {\n${lines.join("\n")}\n}\n`;
}
