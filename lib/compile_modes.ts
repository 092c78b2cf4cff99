/**
 * The modes of `compile`: names for settings of the code generator. Invariant: the table is total, and names only
 * settings that exist.
 */
import { refuseChoice, refuseSurplus } from "./base/checked_input.ts";
import { config, type InductorConfig } from "./base/config.ts";

/**
 * The optimisation mode, as in `torch.compile`. "max-autotune": the first call times alternatives of each kernel and
 * keeps the fastest; "max-autotune-no-cudagraphs" is the same. "reduce-overhead": graphs on WebGPU are recorded, and
 * results that need no gradient are in memory that the next call overwrites; on the CPU every graph is already one
 * native call, so there it equals the default and logs that under perf_hints.
 */
export type Mode = "default" | "reduce-overhead" | "max-autotune" | "max-autotune-no-cudagraphs";

/** Settings of the code generator by name. */
export type ModeOptions = Readonly<Partial<Omit<InductorConfig, "trace">>>;

const MODES: Readonly<Record<Mode, ModeOptions>> = {
  "default": {},
  "reduce-overhead": { replay: true },
  "max-autotune": { maxAutotune: true },
  "max-autotune-no-cudagraphs": { maxAutotune: true },
};

function isMode(mode: string): mode is Mode {
  return Object.hasOwn(MODES, mode);
}

function checked(mode: string): Mode {
  return isMode(mode) ? mode : refuseChoice("mode of compile", Object.keys(MODES), mode);
}

/** Returns the settings of a mode. Throws DynError for an unknown one. */
export function settingsOf(mode: string): ModeOptions {
  return MODES[checked(mode)];
}

/** Returns the settings of each mode, like `torch._inductor.list_mode_options`. */
export function listModeOptions(): Readonly<Record<Mode, ModeOptions>>;
/** Returns the settings of one mode. Throws DynError for an unknown mode. */
export function listModeOptions(mode: Mode): ModeOptions;
export function listModeOptions(mode?: Mode): Readonly<Record<string, ModeOptions>> | ModeOptions {
  if (arguments.length > 1) refuseSurplus("listModeOptions", 1, arguments);
  return mode === undefined ? structuredClone(MODES) : { ...MODES[checked(mode)] };
}

/** Returns the names of `compile`'s `options`, groups dotted; like `torch._inductor.list_options`. */
export function listOptions(): string[] {
  if (arguments.length > 0) refuseSurplus("listOptions", 0, arguments);
  const inductor = Object.entries(config.inductor).flatMap(([name, value]) =>
    name === "trace" ? Object.keys(value).map((each) => `trace.${each}`) : [name]
  );
  return [...inductor, "guardFilterFn", "keepFaster", "shadow"].sort();
}
