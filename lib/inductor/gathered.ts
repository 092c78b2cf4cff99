/**
 * Moves kernels that differ only in their buffers next to each other, such as updates of parameters: devices may run
 * them as one. Invariant: no kernel moves past another if either writes what the other touches; kernels are moved only
 * if that hardly extends the lifetime of memory.
 */
import type { BufferId, Kernel } from "../loops/ir.ts";
import { flatForm } from "../loops/flat_form.ts";
import { usesOf } from "../loops/uses.ts";
import type { Storage } from "./tensors.ts";

/** Elements that a kernel may hold for later ones without counting as much memory. */
const FEW = 64;

/** The kernels, each right after the last one of its kind that it may follow. */
export function gathered(kernels: readonly Kernel[], storages: readonly Storage[]): Kernel[] {
  const runs: Kernel[][] = [];
  const ofForm = new Map<string, number>();
  const touched = new Map<BufferId, number>(), written = new Map<BufferId, number>();
  for (const kernel of kernels) {
    const uses = usesOf(kernel), isKept = [...uses.written].every((id) => keeps(storages[id]));
    const form = isKept ? flatForm(kernel, (id) => storages[id]?.dtype) : null;
    let bound = -1;
    for (const id of uses.all) bound = Math.max(bound, written.get(id) ?? -1);
    for (const id of uses.written) bound = Math.max(bound, touched.get(id) ?? -1);
    const known = form === null ? undefined : ofForm.get(form);
    const at = known !== undefined && known > bound ? known : runs.length;
    (runs[at] ??= []).push(kernel);
    if (form !== null) ofForm.set(form, at);
    for (const id of uses.all) touched.set(id, Math.max(at, touched.get(id) ?? -1));
    for (const id of uses.written) written.set(id, Math.max(at, written.get(id) ?? -1));
  }
  return runs.flat();
}

/** Returns whether the storage lives as long as the call anyway, or is small. */
function keeps(storage: Storage | undefined): boolean {
  return storage !== undefined &&
    (storage.role.kind === "input" || (typeof storage.length === "number" && storage.length <= FEW));
}
