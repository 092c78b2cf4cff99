/**
 * The programs in examples/ run in a short form: in this process, uncompiled by kernels, with few steps. Input: nothing;
 * output: none. Invariant: every program of the folder is listed here.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { compiler } from "../mod.ts";

/** Arguments of the short form, and what the last line must look like. */
const SHORT: Readonly<Record<string, readonly [args: readonly string[], last: RegExp]>> = {
  "custom_backend.ts": [["--steps=5"], /^2 graphs became loops, 0 were handed back$/],
  "dqn.ts": [["--episodes=3"], /^best mean of twenty episodes: \d+ of 300 ticks$/],
  "gaussian_process.ts": [["--steps=5"], /^at 13 places: off by 0\.\d+, expected 0\.\d+$/],
  "gpt.ts": [["--steps=2", "--width=16", "--layers=1", "--context=16"], /^A graph.{2}/],
  "lora.ts": [["--steps=5"], /^trained 785 of 5329 numbers$/],
  "physics.ts": [["--steps=3"], /^at 0\.5: u = .*, the equation leaves -?\d/],
  "time_series.ts": [
    ["--epochs=1", "--train=50"],
    /^on later values: off by \d\.\d+; the last value repeated is off by \d\.\d+$/,
  ],
  "vae.ts": [["--epochs=1", "--train=200"], /./],
};

Deno.test("the examples run in a short form", async () => {
  const listed = [...Deno.readDirSync(new URL("../examples/", import.meta.url))].map(({ name }) => name);
  const programs = listed.filter((name) => name.endsWith(".ts") && name !== "mnist.ts").sort();
  assertEquals(programs, Object.keys(SHORT));
  const { log } = console, args = [...Deno.args], backend = compiler.getDefaultBackend();
  compiler.setDefaultBackend("aot_eager");
  try {
    for (const [name, [given, last]] of Object.entries(SHORT)) {
      const shown: string[] = [];
      console.log = (...parts: readonly unknown[]) => void shown.push(parts.join(" "));
      Object.defineProperty(Deno, "args", { value: given, configurable: true });
      await import(new URL(`../examples/${name}`, import.meta.url).href);
      assertMatch(shown.at(-1) ?? "", last, name);
    }
  } finally {
    console.log = log;
    Object.defineProperty(Deno, "args", { value: args, configurable: true });
    compiler.setDefaultBackend(backend);
  }
});
