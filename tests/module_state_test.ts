/**
 * States of modules beyond their tensors, states for modules without elements, calls with the tensors of tied
 * parameters, and hooks that throw: what PyTorch does, or the error that it has.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  compile,
  DynError,
  func,
  linalg,
  load,
  manualSeed,
  nn,
  normal,
  ones,
  save,
  searchsorted,
  type Tensor,
  tensor,
  zeros,
} from "../mod.ts";

/** A module that counts its calls. */
class Counter extends nn.Module {
  counted: unknown = { calls: 0 };

  override forward(x: Tensor): Tensor {
    return x;
  }

  override getExtraState(): unknown {
    return this.counted;
  }

  override setExtraState(state: unknown): void {
    this.counted = state;
  }
}

/** A module that saves what it does not restore. */
class Forgetful extends nn.Module {
  override getExtraState(): unknown {
    return 1;
  }
}

Deno.test("extra states are saved and restored under every path of a module, in files too", () => {
  const shared = new Counter(), model = new nn.Sequential(shared, new nn.Linear(1, 1), shared);
  shared.counted = { calls: 3, names: ["a"] };
  const state = model.stateDict();
  const names = ["0._extra_state", "1.weight", "1.bias", "2._extra_state"];
  assertEquals(Object.keys(state), names);
  for (const format of ["safetensors", "torch"] as const) {
    const file = Deno.makeTempFileSync();
    try {
      save(state, file, { format });
      const other = new nn.Sequential(new Counter(), new nn.Linear(1, 1), new Counter());
      assertEquals(other.loadStateDict(load(file)), { missingKeys: [], unexpectedKeys: [] });
      assertEquals(other.stateDict()["2._extra_state"] as unknown, { calls: 3, names: ["a"] });
    } finally {
      Deno.removeSync(file);
    }
  }
});

Deno.test("an extra state that misses, or that no module restores, is an error of strict loading alone", () => {
  const counter = new Counter();
  assertThrows(() => counter.loadStateDict({}), DynError, "missing keys _extra_state");
  assertEquals(counter.loadStateDict({}, { strict: false }).missingKeys, ["_extra_state"]);
  const forgetful = new Forgetful(), state = forgetful.stateDict();
  assertThrows(() => forgetful.loadStateDict(state), DynError, "unexpected keys _extra_state");
  assertEquals(forgetful.loadStateDict(state, { strict: false }).unexpectedKeys, ["_extra_state"]);
});

Deno.test("a state is not copied into a module without elements, which would drop it", () => {
  const make = () => new nn.Linear(2, 2, { device: "meta" }), state = new nn.Linear(2, 2).stateDict();
  assertThrows(() => make().loadStateDict(state), DynError, "load with { assign: true }");
  const assigned = make();
  assigned.loadStateDict(state, { assign: true });
  assertEquals(assigned.weight.tolist(), state.weight?.tolist());
  const allocated = make().toEmpty({ device: "cpu" });
  allocated.loadStateDict(state);
  assertEquals(allocated.weight.tolist(), state.weight?.tolist());
  const list: object = { weight: [[1, 2], [3, 4]], bias: zeros([2]) };
  const wrong = list as nn.StateDict;
  assertThrows(() => new nn.Linear(2, 2).loadStateDict(wrong), DynError, "object for the tensor weight");
});

Deno.test("functionalCall takes each name of a tied parameter, and one tensor for all of them", () => {
  class Tied extends nn.Module {
    first = new nn.Linear(1, 1);
    tied = this.first.bias;

    override forward(x: Tensor): Tensor {
      return this.first.call(x).add(this.tied ?? 0);
    }
  }
  const model = new Tied(),
    x = new nn.Parameter(tensor([[2.5]])),
    weight = tensor([[2.0]], { dtype: "float32" });
  const call = (named: func.NamedTensors) => func.functionalCall(model, named, [x]).tolist();
  const bias = tensor([1.5]);
  for (const name of ["tied", "first.bias"]) {
    assertEquals(call({ "first.weight": weight, [name]: bias }), [[8]]);
  }
  assertEquals(call({ "first.weight": weight, tied: bias, "first.bias": bias }), [[8]]);
  assertThrows(
    () => call({ tied: bias, "first.bias": tensor([0.5]) }),
    DynError,
    "Expected one tensor for tied and first.bias, which are tied",
  );
});

Deno.test("the error of a call is seen, also if a hook that is always called throws another one", () => {
  class Failing extends nn.Module {
    override forward(): null {
      throw new RangeError("of the call");
    }
  }
  const model = new Failing(), seen: string[] = [];
  model.registerForwardHook(() => {
    seen.push("first");
    throw new Error("of a hook");
  }, { alwaysCall: true });
  model.registerForwardHook(() => void seen.push("second"), { alwaysCall: true });
  model.registerForwardHook(() => void seen.push("never"));
  assertThrows(() => model.call(), RangeError, "of the call");
  assertEquals(seen, ["first", "second"]);
});

Deno.test("dropout2d takes three dimensions as a batch of sequences with channels, as in PyTorch", () => {
  manualSeed(0);
  for (const shape of [[16, 16, 4], [16, 16, 2, 2], [16, 16, 2, 2, 2]]) {
    const kept = nn.functional.dropout2d(ones(shape), 0.5).ne(0).reshape([16, 16, -1]);
    // Each channel of each sample is kept or dropped as a whole, and a sample keeps some
    assertEquals(kept.all(2).eq(kept.any(2)).all().tolist(), true);
    assert(!kept.all(2).all(1).eq(kept.any(2).any(1)).all().item());
  }
});

Deno.test("decompositions of matrices without one are errors, in compiled functions as well", () => {
  const odd = tensor([[NaN, 1], [1, 2]]),
    expected = "Expected finite elements for the singular value decomposition";
  const calls = [linalg.svd, linalg.svdvals, linalg.pinv, linalg.cond, linalg.matrixRank];
  for (const call of calls) assertThrows(() => call(odd), linalg.LinAlgError, expected);
  assertThrows(() => compile((x: Tensor) => linalg.svdvals(x).add(1))(odd), linalg.LinAlgError, expected);
  const singular = zeros([2, 2, 2]), zero = "a zero on the diagonal of U, element 1 of matrix 0";
  assertThrows(() => linalg.luFactor(singular), linalg.LinAlgError, zero);
  assertThrows(() => linalg.luFactorEx(singular, { checkErrors: true }), linalg.LinAlgError, zero);
  assertEquals(linalg.luFactorEx(singular)[2].tolist(), [1, 1]);
});

Deno.test("arguments that PyTorch refuses are refused: ranks, sizes, chunks, types of tangents", () => {
  assertThrows(() => ones([2, 3, 4]).H, DynError, "Expected a matrix for H but found 3 dimensions");
  const sorter = tensor([0, 1]);
  assertThrows(
    () => searchsorted(tensor([1.5, 2, 3]), tensor([2.5]), { sorter }),
    DynError,
    "a sorter of the shape",
  );
  const same = (x: nn.Parameter) => x, x = new nn.Parameter(ones([1]));
  assertThrows(() => func.jacrev(same, { chunkSize: 0 })(x), DynError, "chunkSize of jacrev");
  assertThrows(() => func.jvp(() => ones([1]), [], []), DynError, "at least one tensor among the primals");
  const [, push] = func.linearize(same, x);
  const wide: object = ones([1], { dtype: "float64" });
  assertThrows(() => push(wide as nn.Parameter), DynError, "a tangent of the type of its primal, float32");
  const size: object = [3];
  assertThrows(() => normal(zeros([3]), 1, size), DynError, "Expected a size of normal only for two numbers");
  assertEquals([
    new nn.RNN(1, 1, { nonlinearity: "relu" }).mode,
    new nn.GRU(1, 1).mode,
    new nn.LSTM(1, 1).mode,
  ], [
    "RNN_RELU",
    "GRU",
    "LSTM",
  ]);
});
