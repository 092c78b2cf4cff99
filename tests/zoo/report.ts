/**
 * Prints how far every model of the zoo is from PyTorch's float64 numbers on every tier, as a Markdown table, and the
 * counts of its capture.
 *
 *     deno task zoo [tier ...]
 *
 * Tiers: float64, eager (nothing compiled), aot_eager, native, wasm, webgpu. Each runs in a process of its own.
 * Numbers: root mean square errors relative to the size of what they are errors of, for logits / gradients / the losses
 * of ten steps.
 */
import { init } from "../../mod.ts";
import { type Errors, errorsOf, torchErrors, wantedOf } from "./errors.ts";
import { readNumbers } from "./numbers.ts";
import { run, type Tier } from "./runner.ts";
import type { Counts, ExpectedCounts } from "./specimen.ts";
import { ZOO } from "./zoo.ts";

const TIERS: Readonly<Record<string, Tier>> = {
  float64: { name: "float64", dtype: "float64" },
  eager: { name: "eager" },
  aot_eager: { name: "aot_eager", options: { backend: "aot_eager" } },
  native: { name: "native", options: { backend: "inductor" } },
  wasm: { name: "wasm", options: { backend: "inductor" } },
  webgpu: { name: "webgpu", options: { backend: "inductor" }, device: "webgpu" },
};

/** The findings of one process. */
interface Row {
  readonly model: string;
  readonly torch: Errors["groups"];
  readonly groups: Errors["groups"];
  readonly counts: ExpectedCounts;
}

async function measure(tier: Tier): Promise<void> {
  if (tier.name === "wasm") await import("./as_wasm.ts");
  if (tier.device) await init({ device: tier.device });
  for (const specimen of ZOO) {
    const numbers = await readNumbers(specimen.name);
    try {
      const { elements, counts } = run(specimen, numbers, tier);
      const { groups } = errorsOf(elements, wantedOf(numbers));
      const row: Row = { model: specimen.name, torch: torchErrors(numbers).groups, groups, counts };
      console.log(JSON.stringify(row));
    } catch (error) {
      console.error(`${specimen.name} on ${tier.name}: ${error instanceof Error ? error.message : error}`);
    }
  }
}

async function rowsOf(name: string): Promise<readonly Row[]> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", import.meta.filename ?? "", `--measure=${name}`],
    stderr: "inherit",
  }).output();
  const lines = new TextDecoder().decode(stdout).split("\n").filter((line) => line.startsWith("{"));
  return lines.map((line): Row => JSON.parse(line));
}

const sizes = ({ logits, grad, losses }: Errors["groups"]): string =>
  [logits, grad, losses].map((x) => x.toExponential(0)).join(" / ");
const counts = ({ graphs, breaks, recompiles }: Counts): string => `${graphs}/${breaks}/${recompiles}`;
const line = (cells: readonly string[]): void => console.log(`| ${cells.join(" | ")} |`);

const [measured] = Deno.args.filter((arg) => arg.startsWith("--measure="));
const tier = TIERS[measured?.slice(10) ?? ""];
if (tier) {
  await measure(tier);
} else {
  const names = Deno.args.length > 0 ? Deno.args : ["eager", "aot_eager", "native", "wasm"];
  const found = new Map<string, readonly Row[]>();
  for (const name of names) found.set(name, await rowsOf(name));
  line(["model", "PyTorch float32", ...names, "forward", "loss", "step"]);
  line(["---", ...names.map(() => "---"), "---", "---", "---", "---"]);
  for (const { name } of ZOO) {
    const rows = names.map((each) => found.get(each)?.find((row) => row.model === name));
    const compiled = rows.findLast((row) => row && row.counts.step.graphs > 0), [any] = rows;
    line([
      name,
      any ? sizes(any.torch) : "–",
      ...rows.map((row) => row ? sizes(row.groups) : "–"),
      ...(["forward", "loss", "step"] as const).map((part) => compiled ? counts(compiled.counts[part]) : "–"),
    ]);
  }
}
