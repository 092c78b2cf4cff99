/**
 * Functions that wait, compiled in pieces: results, effects and their order among other microtasks are those of the
 * plain program, and code after a wait is compiled too.
 */
import { assertEquals } from "@std/assert";
import { compile, compiler, config, isGradEnabled, noGrad, type Tensor, tensor } from "../mod.ts";

type Log = unknown[];

/** Returns what a test compares of a value. */
const shown = (value: unknown): unknown => {
  if (value instanceof Error) return String(value);
  return typeof value === "object" && value !== null && "tolist" in value
    ? (value as Tensor).tolist()
    : value;
};

type AsyncProgram = (x: Tensor, log: Log) => Promise<unknown>;

const ASYNC: Readonly<Record<string, AsyncProgram>> = {
  "a wait between operations": async (x, log) => {
    let y = x.add(1);
    await null;
    log.push("after");
    for (let i = 0; i < 5; i++) y = y.mul(2).sin();
    return y;
  },
  "a rejection that is caught": async (x, log) => {
    const twice = x.mul(2);
    try {
      await Promise.reject(new Error("no"));
      return twice;
    } catch (error) {
      log.push(String(error));
      return twice.add(3).mul(2);
    } finally {
      log.push("finally");
    }
  },
  "a rejection that leaves": async (x, log) => {
    const y = x.mul(2);
    log.push(y.shape);
    await Promise.reject(new RangeError("left"));
  },
  "waits in a loop": async (x, log) => {
    let y = x;
    for (let i = 0; i < 3; i++) {
      y = y.mul(2).add(i);
      log.push(await i);
    }
    return y;
  },
  "for await over an async generator": async (x, log) => {
    async function* values() {
      yield 1;
      await null;
      yield 2;
    }
    let y = x;
    for await (const value of values()) {
      y = y.add(value).mul(2);
      log.push(value);
    }
    return y;
  },
  "for await over an array, left early": async (x, log) => {
    let y = x;
    for await (const value of [Promise.resolve(1), 2, 3]) {
      y = y.mul(value + 1);
      if (value === 2) break;
      log.push(value);
    }
    return y;
  },
  "closures that wait together": async (x, log) => {
    const parts = await Promise.all([1, 2, 3].map(async (k) => {
      const y = x.mul(k);
      await null;
      log.push(k);
      return y.sin();
    }));
    return parts.reduce((a, b) => a.add(b));
  },
  "calls of another async function": async (x, log) => {
    const inner = async (y: Tensor, k: number) => {
      log.push(`in ${k}`);
      const z = y.mul(k);
      if (k === 1) return z;
      await k;
      if (k === 3) throw new Error("three");
      return z.add(k);
    };
    const first = await inner(x, 1), second = await inner(first, 2);
    try {
      return await inner(second, 3);
    } catch (error) {
      log.push(String(error));
      return second.mul(4);
    }
  },
  "async functions in async functions": async (x, log) => {
    const leaf = async (y: Tensor) => {
      const z = y.mul(2);
      await null;
      log.push("leaf");
      return z.add(1);
    };
    const middle = async (y: Tensor) => {
      const z = await leaf(y.add(1));
      log.push("middle");
      return (await leaf(z)).mul(3);
    };
    return (await middle(x)).add(await leaf(x));
  },
  "errors of async functions that are called": async (x, log) => {
    const fails = async (y: Tensor, how: string) => {
      const z = y.mul(2);
      try {
        if (how === "early") throw new Error(how);
        log.push(z.sum().item());
        await null;
        if (how === "late") throw new Error(how);
        if (how === "never") return z;
        throw new RangeError("caught inside");
      } catch (error) {
        if (error instanceof RangeError) return z.add(1);
        throw error;
      } finally {
        log.push(`finally ${how}`);
      }
    };
    let y = x;
    for (const how of ["early", "never", "late", "inside"]) {
      const promise = fails(y, how);
      log.push(`called ${how}`);
      try {
        y = y.add(await promise);
      } catch (error) {
        log.push(String(error));
      }
    }
    return y;
  },
  "a promise that nobody waits for at once": async (x, log) => {
    const work = async (y: Tensor) => {
      const z = y.mul(2);
      await null;
      log.push("worked");
      return z;
    };
    const pending = work(x);
    const meanwhile = x.add(5);
    log.push("meanwhile");
    return meanwhile.add(await pending);
  },
  "closures of one code with different variables": async (x, log) => {
    const make = (factor: number) => {
      let calls = 0;
      return async (y: Tensor) => {
        calls++;
        const z = y.mul(factor);
        await null;
        calls++;
        log.push(calls);
        return z.add(calls);
      };
    };
    const double = make(2), triple = make(3);
    return (await double(x)).add(await triple(x)).add(await double(x));
  },
  "methods that wait": async (x, log) => {
    class Model {
      calls = 0;
      constructor(readonly scale: number) {}
      async forward(y: Tensor): Promise<Tensor> {
        const z = y.mul(this.scale);
        await null;
        this.calls++;
        return z.add(this.calls);
      }
    }
    const model = new Model(3);
    const y = await model.forward(await model.forward(x));
    log.push(model.calls);
    return y;
  },
  "an error before the first wait": async (x, log) => {
    const y = x.mul(2);
    log.push("before");
    if (y.shape[0] === 2) throw new TypeError("early");
    await null;
  },
  "no wait where it matters": async (x, log) => {
    if (log.length > 1e6) await null;
    return x.mul(2);
  },
  "a promise as the result": async (x, log) => {
    const number = Promise.resolve(5), y = x.mul(await number);
    log.push("between");
    return Promise.resolve(y.add(await number));
  },
  "a break and a wait": async (x, log) => {
    const step = (y: Tensor) => {
      const z = y.mul(3);
      log.push(z.sum().item());
      return z.add(1);
    };
    const first = step(x);
    await 1;
    return step(first);
  },
  "a resource that is given back asynchronously": async (x, log) => {
    const resource = {
      async [Symbol.asyncDispose]() {
        await null;
        log.push("given back");
      },
    };
    await using held = resource;
    log.push(typeof held);
    const y = x.mul(2);
    await null;
    return y.add(1);
  },
  "calls that are not traced and are awaited, with their errors": async (x, log) => {
    let y = x.mul(2).add(await outside(() => Promise.resolve(3)));
    for (const fail of [() => Promise.reject(new Error("later")), () => raise(new Error("now"))]) {
      try {
        y = y.add(await outside<number | Promise<number>>(fail));
      } catch (error) {
        log.push(String(error));
        y = y.mul(2);
      }
    }
    const kept = noGrad(() => outside(() => Promise.resolve(Number(isGradEnabled()))));
    await kept;
    log.push(kept instanceof Promise, await kept);
    y = y.add(await noGrad(async () => (await outside(() => isGradEnabled() ? 1 : 2)) + 1));
    return y.add(await outside(() => isGradEnabled() ? 1 : 2));
  },
  "resources whose disposal is waited for, beside those without": async (x, log) => {
    {
      await using _none = null, _other = undefined;
      log.push("none");
    }
    {
      await using _none = null;
      using _sync = new Resource(log, "sync");
      await using _async = new AsyncResource(log, "async");
      await using _last = null;
      log.push("all");
    }
    let y = x;
    for (const last of [1, 2]) {
      await using _resource = new AsyncResource(log, `pass ${last}`);
      y = y.mul(2);
      if (last === 1) continue;
    }
    return y;
  },
  "resources with synchronous disposal that is waited for": async (x, log) => {
    const thenable = { then: () => log.push("a result that is not awaited") };
    {
      await using _first = new Resource(log, "first", thenable);
      log.push("in");
    }
    log.push("out");
    try {
      await using _second = new Resource(log, "second", new Error("second"));
      await using _third = { [Symbol.asyncDispose]: null, [Symbol.dispose]: () => thenable } as never;
      log.push(x.mul(2).shape);
    } catch (error) {
      log.push(String(error));
    }
    return x.mul(3);
  },
  "for await over what is not a list": async (x, log) => {
    class Counted {
      constructor(readonly n: number) {}
      async *[Symbol.asyncIterator]() {
        try {
          for (let i = 0; i < this.n; i++) yield x.mul(i);
        } finally {
          log.push("closed");
        }
      }
    }
    const plain = {
      [Symbol.asyncIterator]: undefined,
      *[Symbol.iterator]() {
        yield Promise.resolve(1);
        yield 2;
      },
    };
    let y = x;
    for await (const value of new Counted(3)) y = y.add(value);
    for await (const value of new Counted(3)) if (value.shape[0] === 2) break;
    for await (const value of plain) y = y.add(value as number);
    for await (const value of new Set([later(3, log), 4])) y = y.add(await value);
    const list = [1];
    for await (const value of list) if (value < 3) list.push(value + 1);
    log.push(list.length);
    try {
      for await (const value of [1, Promise.reject(new Error("no"))]) y = y.mul(value);
    } catch (error) {
      log.push(String(error));
    }
    return y.sin();
  },
};

const outside = compiler.disable(<T>(made: () => T): T => made());

const raise = (error: Error): never => {
  throw error;
};

class Resource {
  constructor(readonly log: Log, readonly name: string, readonly result?: unknown) {}
  [Symbol.dispose](): unknown {
    this.log.push(`disposed of ${this.name}`);
    return this.result instanceof Error ? raise(this.result) : this.result;
  }
}

class AsyncResource {
  constructor(readonly log: Log, readonly name: string) {}
  async [Symbol.asyncDispose](): Promise<void> {
    await null;
    this.log.push(`disposed of ${this.name}`);
  }
}

/** A promise that is reported when it is asked. */
function later(value: number, log: Log): PromiseLike<number> {
  return {
    then: (done) => Promise.resolve(value).then((v) => (log.push(`asked for ${v}`), done?.(v) as never)),
  };
}

/** Returns the events of two calls of a program, beside another chain of microtasks. */
async function lifeOf(program: AsyncProgram): Promise<Log> {
  const log: Log = [];
  for (let call = 0; call < 2; call++) {
    const beside = (async () => {
      for (let tick = 0; tick < 16; tick++) {
        await null;
        log.push(`tick ${tick}`);
      }
    })();
    const promise = program(tensor([1, 2]), log);
    log.push("called", promise.constructor === Promise);
    const result = await promise.then(shown, (error) => `rejected: ${error}`);
    log.push("settled");
    await beside;
    log.push(result);
  }
  return log;
}

for (const [name, program] of Object.entries(ASYNC)) {
  Deno.test(`compiled async function: ${name}`, async () => {
    const plain = await lifeOf(program);
    for (const backend of ["eager", "aot_eager"]) {
      assertEquals(await lifeOf(compile(program, { backend })), plain, backend);
    }
  });
}

Deno.test("the code after a wait is compiled, and found again", async () => {
  const counter = new compiler.CompileCounter();
  const step = compile(async (x: Tensor) => {
    const y = x.mul(2);
    await null;
    return y.add(1).sin();
  }, { backend: counter });
  for (let call = 0; call < 3; call++) await step(tensor([1, 2]));
  assertEquals([counter.frameCount, counter.opCount], [2, 3]);
  assertEquals(compiler.status(step).uncompiled, []);
});

Deno.test("a loop over asynchronous values, and an awaited call that is not traced, break the graph at their waits only", async () => {
  async function* values(x: Tensor) {
    for (let i = 0; i < 3; i++) yield x.mul(i);
  }
  const reasons = async (fn: (x: Tensor) => Promise<Tensor>) => {
    const { breakReasons } = await compiler.explain(fn)(tensor([1, 2]));
    return breakReasons.map(({ id }) => id);
  };
  const overGenerator = await reasons(async (x) => {
    let y = x;
    for await (const value of values(x)) y = y.add(value);
    return y;
  });
  // The generator begins, it is asked for each value, and yields it
  assertEquals(overGenerator, ["GB0035", "GB0035", "GB0035"]);
  const overList = await reasons(async (x) => {
    let y = x;
    for await (const value of [1, Promise.resolve(2)]) y = y.mul(value).add(1);
    return y;
  });
  assertEquals(overList, ["GB0035"]);
  const afterCall = await reasons(async (x) => {
    const y = x.add(1);
    return y.mul(await outside(() => 3));
  });
  assertEquals(afterCall, ["GB0003"]);
  const withResource = await reasons(async (x) => {
    await using _resource = new AsyncResource([], "one");
    return x.mul(2);
  });
  // Its method waits, and the function for that
  assertEquals(withResource, ["GB0035", "GB0035"]);
});

Deno.test("an explanation covers the code after a wait", async () => {
  const report = await compiler.explain(async (x: Tensor) => {
    const y = x.mul(2);
    await null;
    return y.add(1).sin();
  })(tensor([1, 2]));
  assertEquals(report.opsPerGraph, [["mul"], ["add", "sin"]]);
  assertEquals(report.breakReasons.map(({ id }) => id), ["GB0035"]);
});

type GeneratorProgram = (x: Tensor, log: Log, factor?: number) => Generator<unknown, unknown, unknown>;

const GENERATORS: Readonly<Record<string, GeneratorProgram>> = {
  "values of a loop": function* (x, log) {
    let y = x.add(1);
    log.push("started");
    yield y;
    for (let i = 0; i < 3; i++) {
      y = y.mul(2).add(i);
      log.push(yield y);
    }
    return y.mul(10);
  },
  "handlers around the values": function* (x, log) {
    try {
      const y = x.mul(2);
      yield y;
      yield y.add(1);
    } catch (error) {
      log.push(`caught ${error}`);
      yield x.mul(5);
    } finally {
      log.push("finally");
      yield x.mul(7);
    }
  },
  "values of others": function* (x, log) {
    const y = x.mul(2);
    log.push(yield* [y, y.add(1)]);
    const given = yield* (function* () {
      try {
        log.push(yield y.mul(3));
        return 5;
      } finally {
        log.push("inner finally");
      }
    })();
    return y.add(given);
  },
  "a parameter that is computed": function* (x, log, factor = (log.push("default"), 3)) {
    yield x.mul(factor);
  },
  "an array that is returned early": function* (x) {
    const [first] = (function* () {
      yield x.mul(2);
      yield x.mul(3);
    })();
    yield first;
  },
};

/** Ways to use a generator. */
const USES: Readonly<Record<string, (generator: Generator, log: Log) => void>> = {
  "to its end": (generator, log) => {
    let result = generator.next("first");
    for (let k = 0; !result.done; k++) {
      log.push(shown(result.value));
      result = generator.next(k);
    }
    log.push("end", shown(result.value), generator.next().done);
  },
  "returned from": (generator, log) => {
    log.push(shown(generator.next().value));
    for (let result = generator.return(42), k = 0; k < 4; result = generator.next(), k++) {
      log.push(shown(result.value), result.done);
    }
  },
  "thrown into": (generator, log) => {
    log.push(shown(generator.next().value));
    try {
      for (let result = generator.throw(new Error("thrown")); !result.done; result = generator.next()) {
        log.push(shown(result.value));
      }
    } catch (error) {
      log.push(shown(error));
    }
    log.push(generator.next().done);
  },
  "returned from before it starts": (generator, log) => {
    const { value, done } = generator.return(1);
    log.push(value, done, generator.next().done);
  },
  "left by a loop": (generator, log) => {
    for (const value of generator) {
      log.push(shown(value));
      break;
    }
    log.push(generator.next().done);
  },
};

function useOf(program: GeneratorProgram, original: GeneratorProgram): Log[] {
  return Object.entries(USES).flatMap(([name, use]) =>
    [1, 2].map(() => {
      const log: Log = [];
      const generator = program(tensor([1, 2]), log);
      log.push(name, Object.getPrototypeOf(generator) === original.prototype, String(generator));
      use(generator, log);
      return log;
    })
  );
}

for (const [name, program] of Object.entries(GENERATORS)) {
  Deno.test(`compiled generator: ${name}`, () => {
    const plain = useOf(program, program);
    assertEquals(plain.length, 10);
    for (const backend of ["eager", "aot_eager"]) {
      const compiled = compile(program, { backend });
      assertEquals(useOf(compiled, program), plain, backend);
      assertEquals(compiler.status(compiled).givenUp, null);
    }
  });
}

type AsyncGeneratorProgram = (x: Tensor, log: Log) => AsyncGenerator<unknown, unknown, unknown>;

const ASYNC_GENERATORS: Readonly<Record<string, AsyncGeneratorProgram>> = {
  "waits and values of a loop": async function* (x, log) {
    let y = x.add(1);
    log.push("started");
    yield y;
    for (let i = 0; i < 2; i++) {
      y = y.mul(await Promise.resolve(2)).add(i);
      log.push(yield y);
    }
    return y.mul(10);
  },
  "promises as values": async function* (x, log) {
    const y = x.mul(2);
    log.push(yield Promise.resolve(y));
    try {
      yield Promise.reject(new Error("rejected"));
    } catch (error) {
      log.push(String(error));
    }
    yield y.add(1);
  },
  "values of others": async function* (x, log) {
    const y = x.mul(2);
    log.push(yield* [y, Promise.resolve(y.add(1))]);
    const given = yield* (async function* () {
      log.push(yield y.mul(3));
      await null;
      return 5;
    })();
    return y.add(given);
  },
};

/** A program that the linter would refuse. */
function fromText(body: string): AsyncGeneratorProgram {
  return new Function(`return async function* (x, log) {${body}}`)();
}

const HANDLED: Readonly<Record<string, AsyncGeneratorProgram>> = {
  "handlers around the values": async function* (x, log) {
    try {
      const y = x.mul(2);
      yield y;
      await null;
      yield y.add(1);
    } catch (error) {
      log.push(`caught ${error}`);
      yield x.mul(5);
    } finally {
      log.push("finally");
      await null;
      yield x.mul(7);
    }
  },
  "what is returned from within handlers": async function* (x, log) {
    try {
      yield x.mul(2);
      return Promise.resolve(x.add(3));
    } finally {
      log.push("finally");
      await null;
    }
  },
  "a rejection that is returned": async function* (x, log) {
    try {
      yield x.mul(2);
      return Promise.reject(new Error("late"));
    } catch (error) {
      log.push(`caught ${error}`);
      return x.add(1);
    } finally {
      log.push("finally");
    }
  },
  "a finally that returns": fromText(`
    for (let k = 0; k < 3; k++) {
      try {
        yield x.mul(k);
      } finally {
        log.push(k);
        await null;
        if (k === 1) return x.add(k);
      }
    }`),
  "an iterator that is closed": async function* (x, log) {
    const numbers = {
      *[Symbol.iterator]() {
        try {
          yield 1;
          yield 2;
        } finally {
          log.push("closed");
        }
      },
    };
    for (const k of numbers) log.push(yield x.mul(k));
    for await (const k of [Promise.resolve(3), 4]) yield x.mul(k);
  },
  "values of others within handlers": async function* (x, log) {
    const inner = async function* () {
      try {
        yield x.add(1);
        return "inner";
      } finally {
        log.push("inner finally");
        await null;
      }
    };
    try {
      log.push(yield* inner());
      yield* [x.mul(2), x.mul(3)];
    } finally {
      log.push("finally");
    }
  },
};

/** The same where a return() in progress reaches another value that is yielded between handlers. */
const HANDLED_AGAIN: Readonly<Record<string, AsyncGeneratorProgram>> = {
  "a finally that goes on": fromText(`
    for (let k = 0; k < 3; k++) {
      try {
        yield x.mul(k);
      } finally {
        log.push(k);
        await null;
        continue;
      }
    }
    return x;`),
  "handlers within handlers": async function* (x, log) {
    try {
      yield x.mul(2);
    } finally {
      try {
        yield x.mul(3);
      } finally {
        log.push("inner");
        await null;
        yield x.mul(4);
      }
    }
  },
};

const ASYNC_USES: Readonly<Record<string, (generator: AsyncGenerator, log: Log) => Promise<void>>> = {
  "to its end": async (generator, log) => {
    let result = await generator.next("first");
    for (let k = 0; !result.done; k++) {
      log.push(shown(result.value));
      result = await generator.next(k);
    }
    log.push("end", shown(result.value), (await generator.next()).done);
  },
  "returned from": async (generator, log) => {
    log.push(shown((await generator.next()).value));
    for (let result = await generator.return(Promise.resolve(42)), k = 0; k < 3; k++) {
      log.push(shown(result.value), result.done);
      result = await generator.next();
    }
  },
  "thrown into": async (generator, log) => {
    log.push(shown((await generator.next()).value));
    try {
      for (
        let result = await generator.throw(new Error("thrown"));
        !result.done;
        result = await generator.next()
      ) {
        log.push(shown(result.value));
      }
    } catch (error) {
      log.push(shown(error));
    }
  },
  "asked for all at once": async (generator, log) => {
    const results = await Promise.all([1, 2, 3, 4, 5, 6].map((value) => generator.next(value)));
    log.push(results.map(({ value, done }) => [shown(value), done]));
  },
};

/** `ticks`: beside another chain of microtasks. */
async function asyncUseOf(
  program: AsyncGeneratorProgram,
  original: AsyncGeneratorProgram,
  { ticks }: { readonly ticks: boolean },
): Promise<Log[]> {
  const logs: Log[] = [];
  for (const use of Object.values(ASYNC_USES)) {
    for (let call = 0; call < 2; call++) {
      const log: Log = [], generator = program(tensor([1, 2]), log);
      log.push(Object.getPrototypeOf(generator) === original.prototype, String(generator));
      const beside = (async () => {
        for (let tick = 0; ticks && tick < 40; tick++) {
          await null;
          log.push(`tick ${tick}`);
        }
      })();
      await use(generator, log);
      await beside;
      logs.push(log);
    }
  }
  return logs;
}

for (
  const [programs, ticks] of [[{ ...ASYNC_GENERATORS, ...HANDLED }, true], [HANDLED_AGAIN, false]] as const
) {
  for (const [name, program] of Object.entries(programs)) {
    Deno.test(`compiled async generator: ${name}`, async () => {
      const plain = await asyncUseOf(program, program, { ticks });
      for (const backend of ["eager", "aot_eager"]) {
        const compiled = compile(program, { backend });
        assertEquals(await asyncUseOf(compiled, program, { ticks }), plain, backend);
        assertEquals(compiler.status(compiled).givenUp, null);
      }
    });
  }
}

for (const [name, program] of Object.entries({ ...ASYNC_GENERATORS, ...HANDLED, ...HANDLED_AGAIN })) {
  Deno.test(`async generator called by compiled code: ${name}`, async () => {
    const calling = (x: Tensor, log: Log) => {
      const generator = program(x.mul(2).div(2), log);
      log.push("called");
      return generator;
    };
    const plain = await asyncUseOf(calling, program, { ticks: true });
    for (const forceBreak of [-1, 2, 5]) {
      const compiled = compile(calling, { backend: "eager" });
      config.forceBreak = forceBreak;
      const found = await asyncUseOf(compiled, program, { ticks: true });
      config.forceBreak = -1;
      assertEquals(found, plain, `a break at ${forceBreak}`);
      assertEquals(compiler.status(compiled).givenUp, null);
    }
  });
}

Deno.test("an async generator without instructions, because of direct eval, runs plainly when compiled code calls it", async () => {
  const program: (x: Tensor) => Promise<Tensor> = new Function(`return async function (x) {
    const evaluating = async function* (x) {
      yield x.mul(eval("2"));
    };
    let y = x.add(1);
    for await (const part of evaluating(y)) y = y.add(part);
    return y.mul(2);
  }`)();
  const compiled = compile(program, { backend: "eager" }), x = tensor([1, 2]);
  for (let call = 0; call < 2; call++) {
    assertEquals((await compiled(x)).tolist(), (await program(x)).tolist());
  }
  const { givenUp, uncompiled } = compiler.status(compiled);
  // Around it there is no way on: that is said, and nothing of dyn's has failed
  assertEquals([givenUp, uncompiled.map(({ reason }) => reason.id)], [null, ["GB0028"]]);
});

Deno.test("the body of an async generator that compiled code iterates over is captured", async () => {
  async function* parts(this: { by: number }, x: Tensor, log: Log, from = (log.push("default"), 1)) {
    log.push("begun");
    for (let i = from; i < 3; i++) yield x.mul(i * this.by).sin();
    await null;
    yield x.cos();
  }
  const refused = async function* (x: Tensor, _log: Log, by = Number(Symbol("none"))) {
    yield x.mul(by);
  };
  const program = async (x: Tensor, log: Log) => {
    const object = { by: 2, parts };
    let y = x.add(1);
    for await (const part of object.parts(y, log)) {
      log.push("part");
      y = y.add(part);
    }
    try {
      for await (const part of refused(y, log)) y = y.add(part);
    } catch (error) {
      log.push(String(error));
    }
    return y.sin();
  };
  const counter = new compiler.CompileCounter(), compiled = compile(program, { backend: counter });
  const x = tensor([0.5, 1]), expected: Log = [], result = shown(await program(x, expected));
  for (let call = 0; call < 3; call++) {
    const log: Log = [];
    assertEquals([shown(await compiled(x, log)), log], [result, expected]);
  }
  // x + 1, two products with their sines, a cosine, two sums, of which one serves all further rounds, and a sine
  assertEquals(counter.opCount, 9);
});

Deno.test("a compiled function is of the same kind as the original", () => {
  const fns = [
    function* (x: Tensor) {
      yield x;
    },
    async function* (x: Tensor) {
      yield await x;
    },
    async (x: Tensor) => await x,
    (x: Tensor) => x,
  ];
  for (const fn of fns) {
    const compiled = compile(fn, { backend: "eager" });
    assertEquals(Object.getPrototypeOf(compiled), Object.getPrototypeOf(fn));
    if ("prototype" in fn) assertEquals(compiled(tensor([1])) instanceof compiled, true);
  }
});
