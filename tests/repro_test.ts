/**
 * Repros: a failing compilation is written as a program that fails by itself, minified, and run. Execution records:
 * calls that throw are written as programs that repeat them.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  BackendCompilerFailed,
  compile,
  compiler,
  config,
  type DType,
  DynError,
  logs,
  manualSeed,
  nn,
  noGrad,
  optim,
  randn,
  type Tensor,
  tensor,
} from "../mod.ts";
import { compilerOf, faultOf, type ReproCase } from "../lib/debug/repro/case.ts";
import { caseDescribedBy, caseOfDescription, type ReproInput, run } from "../lib/debug/repro/load.ts";
import { minify } from "../lib/debug/repro/minify.ts";
import { rebuild } from "../lib/debug/repro/rebuild.ts";
import { reproText } from "../lib/debug/repro/script.ts";
import { Recorded } from "../lib/debug/replay/encode.ts";
import { interpose } from "../lib/graph/interpose.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { type Outcome, runProgram, withFolder } from "./support/process.ts";
import "./support/faulty_backends.ts";

const CLI = fileURLToPath(new URL("../cli.ts", import.meta.url));

const dyn = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> =>
  runProgram(Deno.execPath(), ["run", "-A", "--no-check", CLI, ...args], { env });

/** Returns the tools' messages during `body`. */
function told(settings: Parameters<typeof config.patch>[0], body: () => void): string[] {
  const texts: string[] = [];
  logs.capture("repro", (_, text) => texts.push(text), () => config.patch(settings, body));
  return texts;
}

/** The repros of a folder, by the names of their own. */
const reprosIn = (folder: string): string[] =>
  [...Deno.readDirSync(folder)].filter((entry) => entry.isDirectory).map(({ name }) => name).sort();

const layer = new nn.Linear(6, 8);

const block = (x: Tensor): Tensor => {
  const y = layer.call(x).relu();
  return y.sin().mul(y.exp()).softmax(1).sum(0).reshape(2, 4).t();
};

Deno.test("a failing compilation is minified and written, and the error rethrown", async () => {
  await withFolder((folder) => {
    const settings = { reproAfter: "dynamo", reproLevel: 2, reproDir: folder };
    const [text = "", ...more] = told(settings, () => {
      const f = compile(block, { backend: "refuses_sin" });
      assertThrows(() => f(randn([5, 6])), BackendCompilerFailed, "Expected no sine but found sin");
    });
    assertEquals(more, []);
    assertMatch(text, /^A graph of block fails: Expected no sine but found sin\n {2}repro: /);
    assertMatch(text, /minified from \d+ operations to 1: 1 operation, 1 input, 1 element \(\d+ tries\)/);
    assertStringIncludes(text, "let sin = ops.sin(");
    assertStringIncludes(text, "(tried: it fails in the same way by itself)");
    const kept = Deno.readTextFileSync(join(folder, "block_captured", "repro.ts"));
    assertMatch(kept, /at\("block \(.*repro_test\.ts:\d+\)", "return y\.sin\(\)/);
    return Promise.resolve();
  });
});

/** The cases that levels 1 and 3 write, without the process that tries them. */
function written(
  after: string,
  level: number,
  body: () => void,
): Promise<{ texts: string[]; names: string[] }> {
  return withFolder((folder) => {
    const texts = told({ reproAfter: after, reproLevel: level, reproDir: folder }, body);
    return Promise.resolve({ texts, names: reprosIn(folder) });
  });
}

Deno.test("level 3 writes every graph beforehand, including backward ones, and changes nothing", async () => {
  const w = randn([3, 3]).requiresGrad_();
  const f = (x: Tensor): Tensor => x.matmul(w).sin().sum();
  const results: unknown[] = [];
  const run = (): void => {
    const loss = compile(f, { backend: "aot_eager" })(tensor([[0.5, 1, 2]]));
    loss.backward();
    results.push([loss.item(), w.grad?.tolist()]);
    w.grad = null;
  };
  run();
  assertEquals((await written("dynamo", 3, run)).names, ["f_captured"]);
  const { names, texts } = await written("aot", 3, run);
  assertEquals(names, ["f_backward", "f_forward"]);
  assertMatch(texts[0] ?? "", /^A graph of f is about to be compiled: /);
  assertEquals(results[1], results[0]);
  assertEquals(results[2], results[0]);
});

Deno.test("level 4 finds wrong answers in functional graphs; the program continues with the right ones", async () => {
  await withFolder((folder) => {
    const w = tensor([[0.5, 1], [2, 0.25]]).requiresGrad_();
    const f = (x: Tensor): Tensor[] => {
      const y = x.matmul(w);
      return [y.sin(), y];
    };
    const grads = [f, compile(f, { backend: "wrong_backward" })].map((each) => {
      let grad: unknown;
      const texts = told({ reproAfter: "aot", reproLevel: 4, reproDir: folder }, () => {
        const [a] = each(tensor([[1, 2]], { dtype: "float32" }));
        a?.sum().backward();
        grad = w.grad?.tolist();
        w.grad = null;
      });
      return { grad, texts };
    });
    assertEquals(grads[1]?.grad, grads[0]?.grad);
    const [text = ""] = grads[1]?.texts ?? [];
    assertMatch(text, /^A compiled backward graph of f gives a wrong answer; it runs uncompiled/);
    assertMatch(text, /first wrong op: cos, at f/);
    assertStringIncludes(text, "it fails in the same way by itself");
    return Promise.resolve();
  });
});

Deno.test("wrong forward graphs, and whole steps, of parameters are located, minified and fail by themselves", async () => {
  const forward = (w: Tensor) => w.mul(2).add(1).tanh().mul(3).sum();
  const step = (w: Tensor): Tensor => {
    const loss = forward(w);
    loss.backward();
    return loss;
  };
  for (const [f, role] of [[forward, "forward"], [step, "inference"]] as const) {
    await withFolder((folder) => {
      const w = tensor([0.5, 1], { requiresGrad: true }),
        texts = told(
          { reproAfter: "aot", reproLevel: 4, reproDir: folder },
          () => void compile(f, { backend: "wrong_tanh" })(w),
        );
      const [text = ""] = texts;
      assertMatch(text, new RegExp(`^A compiled ${role} graph of ${f.name} gives a wrong answer`));
      assertMatch(text, /first wrong op: tanh, at/);
      assertMatch(text, /minified from \d+ operations to 1:/);
      assertStringIncludes(text, "it fails in the same way by itself");
      return Promise.resolve();
    });
  }
});

Deno.test("errors of the program itself are no fault of compilation", async () => {
  const f = compile((x: Tensor, i: Tensor) => x.indexSelect(0, i), { backend: "aot_eager" });
  const { texts, names } = await written("dynamo", 1, () => {
    assertThrows(() => f(tensor([1, 2]), tensor([7], { dtype: "int64" })), DynError);
  });
  assertEquals([texts, names], [[], []]);
});

Deno.test("unknown settings are errors", () => {
  const f = () => compile((x: Tensor) => x.add(1), { backend: "eager" })(tensor([1]));
  assertThrows(() => config.patch({ reproAfter: "eager" }, f), DynError, "one of dynamo, aot");
  assertThrows(() => config.patch({ reproLevel: 5, reproAfter: "aot" }, f), DynError, "in [1, 4]");
});

/** Captured graphs of a function, as cases. */
function casesOf(
  stage: "dynamo" | "aot",
  fn: (...args: never[]) => unknown,
  args: readonly unknown[],
  dynamic = false,
): ReproCase[] {
  const found: ReproCase[] = [];
  const ambientState = { gradEnabled: true, generator: { seed: 1, offset: 0 }, settings: {} };
  const keep = (gm: ReproCase["gm"], given: readonly unknown[]) =>
    found.push({ stage, backend: "aot_eager", gm, args: given, ambientState });
  const remove = interpose(
    stage === "dynamo"
      ? { captured: (backend) => (gm, given) => (keep(gm, given), backend(gm, given)) }
      : { functional: (inner) => (gm, given) => (keep(gm, given), inner(gm, given)) },
  );
  try {
    compiler.reset();
    const compiled = compile(fn, { backend: "aot_eager", dynamic });
    Reflect.apply(compiled, undefined, args);
  } finally {
    remove();
  }
  return found;
}

/** Reads the case that the text of a repro describes, by running it as a module. */
async function readBack(of: ReproCase, folder: string): Promise<ReproCase> {
  const { text, tensors } = reproText(of, { fault: { kind: "unknown" }, notes: ["note"], imports: [] });
  assertEquals(tensors, {});
  const path = join(folder, `${crypto.randomUUID()}.ts`);
  const module = new URL("../mod.ts", import.meta.url).href;
  await Deno.writeTextFile(path, text.replace('"jsr:@x/dyn"', JSON.stringify(module)));
  const described = await caseDescribedBy(() => import(`file://${path}`));
  assert(described);
  return described.found;
}

Deno.test("a repro describes the exact graph: nodes, metadata, layouts, shared memory, random keys, symbols", async () => {
  await withFolder(async (folder) => {
    const base = tensor([[0.5, -0, Infinity], [NaN, 1e-30, 3]]);
    const leaf = tensor([1.5, 2, 3]).requiresGrad_();
    const fns: [(...args: never[]) => unknown, unknown[]][] = [
      [(x: Tensor, y: Tensor) => x.t().add(y).mul(2), [base, base.slice(0, 0, 1).reshape(3, 1)]],
      [(x: Tensor, w: Tensor) => [nn.functional.dropout(x.mul(w), 0.5), x.split(1), w.sum()], [base, leaf]],
      [(x: Tensor) => {
        noGrad(() => x.add_(1));
        return x.view(-1).to("int64");
      }, [base.clone()]],
      [(x: Tensor, i: Tensor) => x.at(i).add(x.at(i)), [base, tensor([1, 0, 1], { dtype: "int64" })]],
      [(x: Tensor) => x.matmul(leaf.mul(2)).sum(), [base]],
      [(x: Tensor, w: Tensor) => {
        const loss = x.mul(w).sin().sum();
        loss.backward();
        return [loss.detach(), x.neg()];
      }, [base, leaf]],
    ];
    for (const [fn, args] of fns) {
      for (const stage of ["dynamo", "aot"] as const) {
        for (const dynamic of [false, true]) {
          for (const each of casesOf(stage, fn, args, dynamic)) {
            if (!each.args.every((arg) => typeof arg !== "object" || (arg as Tensor).storage.filled)) {
              continue;
            }
            const whole = { ...each, ...rebuild(each, { dynamic }) };
            const back = await readBack(whole, folder);
            assertEquals(renamed(back.gm), renamed(whole.gm), `${fn} ${stage} ${dynamic}`);
            assertEquals(back.gm.signature, whole.gm.signature);
            const told = (given: readonly unknown[]) =>
              given.map((arg) => typeof arg === "number" ? arg : describe(arg as Tensor));
            assertEquals(told(back.args), told(whole.args));
            assertEquals(faultOf(back, compilerOf(back), { compare: true }), null);
          }
        }
      }
    }
  });
});

/** A graph's text with values numbered in order, however passes have named them. */
function renamed(gm: ReproCase["gm"]): string {
  const names = new Map(gm.graph.nodes.map(({ name }, at) => [name, `v${at}`]));
  return gm.readable().replace(/\b[A-Za-z_$][\w$]*\b(?!\()/g, (word) => names.get(word) ?? word);
}

function describe(t: Tensor): unknown {
  const { dtype, shape, strides, offset, requiresGrad, isLeaf } = t;
  return { dtype, shape, strides, offset, requiresGrad, isLeaf, elements: `${t.detach().tolist()}` };
}

const input = (shape: number[], more: Partial<Extract<ReproInput, { dtype: DType }>> = {}): ReproInput => ({
  dtype: "float32",
  shape,
  data: Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => i / 7 - 1),
  ...more,
});

Deno.test("minifying preserves only the fault", () => {
  const found = caseOfDescription({
    stage: "dynamo",
    backend: "wrong_tanh",
    fault: { kind: "accuracy", part: "forward", what: "values" },
    ambientState: { gradEnabled: true, generator: { seed: 1, offset: 0 }, settings: {} },
    inputs: { x: input([4, 6]), w: input([6, 5], { grad: "leaf" }), b: input([5]), unused: input([2]) },
    graph: ({ ops }, { x, w, b }) => {
      const product = ops["mm"]?.(x, w), sum = ops["add"]?.(product, b);
      const a = ops["tanh"]?.(sum), c = ops["exp"]?.(sum);
      const d = ops["mul"]?.(a, c), e = ops["softmax"]?.(d, 1);
      return [ops["add"]?.(e, 1), c, ops["sum"]?.(d)];
    },
  });
  const compile = compilerOf(found);
  const fault = faultOf(found, compile, { compare: true });
  assert(fault?.kind === "accuracy");
  const steps: string[] = [];
  const { found: small, operations, isCut } = minify(found, { fault, compile }, {
    milliseconds: Infinity,
    progress: (text) => steps.push(text),
  });
  assertEquals([operations, isCut], [[8, 1], false]);
  assertEquals(small.gm.graph.nodes.map(({ op, target }) => op === "placeholder" ? op : target), [
    "placeholder",
    "tanh",
    "output",
  ]);
  assertEquals(small.args.map((arg) => `${(arg as Tensor).tolist()}`), ["1"]);
  assert(faultOf(small, compile, { compare: true }));
  assert(steps.length > 0);
  const cut = minify(found, { fault, compile }, { milliseconds: 0 });
  assertEquals([cut.isCut, cut.operations], [true, [8, 8]]);
});

testInTurn("repros of the command line", {
  name: "dyn minify and a repro's exit codes",
  fn: async () => {
    await withFolder(async (folder) => {
      const settings = { reproAfter: "dynamo", reproLevel: 1, reproDir: folder };
      const [text = ""] = told(settings, () => {
        const f = compile(block, { backend: "refuses_sin", dynamic: true });
        assertThrows(() => f(randn([5, 6])), BackendCompilerFailed);
      });
      const [, path = ""] = text.match(/repro: (.*)/) ?? [];
      assertStringIncludes(text, "it fails in the same way by itself");
      assertStringIncludes(Deno.readTextFileSync(path), "dynamic: [0, 1]");
      const { code, stdout } = await dyn(["minify", path]);
      assertEquals(code, 0, stdout);
      assertMatch(stdout, /9 operations became 1: 1 operation, 1 input, 1 element/);
      assertEquals(
        basename(dirname(dirname(/^(\/.*repro\.ts)$/m.exec(stdout)?.[1] ?? ""))),
        "block_captured",
      );
      // The fault is fixed: the same program ends with 0.
      const mended = Deno.readTextFileSync(path).replace('backend: "refuses_sin"', 'backend: "aot_eager"');
      Deno.writeTextFileSync(path, mended);
      const after = await dyn([path]);
      assertEquals([after.code, after.stdout], [0, "No longer fails\n"]);
      Deno.writeTextFileSync(join(folder, "other.ts"), "export {};\n");
      const other = await dyn(["minify", join(folder, "other.ts")]);
      assertMatch(other.stderr, /^error: Expected a repro that dyn has written but found /);
      assertEquals(other.code, 2);
    });
  },
});

const RECORDED = `import { compile, config, nn, optim, randn, type Tensor } from "jsr:@x/dyn";
import ${JSON.stringify(new URL("support/faulty_backends.ts", import.meta.url).href)};
config.replayRecordEnabled = true;
const table = new Map([["a", [1, 2]]]);
class Scaled extends nn.Module {
  inner = new nn.Linear(40, 3);
  count = 0;
  constructor(readonly options: { scale: number }) {
    super();
  }
  override forward(x: Tensor): Tensor {
    this.count++;
    return helper(this.inner.call(x), this.options.scale + (table.get("a")?.length ?? 0));
  }
}
let calls = 0;
function helper(x: Tensor, by: number): Tensor {
  calls++;
  return by > 100 ? helper(x, by - 1) : nn.functional.gelu(x).mul(by).sin();
}
const model = new Scaled({ scale: 2 });
const optimizer = new optim.SGD(model.parameters(), { lr: 0.1 });
const channel = new MessageChannel();
const step = compile((x: Tensor) => {
  optimizer.zeroGrad();
  if (calls > 100) channel.port1.postMessage(calls);
  return model.call(x).sum();
}, { backend: "refuses_sin" });
try {
  step(randn([2, 40]));
} catch (error) {
  console.log((error as Error).name, model.count, calls);
}
`;

testInTurn("repros of the command line", {
  name: "a call that throws is recorded with its captures, and can be repeated alone",
  fn: async () => {
    await withFolder(async (folder) => {
      await Deno.writeTextFile(join(folder, "model.ts"), RECORDED);
      const { stdout, stderr } = await dyn([join(folder, "model.ts")], {
        DYN_REPRO_DIR: join(folder, "records"),
      });
      assertEquals(stdout, "BackendCompilerFailed 0 0\n", stderr);
      assertMatch(stderr, /^\[repro\] A call of model\.ts:24 threw BackendCompilerFailed; dyn replay /);
      assertMatch(stderr, /not recorded: channel: an instance of the runtime's own MessageChannel\n$/);
      const record = join(folder, "records", "model_ts_24_replay");
      const again = await dyn(["replay", record]);
      assertEquals(again.code, 1, again.stderr);
      assertMatch(
        again.stdout,
        /^Throws as recorded:\nBackendCompilerFailed: Backend "refuses_sin" failed: Expected no/,
      );
      // With the backend fixed it succeeds
      const path = join(record, "replay.ts");
      const text = await Deno.readTextFile(path);
      await Deno.writeTextFile(path, text.replace('backend: "refuses_sin"', 'backend: "eager"'));
      const mended = await dyn(["replay", record]);
      assertEquals([mended.code, mended.stdout], [0, "No longer throws\n"], mended.stderr);
    });
  },
});

Deno.test("without the setting nothing is recorded, and a rejected promise is", async () => {
  await withFolder(async (folder) => {
    const f = compile(async (x: Tensor) => {
      await Promise.resolve();
      if (x.numel() > 0) throw new RangeError("Late");
      return x;
    }, { backend: "eager" });
    const late = (): Promise<string> => f(tensor([1])).then(() => "", (error) => String(error));
    assertEquals(await config.patch({ reproDir: folder }, late), "RangeError: Late");
    assertEquals(reprosIn(folder), []);
    const texts: string[] = [];
    await logs.capture(
      "repro",
      (_, text) => texts.push(text),
      () => config.patch({ replayRecordEnabled: true, reproDir: folder }, late),
    );
    assertEquals(reprosIn(folder).length, 1);
    assertMatch(texts[0] ?? "", /threw RangeError/);
  });
});

/** Evaluates the recorded text of a value. */
function evaluated(value: unknown): unknown {
  const recorded = new Recorded();
  const expression = recorded.expression(value, "value");
  assertEquals(recorded.missing, []);
  const tensors = Object.fromEntries(recorded.tensors);
  const make = new Function(
    "dyn",
    "tensors",
    [...recorded.creations, ...recorded.fills, `return ${expression};`].join("\n"),
  );
  return make({ nn, optim, repro: reproNamespace }, tensors);
}

const reproNamespace = {
  fill: (object: object, fields: Record<string, unknown>) => void Object.assign(object, fields),
};

Deno.test("values are restored as they were, including cycles and shared objects", () => {
  const shared = { n: -0, big: 12n, text: 'a\n"b', none: undefined, list: [1, , 3] as unknown[] };
  const cyclic: Record<string, unknown> = { shared, again: shared, date: new Date(5), re: /a\/b/gi };
  cyclic["self"] = cyclic;
  cyclic["set"] = new Set([1, shared]);
  cyclic["typed"] = new Float32Array([1.5, NaN]);
  cyclic["iterator"] = Symbol.iterator;
  const back = evaluated(cyclic) as typeof cyclic;
  assert(back["self"] === back && back["shared"] === back["again"]);
  assert(back["set"] instanceof Set && back["set"].has(back["shared"]));
  assertEquals(back["typed"], cyclic["typed"]);
  assertEquals([back["date"], `${back["re"]}`, back["iterator"]], [
    new Date(5),
    "/a\\/b/gi",
    Symbol.iterator,
  ]);
  const again = back["shared"] as typeof shared;
  assert(Object.is(again.n, -0));
  assertEquals([again.big, again.text, again.none], [12n, 'a\n"b', undefined]);
});

Deno.test("functions are restored with their variables and this, classes with their bases", () => {
  const counted = { n: 3 };
  class Base {
    name = "base";
    hello(): string {
      return `${this.name} ${counted.n}`;
    }
  }
  class Derived extends Base {
    override name = "derived";
    even(n: number): boolean {
      return n === 0 || odd(n - 1);
    }
  }
  function odd(n: number): boolean {
    return n !== 0 && new Derived().even(n - 1);
  }
  const holder = {
    add(n: number): () => number {
      return () => n + counted.n;
    },
  };
  const [derived, isOdd, add] = evaluated([new Derived(), odd, holder.add(4)]) as [
    Derived,
    typeof odd,
    () => number,
  ];
  counted.n = 100;
  assertEquals([derived.hello(), derived.even(4), isOdd(3), add()], ["derived 3", true, true, 7]);
  const model = new nn.Sequential(new nn.Linear(2, 2), new nn.ReLU());
  const copy = evaluated(model) as nn.Sequential;
  assert(copy instanceof nn.Sequential && copy !== model);
  assertEquals(copy.stateDict(), model.stateDict());
});

Deno.test("values that cannot be recorded are named", () => {
  class Secret {
    #x = 1;
    get x(): number {
      return this.#x;
    }
  }
  const recorded = new Recorded();
  recorded.expression({ a: new Secret(), b: Promise.resolve(), c: new Proxy({}, {}), d: new WeakMap() }, "v");
  assertEquals(recorded.missing, [
    "v.a: an instance of Secret, which has private members",
    "v.b: a promise",
    "v.c: a proxy",
    "v.d: a weak reference",
  ]);
});

Deno.test("a repro that is not described under minify is tried", () => {
  const output: string[] = [];
  const log = console.log;
  console.log = (text: string) => void output.push(text);
  const former = Deno.exitCode;
  try {
    manualSeed(1);
    run({
      stage: "dynamo",
      backend: "wrong_tanh",
      fault: { kind: "accuracy", part: "forward", what: "values" },
      ambientState: { gradEnabled: false, generator: { seed: 1, offset: 0 }, settings: {} },
      inputs: { x: input([3]) },
      graph: ({ ops, at }, { x }) => {
        at("f (model.ts:7)", "return x.tanh();");
        return [ops["tanh"]?.(x)];
      },
    });
    assertEquals(Deno.exitCode, 1);
  } finally {
    console.log = log;
    Deno.exitCode = former;
  }
  assertMatch(
    output.join("\n"),
    /^Fails: result 0 .*\nFirst wrong op: tanh, at f \(model\.ts:7\)\n {4}return x\.tanh\(\);$/,
  );
});
