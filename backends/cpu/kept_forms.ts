/**
 * The records through which a native program's calls share forms of their weights, which routines compute. A form is
 * kept from the second call with equal contents on, so that weights that change each time are not. Invariant: a record
 * refers to memory only while a call runs.
 */
import { type KeptForm, OutOfMemory, type ProgramCall } from "../../lib/loops/device.ts";
import { hostOf } from "./host_memory.ts";
import { hostPool } from "./memory_pool.ts";
import { type KeptOperand, RECORD } from "./print/kept_operands.ts";

/** The records of one program. */
export class KeptForms {
  readonly #operands: readonly KeptOperand[];
  readonly #records: Float64Array<ArrayBuffer>;
  readonly #forms: (KeptForm | undefined)[] = [];
  /** Addresses of the records. */
  readonly addresses: readonly number[];

  constructor(operands: readonly KeptOperand[]) {
    this.#operands = operands;
    this.#records = new Float64Array(RECORD * operands.length);
    const start = Number(Deno.UnsafePointer.value(Deno.UnsafePointer.of(this.#records)));
    this.addresses = operands.map((_, k) => start + k * RECORD * this.#records.BYTES_PER_ELEMENT);
  }

  /** Fills in the records for a call. May allocate. */
  before({ inputs, contents, byteOffsets }: ProgramCall): void {
    for (let k = 0; k < this.#operands.length; k++) {
      const { input, form: text } = this.#operands[k] ?? { input: -1, form: "" };
      const forms = isShared(inputs[input]) ? undefined : contents?.[input]?.forms;
      const offset = byteOffsets?.[input] ?? 0, name = offset === 0 ? text : `${text} from ${offset}`;
      let form = forms?.get(name);
      if (form) place(form);
      else forms?.set(name, form = { memory: null, isFilled: false, wanted: 0 });
      this.#forms[k] = form;
      this.#records[RECORD * k] = form?.memory ? hostOf(form.memory).address : 0;
      this.#records[RECORD * k + 1] = form?.isFilled ? 1 : 0;
      this.#records[RECORD * k + 2] = 0;
    }
  }

  /** Takes over what the routines wrote. */
  after(): void {
    for (let k = 0; k < this.#forms.length; k++) {
      const form = this.#forms[k];
      if (!form) continue;
      form.isFilled = this.#records[RECORD * k + 1] === 1;
      form.wanted = Math.max(form.wanted, this.#records[RECORD * k + 2] ?? 0);
      // Dropped weights would live on in it
      this.#forms[k] = undefined;
    }
  }
}

/** Allocates the memory of a form, unless that could cost a program the room for its tensors. */
function place(form: KeptForm): void {
  if (form.memory !== null || form.wanted === 0 || !hostPool.isRoomy(form.wanted)) return;
  try {
    form.memory = hostPool.allocate(form.wanted);
  } catch (thrown) {
    if (!(thrown instanceof OutOfMemory)) throw thrown;
  }
}

/** Returns whether other threads than those of programs may write to a memory. */
function isShared(memory: ProgramCall["inputs"][number] | undefined): boolean {
  const { uint8: { buffer }, place } = hostOf(memory).block;
  return place === undefined && buffer instanceof SharedArrayBuffer;
}
