/**
 * Results of kernels that read nothing but a weight, such as transposed or transformed weights, kept between calls while
 * the weight stays the same. Invariants: the description of a form names everything that it depends on besides
 * the weight's contents; forms are given up before an allocation fails.
 *
 * A form gets memory in the second call with equal contents, so that weights that change each time get none.
 */
import { type Contents, type KeptForm, OutOfMemory } from "../../lib/loops/device.ts";
import { itemSize } from "../../lib/base/dtype.ts";
import type { BufferId, Program } from "../../lib/loops/ir.ts";
import { usesOf } from "../../lib/loops/uses.ts";
import { type BufferPool, onWebGpu, type WebGpuMemory } from "./memory.ts";

/** A temporary that calls may keep. */
export interface KeptTemporary {
  readonly buffer: BufferId;
  readonly bytes: number;
  /** The only kernel that writes it. */
  readonly kernel: number;
  /** The position of the only input that the kernel reads. */
  readonly input: number;
}

/** Forms of fewer bytes are made as fast as kept ones are looked up. */
const LEAST_BYTES = 1 << 14;

/**
 * Returns the temporaries of a program that depend on nothing but one weight; none if a kernel that reads one would have
 * more than `most` memories.
 */
export function keptTemporaries(program: Program, most: number): readonly KeptTemporary[] {
  const { buffers, inputs, kernels } = program;
  const isShared = (id: BufferId) => buffers[id]?.role.kind !== "local";
  const windowed = new Set(buffers.flatMap(({ role }) => role.kind === "window" ? [role.of] : []));
  const writers = new Map<BufferId, number>();
  for (const kernel of kernels) {
    for (const buffer of usesOf(kernel).written) writers.set(buffer, (writers.get(buffer) ?? 0) + 1);
  }
  const found = kernels.flatMap((kernel, at): readonly KeptTemporary[] => {
    const { all, written } = usesOf(kernel), [buffer = -1, ...more] = [...written].filter(isShared);
    const [read = -1, ...others] = [...all].filter((id) => id !== buffer && isShared(id));
    const made = buffers[buffer], role = buffers[read]?.role;
    if (kernel.kind !== "loops" || more.length + others.length > 0 || writers.get(buffer) !== 1) return [];
    if (made?.role.kind !== "temporary" || typeof made.length !== "number" || windowed.has(buffer)) return [];
    if (role?.kind !== "input" || role.written) return [];
    const bytes = made.length * itemSize(made.dtype);
    return bytes < LEAST_BYTES ? [] : [{ buffer, bytes, kernel: at, input: inputs.indexOf(read) }];
  });
  const fit = kernels.every((kernel) => {
    const { all } = usesOf(kernel);
    return all.size <= most || !found.some(({ buffer }) => all.has(buffer));
  });
  return fit ? found : [];
}

/** The program with these temporaries as outputs after its own, which have memories of their own. */
export function withKept(program: Program, kept: readonly KeptTemporary[]): Program {
  const apart = kept.map(({ buffer }) => buffer), role = { kind: "output" } as const;
  const buffers = program.buffers.map((each, id) => apart.includes(id) ? { ...each, role } : each);
  return { ...program, buffers, outputs: [...program.outputs, ...apart] };
}

/** The memory of a temporary in one call. */
export interface PlacedTemporary {
  /** Undefined: only this call uses it. */
  readonly memory: WebGpuMemory | undefined;
  /** Absent if nothing is kept. */
  readonly form?: KeptForm;
}

/** A temporary that nothing keeps. */
export const NOWHERE: PlacedTemporary = { memory: undefined };

/** Part of the memory that was once too little which forms may fill. */
const ROOMY_PART = 7 / 8;

/** The forms of one device. */
export class KeptForms {
  /** All that have memory; their weights own them. */
  readonly #placed = new Set<WeakRef<KeptForm>>();
  readonly #gone = new FinalizationRegistry<WeakRef<KeptForm>>((form) => this.#placed.delete(form));

  /** Number of times that all were given up: memory found before the last time is not theirs any more. */
  given = 0;
  /** Bytes in use from which on memory was scarce. */
  #scarce = Infinity;

  constructor(private readonly pool: BufferPool) {}

  /** Finds the memory of a form with this description, if its weight has had the same contents in an earlier call. */
  place(contents: Contents | undefined, description: string, bytes: number): PlacedTemporary {
    if (!contents) return NOWHERE;
    const form = contents.forms.get(description);
    if (!form) {
      contents.forms.set(description, { memory: null, isFilled: false, wanted: bytes });
      return NOWHERE;
    }
    if (form.memory === null) this.#allocate(form);
    return form.memory === null ? NOWHERE : { memory: onWebGpu(form.memory), form };
  }

  /** A limit says that memory is scarce, as does an allocation that failed before. */
  #allocate(form: KeptForm): void {
    const { limit, allocated } = this.pool;
    if (limit !== undefined || allocated + form.wanted > ROOMY_PART * this.#scarce) return;
    try {
      form.memory = this.pool.allocate(form.wanted);
    } catch (thrown) {
      if (!(thrown instanceof OutOfMemory)) throw thrown;
      return;
    }
    const known = new WeakRef(form);
    this.#placed.add(known);
    this.#gone.register(form, known);
  }

  /** Frees the memory of all forms; later calls make them anew, in memory of their own. */
  giveUp(): void {
    this.given++;
    if (this.pool.limit === undefined) this.#scarce = this.pool.allocated;
    for (const known of this.#placed) {
      const form = known.deref();
      if (!form || form.memory === null) continue;
      this.pool.free(onWebGpu(form.memory));
      form.memory = null;
      form.isFilled = false;
    }
    this.#placed.clear();
  }
}
