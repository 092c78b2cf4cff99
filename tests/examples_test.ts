/**
 * The programs in examples/ run in a short form, in this process and without kernels or on several ranks, and their
 * training makes progress. Invariant: every program of the folder is listed here; each run of the suite samples some.
 */
import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { compiler, distributed } from "../mod.ts";
import "./support/turns/models.ts";
import { runProgram } from "./support/process.ts";
import { sampleBySeed } from "./support/sampling.ts";

/** A short form. */
interface Short {
  readonly args: readonly string[];
  /** On how many processes it runs where MPI is there; in this one unless given. */
  readonly ranks?: number;
  /** Matches the printed measure: the last number is compared with the first. */
  readonly shown: RegExp;
  /** Maximum ratio of the last to the first number; a minimum if larger is better. */
  readonly atMost?: number;
  readonly atLeast?: number;
}

const SHORT: Readonly<Record<string, Short>> = {
  "custom_backend.ts": { args: ["--steps=20"], shown: /(?:loss|squared error) (\S+)/g, atMost: 0.5 },
  "custom_op.ts": { args: ["--steps=10"], shown: /(?:plain|DTW).*highest (\S+)/g, atLeast: 1.5 },
  "data_parallel.ts": {
    args: ["--epochs=2", "--train=64", "--test=22", "--batch=16"],
    shown: /loss (\S+),/g,
    atMost: 0.9,
  },
  "diffusion.ts": {
    args: ["--epochs=1", "--train=192", "--times=10", "--draw=1"],
    shown: /loss (\S+)/g,
    atMost: 0.9,
  },
  "dqn.ts": { args: ["--episodes=80", "--ticks=80"], shown: /: (\d+) of/g, atLeast: 2 },
  "gaussian_process.ts": { args: ["--steps=10"], shown: /likelihood (\S+)/g, atMost: 0.5 },
  "gpt.ts": {
    args: ["--steps=10", "--width=16", "--layers=1", "--context=16"],
    shown: /loss (\S+)/g,
    atMost: 0.9,
  },
  "image_classifier.ts": {
    args: ["--train=100", "--test=50", "--width=8", "--pictures=50", "--epochs=3", "--blocks=1"],
    shown: /loss (\S+)/g,
    atMost: 0.9,
  },
  "lora.ts": { args: ["--steps=40"], shown: /(\S+) (?:before|after)/g, atMost: 0.9 },
  "mnist.ts": {
    args: ["--epochs=2", "--train=64", "--test=22", "--batch=16", "--backend=aot_eager"],
    shown: /loss (\S+)/g,
    atMost: 0.9,
  },
  "physics.ts": { args: ["--steps=30"], shown: /loss (\S+)/g, atMost: 0.5 },
  "sharded_gpt2.ts": {
    ranks: 4,
    args: ["--steps=6", "--layers=1", "--width=16", "--context=16", "--batch=4", "--rate=0.02"],
    shown: /loss (\S+)/g,
    atMost: 0.9,
  },
  "style_transfer.ts": {
    args: ["--epochs=1", "--train=200", "--steps=1"],
    shown: /style (\d\S+)/g,
    atMost: 0.5,
  },
  "time_series.ts": { args: ["--epochs=2", "--train=100"], shown: /loss (\S+)/g, atMost: 0.99 },
  "vae.ts": { args: ["--epochs=2", "--train=400"], shown: /loss (\S+)/g, atMost: 0.9 },
  "web_classifier.ts": {
    args: ["--epochs=2", "--train=64", "--batch=16", "--serve=false"],
    shown: /loss (\S+)/g,
    atMost: 0.9,
  },
};

/** Returns the output of a program on several ranks. */
async function shownByRanks(name: string, { ranks, args }: Short): Promise<string> {
  const [cli = "", program = ""] = ["../cli.ts", `../examples/${name}`].map((path) =>
    fileURLToPath(new URL(path, import.meta.url))
  );
  const words = ["run", "-A", "--no-check", cli, "launch", "-n", `${ranks}`, program, ...args];
  const { code, stdout, stderr } = await runProgram(Deno.execPath(), words, { env: { DYN_TIER: "wasm" } });
  assertEquals(code, 0, stderr);
  return stdout;
}

Deno.test("the examples run in a short form, and learn", async (t) => {
  const listed = [...Deno.readDirSync(new URL("../examples/", import.meta.url))].map(({ name }) => name);
  assertEquals(listed.filter((name) => name.endsWith(".ts")).sort(), Object.keys(SHORT));
  const { log } = console,
    { writeSync } = Deno.stdout,
    args = [...Deno.args],
    backend = compiler.getDefaultBackend();
  compiler.setDefaultBackend("aot_eager");
  const shows = { text: "" }, decoder = new TextDecoder();
  console.log = (...parts: readonly unknown[]) => void (shows.text += `${parts.join(" ")}\n`);
  Deno.stdout.writeSync = (bytes) => {
    shows.text += decoder.decode(bytes);
    return bytes.length;
  };
  try {
    for (
      const [name, short] of sampleBySeed(Object.entries(SHORT), 2)
    ) {
      await t.step(name, async () => {
        const { args: given, shown, atMost = Infinity, atLeast = -Infinity } = short;
        shows.text = "";
        if (short.ranks !== undefined && distributed.isAvailable()) {
          shows.text = await shownByRanks(name, short);
        } else {
          Object.defineProperty(Deno, "args", { value: given, configurable: true });
          await import(new URL(`../examples/${name}`, import.meta.url).href);
        }
        const numbers = [...shows.text.matchAll(shown)].map(([, number]) => Number(number));
        const [first = NaN] = numbers, last = numbers.at(-1) ?? NaN;
        const isBetter = last <= atMost * first && last >= atLeast * first;
        assert(isBetter, `Expected the last to be better than the first but found ${numbers}`);
      });
    }
  } finally {
    console.log = log;
    Deno.stdout.writeSync = writeSync;
    Object.defineProperty(Deno, "args", { value: args, configurable: true });
    compiler.setDefaultBackend(backend);
  }
});
