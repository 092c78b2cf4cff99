/**
 * Serialises the code of an eager program; forms are read only if this process can run them. Invariant: WebAssembly
 * that was written for another kind of memory or another engine is skipped, and so is C++ for another toolchain.
 */
import type { Plain } from "../../lib/base/recording.ts";
import { InternalError } from "../../lib/base/errors.ts";
import { type Sym, symbol } from "../../lib/sym/expr.ts";
import type { Codec } from "../../lib/sym/stored/codec.ts";
import { numberIn, recordIn } from "../../lib/sym/stored/forms.ts";
import { Symbols } from "../../lib/sym/stored/symbols.ts";
import { type WasmForm, wasmForm } from "../wasm/form.ts";
import { engineFuses } from "../wasm/target.ts";
import { wasmPool } from "../wasm/threads.ts";
import { type NativeForm, nativeForm } from "./native_form.ts";
import { toolchainIfKnown } from "./toolchain.ts";

/** The available code of a program. */
export interface ClassCode {
  readonly wasm?: WasmForm | undefined;
  readonly native?: NativeForm | undefined;
}

/** The engine and the memory that WebAssembly is written for. */
function wasmIdentity(): string {
  const { shared, maximum } = wasmPool().memory.kind;
  return `${shared} ${maximum} ${engineFuses()}`;
}

function nativeIdentity(): string | null {
  const status = toolchainIfKnown();
  return status?.kind === "ready" ? status.toolchain.identity : null;
}

/** Code as data. */
export function writeCode({ wasm, native }: ClassCode): Plain {
  return {
    ...wasm
      ? {
        wasm: {
          sizes: wasm.frame.sizes.length,
          identity: wasmIdentity(),
          form: wasmForm.write(wasm, numbered(wasm.frame.sizes)),
        },
      }
      : {},
    ...native
      ? {
        native: {
          sizes: native.sizes.length,
          identity: nativeIdentity(),
          form: nativeForm.write(native, numbered(native.sizes)),
        },
      }
      : {},
  };
}

/** Reads code from data. Throws DamagedForm. */
export function readCode(data: Plain): ClassCode {
  const { wasm, native } = recordIn(data);
  const part = <T>(given: Plain | undefined, wanted: () => string | null, codec: Codec<T>): T | undefined => {
    if (given === undefined) return undefined;
    const { sizes, identity, form = null } = recordIn(given);
    if (identity !== wanted()) return undefined;
    return codec.read(form, numbered(Array.from({ length: numberIn(sizes) }, (_, n) => sizeSymbol(n))));
  };
  return { wasm: part(wasm, wasmIdentity, wasmForm), native: part(native, nativeIdentity, nativeForm) };
}

/** Numbers the sizes of a program, in order. */
function numbered(sizes: readonly Sym[]): Symbols {
  const symbols = new Symbols();
  for (const each of sizes) symbols.numberOf(each);
  symbols.isOpen = false;
  return symbols;
}

/** A size of a program that exists only as code; the symbol has no other meaning. */
function sizeSymbol(n: number): Sym {
  const refuse = () => {
    throw new InternalError(`Expected no condition on the sizes of compiled code but found one on n${n}`);
  };
  return symbol(`n${n}`, { kind: "size", decider: { hintOf: refuse, assume: refuse } }, [0, Infinity]);
}
