/** Checkpoints: trees are restored exactly, training continues bit for bit, damaged or unsavable values are errors. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  arange,
  DynError,
  getRngState,
  isTensor,
  load,
  manualSeed,
  nn,
  noGrad,
  optim,
  randn,
  safetensors,
  save,
  setRngState,
  type Tensor,
  tensor,
} from "../mod.ts";
import { gunzipSync } from "node:zlib";
import { writeArchive } from "../lib/base/archive.ts";
import { readTorchFile } from "../lib/data/torch_file.ts";
import { sampleBySeed } from "./support/sampling.ts";

function inFolder<T>(body: (file: string) => T): T {
  const folder = Deno.makeTempDirSync();
  try {
    return body(`${folder}/a.safetensors`);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** Reads a file of torch.save that stands in tests/data. */
const ofTorch = (name: string): Record<string, unknown> => load(new URL(`data/${name}.pt`, import.meta.url));

/** The pickles in which torch.save writes its files: today's archives, in two protocols, and the former stream. */
const OF_TORCH = ["torch_save", "torch_save_protocol4", "torch_save_stream"];

Deno.test("files of torch.save are read: containers, numbers, types, views of memory, a state dict by its keys", () => {
  for (const name of OF_TORCH) {
    const { model, views, types, parameter, leaf, conj, negative, scalar, empty, ...rest } = ofTorch(name);
    const numbers = { step: 7, lr: 1e-3, big: 2 ** 40, huge: 2n ** 70n, neg: -3, negzero: -0, inf: Infinity };
    const lists = { tuple: [1, 2, 3, 4], set: new Set([1]), size: [1, 2], same: [[1, 2], [1, 2]] };
    const dicts = {
      "by number": { 0: "a", 1: "b" },
      "by tuple": new Map([[[1, 2], "a"]]),
      default: { k: [1] },
    };
    const texts = { bytes: new Uint8Array([97, 255]), text: "é", dtype: "float16", device: "cpu" };
    const others = { complex: { re: 1, im: 2 }, none: null, false: false, count: { a: 2, b: 1 } };
    assertEquals(rest, { ...numbers, ...lists, ...dicts, ...texts, ...others });
    const [first, second] = rest.same as unknown[];
    assert(first === second);

    for (const [dtype, t] of Object.entries(types as Record<string, Tensor>)) {
      assertEquals([t.dtype as string, t.real().double().tolist()], [dtype, [
        1,
        0,
        dtype === "bool" ? 1 : 3,
      ]]);
    }
    assertEquals(
      `${conj} ${negative} ${scalar}`,
      "tensor([1.-2.j]) tensor([-1., -2.]) tensor(2.5000, dtype=float64)",
    );
    assertEquals((empty as Tensor).shape, [0, 3]);
    assert(parameter instanceof nn.Parameter && parameter.requiresGrad && (leaf as Tensor).requiresGrad);
    const [whole, transposed, part] = views as [Tensor, Tensor, Tensor];
    whole.set([4], -1);
    assertEquals([transposed.tolist(), part.tolist()], [[[0, 3], [1, -1], [2, 5]], [-1, 5]]);

    const net = new nn.Sequential({
      fc: new nn.Linear(3, 2),
      bn: new nn.BatchNorm1d(2),
      out: new nn.Linear(2, 3),
    });
    net.loadStateDict(model as nn.StateDict);
    assertEquals(net.eval().call(tensor([[1, 0.5, 2]])).shape, [1, 3]);
    assertEquals(net.at(0).stateDict().bias?.tolist(), [0.5, -0.5]);
  }
});

Deno.test("pickles run nothing: classes and functions of Python, damaged and other archives are errors", () =>
  inFolder((file) => {
    const refused = (bytes: Uint8Array, message: string) => {
      Deno.writeFileSync(file, bytes);
      assertThrows(() => load(file), DynError, message);
    };
    const stream = Deno.readFileSync(new URL("data/torch_save_stream.pt", import.meta.url));
    // The stream, with another function instead of the one that makes tensors
    const text = new TextDecoder("latin1").decode(stream);
    const at = text.indexOf("torch._utils\n_rebuild_tensor_v2\n");
    const changed = stream.slice();
    changed.set(new TextEncoder().encode("posixposixpo\nsystemsystemsystem\n"), at);
    refused(changed, "found posixposixpo.systemsystemsystem, whose code is Python's");
    refused(stream.subarray(0, stream.length - 3), "Expected the elements of");
    for (let length = 5; length < at; length += 9) refused(stream.subarray(0, length), "Expected");
    const archive = Deno.readFileSync(new URL("data/torch_save.pt", import.meta.url));
    refused(archive.subarray(0, 4000), "Expected an archive");
    refused(archive.with(archive.length - 6, 0), "Expected");
  }));

Deno.test("other files are named for what they are, safetensors files never", () =>
  inFolder((file) => {
    const messageOf = (read: (path: string) => unknown, contents: string | Uint8Array<ArrayBuffer>) => {
      const bytes = typeof contents === "string"
        ? Uint8Array.from(contents, (each) => each.charCodeAt(0))
        : contents;
      Deno.writeFileSync(file, bytes);
      return assertThrows(() => read(file), DynError).message;
    };
    const archive = (...names: string[]) =>
      writeArchive(new Map(names.map((name) => [name, new Uint8Array(1)])));
    const kinds: readonly (readonly [string | Uint8Array<ArrayBuffer>, string])[] = [
      ["", "an empty file"],
      ["version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS"],
      ["\n<!DOCTYPE html><html>", "a page"],
      ["\x93NUMPY\x01\0", "an array of NumPy; data.readNpy(path) reads it"],
      ["GGUF\x03\0\0\0", "a file of GGUF"],
      ["\x89HDF\r\n\x1a\n", "a file of HDF5"],
      ["\x08\x07\x12\x07pytorch", "what seems to be a model of ONNX"],
      ["\x80\x04\x95\x10\0\0\0\0\0\0\0}", "a pickle of Python"],
      [archive("m/data.pkl", "m/constants.pkl"), "a program of TorchScript"],
      [archive("m/models/model.json", "m/archive_format"), "a program of torch.export"],
      [archive("a.npy"), "an archive of numpy.savez"],
      [archive("config.json", "model.weights.h5"), "a model of Keras"],
    ];
    for (const [contents, kind] of kinds) {
      for (const read of [load, safetensors.load]) {
        const message = messageOf(read, contents);
        assert(message.includes(` but found ${kind}`), message);
        assert(message.endsWith(`, in ${file}`), message);
      }
    }
    // A header may be as long as a pickle or a message of ONNX begins
    for (const name of ["t".repeat(640 - 48), "t".repeat(0x1208 - 48)]) {
      safetensors.save({ [name]: tensor([1]) }, file);
      assertEquals(safetensors.load(file)[name]?.tolist(), [1]);
      assertEquals(load<Record<string, Tensor>>(file)[name]?.tolist(), [1]);
    }
  }));

Deno.test("states from before batches were counted load strictly, and the count stays", () => {
  const make = () => new nn.Sequential(new nn.Conv2d(1, 2, 1), new nn.BatchNorm2d(2));
  const trained = make(), net = make();
  for (const each of [trained, net, net]) each.call(randn([2, 1, 3, 3]));
  const { "1.num_batches_tracked": count, ...old } = trained.stateDict();
  assertEquals([count?.item(), net.loadStateDict(old)], [1, { missingKeys: [], unexpectedKeys: [] }]);
  assertEquals(net.stateDict()["1.num_batches_tracked"]?.item(), 2);
  assertEquals(net.stateDict()["1.running_mean"]?.tolist(), old["1.running_mean"]?.tolist());
  const { "1.running_mean": _mean, ...less } = old;
  assertThrows(() => net.loadStateDict(less), DynError, "missing keys 1.running_mean");
});

interface Resumed {
  readonly state: optim.TorchOptimizerState;
  readonly middle: readonly Tensor[];
  readonly end: readonly Tensor[];
}

interface ResumedRates {
  readonly schedule: optim.TorchScheduleState;
  readonly optimizer: optim.TorchOptimizerState;
  readonly rates: readonly number[];
}

/** PyTorch's states after three steps, and where the next three led. */
function resumed(): {
  grads: Tensor[][];
  optimizers: Record<string, Resumed>;
  schedules: Record<string, ResumedRates>;
} {
  const packed = Deno.readFileSync(new URL("data/torch_optimizers.pt.gz", import.meta.url));
  return readTorchFile(new Uint8Array(gunzipSync(packed))) as ReturnType<typeof resumed>;
}

type Params = nn.Parameter[];

/** How the optimizers of the file are made; what their states hold is wrong or left out here. */
const OPTIMIZERS: Readonly<Record<string, (params: Params) => optim.Optimizer>> = {
  SGD: (p) => new optim.SGD(p, { lr: 1 }),
  "SGD plain": (p) => new optim.SGD(p, { lr: 1 }),
  Adam: (p) => new optim.Adam(p),
  AdamW: ([a, b]) => new optim.AdamW([{ params: a ? [a] : [] }, { params: b ? [b] : [] }]),
  Adamax: (p) => new optim.Adamax(p),
  NAdam: (p) => new optim.NAdam(p),
  RAdam: (p) => new optim.RAdam(p),
  RMSprop: (p) => new optim.RMSprop(p),
  Adagrad: (p) => new optim.Adagrad(p),
  Adadelta: (p) => new optim.Adadelta(p),
  ASGD: (p) => new optim.ASGD(p),
  Rprop: (p) => new optim.Rprop(p),
  Adafactor: (p) => new optim.Adafactor(p),
  Muon: (p) => new optim.Muon(p.slice(0, 1)),
  LBFGS: (p) => new optim.LBFGS(p, { lineSearchFn: null }),
};

Deno.test("optimizers continue from the states of PyTorch's, hyperparameters included", () => {
  const { grads, optimizers } = resumed();
  assertEquals(Object.keys(optimizers), Object.keys(OPTIMIZERS));
  for (const [name, { state, middle, end }] of sampleBySeed(Object.entries(optimizers), 5)) {
    const params = middle.map((each) => new nn.Parameter(each.clone()));
    const optimizer = OPTIMIZERS[name]?.(params);
    optimizer?.loadStateDict(state);
    for (const targets of grads.slice(3)) {
      const closure = () => {
        optimizer?.zeroGrad();
        const parts = params.map((p, k) => p.sub(targets[k] ?? 0).pow(4).sum());
        const loss = parts.reduce((sum, each) => sum.add(each));
        loss.backward();
        return loss;
      };
      if (optimizer instanceof optim.LBFGS) optimizer.step(closure);
      else {
        params.forEach((p, k) => p.grad = targets[k]?.clone() ?? null);
        optimizer?.step();
      }
    }
    const sizes = params.map((_, k) => end[k]?.abs().max() ?? 1);
    const error = Math.max(
      ...params.map((p, k) => +p.detach().sub(end[k] ?? 0).abs().max().div(sizes[k] ?? 1)),
    );
    // Muon orthogonalises its steps in bfloat16
    assert(error < (name === "Muon" ? 2e-4 : 1e-5), `${name}: ${error}`);
  }
});

const { lrScheduler } = optim;

/** How the schedules of the file are made, with settings that their states replace where these hold them. */
const SCHEDULES: Readonly<
  Record<string, (o: optim.Optimizer) => optim.lrScheduler.LRScheduler | optim.lrScheduler.ReduceLROnPlateau>
> = {
  StepLR: (o) => new lrScheduler.StepLR(o, 9),
  MultiStepLR: (o) => new lrScheduler.MultiStepLR(o, [9, 10]),
  ConstantLR: (o) => new lrScheduler.ConstantLR(o),
  LinearLR: (o) => new lrScheduler.LinearLR(o),
  ExponentialLR: (o) => new lrScheduler.ExponentialLR(o, 0.5),
  PolynomialLR: (o) => new lrScheduler.PolynomialLR(o),
  CosineAnnealingLR: (o) => new lrScheduler.CosineAnnealingLR(o, 9),
  CosineAnnealingWarmRestarts: (o) => new lrScheduler.CosineAnnealingWarmRestarts(o, 9),
  CyclicLR: (o) => new lrScheduler.CyclicLR(o, 0.01, 0.1, 2, { mode: "triangular2" }),
  OneCycleLR: (o) => new lrScheduler.OneCycleLR(o, 0.1, { totalSteps: 8 }),
  LambdaLR: (o) => new lrScheduler.LambdaLR(o, (epoch) => 1 / (epoch + 1)),
  MultiplicativeLR: (o) => new lrScheduler.MultiplicativeLR(o, () => 0.9),
  SequentialLR: (o) =>
    new lrScheduler.SequentialLR(o, [new lrScheduler.LinearLR(o), new lrScheduler.CosineAnnealingLR(o, 9)], [
      5,
    ]),
  ChainedScheduler: (o) =>
    new lrScheduler.ChainedScheduler([new lrScheduler.ConstantLR(o), new lrScheduler.ExponentialLR(o, 0.5)]),
  ReduceLROnPlateau: (o) => new lrScheduler.ReduceLROnPlateau(o),
};

Deno.test("schedules continue from the states of PyTorch's", () => {
  const { schedules } = resumed();
  assertEquals(Object.keys(schedules), Object.keys(SCHEDULES));
  for (const [name, { schedule: state, optimizer: ofOptimizer, rates }] of Object.entries(schedules)) {
    const optimizer = new optim.SGD([new nn.Parameter(tensor([1.5]))], { lr: 0.1, momentum: 0.9 });
    const schedule = SCHEDULES[name]?.(optimizer);
    optimizer.loadStateDict(ofOptimizer);
    schedule?.loadStateDict(state);
    const found = [5, 5, 6].map((metric) => {
      optimizer.step();
      if (schedule instanceof lrScheduler.ReduceLROnPlateau) schedule.step(metric);
      else schedule?.step();
      return optimizer.paramGroups[0]?.lr ?? NaN;
    });
    assert(
      found.every((rate, k) => Math.abs(rate - (rates[k] ?? NaN)) < 1e-9),
      `${name}: ${found}, not ${rates}`,
    );
  }
});

Deno.test("trees are restored unchanged", () =>
  inFolder((file) => {
    const tree = {
      text: "a",
      numbers: [1, -0, NaN, -Infinity, 1e-300],
      large: 2n ** 70n,
      nothing: [null, undefined, true],
      ["__proto__x"]: new Map<unknown, unknown>([["k", new Set([1, 2])], [3, { deep: [] }]]),
    };
    save(tree, file);
    assertEquals(load(file), tree);
    for (const dtype of ["float32", "float64", "float16", "bfloat16", "int64", "int8", "bool"] as const) {
      const x = tensor([[1, 0], [1, 1]], { dtype });
      save([x], file);
      const [found] = [load(file)].flat();
      assert(isTensor(found));
      assertEquals([found.dtype, found.tolist()], [dtype, x.tolist()]);
    }
  }));

Deno.test("tensors that shared elements share them after loading, and views and parameters keep their kinds", () =>
  inFolder((file) => {
    const x = arange(6, { dtype: "float32" }), weight = new nn.Parameter(randn([2]));
    save(
      { x, turned: x.view([2, 3]).t(), weight, tied: weight, frozen: new nn.Parameter(randn([1]), false) },
      file,
    );
    const found = load(file);
    assert(typeof found === "object" && found !== null);
    const [a, turned, w, tied, frozen] = ["x", "turned", "weight", "tied", "frozen"].map((name) =>
      Reflect.get(found, name)
    );
    assert(isTensor(a) && isTensor(turned) && w instanceof nn.Parameter && frozen instanceof nn.Parameter);
    assertEquals(turned.strides, [1, 3]);
    a.fill_(7);
    assertEquals(turned.tolist(), [[7, 7], [7, 7], [7, 7]]);
    assert(w === tied && w.requiresGrad && !frozen.requiresGrad);
    assertEquals(Object.keys(safetensors.load(file)).length, 3);
    assertThrows(() => save([x, x.view("int32")], file), DynError, "one type over shared memory");
  }));

Deno.test("files hold only elements that tensors access, whatever their memory", () =>
  inFolder((file) => {
    const empty = randn([0, 3]);
    for (
      const [tree, elements] of [[randn([1003]), 1003], [randn([100, 10]).slice(0, 0, 7), 70], [
        empty,
        0,
      ]] as const
    ) {
      save(tree, file);
      const [stored] = Object.values(safetensors.load(file));
      assertEquals(stored?.numel(), elements);
      const found = load(file);
      assert(isTensor(found));
      assertEquals([found.shape, found.tolist()], [tree.shape, tree.tolist()]);
    }
  }));

Deno.test("training continues from a checkpoint to the bit", () =>
  inFolder((file) => {
    const begin = () => {
      const model = new nn.Sequential(new nn.Linear(3, 8), new nn.Dropout(0.3), new nn.Linear(8, 1));
      const optimizer = new optim.Adam(model.parameters(), { lr: 0.01 });
      return { model, optimizer, schedule: new optim.lrScheduler.StepLR(optimizer, { stepSize: 2 }) };
    };
    const train = ({ model, optimizer, schedule }: ReturnType<typeof begin>, steps: number) => {
      for (let k = 0; k < steps; k++) {
        optimizer.zeroGrad();
        const out = model.call(randn([4, 3]));
        assert(isTensor(out));
        out.square().mean().backward();
        optimizer.step();
        schedule.step();
      }
      return model.parameters().map((each) => each.tolist());
    };
    manualSeed(5);
    const one = begin();
    train(one, 3);
    save({
      model: one.model.stateDict(),
      optimizer: one.optimizer.stateDict(),
      schedule: one.schedule.stateDict(),
      random: getRngState(),
    }, file);
    const expected = train(one, 3);
    manualSeed(99);
    const other = begin(), saved = load(file);
    assert(typeof saved === "object" && saved !== null);
    noGrad(() => other.model.loadStateDict(Reflect.get(saved, "model")));
    other.optimizer.loadStateDict(Reflect.get(saved, "optimizer"));
    other.schedule.loadStateDict(Reflect.get(saved, "schedule"));
    setRngState(Reflect.get(saved, "random"));
    assertEquals(train(other, 3), expected);
  }));

Deno.test("values that cannot be saved or read are named by their place, and an existing file is unchanged", () =>
  inFolder((file) => {
    save({ kept: 1 }, file);
    assertThrows(() => save({ a: [1, () => {}] }, file), DynError, "at the value.a[1] but found a function");
    assertThrows(
      () => save({ model: new nn.Linear(1, 1) }, file),
      DynError,
      "found a Linear; save its stateDict()",
    );
    const loop: unknown[] = [];
    loop.push(loop);
    assertThrows(() => save(loop, file), DynError, "a cycle at the value[0]");
    assertEquals(load(file), { kept: 1 });
    assertEquals([...Deno.readDirSync(file.slice(0, file.lastIndexOf("/")))].length, 1);
    Deno.writeFileSync(file, Deno.readFileSync(file).slice(0, 20));
    for (const read of [load, safetensors.load]) {
      assertThrows(() => read(file), DynError, `found 12, in ${file}`);
    }
    assertThrows(
      () => save({}, `${file}/none/b`),
      DynError,
      "Expected to write",
    );
    assertThrows(() => Reflect.apply(save, null, [file, {}]), DynError, "Expected a path to write to");
    safetensors.save({ w: tensor([1.5]) }, file);
    assertEquals(Object.keys(Object(load(file))), ["w"]);
  }));

Deno.test("other readers find the tensors of a saved state dict under their keys, in their shapes", () =>
  inFolder((file) => {
    const model = new nn.Sequential(new nn.Linear(2, 3), new nn.BatchNorm1d(3)), state = model.stateDict();
    const textOf = (tensors: Record<string, Tensor>) =>
      Object.entries(tensors).map(([key, { shape }]) => `${key} [${shape}]`).sort();
    save(state, file);
    assertEquals(textOf(safetensors.load(file)), textOf(state));
    // Names that several places have, memory seen in several ways, and a name that the format reserves
    const w = randn(2, 3), part = randn(4);
    const tree = {
      "a.b": w,
      a: { b: w.clone() },
      list: [part.at("1:"), part],
      t: w.t(),
      __metadata__: randn(1),
    };
    save(tree, file);
    assertEquals(textOf(safetensors.load(file)), [
      "__metadata__' [1]",
      "a.b [2,3]",
      "a.b' [2,3]",
      "list.0 [4]",
    ]);
    assert(load<typeof tree>(file).t.equal(tree.t) && load<typeof tree>(file).list[0]?.equal(part.at("1:")));
  }));
