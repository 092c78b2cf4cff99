/** Compiled async code reads promises' constructors as often as the language does, and closes iterators as it does. */
import { assertEquals } from "@std/assert";
import { compile, config, ones, type Tensor } from "../mod.ts";

type Program = (x: Tensor, log: string[]) => Promise<unknown>;

const held = Promise.resolve(3);

/** An iterator that gives the values and notes what ends it. */
function noting(log: string[], value: () => unknown) {
  return {
    [Symbol.iterator]() {
      return this;
    },
    next: () => ({ value: value(), done: false }),
    return() {
      log.push("return");
      return { value: held, done: true };
    },
  };
}

const PROGRAMS: Readonly<Record<string, Program>> = {
  async "await"(x, log) {
    await held;
    log.push("on");
    await 1;
    return x.add(1);
  },
  async "for await over a list"(x, log) {
    for await (const each of [held, 1, held]) {
      log.push("item");
      x = x.add(each);
    }
    return x;
  },
  async "for await that is left"(x, log) {
    for await (const each of noting(log, () => held)) {
      x = x.add(Number(each));
      break;
    }
    return x;
  },
  async "for await over promises that are rejected"(x, log) {
    try {
      for await (const each of noting(log, () => Promise.reject(new Error("no")))) log.push(String(each));
    } catch (error) {
      log.push(String(error));
    }
    return x.add(1);
  },
  async "an async generator that hands a list on"(x, log) {
    const items = async function* () {
      yield* [held, held];
      log.push("end");
    };
    for await (const each of items()) x = x.add(each);
    return x;
  },
  async "an async generator into which an error is thrown"(x, log) {
    const items = async function* () {
      try {
        yield* noting(log, () => 1);
      } finally {
        log.push("left");
      }
    };
    const running = items();
    await running.next();
    await running.throw(new Error("stop")).catch((error: unknown) => log.push(String(error)));
    return x.add(1);
  },
};

/** Returns what a program notes, and its look-ups of constructors; waiting for the result does not count. */
function run(program: Program): { readonly noted: Promise<string[]> } {
  const log: string[] = [], x = ones([2]);
  const own = Object.getOwnPropertyDescriptor(Promise.prototype, "constructor") ?? {};
  const get = () => {
    log.push("constructor");
    return Promise;
  };
  const { promise, resolve, reject } = Promise.withResolvers<string[]>();
  const end = () => Object.defineProperty(Promise.prototype, "constructor", own);
  Object.defineProperty(Promise.prototype, "constructor", { configurable: true, get });
  program(x, log).then(() => (end(), resolve(log)), (error) => (end(), reject(error)));
  return { noted: promise };
}

for (const [name, program] of Object.entries(PROGRAMS)) {
  Deno.test(`promises read their constructor as often as the language does: ${name}`, async () => {
    // Who runs the tests waits from here on, and is not counted
    await null;
    const plain = await run(program).noted;
    for (const forceBreak of [-1, 3, 6, 9, 12, 15]) {
      const compiled = compile(program, { backend: "eager" });
      config.forceBreak = forceBreak;
      const { noted } = run(compiled);
      assertEquals(await noted, plain, `a break at ${forceBreak}`);
      config.forceBreak = -1;
      assertEquals(await run(compiled).noted, plain);
    }
  });
}
