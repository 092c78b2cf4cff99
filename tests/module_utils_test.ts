/**
 * Module utilities: parametrized weights, packed sequences, vectors of parameters and uninitialised modules, eagerly
 * and in captured training steps. The numbers of the weight norm are PyTorch's.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { compile, compiler, DynError, eye, isTensor, linalg, manualSeed, nn, noGrad, optim } from "../mod.ts";
import { rand, randn, type Tensor, tensor } from "../mod.ts";

const { parametersToVector, parametrizations, parametrize, rnn, skipInit, vectorToParameters } = nn.utils;

function near(found: Tensor, wanted: Tensor, where: string): void {
  assertEquals(found.shape, wanted.shape, where);
  const error = Number(noGrad(() => found.sub(wanted).abs().max().item()));
  assert(error < 1e-5, `${where}: an error of ${error}`);
}

/** Losses of two steps, the same eagerly and as one graph. */
function trains(make: () => nn.Module, input: () => Tensor): void {
  const run = (wrap: (step: () => Tensor) => () => Tensor): Tensor[] => {
    manualSeed(7);
    const module = make(), x = input(), optimizer = new optim.SGD(module.parameters(), { lr: 0.1 });
    const call: unknown = Reflect.get(module, "call");
    assert(typeof call === "function");
    const step = wrap(() => {
      optimizer.zeroGrad();
      const loss: Tensor = Reflect.apply(call, module, [x]).square().sum();
      loss.backward();
      optimizer.step();
      return loss.detach();
    });
    return [step(), step()];
  };
  compiler.reset();
  const wanted = run((step) => step);
  const found = run((step) => compile(step, { backend: "aot_eager", fullgraph: true }));
  wanted.forEach((loss, i) => near(found[i] ?? loss, loss, `loss ${i}`));
  assert(Number(wanted[1]?.item()) < Number(wanted[0]?.item()), "Expected a loss that falls");
}

class Symmetric extends nn.Module {
  override forward(x: Tensor): Tensor {
    return x.triu().add(x.triu(1).transpose(-2, -1));
  }

  rightInverse(x: Tensor): Tensor {
    return x.triu();
  }
}

Deno.test("a weight is computed from its original, assigned to, and restored", () => {
  const layer = new nn.Linear(3, 3), before = layer.weight.detach().clone();
  parametrize.registerParametrization(layer, "weight", new Symmetric());
  assert(parametrize.isParametrized(layer) && parametrize.isParametrized(layer, "weight"));
  assertEquals(parametrize.typeBeforeParametrizations(layer), nn.Linear);
  assertEquals(Object.keys(layer.stateDict()), ["bias", "parametrizations.weight.original"]);
  near(layer.weight, before.triu().add(before.triu(1).mT), "computed");
  const computed = (): Tensor => layer.weight;
  assert(computed() !== computed(), "Expected a weight that is computed each time");
  parametrize.cached(() => assert(computed() === computed(), "Expected a weight that is computed once"));
  const next = tensor([[1, 2, 3], [2, 4, 5], [3, 5, 6]]).to("float32");
  Reflect.set(layer, "weight", next);
  near(layer.weight, next, "assigned");
  parametrize.removeParametrizations(layer, "weight");
  assertEquals(Object.keys(layer.stateDict()), ["weight", "bias"].toSorted((a) => a === "bias" ? -1 : 1));
  assert(layer.weight instanceof nn.Parameter && !parametrize.isParametrized(layer));
  near(layer.weight, next, "left");
  assertThrows(() => parametrize.removeParametrizations(layer, "weight"), DynError, "found none");
  class Wide extends nn.Module {
    override forward(x: Tensor): Tensor {
      return x.repeat(2, 1);
    }
  }
  assertThrows(
    () => parametrize.registerParametrization(layer, "weight", new Wide()),
    DynError,
    "keeps float32 of shape [3,3]",
  );
  trains(
    () => parametrize.registerParametrization(new nn.Linear(3, 3), "weight", new Symmetric()),
    () => randn([4, 3]),
  );
});

Deno.test("weight norm has PyTorch's keys and values, and trains as one graph", () => {
  const layer = parametrizations.weightNorm(new nn.Linear(2, 3)), plain = layer.weight.detach();
  assertEquals(Object.keys(layer.stateDict()), [
    "bias",
    "parametrizations.weight.original0",
    "parametrizations.weight.original1",
  ]);
  layer.loadStateDict({
    bias: tensor([0, 0, 0]).to("float32"),
    "parametrizations.weight.original0": tensor([[1], [2], [3]]).to("float32"),
    "parametrizations.weight.original1": tensor([[3, 4], [0, 2], [1, 1]]).to("float32"),
  });
  near(layer.weight, tensor([[0.6, 0.8], [0, 2], [2.1213203, 2.1213203]]), "weight");
  assertEquals(plain.shape, [3, 2]);
  trains(() => parametrizations.weightNorm(new nn.Conv1d(2, 3, 2)), () => randn([2, 2, 5]));
});

Deno.test("spectral norm makes the largest singular value 1, and trains as one graph", () => {
  manualSeed(2);
  const layer = parametrizations.spectralNorm(new nn.Linear(4, 3), "weight", { nPowerIterations: 30 });
  layer.call(rand([1, 4]));
  near(linalg.svdvals(layer.weight.detach()).narrow(0, 0, 1), tensor([1.0]), "greatest");
  assertEquals(Object.keys(layer.stateDict()), [
    "bias",
    "parametrizations.weight.original",
    "parametrizations.weight.0._u",
    "parametrizations.weight.0._v",
  ]);
  const transposed = parametrizations.spectralNorm(new nn.ConvTranspose2d(2, 5, 2));
  assertEquals(transposed.stateDict()["parametrizations.weight.0._u"]?.shape, [5]);
  trains(() => parametrizations.spectralNorm(new nn.Linear(4, 3)), () => randn([2, 4]));
});

Deno.test("orthogonal weights stay orthogonal while they are trained", () => {
  for (const orthogonalMap of ["matrixExp", "cayley", "householder"] as const) {
    for (const [inside, outside] of [[3, 3], [4, 2], [2, 4]] as const) {
      for (const useTrivialization of orthogonalMap === "householder" ? [true, false] : [true]) {
        manualSeed(3);
        const layer = new nn.Linear(inside, outside), where = `${orthogonalMap} ${inside} ${outside}`;
        const first = layer.weight.detach().clone();
        parametrizations.orthogonal(layer, "weight", { orthogonalMap, useTrivialization });
        const gram = () => {
          const weight = layer.weight.detach();
          return outside <= inside ? weight.matmul(weight.mT) : weight.mT.matmul(weight);
        };
        near(gram(), eye(Math.min(inside, outside)), where);
        assert(
          Number(layer.weight.detach().mul(first).sum().item()) > 0,
          `${where}: near the weight that there was`,
        );
        const before = layer.weight.detach().clone(),
          optimizer = new optim.SGD(layer.parameters(), { lr: 0.1 });
        layer.call(randn([2, inside])).sum().backward();
        optimizer.step();
        assert(Number(layer.weight.detach().sub(before).abs().max().item()) > 1e-4, `${where}: moved`);
        near(gram(), eye(Math.min(inside, outside)), `${where}, trained`);
      }
    }
  }
});

Deno.test("packed sequences unpack to the padded ones", () => {
  const sequences = [tensor([1, 2]), tensor([3, 4, 5]), tensor([6])];
  const packed = rnn.packSequence(sequences, { enforceSorted: false });
  assertEquals([packed.data.tolist(), packed.batchSizes], [[3, 1, 6, 4, 2, 5], [3, 2, 1]]);
  assertEquals([packed.sortedIndices, packed.unsortedIndices], [[1, 0, 2], [1, 0, 2]]);
  const [padded, lengths] = rnn.padPackedSequence(packed, true, -1, 4);
  assertEquals(padded.tolist(), [[1, 2, -1, -1], [3, 4, 5, -1], [6, -1, -1, -1]]);
  assertEquals(lengths.tolist(), [2, 3, 1]);
  const left = rnn.padSequence(sequences, { batchFirst: true, paddingSide: "left" });
  assertEquals(left.tolist(), [[0, 1, 2], [3, 4, 5], [0, 0, 6]]);
  assertEquals(rnn.unpadSequence(padded, lengths, { batchFirst: true }).map((x) => x.tolist()), [[1, 2], [
    3,
    4,
    5,
  ], [6]]);
  assertEquals(rnn.unpackSequence(packed).map((x) => x.tolist()), [[1, 2], [3, 4, 5], [6]]);
  assertEquals(rnn.invertPermutation(tensor([2, 0, 3, 1]))?.tolist(), [1, 3, 0, 2]);
  assertEquals(rnn.invertPermutation(null), null);
  assertThrows(() => rnn.packSequence(sequences), DynError, "lengths in descending order");
  // The parts of a tensor are sequences
  assertEquals(rnn.packSequence(tensor([[0, 1, 2], [3, 4, 5]])).data.tolist(), [0, 3, 1, 4, 2, 5]);
  assertThrows(() => rnn.packPaddedSequence(padded, [1, 9, 1], true), DynError, "lengths in [1, 4]");
});

Deno.test("recurrent layers treat each packed sequence as if it were alone", () => {
  manualSeed(4);
  const lengths = [2, 4, 1], sequences = lengths.map((length) => randn([length, 3]));
  const packed = rnn.packSequence(sequences, { enforceSorted: false });
  const options = { numLayers: 2, bidirectional: true } as const;
  for (const layer of [new nn.LSTM(3, 2, options), new nn.GRU(3, 2, options), new nn.RNN(3, 2, options)]) {
    const where = layer.constructor.name;
    const [output, last] = layer instanceof nn.LSTM ? layer.forward(packed) : layer.forward(packed);
    const rows = rnn.unpadSequence(...rnn.padPackedSequence(output));
    const states: readonly Tensor[] = isTensor(last) ? [last] : last;
    sequences.forEach((sequence, i) => {
      const [alone, end] = layer.call(sequence);
      near(rows[i] ?? alone, alone, `${where} output ${i}`);
      const ends: readonly Tensor[] = isTensor(end) ? [end] : end;
      ends.forEach((state, k) => near((states[k] ?? state).select(1, i), state, `${where} state ${i}`));
    });
  }
  class Model extends nn.Module {
    readonly lstm = new nn.LSTM(3, 2, { bidirectional: true });
    override forward(x: Tensor): Tensor {
      const [output] = this.lstm.forward(rnn.packPaddedSequence(x, [4, 2, 1]));
      return rnn.padPackedSequence(output)[0];
    }
  }
  trains(() => new Model(), () => randn([4, 3, 3]));
});

Deno.test("parameters are converted to a vector and back, and may stay uninitialised", () => {
  const model = new nn.Linear(2, 3), vector = parametersToVector(model.parameters());
  assertEquals([vector.shape, vector.requiresGrad], [[9], true]);
  vectorToParameters(vector.detach().mul(2), model.parameters());
  near(parametersToVector(model.parameters()).detach(), vector.detach().mul(2), "twice");
  assertThrows(() => vectorToParameters(rand([8]), model.parameters()), DynError, "vector of 9");
  manualSeed(1);
  const wanted = Number(rand([]).item());
  manualSeed(1);
  const unfilled = skipInit(nn.Linear, 3, 4, { bias: false });
  assertEquals([unfilled.weight.shape, unfilled.bias, Number(rand([]).item())], [[4, 3], null, wanted]);
});

Deno.test("batch norms are folded into convolutions, of groups and transposed too, and into linear layers", () => {
  manualSeed(3);
  const { fuseConvBnEval, fuseLinearBnEval } = nn.utils;
  const trained = <B extends nn.BatchNorm1d | nn.BatchNorm2d>(bn: B): B => {
    noGrad(() => {
      bn.weight?.uniform_(0.5, 2);
      bn.bias?.uniform_(-1, 1);
      bn.runningMean?.uniform_(-1, 1);
      bn.runningVar?.uniform_(0.5, 2);
    });
    bn.eval();
    return bn;
  };
  const image = randn(2, 4, 5, 5);
  const convolutions = [
    new nn.Conv2d(4, 6, 3, { groups: 2, bias: false }),
    new nn.ConvTranspose2d(4, 6, 3, { groups: 2, stride: 2 }),
  ];
  for (const conv of convolutions) {
    conv.eval();
    const bn = trained(new nn.BatchNorm2d(6)), before = conv.weight.clone(), fused = fuseConvBnEval(conv, bn);
    near(fused.call(image), bn.call(conv.call(image)), conv.constructor.name);
    assertEquals([conv.weight.equal(before), fused.weight.requiresGrad], [true, true]);
  }
  const linear = new nn.Linear(4, 3),
    plain = trained(new nn.BatchNorm1d(3, { affine: false })),
    x = randn(5, 4);
  assertThrows(() => fuseLinearBnEval(linear, plain), DynError, "one that trains");
  linear.eval();
  near(fuseLinearBnEval(linear, plain).call(x), plain.call(linear.call(x)), "linear");
  const wide = trained(new nn.BatchNorm1d(4));
  assertThrows(() => fuseLinearBnEval(linear, wide), DynError, "of 3 features to fuse but found 4");
});

Deno.test("parametrizations take their settings by name, and states under former names", () => {
  class Doubled extends nn.Module {
    override forward(x: Tensor): Tensor {
      return x.mul(2);
    }
  }
  const layer = new nn.Linear(2, 1, { bias: false }), original = layer.weight.detach().clone();
  parametrize.registerParametrization(layer, "weight", new Doubled());
  parametrize.removeParametrizations(layer, "weight", { leaveParametrized: false });
  near(layer.weight, original, "the original");
  const other: object = { leave: false };
  assertThrows(
    () => parametrize.removeParametrizations(layer, "weight", other),
    DynError,
    "leaveParametrized",
  );
  const map: object = { orthogonalMap: "foo" };
  assertThrows(
    () => parametrizations.orthogonal(new nn.Linear(2, 2), map),
    DynError,
    "one of matrixExp, cayley",
  );
  // States of torch.nn.utils.weight_norm, also of a module within another
  const normed = new nn.Sequential(parametrizations.weightNorm(new nn.Linear(2, 1, { bias: false })));
  normed.loadStateDict({ "0.weight_g": tensor([[2.5]]), "0.weight_v": tensor([[3, 4]]).to("float32") });
  near(normed.at(0).call(tensor([[1.5, 0.5]])), tensor([[2.5 * (0.6 * 1.5 + 0.8 * 0.5)]]), "the weight");
  const mask = tensor([[1, 2], [3, 4]]);
  assertEquals(rnn.padSequence(mask, { batchFirst: true }).tolist(), mask.tolist());
});
