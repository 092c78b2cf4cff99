/** Promises that compiled functions reject and that nothing awaits are reported, like those of plain programs. */
import { assertEquals } from "@std/assert";
import { compile, compiler, config, ones, type Tensor } from "../mod.ts";

type Program = (x: Tensor) => unknown;

const PROGRAMS: Readonly<Record<string, Program>> = {
  "before the first wait"(x) {
    const run = async () => {
      await Promise.reject(new Error("awaited"));
    };
    run();
    return x.add(1);
  },
  "at once"(x) {
    const run = async () => {
      if (x.shape[0] === 2) throw new RangeError("at once");
      await null;
    };
    run();
    return x.add(1);
  },
  "in what an instruction calls"(x) {
    const run = async () => {
      await new Promise(undefined as never);
    };
    run();
    return x.add(1);
  },
  "behind a wait"(x) {
    const run = async () => {
      await null;
      throw new TypeError("late");
    };
    run();
    return x.add(1);
  },
  async "beside what is waited for"(x) {
    const run = async (k: number) => {
      if (k === 1) throw new Error("not waited for");
      return await k;
    };
    run(1);
    return [await run(2), x.add(1)];
  },
  async "that is handled later"(x) {
    const run = async () => {
      if (x.shape[0] === 2) throw new Error("handled");
      await null;
    };
    const held = run(), y = x.add(1);
    return [await held.catch(String), y];
  },
};

async function reported(program: Program): Promise<string[]> {
  const found: string[] = [];
  const note = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    found.push(String(event.reason));
  };
  addEventListener("unhandledrejection", note);
  await program(ones([2]));
  await new Promise((resolve) => setTimeout(resolve, 5));
  removeEventListener("unhandledrejection", note);
  return found;
}

for (const [name, program] of Object.entries(PROGRAMS)) {
  Deno.test(`a rejection is reported: ${name}`, async () => {
    const plain = await reported(program);
    for (const forceBreak of [-1, 2, 5, 8]) {
      const compiled = compile(program, { backend: "eager" });
      config.forceBreak = forceBreak;
      assertEquals(await reported(compiled), plain, `a break at ${forceBreak}`);
      config.forceBreak = -1;
      assertEquals(await reported(compiled), plain);
      assertEquals(compiler.status(compiled).givenUp, null);
    }
  });
}
