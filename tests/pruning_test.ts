/** Pruned parameters against PyTorch's numbers: which elements are pruned, state dicts, gradients, compiled models. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { compile, DynError, eye, manualSeed, nn, noGrad, ones, optim, type Tensor, tensor } from "../mod.ts";

const { prune } = nn.utils;
const WEIGHT = [[.5, -1, 2, .1], [-.3, .2, -.7, 1.5], [.05, -.6, .9, -2]];

function layer(scale = 1): nn.Linear {
  const made = new nn.Linear(4, 3);
  noGrad(() => {
    made.weight.copy_(tensor(WEIGHT).mul(scale));
    made.bias?.copy_(tensor([1, -.2, .3]));
  });
  return made;
}

/** Checks which elements of WEIGHT are left, each with its sign and magnitude. */
function isMasked(found: Tensor, mask: readonly (readonly number[])[]): void {
  const expected = tensor(WEIGHT).mul(tensor(mask));
  assert(+found.sub(expected).abs().max() === 0, `expected ${expected} but found ${found}`);
}

Deno.test("elements and slices are chosen as in PyTorch, also of already pruned tensors", () => {
  const model = prune.l1Unstructured(layer(), "weight", 3);
  isMasked(model.weight, [[1, 1, 1, 0], [1, 0, 1, 1], [0, 1, 1, 1]]);
  assertEquals(Object.keys(model.stateDict()), ["bias", "weight_orig", "weight_mask"]);
  assertEquals(model.namedParameters().map(([name]) => name), ["bias", "weight_orig"]);
  prune.l1Unstructured(model, "weight", .5);
  isMasked(model.weight, [[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 1, 1]]);
  prune.lnStructured(model, "weight", 1, 2, 0);
  isMasked(model.weight, [[0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 1, 1]]);
  isMasked(prune.lnStructured(layer(), "weight", .5, 1, 1).weight, [[0, 0, 1, 1], [0, 0, 1, 1], [
    0,
    0,
    1,
    1,
  ]]);
  const scores = tensor(WEIGHT).reciprocal();
  isMasked(prune.l1Unstructured(layer(), "weight", 2, { importanceScores: scores }).weight, [
    [1, 1, 0, 1],
    [1, 1, 1, 1],
    [1, 1, 1, 0],
  ]);
  const drawn = prune.randomUnstructured(layer(), "weight", 5);
  assertEquals(+drawn.weight.ne(0).sum(), 7);
  const rows = prune.randomStructured(layer(), "weight", 2, 0).weight.ne(0).sum(1).tolist();
  assertEquals([rows].flat().toSorted(), [0, 0, 4]);
  isMasked(prune.identity(layer(), "weight").weight, WEIGHT.map((row) => row.map(() => 1)));
});

Deno.test("several tensors are pruned together; masks are given; removal makes zeros permanent", () => {
  const a = layer(), b = layer(2), { bias } = a;
  prune.globalUnstructured([[a, "weight"], [b, "weight"], [a, "bias"]], prune.L1Unstructured, { amount: .4 });
  isMasked(a.weight, [[0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 1, 1]]);
  isMasked(b.weight.div(2), [[1, 1, 1, 0], [1, 0, 1, 1], [0, 1, 1, 1]]);
  assertEquals(a.bias?.tolist(), [1, -0, 0]);
  prune.customFromMask(a, "weight", eye(3, 4));
  isMasked(a.weight, [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]);
  const model = new nn.Sequential(a);
  assert(prune.isPruned(model));
  model.call(ones(2, 4)).sum().backward();
  const grads = Object.fromEntries(a.namedParameters().map(([name, { grad }]) => [name, grad?.tolist()]));
  assertEquals(grads, { weight_orig: [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 2, 0]], bias_orig: [2, 0, 0] });
  prune.remove(a, "weight");
  isMasked(a.weight, [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]);
  assert(prune.isPruned(model));
  prune.remove(a, "bias");
  assertEquals([prune.isPruned(model), Object.keys(a.stateDict()).toSorted()], [false, ["bias", "weight"]]);
  assert(a.bias === bias && a.weight instanceof nn.Parameter);
  assertThrows(() => prune.remove(a, "weight"), DynError, "Expected a pruned tensor weight of Linear");
  assertThrows(
    () => prune.l1Unstructured(a, "weight", 13),
    DynError,
    "Expected at most 12 to prune but found 13",
  );
  assertThrows(() => prune.l1Unstructured(a, "weight", 1.5), DynError, "a share in [0, 1]");
  assertThrows(() => prune.identity(a, "kernel"), DynError, "Expected a parameter kernel of Linear");
  assertThrows(() => prune.customFromMask(a, "weight", eye(3)), DynError, "Expected a mask of shape [3,4]");
  assert(!prune.isPruned(a), "what is refused changes nothing");
});

Deno.test("pruned models are saved and trained, compiled as plainly", () => {
  const [model, copy] = [0, 1].map(() => {
    manualSeed(1);
    return new nn.Sequential(prune.l1Unstructured(layer(), "weight", .5), new nn.ReLU(), new nn.Linear(3, 2));
  });
  assert(model && copy);
  const x = tensor([[1, -1, 2, .5], [0, 1, 1, -2]]).to("float32");
  const compiled = compile((x: Tensor) => copy.call(x).square().sum());
  const steps = [model, copy].map((each) => new optim.SGD(each.parameters(), { lr: .05 }));
  for (let step = 0; step < 3; step++) {
    const losses = [() => model.call(x).square().sum(), () => compiled(x)].map((loss, k) => {
      steps[k]?.zeroGrad();
      const value = loss();
      value.backward();
      steps[k]?.step();
      return value;
    });
    assert(losses[0]?.allclose(losses[1] ?? x));
  }
  assertEquals(Object.keys(copy.stateDict()), Object.keys(model.stateDict()));
  for (const [key, value] of Object.entries(model.stateDict())) {
    assert(value.allclose(copy.stateDict()[key] ?? x), key);
  }
  prune.remove(copy.at(0), "weight");
  assert(compiled(x).allclose(model.call(x).square().sum()));
});
