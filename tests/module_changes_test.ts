/**
 * Guards on modules, their parameters and contents: every kind of change that a program may make between two calls of a
 * compiled function, against the same program uncompiled; and the cost of guards, as counts. Some of the changes,
 * selected by a seed (DYN_TEST_SEED), or all of them (DYN_TEST_ALL=1).
 */
import { assert, assertEquals } from "@std/assert";
import { difference, faults, observe, type Program } from "../cli/fuzz/language/observation.ts";
import { compile, nn, noGrad, ones, type Tensor, tensor } from "../mod.ts";
import { statusOf } from "../lib/dynamo/mod.ts";
import type { Change, Way } from "./support/changing_module.ts";
import "./support/turns/programs.ts";
import { sampleBySeed } from "./support/sampling.ts";
import { metadata } from "../lib/tensor/metadata_version.ts";

// Behind dyn, which prepares modules that are loaded after it: one of the ways assigns a captured variable
const { CHANGES, freshNet, WAYS } = await import("./support/changing_module.ts");

/** Calls before and after a change, and when it is taken back. */
function scenario(way: Way, change: Change): Program {
  return ({ compile, see, attempt }) => {
    const net = freshNet(), x = tensor([[1.5, 2], [3, -1]]);
    const run = way(net, compile);
    const look = () => {
      attempt(() => noGrad(() => run(x)));
      attempt(() => {
        net.zeroGrad();
        const y = run(x);
        see(y.requiresGrad, y.dtype);
        if (y.requiresGrad) y.sum().backward();
        return [y, ...net.parameters().map(({ grad }) => grad)];
      });
    };
    look();
    look();
    const takeBack = change(net);
    try {
      look();
      look();
    } finally {
      takeBack?.();
    }
    look();
  };
}

const CASES = Object.entries(WAYS).flatMap(([way, make]) =>
  Object.entries(CHANGES).map(([name, change]) => ({ way, make, name, change }))
);

for (const { way, make, name, change } of sampleBySeed(CASES, 40)) {
  Deno.test(`${way}: ${name}`, async () => {
    const before = faults();
    const want = await observe(scenario(make, change), (fn) => fn);
    const got = await observe(scenario(make, change), (fn) => compile(fn, { backend: "eager" }));
    assertEquals(difference(want, got), null);
    assertEquals(faults(), before);
  });
}

Deno.test("the program of the changes computes, in one version for all calls", () => {
  for (const [name, make] of Object.entries(WAYS)) {
    const compiled: object[] = [];
    const run = make(freshNet(), (fn) => {
      const made = compile(fn, { backend: "eager" });
      compiled.push(made);
      return made;
    });
    // A variable that is assigned is known from the second call on.
    const called = [0, 1, 2, 3].map(() => noGrad(() => run(tensor([[1.5, 2], [3, -1]]))).tolist());
    assertEquals(called, Array(4).fill(called[0]), name);
    const [status] = compiled.map(statusOf);
    assertEquals(status?.entries, 1, name);
    assert(status && status.hits >= 2, `${name}: ${Deno.inspect(status, { depth: 6 })}`);
  }
});

Deno.test("changes of parameters count once for all, changes of their contents do not", () => {
  const net = freshNet(), x = tensor([[1.5, 2], [3, -1]]);
  const run = compile((x: Tensor) => net.call(x), { backend: "eager" });
  noGrad(() => run(x));
  const countedBy = (change: () => unknown): number => {
    const before = metadata.version;
    change();
    return metadata.version - before;
  };
  const layer = net.row.at(0);
  assert(layer instanceof nn.Linear);
  const { weight } = layer;
  assertEquals(countedBy(() => noGrad(() => weight.fill_(1))), 0);
  assertEquals(countedBy(() => noGrad(() => weight.add_(1).mul_(2))), 0);
  assertEquals(countedBy(() => weight.grad = weight.detach().clone()), 0);
  assertEquals(countedBy(() => weight.mul(2).sum().backward()), 0);
  assertEquals(countedBy(() => new nn.Linear(2, 2)), 0);
  assertEquals(countedBy(() => ones([2]).requiresGrad_()), 0);
  assertEquals(countedBy(() => net.loadStateDict(net.stateDict())), 0);
  assertEquals(statusOf(run)?.entries, 1);
  for (
    const change of [
      () => weight.requiresGrad_(false),
      () => weight.requiresGrad = true,
      () => weight.replaceData(ones([2, 2])),
      () => weight.registerHook((grad) => grad),
      () => weight.detach_(),
      () => net.double(),
    ]
  ) assert(countedBy(change) > 0, `${change}`);
});

Deno.test("results are placed correctly even if a program replaces the iteration of arrays", () => {
  const program = (x: Tensor) => ({ a: x.add(1), b: x.add(2), c: x.add(3) });
  const compiled = compile(program, { backend: "eager" });
  const x = tensor([1.5]);
  const shown = (run: typeof program) => {
    const { a, b, c } = run(x);
    return [a.item(), b.item(), c.item()];
  };
  assertEquals(shown(compiled), [2.5, 3.5, 4.5]);
  const iterate = Array.prototype[Symbol.iterator];
  Object.defineProperty(Array.prototype, Symbol.iterator, {
    configurable: true,
    writable: true,
    value: function* (this: unknown[]) {
      for (let i = this.length - 1; i >= 0; i--) yield this[i];
    },
  });
  let plain: ReturnType<typeof program>, found: ReturnType<typeof program>;
  try {
    plain = program(x);
    found = compiled(x);
  } finally {
    Object.defineProperty(Array.prototype, Symbol.iterator, {
      configurable: true,
      writable: true,
      value: iterate,
    });
  }
  assertEquals(shown(() => found), shown(() => plain));
  assertEquals(statusOf(compiled)?.uncompiled.map(({ calls }) => calls), [1]);
  assertEquals(shown(compiled), [2.5, 3.5, 4.5]);
  assertEquals(statusOf(compiled)?.entries, 1);
});

/** Files that assign what the version of metadata stands for, with why it stays where they do not count it. */
const WRITERS: Readonly<Record<string, string>> = {
  "lib/autograd/function.ts": "before their history is set, which is counted",
  "lib/autograd/node.ts": "counted",
  "lib/autograd/tape.ts": "results that are new",
  "lib/autograd/saved.ts": "a class of its own",
  "lib/tensor/eager.ts": "results that are new",
  "lib/tensor/inplace.ts": "counted",
  "lib/tensor/resize.ts": "counted",
  "lib/tensor/tensor.ts": "counted",
  "lib/tensor/tensor_subclass.ts": "instances that are new",
  "lib/tensor/undo.ts": "counted",
  "lib/tensor/uninitialized.ts": "counted",
  "lib/tensor/view_state.ts": "results that are new, and a view's later base, which means the same",
};

Deno.test("assignments of tensors' metadata are counted", async () => {
  const found = new Set<string>();
  const visit = async (folder: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(new URL(`../${folder}`, import.meta.url))) {
      const path = `${folder}/${name}`;
      if (isDirectory) await visit(path);
      else {
        const text = await Deno.readTextFile(new URL(`../${path}`, import.meta.url));
        const assigns =
          /\b(?!defaultGenerator|generator)\w+\.(layout|offset|storage|state|viewState|gradFn) \??\??= /;
        if (assigns.test(text)) found.add(path);
        if (WRITERS[path] === "counted") assert(text.includes("metadataChanges("), path);
      }
    }
  };
  for (const room of ["tensor", "autograd", "aot", "nn", "optim", "inductor"]) await visit(`lib/${room}`);
  for (const path of Object.keys(WRITERS)) assert(found.has(path), path);
  assertEquals([...found].filter((path) => !WRITERS[path]), []);
});
