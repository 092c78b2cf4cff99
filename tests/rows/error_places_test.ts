/**
 * Errors after a graph break appear where the program wrote what fails: file, line, column and names are the
 * original's, although newly printed code runs there.
 */
import { assertEquals } from "@std/assert";
import { compile, compiler, config, counters, DynError, type Tensor, tensor } from "../../mod.ts";

const lines = Deno.readTextFileSync(new URL(import.meta.url)).split("\n");

/** The first frame's function and the text of its line from its column on, and the message. */
function failure(
  call: () => unknown,
): { readonly at: string; readonly inside: string; readonly says: string } {
  try {
    call();
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown;
    const frame = thrown.stack?.split("\n").find((line) => line.includes(import.meta.url)) ?? "";
    const [, inside = "", line, column] = /at (?:(.*) \()?file:.*?:(\d+):(\d+)/.exec(frame) ?? [];
    const at = lines[Number(line) - 1]?.slice(Number(column) - 1).trimEnd() ?? "";
    // The rest of a method has no receiver, by whose class V8 would call it.
    return { at, inside: inside.replace(/^\w+\./, ""), says: thrown.message };
  }
  throw new Error("Expected the call to fail");
}

/** Splits the graph wherever it is called. */
const interrupt = compiler.disable(() => {});

interface Bad {
  foo(): Tensor;
  readonly inner: { readonly most: number };
}

/** Returns the number of graph breaks. */
const breaks = () => counters.total("graph_break");

const bad = (value: unknown) => value as Bad;
const x = () => tensor([1, 2, 3], { dtype: "float32" });

function chained(given: Tensor): Tensor {
  const y = given.sin();
  interrupt();
  return y
    .cos()
    .relu()
    .matmul(tensor([[1, 2]]));
}

function named(given: Tensor): unknown {
  const missing = bad(given.sin());
  interrupt();
  if (given.shape[0] === 3) {
    for (const k of [1, 2]) {
      if (k === 2) return missing.foo();
    }
  }
  return given;
}

class Counter {
  constructor(readonly found: Bad | undefined) {}

  step(given: Tensor): unknown {
    const y = given.exp();
    interrupt();
    return y.mul(this.found!.inner.most);
  }
}

function* produced(given: Tensor): Generator<unknown> {
  const y = given.exp();
  interrupt();
  yield y;
  const z = y.neg();
  yield z.add(tensor([[1, 2]]));
}

function outer(given: Tensor): unknown {
  const y = given.exp();
  interrupt();
  const later = (z: Tensor) => {
    return z.view(5);
  };
  return later(y);
}

Deno.test("errors after a break show the original's line, column and names", () => {
  const eager = { backend: "eager" };
  const counter = new Counter(undefined);
  const calls: Record<string, readonly [plain: () => unknown, compiled: () => unknown]> = {
    chained: [() => chained(x()), () => compile(chained, eager)(x())],
    named: [() => named(x()), () => compile(named, eager)(x())],
    step: [() => counter.step(x()), () => compile((t: Tensor) => counter.step(t), eager)(x())],
    produced: [() => [...produced(x())], () => compile((t: Tensor) => [...produced(t)], eager)(x())],
    outer: [() => outer(x()), () => compile(outer, eager)(x())],
  };
  for (const [name, [plain, compiled]] of Object.entries(calls)) {
    const before = breaks();
    assertEquals(failure(compiled), failure(plain), name);
    assertEquals(breaks() > before, true, name);
  }
});

interface Given {
  readonly most?: { readonly n: number };
}

class Refusal extends Error {}

const former = new Error("of another place");

/** Functions that end in an error that is not dyn's: the engine's, or the program's own. */
const ENDING: Readonly<Record<string, (t: Tensor, given: Given) => unknown>> = {
  first: (t, { most }) => t.mul(most!.n),
  behind(t, { most }) {
    const y = t.exp();
    interrupt();
    return y.mul(most!.n);
  },
  inside: (t, { most }) => [1, 2].map((k) => t.mul(k + most!.n)),
  thrown(t) {
    if (t.shape[0] === 3) throw new Refusal("three");
    return t;
  },
  caused(t, { most }) {
    try {
      return t.mul(most!.n);
    } catch (cause) {
      throw new Refusal("an outer one", { cause });
    }
  },
  deep: (t, given) => descend(t, given, 12),
  former() {
    throw former;
  },
  other() {
    throw "a text";
  },
  async awaited(t, { most }) {
    await null;
    return t.mul(most!.n);
  },
};

function descend(t: Tensor, given: Given, levels: number): unknown {
  return levels > 0 ? descend(t, given, levels - 1) : t.mul(given.most!.n);
}

Deno.test("errors that are not dyn's show the program's frames and its callers, as if nothing were compiled", async () => {
  const stackOf = async (f: (t: Tensor, given: Given) => unknown) => {
    try {
      await f(x(), {});
      return "none";
    } catch (thrown) {
      // Those of the runtime, which runs the tests, are shown for none
      return thrown instanceof Error
        ? thrown.stack?.split("\n").filter((line) => !line.includes("(ext:"))
        : thrown;
    }
  };
  for (const [name, f] of Object.entries(ENDING)) {
    const compiled = compile(f, { backend: "eager" }), stacks: unknown[] = [];
    for (const each of [f, compiled, compiled]) stacks.push(await stackOf(each));
    assertEquals(stacks, Array(3).fill(stacks[0]), name);
  }
});

Deno.test("config.verbose shows dyn's own frames after the program's", () => {
  const stackOf = (verbose: boolean) =>
    config.patch({ verbose }, () => {
      try {
        x().view(5);
        return "";
      } catch (thrown) {
        return thrown instanceof DynError ? thrown.stack ?? "" : "";
      }
    });
  const own = /lib\/tensor\//;
  assertEquals([own.test(stackOf(false)), own.test(stackOf(true))], [false, true]);
  assertEquals(stackOf(true).split("\n")[1]?.includes("error_places_test.ts"), true);
});
