/**
 * Runs packaged programs by their native library. Invariant: it is loaded only if native code was requested, and only
 * with code for this machine.
 */
import { DynError } from "../lib/base/errors.ts";
import type { NativeTarget } from "../lib/packages/manifest.ts";
import type { Session } from "./wasm_session.ts";

/** Returns the processor's instruction set features; null if the system does not list them. */
export function processorFeatures(): ReadonlySet<string> | null {
  if (Deno.build.os !== "linux") return null;
  const text = Deno.readTextFileSync("/proc/cpuinfo");
  const [, list = ""] = /^(?:flags|Features)\s*:(.*)$/m.exec(text) ?? [];
  return new Set(list.trim().split(/\s+/));
}

function refuseOthers({ os, arch, features }: NativeTarget): void {
  if (os !== Deno.build.os || arch !== Deno.build.arch) {
    throw new DynError(
      `Expected native code for ${Deno.build.os} on ${Deno.build.arch} but found some for ${os} on ${arch}; load the ` +
        "package without native: true",
    );
  }
  const known = processorFeatures(), missing = features.filter((each) => known?.has(each) === false);
  if (missing.length === 0) return;
  throw new DynError(
    `Expected native code that this processor runs but found some that needs ${
      missing.join(", ")
    }; load the package ` +
      "without native: true",
  );
}

const SYMBOLS = {
  run: { parameters: ["buffer", "buffer", "buffer", "buffer", "i32"], result: "i32" },
  arena: { parameters: ["buffer"], result: "i64" },
} as const;

/** Loads a library. Throws DynError if it is for another machine. */
export function nativeSession(library: Uint8Array, target: NativeTarget, threads: number): Session {
  refuseOthers(target);
  const folder = Deno.makeTempDirSync({ prefix: "dyn-package-" }), path = `${folder}/library.so`;
  try {
    Deno.writeFileSync(path, library, { mode: 0o700 });
    const { symbols } = Deno.dlopen(path, {
      run: { name: `${target.prefix}_run`, ...SYMBOLS.run },
      arena: { name: `${target.prefix}_arena_bytes`, ...SYMBOLS.arena },
    });
    let arena = new Uint8Array(0);
    return {
      run({ inputs, outputs, sizes }) {
        const words = BigInt64Array.from(sizes, BigInt), needed = Number(symbols.arena(words)) + 64;
        if (arena.length < needed) arena = new Uint8Array(needed);
        const offset = (64 - addressOf(arena) % 64) % 64;
        const from = BigUint64Array.from(inputs, ({ bytes }) => BigInt(addressOf(bytes)));
        const to = BigUint64Array.from(outputs, (bytes) => BigInt(addressOf(bytes)));
        symbols.run(from, to, words, arena.subarray(offset), threads);
      },
    };
  } finally {
    // The library stays open after its file is removed
    Deno.removeSync(folder, { recursive: true });
  }
}

function addressOf(bytes: Uint8Array): number {
  if (bytes.length === 0) return 0;
  return Number(Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes as Uint8Array<ArrayBuffer>)));
}
