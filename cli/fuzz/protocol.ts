/**
 * The protocol between the command line and fuzzing processes. Invariant: imports nothing, so that the command line
 * need not load what only those processes use.
 */

/** Tiers on which compiled programs run. */
export const TIERS = ["eager", "aot_eager", "wasm", "native", "webgpu"] as const;

/** A way of running compiled programs. */
export type Tier = typeof TIERS[number];

/** The names of the fuzzers. */
export const FUZZER_NAMES = ["tensors", "language"] as const;

/** The name of a fuzzer. */
export type FuzzerName = typeof FUZZER_NAMES[number];

/** The public properties of a fuzzer. */
export interface FuzzerInfo {
  readonly name: FuzzerName;
  /** The kind of programs that it generates. */
  readonly summary: string;
  /** Tiers on which it can run. */
  readonly tiers: readonly Tier[];
}

/** The fuzzers; the first one runs by default. */
export const FUZZERS: readonly [FuzzerInfo, ...FuzzerInfo[]] = [
  {
    name: "tensors",
    summary: "functions of ops, views, writes, gradients and optimizers",
    tiers: TIERS,
  },
  {
    name: "language",
    summary: "statements and expressions of the language around tensors",
    // Each program breaks its graph many times, and each part would need a shader
    tiers: TIERS.filter((tier) => tier !== "webgpu"),
  },
];

/** Returns the backend of a tier. */
export function backendOf(tier: Tier): string {
  return tier === "eager" || tier === "aot_eager" ? tier : "inductor";
}

/** A compiled run that differs from the plain one. */
export interface Failure {
  readonly tier: Tier;
  /** The kind of difference, which stays the same while a program shrinks. */
  readonly kind: string;
  /** The place of the difference, with both outcomes. */
  readonly text: string;
}

/** Events of a campaign, as data that can be sent to another process. */
export type CampaignEvent =
  /** A program is about to run; if the process dies, the last one is the cause. */
  | { readonly event: "program"; readonly seed: number; readonly index: number }
  /** A program is being shrunk. */
  | { readonly event: "shrinking" }
  | {
    readonly event: "finding";
    readonly seed: number;
    readonly path: string;
    readonly signature: string;
    readonly failure: Failure;
    /** A file that reproduces it. */
    readonly file: string;
  }
  | { readonly event: "end"; readonly nextSeed: number; readonly counts: Readonly<Record<string, number>> };

/** The instructions to a worker. */
export interface WorkerTask {
  readonly fuzzer: FuzzerName;
  readonly tier: Tier;
  readonly seed: number;
  readonly programs: number;
  readonly seconds: number;
  /** Maximum number of seconds for shrinking one failing program. */
  readonly shrinkSeconds: number;
  /** Runs only one program: that of the seed at this path. */
  readonly path?: string;
  /** Kinds of statements not to generate, and of observations not to compare. */
  readonly without: readonly string[];
}
