/**
 * Arguments of wrong kinds for every public function, constructor and method: each call gives a result or an error of
 * dyn's own at the caller's line, never an error of the engine inside dyn, never NaN from something that is not a
 * number. Rejected calls have no effect. Each run takes some of the calls.
 */
import { assert, assertEquals } from "@std/assert";
import * as dyn from "../mod.ts";
import { ambientState } from "../lib/dynamo/ambient.ts";
import { ALL_MODULES } from "../lib/nn/module.ts";
import { sampleBySeed } from "./support/sampling.ts";

const { data, distributions: D, isTensor, nn, optim, tensor, zeros } = dyn;

/** Names, or ends of names, that are not called, by reason. */
const NOT_CALLED: readonly RegExp[] = [
  // They wait for devices, or are the settings themselves
  /^(init$|logs|config|webgpu)/,
  // What they register stays
  /^(compiler\.registerBackend|distributions\.registerKl)$/,
  // Programs that report a fault call them
  /^repro\./,
  // Schedules call them with their own numbers
  /(rate|factor)At\(\)$/,
  // Only dyn makes them
  /^(Tensor|Unsupported|FailOnRecompileLimitHit|Package|PackageTensor|H)$/,
];

/** Objects of which all methods are called. */
const INSTANCES: Readonly<Record<string, () => object>> = {
  Tensor: () => zeros([2, 3]),
  Linear: () => new nn.Linear(3, 2),
  Sequential: () => new nn.Sequential(new nn.Linear(3, 2)),
  ModuleList: () => new nn.ModuleList([new nn.ReLU()]),
  ModuleDict: () => new nn.ModuleDict({ a: new nn.ReLU() }),
  ParameterList: () => new nn.ParameterList(parameters()),
  ParameterDict: () => new nn.ParameterDict({ a: zeros([2]) }),
  LSTM: () => new nn.LSTM(3, 2),
  GRUCell: () => new nn.GRUCell(3, 2),
  MultiheadAttention: () => new nn.MultiheadAttention(4, 2),
  BatchNorm1d: () => new nn.BatchNorm1d(3),
  InstanceNorm1d: () => new nn.InstanceNorm1d(3),
  EmbeddingBag: () => new nn.EmbeddingBag(3, 2),
  Conv2d: () => new nn.Conv2d(3, 2, 1),
  ConvTranspose2d: () => new nn.ConvTranspose2d(3, 2, 1),
  CrossEntropyLoss: () => new nn.CrossEntropyLoss(),
  CTCLoss: () => new nn.CTCLoss(),
  AdaptiveLogSoftmaxWithLoss: () => new nn.AdaptiveLogSoftmaxWithLoss(3, 4, [2]),
  TransformerEncoderLayer: () => new nn.TransformerEncoderLayer(4, 2),
  TransformerDecoderLayer: () => new nn.TransformerDecoderLayer(4, 2),
  Embedding: () => new nn.Embedding(3, 2, { maxNorm: 1 }),
  Softmax2d: () => new nn.Softmax2d(),
  Flatten: () => new nn.Flatten(),
  Unflatten: () => new nn.Unflatten(0, [1, -1]),
  SGD: sgd,
  Adam: () => new optim.Adam(parameters()),
  StepLR: () => new optim.lrScheduler.StepLR(sgd(), 1),
  ReduceLROnPlateau: () => new optim.lrScheduler.ReduceLROnPlateau(sgd()),
  GradScaler: () => new dyn.GradScaler(),
  Generator: () => new dyn.Generator(),
  TensorDataset: () => new data.TensorDataset(zeros([4, 2])),
  DataLoader: () => new data.DataLoader(new data.TensorDataset(zeros([4, 2]))),
  Subset: () => new data.Subset(new data.TensorDataset(zeros([4, 2])), [0]),
  Graph: () => new dyn.fx.Graph(),
  Normal: () => new D.Normal(0, 1),
  Categorical: () => new D.Categorical(tensor([.5, .5])),
  MultivariateNormal: () => new D.MultivariateNormal(zeros([2]), dyn.eye(2)),
  Independent: () => new D.Independent(new D.Normal(zeros([2]), 1), 1),
  TransformedDistribution: () => new D.TransformedDistribution(new D.Normal(0, 1), [new D.ExpTransform()]),
  ExpTransform: () => new D.ExpTransform(),
  Constraint: () => D.constraints.positive,
  Progress: () => dyn.progress([1, 2], { disable: true }),
};

const parameters = () => [new nn.Parameter(zeros([2, 3]))];

function sgd() {
  return new optim.SGD(parameters(), { lr: 0.1 });
}

/** Values that are wrong for most. */
const VALUES: Readonly<Record<string, () => unknown>> = {
  null: () => null,
  undefined: () => undefined,
  '"a"': () => "a",
  "3": () => 3,
  "{}": () => ({}),
  "[]": () => [],
  "[null]": () => [null],
  true: () => true,
  "() => 1": () => () => 1,
  bools: () => tensor([true, false]),
  "a scalar": () => tensor(3),
  meta: () => zeros([2, 3], { device: "meta" }),
  complex: () => tensor([1, 2], { dtype: "complex64" }),
  empty: () => zeros([0]),
};

/** Those that are not numbers, nor options or absent: arithmetic makes NaN of them where nobody looks. */
const NOT_NUMBERS: ReadonlySet<string> = new Set(["null", '"a"', "[]", "[null]", "() => 1"]);

/** Arguments before the wrong one. */
const BEFORE: Readonly<Record<string, () => readonly unknown[]>> = {
  "": () => [],
  "3, ": () => [3],
  "x, ": () => [filled()],
  "x, x, ": () => [filled(), filled()],
};

const filled = () => tensor([[0.25, 0.5, 0.75], [0.5, 0.25, 0.125]]);

interface Entry {
  readonly name: string;
  readonly call: (given: readonly unknown[]) => unknown;
}

type Public = (...given: readonly unknown[]) => unknown;

const isFunction = (value: unknown): value is Public => typeof value === "function";
const isClass = (value: Public): boolean => /^class/.test(Function.prototype.toString.call(value));

/** The functions and classes of a namespace and those in it, each once. */
function exported(space: object, path: string, seen: Set<unknown>): Entry[] {
  return Object.entries(space).flatMap(([key, value]): Entry[] => {
    const name = `${path}${key}`;
    if (seen.has(value)) return [];
    seen.add(value);
    if (isFunction(value)) {
      const call: Entry["call"] = isClass(value)
        ? (given) => Reflect.construct(value, given)
        : (given) => value(...given);
      return [{ name, call }];
    }
    const isSpace = typeof value === "object" && value !== null && value[Symbol.toStringTag] === "Module";
    return isSpace ? exported(value, `${name}.`, seen) : [];
  });
}

/** Names of methods that only subclasses call: those are not in the text of declarations that programs see. */
function protectedMethods(): ReadonlySet<string> {
  const found = new Set<string>();
  for (const room of ["nn", "optim", "data", "distributions"]) {
    const folder = new URL(`../lib/${room}/`, import.meta.url);
    for (const { name } of Deno.readDirSync(folder)) {
      if (!name.endsWith(".ts")) continue;
      const text = Deno.readTextFileSync(new URL(name, folder));
      for (
        const [, method] of text.matchAll(/^ {2}(?:protected|private) (?:override |abstract )*(\w+)[(<]/gm)
      ) {
        if (method) found.add(method);
      }
      for (const [, method] of text.matchAll(/@internal\n {3}\*\/\n {2}(?:override |async )*(\w+)[(<]/g)) {
        if (method) found.add(method);
      }
    }
  }
  return found;
}

/** The methods of some of the objects above, each once. */
function methods(): Entry[] {
  const internal = protectedMethods(), seen = new Set<unknown>();
  return sampleBySeed(Object.entries(INSTANCES), 4).flatMap(([name, make]) => {
    const found: Entry[] = [];
    for (let at = Object.getPrototypeOf(make()); at !== Object.prototype; at = Object.getPrototypeOf(at)) {
      for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
        if (key === "constructor" || internal.has(key) || !isFunction(value) || seen.has(value)) continue;
        seen.add(value);
        found.push({ name: `${name}.${key}()`, call: (given) => Reflect.apply(value, make(), given) });
      }
    }
    return found;
  });
}

function hasNaN(value: unknown): boolean {
  if (typeof value === "number") return Number.isNaN(value);
  if (!isTensor(value) || value.device !== "cpu" || !value.isFloatingPoint()) return false;
  return value.detach().isnan().any().item<boolean>();
}

/** The fault of an error, or null: of dyn's own kinds, or of a file that is not there, with a line of this file first. */
function faultOf(thrown: unknown): string | null {
  if (!(thrown instanceof Error)) return `throws ${thrown}`;
  if (Object.values(Deno.errors).some((kind) => thrown instanceof kind)) return null;
  if (!(thrown instanceof dyn.DynError || thrown instanceof dyn.Unsupported)) {
    return thrown.stack ?? `${thrown}`;
  }
  const first = thrown.stack?.split("\n").find((line) => /^\s+at /.test(line)) ?? "";
  return first.includes("wrong_kinds_test.ts") ? null : `${thrown.message}, shown at ${first.trim()}`;
}

/** Takes back what calls may have changed about the process. */
function restoreSettings(): void {
  dyn.setDefaultDtype("float32");
  dyn.setDefaultDevice("cpu");
  dyn.setPrintoptions({ profile: "default" });
  dyn.setFloat32MatmulPrecision("highest");
  dyn.config.inductor.cppThreads = cppThreads;
  dyn.setMemoryLimit(null);
  dyn.useDeterministicAlgorithms(false);
  dyn.autograd.setDetectAnomaly(false);
  dyn.compiler.setStance("default");
  dyn.compiler.setDefaultBackend("inductor");
  D.setDefaultValidateArgs(true);
  if (dyn.distributed.isInitialized()) dyn.distributed.destroyProcessGroup();
}

const { cppThreads } = dyn.config.inductor;

/** State that all later calls depend on. */
function stateOfProcess(): string {
  return Deno.inspect([ALL_MODULES, ambientState(), dyn.config, dyn.getFloat32MatmulPrecision()], {
    depth: 9,
  });
}

/** The fault of a call, or null. */
async function faultIn(
  { call }: Entry,
  lead: () => readonly unknown[],
  value: string,
): Promise<string | null> {
  const former = stateOfProcess();
  try {
    const result = await call([...lead(), VALUES[value]?.()]);
    if (result instanceof dyn.Writer) await result.close();
    // Hooks of all modules, above all
    if (typeof result === "object" && result !== null && "remove" in result) {
      assert(isFunction(result.remove));
      result.remove();
    }
    return NOT_NUMBERS.has(value) && hasNaN(result) ? "gives NaN" : null;
  } catch (thrown) {
    const left = stateOfProcess();
    return left === former ? faultOf(thrown) : `refused, but left ${left}\nwhere there was ${former}`;
  } finally {
    restoreSettings();
  }
}

Deno.test("arguments of wrong kinds end in dyn's own errors at the caller's line, or in results", async () => {
  const entries = [...exported(dyn, "", new Set()), ...methods()]
    .filter(({ name }) => !NOT_CALLED.some((pattern) => pattern.test(name)));
  assert(entries.length > 1000, `Expected most of the library but found ${entries.length} functions`);
  const calls = entries.flatMap((entry) =>
    Object.keys(BEFORE).flatMap((before) => Object.keys(VALUES).map((value) => ({ entry, before, value })))
  );
  // Files are written under the names that calls are given
  const faults: string[] = [], folder = Deno.cwd(), former = stateOfProcess();
  Deno.chdir(Deno.makeTempDirSync());
  for (const { entry, before, value } of sampleBySeed(calls, 150)) {
    const fault = await faultIn(entry, BEFORE[before] ?? (() => []), value);
    if (fault !== null) faults.push(`${entry.name}(${before}${value}): ${fault}`);
  }
  const written = Deno.cwd();
  Deno.chdir(folder);
  Deno.removeSync(written, { recursive: true });
  assertEquals(faults, []);
  assertEquals(stateOfProcess(), former);
});
