/**
 * Defaults of optimizers and modules against PyTorch's: an option that is given the value which PyTorch's constructor
 * has for it changes nothing in what is constructed. Every optimizer is in the table.
 */
import { assert, assertEquals } from "@std/assert";
import { isTensor, manualSeed, nn, optim, rand, tensor } from "../mod.ts";
import { type Defaults, MODULES, OPTIMIZERS } from "./support/torch_defaults.ts";

/** Required arguments of modules, by name. */
const ARGUMENTS: Readonly<Record<string, () => unknown>> = {
  cutoffs: () => [2, 4],
  dModel: () => 4,
  decoderLayer: () => new nn.TransformerDecoderLayer(4, 2),
  embedDim: () => 4,
  embeddingDim: () => 3,
  encoderLayer: () => new nn.TransformerEncoderLayer(4, 2),
  hiddenSize: () => 4,
  in1Features: () => 4,
  in2Features: () => 3,
  inChannels: () => 4,
  inFeatures: () => 6,
  inputSize: () => 3,
  kernelSize: () => 2,
  nClasses: () => 6,
  nhead: () => 2,
  normType: () => 2,
  normalizedShape: () => [4],
  numChannels: () => 4,
  numClasses: () => 5,
  numEmbeddings: () => 5,
  numFeatures: () => 4,
  numGroups: () => 2,
  numHeads: () => 2,
  numLayers: () => 1,
  outChannels: () => 4,
  outFeatures: () => 4,
  outputSize: () => 4,
  size: () => 3,
  threshold: () => 0.1,
  value: () => 2,
};

/** Inputs with which lazy modules find their sizes. */
const INPUTS = [[2, 4], [2, 4, 5], [2, 4, 5, 5], [2, 4, 5, 5, 5]] as const;

/** A value with everything that it consists of, as data; what has been met before is a number. */
function described(value: unknown, met: Map<unknown, number> = new Map()): unknown {
  if (typeof value === "function") return value.name;
  if (typeof value !== "object" || value === null) return value;
  const known = met.get(value), inside = (each: unknown) => described(each, met);
  if (known !== undefined) return { known };
  met.set(value, met.size);
  if (isTensor(value)) {
    return [value.dtype, value.requiresGrad, value.device === "meta" ? value.shape : value.tolist()];
  }
  if (value instanceof Map || value instanceof Set) return Array.from(value, inside);
  if (Array.isArray(value)) return value.map(inside);
  return Object.fromEntries(Reflect.ownKeys(value).map((key) => [key, inside(Reflect.get(value, key))]));
}

const isConstructor = (value: unknown): value is new (...args: readonly unknown[]) => object =>
  typeof value === "function";

/** The object that a constructor makes with an option, or without, as data; random numbers are the same each time. */
function made(space: object, name: string, args: readonly unknown[], option?: object): unknown {
  manualSeed(5);
  const found: unknown = Reflect.get(space, name);
  assert(isConstructor(found), name);
  // Its defaults are the sizes of a large model
  const options = name === "Transformer" ? { ...option, device: "meta" } : option;
  const one = new found(...args, ...options ? [options] : []);
  if (!name.startsWith("Lazy") || !(one instanceof nn.Module)) return [String(one), described(one)];
  const dims = Number(name.match(/(\d)d$/)?.[1] ?? 0);
  Reflect.apply(one.call, one, [rand([...INPUTS[dims] ?? []])]);
  return [String(one), one.stateDict().size, described([...one.parameters(), ...one.buffers()])];
}

function check(
  space: object,
  { names, required = [], defaults }: Defaults,
  given?: readonly unknown[],
): void {
  for (const name of names) {
    const args = given ?? required.map((each) => ARGUMENTS[each]?.());
    const plain = made(space, name, args);
    for (const [option, value] of Object.entries(defaults)) {
      assertEquals(
        made(space, name, args, { [option]: value }),
        plain,
        `${name}: ${option} = ${String(value)}`,
      );
    }
  }
}

Deno.test("the defaults of optimizers are PyTorch's", () => {
  const parameters = [tensor([[1, 2], [3, 4]], { dtype: "float32", requiresGrad: true })];
  for (const each of OPTIMIZERS) check(optim, each, [parameters]);
  const listed = OPTIMIZERS.flatMap(({ names }) => names).toSorted();
  assertEquals(
    listed,
    Object.keys(optim).filter((name) => /^[A-Z]/.test(name) && name !== "Optimizer").toSorted(),
  );
});

Deno.test("the defaults of modules are PyTorch's", () => {
  for (const each of MODULES) check(nn, each);
});
