/**
 * The runtime of execution records: makes the recorded call and sets the exit code. Invariant: a value that could not
 * be recorded throws on access and is never replaced by another.
 */
import { refuseSurplus } from "../../base/checked_input.ts";
import type { AnyFunction } from "../../base/arguments.ts";
import { config, type ConfigPatch } from "../../base/config.ts";
import { DynError, messageOf } from "../../base/errors.ts";
import { compile, type CompileOptions } from "../../compile.ts";
import { setGradEnabled } from "../../tensor/modes.ts";
import { defaultGenerator, type GeneratorState } from "../../tensor/random.ts";

/** A recorded call. */
export interface ReplayedCall {
  /** The name of the error that it threw. */
  readonly error: string;
  readonly ambientState: {
    readonly gradEnabled: boolean;
    readonly generator: GeneratorState;
    readonly settings: ConfigPatch;
  };
  readonly target: AnyFunction;
  readonly self: unknown;
  readonly args: readonly unknown[];
  readonly options: CompileOptions;
}

/** Makes the call; exit code 1 if it throws as recorded, 3 if it throws another error. */
export async function replay(
  { error, ambientState, target, self, args, options }: ReplayedCall,
): Promise<void> {
  if (arguments.length > 1) refuseSurplus("replay", 1, arguments);
  const { gradEnabled, generator, settings } = ambientState;
  defaultGenerator.state = generator;
  try {
    const compiled = compile(target, options);
    await config.patch(
      settings,
      () => setGradEnabled(gradEnabled, () => Reflect.apply(compiled, self, args)),
    );
    console.log("No longer throws");
  } catch (thrown) {
    const name = thrown instanceof Error ? thrown.name : typeof thrown;
    console.log(name === error ? "Throws as recorded:" : `Throws, but not ${error} as recorded:`);
    console.log(thrown instanceof Error ? thrown.stack ?? messageOf(thrown) : String(thrown));
    Deno.exitCode = name === error ? 1 : 3;
  }
}

/** Returns a placeholder for a value that could not be recorded. */
export function missing(path: string, because: string): unknown {
  if (arguments.length > 2) refuseSurplus("missing", 2, arguments);
  const fail = (): never => {
    throw new DynError(`Expected ${path} in the record but it could not be recorded: ${because}`);
  };
  return new Proxy(function () {}, {
    apply: fail,
    construct: fail,
    get: fail,
    set: fail,
    has: fail,
    getPrototypeOf: fail,
    ownKeys: fail,
  });
}

/** Defines fields of an object, bypassing setters of its prototype. */
export function fill(object: object, fields: object): void {
  if (arguments.length > 2) refuseSurplus("fill", 2, arguments);
  for (const key of Reflect.ownKeys(fields)) {
    Object.defineProperty(object, key, {
      value: Reflect.get(fields, key),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
}
