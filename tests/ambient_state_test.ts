/** Ambient state in compiled functions: read, changed, restored and guarded, entry by entry. */
import { assertEquals } from "@std/assert";
import { faults } from "../cli/fuzz/language/observation.ts";
import {
  areDeterministicAlgorithmsEnabled,
  autocast,
  autograd,
  compile,
  compiler,
  config,
  enableGrad,
  getAutocastDtype,
  getDefaultDtype,
  getFloat32MatmulPrecision,
  getRngState,
  inferenceMode,
  initialSeed,
  isAutocastEnabled,
  isGradEnabled,
  isInferenceMode,
  manualSeed,
  noGrad,
  ones,
  rand,
  setDefaultDtype,
  setFloat32MatmulPrecision,
  setRngState,
  type Tensor,
  useDeterministicAlgorithms,
  zeros,
} from "../mod.ts";
import { ambientState } from "../lib/dynamo/ambient.ts";
import { chooseDefaultDevice, defaultDevice } from "../lib/tensor/default_device.ts";
import { setGradEnabled } from "../lib/tensor/modes.ts";

type Program = (x: Tensor) => unknown;

/** Runs a body, and returns its result and whether a backward pass called the hooks around it. */
function hooked(body: () => unknown): readonly unknown[] {
  let isCalled = false;
  const unpack = (saved: Tensor) => {
    isCalled = true;
    return saved;
  };
  return [autograd.graph.savedTensorsHooks((saved) => saved, unpack, body), isCalled];
}

const product = (x: Tensor) => x.unsqueeze(0).mm(x.unsqueeze(1)).dtype;

/** Programs that read and change each piece of state; the state is restored when they end. */
const PROGRAMS: Readonly<
  Record<keyof ReturnType<typeof ambientState> | "precision" | "random" | "settings", readonly Program[]>
> = {
  gradEnabled: [
    () => isGradEnabled(),
    (x) => [noGrad(() => [isGradEnabled(), x.mul(2).requiresGrad]), isGradEnabled(), x.mul(2).requiresGrad],
    (x) => noGrad(() => [x.mul(2).requiresGrad, enableGrad(() => x.mul(2).requiresGrad), isGradEnabled()]),
    (x) => [false, true].map((on) => setGradEnabled(on, () => [x.mul(2).requiresGrad, isGradEnabled()])),
    (x) => {
      try {
        noGrad(() => {
          throw new Error("inside");
        });
      } catch {
        // Enabled again.
      }
      return [isGradEnabled(), x.mul(2).requiresGrad];
    },
    (x) => {
      const seen: unknown[] = [];
      for (let i = 0; i < 2; i++) {
        noGrad(() => {
          compiler.graphBreak();
          seen.push(isGradEnabled(), x.mul(i).requiresGrad);
        });
      }
      return [...seen, isGradEnabled()];
    },
  ],
  autocast: [
    () => [isAutocastEnabled(), getAutocastDtype()],
    (x) => [autocast("cpu", () => [isAutocastEnabled(), product(x)]), isAutocastEnabled(), product(x)],
    (x) =>
      autocast({ dtype: "float16" }, () => [
        getAutocastDtype(),
        autocast({ enabled: false }, () => [isAutocastEnabled(), product(x)]),
        product(x),
      ]),
    (x) => {
      try {
        autocast("cpu", () => {
          throw new Error("inside");
        });
      } catch {
        // Ended.
      }
      return [isAutocastEnabled(), product(x)];
    },
    (x) => {
      const seen: unknown[] = [];
      for (let i = 0; i < 2; i++) {
        autocast("cpu", () => {
          compiler.graphBreak();
          seen.push(isAutocastEnabled(), product(x));
        });
      }
      return [...seen, isAutocastEnabled()];
    },
  ],
  inference: [
    () => isInferenceMode(),
    (
      x,
    ) => [
      inferenceMode(() => [isInferenceMode(), isGradEnabled(), x.mul(2).requiresGrad]),
      isInferenceMode(),
    ],
    (x) => [x.mul(2).requiresGrad, inferenceMode(() => x.mul(2)).requiresGrad, x.mul(2).requiresGrad],
  ],
  defaultDtype: [
    () => [getDefaultDtype(), zeros([1]).dtype],
    () => {
      setDefaultDtype("float64");
      const made = [zeros([1]).dtype, getDefaultDtype(), ones([2]).mul(0.5).dtype];
      setDefaultDtype("float32");
      return [...made, zeros([1]).dtype];
    },
    () => {
      const change = setDefaultDtype;
      try {
        change("int64" as never);
      } catch (error) {
        return [(error as Error).message, zeros([1]).dtype];
      }
      return "changed";
    },
  ],
  defaultDevice: [
    () => [defaultDevice(), zeros([1]).device],
    (x) => {
      chooseDefaultDevice("cpu");
      return [x.mul(2).device, zeros([1]).device, defaultDevice()];
    },
  ],
  savedTensorsHooks: [
    (x) => isGradEnabled() && autograd.grad(x.mul(1).exp().sum(), x)[0],
    (x) => hooked(() => isGradEnabled() && autograd.grad(x.mul(1).exp().sum(), x)[0]),
  ],
  random: [
    () => [rand([2]), rand([2])],
    () => {
      manualSeed(5);
      const first = rand([2]);
      manualSeed(5);
      return [first, rand([2]), initialSeed()];
    },
    (x) => {
      const state = getRngState(), a = rand([2]).add(x), offset = getRngState().offset - state.offset;
      setRngState(state);
      return [a, rand([2]).add(x), offset];
    },
  ],
  precision: [
    (x) => [getFloat32MatmulPrecision(), x.mul(2), areDeterministicAlgorithmsEnabled()],
    (x) => {
      const former = getFloat32MatmulPrecision();
      setFloat32MatmulPrecision("medium");
      const seen = [getFloat32MatmulPrecision(), config.inductor.convolutionPrecision, x.mul(2)];
      setFloat32MatmulPrecision(former);
      return [...seen, getFloat32MatmulPrecision(), config.inductor.convolutionPrecision];
    },
    (x) => {
      const former = areDeterministicAlgorithmsEnabled();
      useDeterministicAlgorithms(!former);
      const seen = [areDeterministicAlgorithmsEnabled(), x.mul(2)];
      useDeterministicAlgorithms(former);
      return [...seen, areDeterministicAlgorithmsEnabled()];
    },
  ],
  settings: [
    () => [config.cacheSizeLimit, config.inductor.fusion],
    (x) => config.patch({ cacheSizeLimit: 3 }, () => [config.cacheSizeLimit, x.mul(2)]),
    (x) => {
      const former = config.dynamicShapes;
      config.dynamicShapes = false;
      const y = x.mul(2);
      config.dynamicShapes = former;
      return [y, config.dynamicShapes];
    },
  ],
};

/** Surroundings in which every program is called. */
const SURROUNDINGS: readonly ((run: () => unknown) => unknown)[] = [
  (run) => run(),
  (run) => noGrad(run),
  (run) => hooked(run),
  (run) => inferenceMode(run),
  (run) => {
    setFloat32MatmulPrecision("high");
    try {
      return run();
    } finally {
      setFloat32MatmulPrecision("highest");
    }
  },
  (run) => {
    setDefaultDtype("float64");
    try {
      return run();
    } finally {
      setDefaultDtype("float32");
    }
  },
  (run) => config.patch({ cacheSizeLimit: 9 }, () => autocast({ dtype: "float16" }, run)),
];

function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shown);
  return value && typeof value === "object" && "tolist" in value ? Deno.inspect(value) : value;
}

for (const [name, programs] of Object.entries(PROGRAMS)) {
  Deno.test(`ambient state in compiled functions: ${name}`, () => {
    const before = faults();
    for (const program of programs) {
      const compiled = compile(program, { backend: name === "savedTensorsHooks" ? "inductor" : "eager" });
      const run = (call: Program) =>
        SURROUNDINGS.flatMap((around) => {
          manualSeed(1);
          return [0, 1].map(() => shown(around(() => call(ones([2]).requiresGrad_()))));
        });
      assertEquals(run(compiled), run(program), `${program}`);
      assertEquals(run(compiled), run(program), `${program}`);
      const { gradEnabled, inference, defaultDtype } = ambientState();
      assertEquals([gradEnabled, inference, defaultDtype], [true, false, "float32"]);
    }
    assertEquals(faults(), before);
  });
}

/**
 * Variables of dyn's modules that are assigned as programs run, with why tensor programs do not depend on them, or
 * `ambient` for those that they do depend on.
 */
const STATE: Readonly<Record<string, string>> = {
  "lib/autograd/deferred/compiled_passes.ts backendInForce": "set once, when the library is put together",
  "lib/autograd/deferred/compiled_passes.ts known": "what is found out once",
  "lib/autograd/deferred/compiled_passes.ts scope": "who runs backward passes, which give the same",
  "lib/autograd/node.ts nextSequence": "an order, told by nothing",
  "lib/autograd/forward_ad.ts current": "the level of dualLevel, while its body runs",
  "lib/autograd/tape.ts nextHook": "names handles apart",
  "lib/base/pending_collectives.ts gathered": "collects within one part of a graph",
  "lib/base/pending_collectives.ts count": "counts the started collectives",
  "lib/base/config.ts changes": "counts, to tell whether settings are what they were",
  "lib/base/dtype.ts defaultFloat": "ambient",
  "lib/base/errors.ts passesImports": "set once, when the program is started",
  "lib/base/errors.ts showsOwnFrames": "set once, when the library is put together",
  "lib/base/cached_entries.ts flushesAtExit": "what is done once",
  "lib/base/cached_entries.ts store": "set once, when the library is put together",
  "lib/base/logs.ts levels": "what is printed",
  "lib/base/logs.ts sink": "what is printed",
  "lib/base/own_builtins.ts isComplete": "dyn's own builtins, while it works",
  "lib/base/own_builtins.ts isSaid": "what is printed",
  "lib/base/own_builtins.ts lastFound": "what a program has replaced, compared at each call",
  "lib/base/own_builtins.ts replacements": "dyn's own builtins, while it works",
  "lib/base/own_builtins.ts setAside": "dyn's own builtins, while it works",
  "lib/base/own_builtins.ts stuck": "what a program has replaced forever, found out at each call",
  "lib/base/own_builtins.ts untouched": "dyn's own builtins, while it works",
  "lib/base/own_sources.ts known": "what is found out once",
  "lib/base/precision.ts asked": "ambient; read and set between graphs",
  "lib/base/precision.ts isDeterministic": "ambient; read and set between graphs",
  "lib/base/recording.ts current": "what is recorded",
  "lib/base/last_match.ts kept": "ends with one call",
  "lib/base/inherited_elements.ts standing": "what a program has defined forever, found out at each call",
  "lib/base/recording.ts frames": "what is recorded",
  "lib/base/shipped_entries.ts entries": "what is found out once",
  "lib/base/shipped_entries.ts shipment": "set once, when the library is put together",
  "lib/base/portable_addresses.ts known":
    "the folder that is moved with the cache, read once from the environment",
  "lib/base/atomic_files.ts counter": "makes file names unique",
  "lib/tensor/classes.ts compiler": "set once, when the library is put together",
  "lib/tensor/classes.ts families": "what is compiled, by device",
  "lib/tensor/classes.ts replacementsSeen": "what is compiled, by device",
  "lib/tensor/default_device.ts chosen": "ambient",
  "lib/tensor/cached_classes.ts known": "what is found out once for settings as they are",
  "lib/tensor/storage.ts serial": "names storages apart",
  "lib/tensor/storage.ts watched": "collects within one call",
  "lib/tensor/shared_storage.ts looks": "numbers looks, each of which ends in one call",
};

Deno.test("the state that dyn's tensors depend on is the one in the table", async () => {
  const found: string[] = [];
  const visit = async (folder: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(new URL(`../${folder}`, import.meta.url))) {
      const path = `${folder}/${name}`;
      if (isDirectory) await visit(path);
      else {
        const text = await Deno.readTextFile(new URL(`../${path}`, import.meta.url));
        for (const [, variable] of text.matchAll(/^(?:export )?let (\w+)/gm)) {
          found.push(`${path} ${variable}`);
        }
      }
    }
  };
  for (const room of ["base", "tensor", "autograd", "ops"]) await visit(`lib/${room}`);
  assertEquals(found.sort(), Object.keys(STATE).sort());
});
