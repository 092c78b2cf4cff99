/**
 * Datasets and functions that other threads can create too: closures cannot be sent, but the module that exports
 * something can be loaded again. Invariant: every thread creates an equal value from its origin.
 */
import { refuseSurplus } from "../base/checked_input.ts";
import { DynError, messageOf } from "../base/errors.ts";
import {
  ChainDataset,
  ConcatDataset,
  type Dataset,
  type IterableDataset,
  ListDataset,
  StackDataset,
  Subset,
  TensorDataset,
} from "./dataset.ts";
import { received, sendToAll, type SentValue } from "./sent.ts";

/** The origin of a value: an export, or the result of calling one. */
interface ModuleOrigin {
  readonly kind: "module";
  readonly module: string;
  readonly name: string;
  /** The arguments of the call; null for the export itself. */
  readonly args: SentValue | null;
}

/** A recipe by which another thread creates a dataset or a function. */
export type Origin =
  | ModuleOrigin
  | { readonly kind: "list"; readonly samples: SentValue }
  | { readonly kind: "tensors"; readonly tensors: SentValue }
  | { readonly kind: "subset"; readonly of: Origin; readonly indices: readonly number[] }
  | { readonly kind: "concat" | "chain"; readonly of: readonly Origin[] }
  | {
    readonly kind: "stack";
    readonly of: readonly (readonly [name: string, origin: Origin])[];
    readonly isList: boolean;
  };

const ORIGINS = new WeakMap<object, ModuleOrigin>();

/** A function that creates something, possibly asynchronously. */
type Maker = (...args: never[]) => object;
type Class = new (...args: never[]) => object;

/**
 * Returns an export of a module, for loaders with workers, which load the module too. `module` is an absolute address:
 * `import.meta.resolve("./digits.ts")`. With `args`, a function is called and a class instantiated, here and in each
 * worker. `args` are sent to the workers, so they must be tensors, numbers, texts, or arrays and plain objects of
 * these.
 *
 * ```ts ignore
 * import type { Digits } from "./digits.ts";
 * const digits = await data.fromModule<typeof Digits>(import.meta.resolve("./digits.ts"), "Digits", ["train"]);
 * for (const [images, labels] of new data.DataLoader(digits, { batchSize: 32, numWorkers: 2 })) step(images, labels);
 * ```
 *
 * Throws DynError if the module cannot be loaded, or has no such export.
 */
export function fromModule<C extends Class>(
  module: string | URL,
  name: string,
  args: ConstructorParameters<C>,
): Promise<InstanceType<C>>;
/** The same for the result of a function call. */
export function fromModule<F extends Maker>(
  module: string | URL,
  name: string,
  args: Parameters<F>,
): Promise<Awaited<ReturnType<F>>>;
/** The same for an export itself, without a name the default one. */
export function fromModule<T extends object>(module: string | URL, name?: string): Promise<T>;
export async function fromModule(
  module: string | URL,
  name: string = "default",
  args?: readonly unknown[],
): Promise<object> {
  if (arguments.length > 3) refuseSurplus("fromModule", 3, arguments);
  if (String(module) === Deno.mainModule) {
    throw new DynError(
      "Expected what workers load to be in a module of its own but found the program itself",
    );
  }
  const origin: ModuleOrigin = {
    kind: "module",
    module: String(module),
    name,
    args: args === undefined ? null : sendToAll(args, `the arguments of ${name}`),
  };
  const made = await makeOf(origin, args);
  ORIGINS.set(made, origin);
  return made;
}

async function makeOf(
  { module, name, args: sentArgs }: ModuleOrigin,
  given?: readonly unknown[],
): Promise<object> {
  if (!URL.canParse(module)) {
    throw new DynError(
      `Expected the address of a module, as import.meta.resolve gives it, but found ${
        JSON.stringify(module)
      }`,
    );
  }
  let exports: object;
  try {
    exports = await import(module);
  } catch (cause) {
    throw new DynError(`Expected a module at ${module} but it failed to load: ${messageOf(cause)}`, {
      cause,
    });
  }
  const exported: unknown = Reflect.get(exports, name);
  const made: unknown = sentArgs === null ? exported : await called(exported, given ?? received(sentArgs));
  if ((typeof made === "object" && made !== null) || typeof made === "function") return made;
  const names = Object.keys(exports).join(", ") || "nothing";
  throw new DynError(
    exported === undefined
      ? `Expected an export ${name} of ${module} but found ${names}`
      : `Expected a dataset or a function from ${name} of ${module} but found ${
        made === null ? "null" : typeof made
      }`,
  );
}

function called(exported: unknown, args: unknown): unknown {
  if (!Array.isArray(args) || typeof exported !== "function") return undefined;
  return isClass(exported) ? Reflect.construct(exported, args) : Reflect.apply(exported, undefined, args);
}

const isClass = (value: object): boolean => /^class\b/.test(Function.prototype.toString.call(value));

/** Returns the recipe by which another thread creates a dataset or a function. Throws DynError if there is none. */
export function originOf(value: object, what: string): Origin {
  const known = ORIGINS.get(value);
  if (known) return known;
  const { constructor } = value,
    parts = (all: Iterable<object>) => [...all].map((each) => originOf(each, what));
  if (Array.isArray(value)) return { kind: "list", samples: sendToAll(value, what) };
  if (value instanceof ListDataset) return originOf(value.samples, what);
  if (value instanceof TensorDataset && constructor === TensorDataset) {
    return { kind: "tensors", tensors: sendToAll(value.tensors, what) };
  }
  if (value instanceof Subset && constructor === Subset) {
    return { kind: "subset", of: originOf(value.dataset, what), indices: value.indices };
  }
  if (value instanceof ConcatDataset && constructor === ConcatDataset) {
    return { kind: "concat", of: parts(value.datasets) };
  }
  if (value instanceof ChainDataset && constructor === ChainDataset) {
    return { kind: "chain", of: parts(value.datasets) };
  }
  if (value instanceof StackDataset && constructor === StackDataset) {
    const of = Object.entries<object>(value.datasets).map(([name, each]) =>
      [name, originOf(each, what)] as const
    );
    return { kind: "stack", of, isList: Array.isArray(value.datasets) };
  }
  const found = typeof value === "function"
    ? `the function ${value.name || "(unnamed)"}`
    : `a ${constructor?.name}`;
  throw new DynError(
    `Expected ${what} that workers can create too but found ${found}: take it from data.fromModule, ` +
      "since closures and instances of classes cannot be sent to another thread",
  );
}

/** Creates the dataset or function of an origin. */
export async function createFrom(origin: Origin): Promise<object> {
  switch (origin.kind) {
    case "module":
      return await makeOf(origin);
    case "list":
      return Object(received(origin.samples));
    case "tensors":
      return new TensorDataset(...received(origin.tensors) as ConstructorParameters<typeof TensorDataset>);
    case "subset":
      return new Subset(await createFrom(origin.of) as Dataset<unknown>, origin.indices);
    case "concat":
      return new ConcatDataset(await Promise.all(origin.of.map(createFrom)) as Dataset<unknown>[]);
    case "chain":
      return new ChainDataset(await Promise.all(origin.of.map(createFrom)) as IterableDataset<unknown>[]);
    case "stack": {
      const made = await Promise.all(
        origin.of.map(async ([name, each]) => [name, await createFrom(each) as Dataset<unknown>] as const),
      );
      return new StackDataset(origin.isList ? made.map(([, each]) => each) : Object.fromEntries(made));
    }
    default:
      return origin satisfies never;
  }
}
