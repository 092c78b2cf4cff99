/**
 * `verify`: runs one small training step on every tier of this machine and compares it with the uncompiled one.
 *
 * It prints a line for each tier with the times of the first call and of later ones; exit code 1 if an available tier
 * computes other numbers or fails. Invariant: a tier that the machine does not have is reported and is not a failure.
 */
import { messageOf } from "../lib/base/errors.ts";
import { type Command, refuseWord } from "./command.ts";
import { type Toolkit, toolkit } from "./toolkit.ts";

/** The outcome of a tier. */
type Outcome =
  | { readonly state: "ok"; readonly first: number; readonly later: number }
  | { readonly state: "wrong" | "failed" | "absent"; readonly because: string };

/** A way of running: the settings that select it, or the reason why the machine does not have it. */
interface Tier {
  /** The name of the tier. */
  readonly name: string;
  readonly title: string;
  readonly backend: string | null;
  readonly device: string;
  readonly tier: "wait" | "wasm";
  readonly absent: string | null;
}

/** Number of calls after the first one. */
const CALLS = 5;

/** The largest difference of losses that rounding explains after that many steps. */
const TOLERANCE = 1e-4;

/** The names of all tiers. */
const NAMES = ["uncompiled", "eager", "aot_eager", "wasm", "cpp", "webgpu"];

async function tiersOf(dyn: Toolkit, wanted: ReadonlySet<string>): Promise<readonly Tier[]> {
  const { toolchainStatus } = await import("../backends/cpu/toolchain.ts");
  const status = toolchainStatus();
  const gpu = wanted.has("webgpu") ? await dyn.init({ device: "webgpu" }).then(() => null, messageOf) : null;
  const cpu = { device: "cpu", tier: "wait", absent: null } as const;
  return [
    { ...cpu, name: "uncompiled", title: "uncompiled", backend: null },
    { ...cpu, name: "eager", title: "captured", backend: "eager" },
    { ...cpu, name: "aot_eager", title: "differentiated ahead of time", backend: "aot_eager" },
    { ...cpu, name: "wasm", title: "WebAssembly", backend: "inductor", tier: "wasm" },
    {
      ...cpu,
      name: "cpp",
      title: "C++",
      backend: "inductor",
      absent: status.kind === "ready" ? null : status.reason,
    },
    { name: "webgpu", title: "WebGPU", backend: "inductor", device: "webgpu", tier: "wait", absent: gpu },
  ];
}

/** Losses of a few steps of a small network, and the times of the first and the later ones, in milliseconds. */
function train(
  dyn: Toolkit,
  { backend, device }: Tier,
): { readonly losses: number[]; readonly times: number[] } {
  const { compile, manualSeed, nn, optim, randn } = dyn;
  manualSeed(0);
  const x = randn(32, 8), target = x.sum(1, { keepdim: true }).sin();
  const model = new nn.Sequential(new nn.Linear(8, 32), new nn.Tanh(), new nn.Linear(32, 1)).to(device);
  const optimizer = new optim.Adam(model.parameters(), { lr: 0.01 });
  const step = () => {
    optimizer.zeroGrad();
    const loss = nn.functional.mseLoss(model.call(given), wanted);
    loss.backward();
    optimizer.step();
    return loss.detach();
  };
  const given = x.to(device), wanted = target.to(device);
  const run = backend === null ? step : compile(step, { backend, fullgraph: true });
  const losses: number[] = [], times: number[] = [];
  for (let k = 0; k <= CALLS; k++) {
    const start = performance.now();
    losses.push(run().item());
    times.push(performance.now() - start);
  }
  return { losses, times };
}

function verified(dyn: Toolkit, tier: Tier, expected: readonly number[] | null): {
  readonly outcome: Outcome;
  readonly losses: readonly number[] | null;
} {
  if (tier.absent !== null) return { outcome: { state: "absent", because: tier.absent }, losses: null };
  try {
    const { losses, times } = dyn.config.patch(
      { inductor: { tier: tier.tier, errorOnFallback: true } },
      () => train(dyn, tier),
    );
    const [first = 0, ...later] = times;
    const off = Math.max(...losses.map((loss, k) => Math.abs(loss - (expected?.[k] ?? loss))));
    if (!(off <= TOLERANCE)) {
      return { outcome: { state: "wrong", because: `losses differ by ${off.toExponential(1)}` }, losses };
    }
    return { outcome: { state: "ok", first, later: Math.min(...later) }, losses };
  } catch (thrown) {
    return { outcome: { state: "failed", because: messageOf(thrown).split("\n", 1).join() }, losses: null };
  }
}

function line(name: string, outcome: Outcome): string {
  const text = outcome.state === "ok"
    ? `${outcome.first.toFixed(0).padStart(6)} ms at first, ${outcome.later.toFixed(2)} ms a step`
    : outcome.because.split("\n", 1).join();
  return `${outcome.state.padEnd(7)} ${name.padEnd(30)} ${text}`;
}

/** `dyn verify`. */
export const verifyCommand: Command = {
  name: "verify",
  usage: "verify [tiers]",
  summary: "Run a small training step on every tier, and compare",
  help: `Tiers: ${NAMES.join(", ")}; all of them unless some are named.`,
  takesFlags: false,
  run: async (args) => {
    const unknown = args.find((name) => !NAMES.includes(name));
    if (unknown !== undefined) refuseWord("a tier", NAMES, unknown);
    // The uncompiled step is the reference for the others.
    const wanted = new Set(args.length === 0 ? NAMES : ["uncompiled", ...args]);
    const dyn = await toolkit();
    let expected: readonly number[] | null = null, failed = false;
    for (const tier of await tiersOf(dyn, wanted)) {
      if (!wanted.has(tier.name)) continue;
      const { outcome, losses } = verified(dyn, tier, expected);
      expected ??= losses;
      failed ||= outcome.state === "wrong" || outcome.state === "failed";
      console.log(line(tier.title, outcome));
    }
    return failed ? 1 : 0;
  },
};
