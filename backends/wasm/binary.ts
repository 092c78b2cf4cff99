/**
 * A writer of WebAssembly modules: function bodies to bytes for `WebAssembly.Module`. Invariant: functions are
 * numbered in the order in which they are added, so one may call another that is not written yet. Format: WebAssembly
 * core specification 2.0, with the relaxed SIMD proposal.
 */
import { Bytes } from "./bytes.ts";
import type { FunctionBody } from "./function_body.ts";
import { TYPE } from "./opcodes.ts";

/** The memory that a module imports: one thread's own, or shared by several. */
export interface MemoryKind {
  readonly shared: boolean;
  /** Pages of 64 KiB to which a shared one may grow. */
  readonly maximum: number;
}

/** A function of another module: its name there, and its number of i32 parameters. */
export interface ImportedFunction {
  readonly name: string;
  readonly params: number;
}

/** A module over one imported memory. Functions are numbered from the imported ones on, in order of `add`. */
export class ModuleWriter {
  readonly #functions: FunctionBody[] = [];
  readonly #exports = new Map<string, number>();

  constructor(readonly memory: MemoryKind, readonly imported: readonly ImportedFunction[] = []) {}

  /** Adds a function; returns its number. */
  add(body: FunctionBody): number {
    return this.imported.length + this.#functions.push(body) - 1;
  }

  export(index: number, name: string): void {
    this.#exports.set(name, index);
  }

  finish(): Uint8Array<ArrayBuffer> {
    const out = new Bytes().byte(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
    const section = (id: number, content: Bytes) => out.byte(id).unsigned(content.length).raw(content.done());
    const { imported } = this;
    const types = new Bytes().unsigned(imported.length + this.#functions.length);
    for (const { params } of imported) {
      types.byte(0x60).unsigned(params).byte(...new Array<number>(params).fill(TYPE.i32)).unsigned(0);
    }
    for (const { params, results } of this.#functions) {
      types.byte(0x60).unsigned(params.length).byte(...params.map((t) => TYPE[t]));
      types.unsigned(results.length).byte(...results.map((t) => TYPE[t]));
    }
    section(1, types);
    const imports = new Bytes().unsigned(1 + imported.length);
    imported.forEach(({ name }, type) => imports.text("host").text(name).byte(0).unsigned(type));
    imports.text("host").text("memory").byte(2);
    if (this.memory.shared) imports.byte(3).unsigned(1).unsigned(this.memory.maximum);
    else imports.byte(0).unsigned(1);
    section(2, imports);
    const declared = new Bytes().unsigned(this.#functions.length);
    this.#functions.forEach((_, i) => declared.unsigned(imported.length + i));
    section(3, declared);
    const exports = new Bytes().unsigned(this.#exports.size);
    for (const [name, i] of this.#exports) exports.text(name).byte(0).unsigned(i);
    section(7, exports);
    const code = new Bytes().unsigned(this.#functions.length);
    for (const each of this.#functions) {
      const body = each.finish();
      code.unsigned(body.length).raw(body);
    }
    section(10, code);
    return out.done();
  }
}
