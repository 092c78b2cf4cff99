/** Attention with functions of scores and masks: against PyTorch's numbers, compiled against plain, and its errors. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  arange,
  compile,
  config,
  DynError,
  logs,
  manualSeed,
  nn,
  randn,
  type Tensor,
  tensor,
} from "../mod.ts";

const { andMasks, createBlockMask, flexAttention, orMasks } = nn.attention;
type MaskMod = nn.attention.MaskMod;
type ScoreMod = nn.attention.ScoreMod;

const causal: MaskMod = (_b, _h, query, key) => query.ge(key);

function assertClose(found: Tensor, wanted: Tensor, most: number): void {
  assertEquals(found.shape, wanted.shape);
  assertEquals(found.eq(-Infinity).tolist(), wanted.eq(-Infinity).tolist());
  const difference = found.sub(wanted).nanToNum(0).abs().max().item();
  assert(Number(difference) <= most, `${difference}`);
}

Deno.test("flexAttention: scores and masks by position, shared heads, logarithms of sums, as in PyTorch", () => {
  // torch 2.15, with x = (arange(80) · 0.37).sin() as [2, 2, 5, 4]: queries x, keys x[:, :1] / 2, values −2 x[:, 1:]
  const x = arange(80).mul(0.37).sin().reshape(2, 2, 5, 4);
  const own = [x, x.narrow(1, 0, 1).mul(0.5), x.narrow(1, 1, 1).mul(-2)].map((each) =>
    each.detach().clone().requiresGrad_()
  );
  const [q, k, v] = own;
  assert(q && k && v);
  const score: ScoreMod = (s, b, h, i, j) => s.mul(h.add(1)).add(i.sub(j).mul(0.1)).add(b);
  const near: MaskMod = (_b, _h, i, j) => i.sub(j).lt(3),
    some: MaskMod = (b, _h, i) => i.ne(2).logicalOr(b.eq(0));
  const mask = createBlockMask(andMasks(causal, near, some), 2, null, 5, 5);
  const [out, lse] = flexAttention(q, k, v, score, mask, { scale: 0.7, enableGqa: true, returnLse: true });
  const options = { scale: 0.7, enableGqa: true, returnAux: { maxScores: true, lse: true } };
  const [same, aux] = flexAttention(q, k, v, score, mask, options);
  assert(aux.lse && aux.maxScores);
  assert(same.equal(out) && aux.lse.equal(lse) && aux.maxScores.le(lse).all().item());
  assertThrows(
    () => flexAttention(q, k, v, null, null, { scale: 1, ...{ enable_gqa: true } }),
    DynError,
    "but found enable_gqa; write enableGqa",
  );
  assertThrows(
    () => Reflect.apply(flexAttention, null, [q, k, v, { scoreMod: score }]),
    DynError,
    "Expected a function of scores, or null, before mask and options but found { scoreMod",
  );
  out.sin().sum().backward();
  assertClose(
    out.detach().at(1, 1),
    tensor([
      [0.414674, 1.094125, 1.625494, 1.936859],
      [1.848848, 1.707774, 1.335563, 0.782587],
      [0, 0, 0, 0],
      [-1.727389, -1.69861, -1.439931, -0.986367],
      [-0.444995, -0.608362, -0.689387, -0.67711],
    ]),
    3e-6,
  );
  assertClose(
    lse.detach().at(1),
    tensor([
      [1.333234, 2.270946, -Infinity, 2.277358, 2.499852],
      [0.730302, 2.644011, -Infinity, 2.672651, 1.930458],
    ]),
    3e-6,
  );
  const [dq, dk, dv] = own.map(({ grad }) => grad);
  assert(dq && dk && dv);
  assertClose(
    dq.at(1, 0),
    tensor([
      [0, 0, 0, 0],
      [0.073144, 0.072679, 0.062378, 0.043633],
      [0, 0, 0, 0],
      [-0.206668, -0.333925, -0.415987, -0.441747],
      [0.517225, 0.224556, -0.098507, -0.408236],
    ]),
    3e-6,
  );
  assertClose(dk.at(0, 0, 4), tensor([-0.768782, -1.882026, -2.740545, -3.228146]), 3e-6);
  assertClose(dv.at(1, 0, 4), tensor([0.498468, 0.548383, 0.610242, 0.647524]), 3e-6);
});

Deno.test("flexAttention: compiled, functions are parts of one kernel by blocks of rows, gradients too", () =>
  config.patch({ inductor: { tier: "wasm", errorOnFallback: true } }, () => {
    manualSeed(3);
    const bias = randn([3]).mul(0.1), inputs = [0, 1, 2].map(() => randn([1, 3, 90, 8]));
    const slopes: ScoreMod = (score, _b, h, i, j) => score.add(j.sub(i).mul(bias.at(h))).tanh().mul(5);
    const mask = createBlockMask(causal, null, null, 90, 90);
    const attend = (q: Tensor, k: Tensor, v: Tensor) => flexAttention(q, k, v, slopes, mask);
    const run = compile(attend, { fullgraph: true }), printed: string[] = [];
    const [wanted, found] = [attend, run].map((f) => {
      const own = inputs.map((x) => x.clone().requiresGrad_()), [q, k, v] = own;
      assert(q && k && v);
      const out = f(q, k, v);
      out.sin().sum().backward();
      return [out.detach(), ...own.flatMap(({ grad }) => grad ?? [])];
    });
    assertEquals(found?.length, 4);
    found?.forEach((x, i) => wanted?.[i] && assertClose(x, wanted[i], 5e-6));
    const [q, k, v] = inputs;
    assert(q && k && v);
    logs.capture("output_code", (_, text) => printed.push(...text.split("\n")), () => run(q, k, v));
    // Two products, the function of scores and the softmax between them, over as many columns as the last row of a block sees
    assertEquals(printed.filter((line) => line.includes(" by blocks ")).length, 4);
    assert(printed.some((line) => /out b\d+ \[min\(.*\), .*i\d.*\] by \[90, 1\]/.test(line)));
  }));

Deno.test("flexAttention: what any mask allows", () => {
  manualSeed(4);
  const [q, k, v] = [randn([1, 1, 6, 4]), randn([1, 1, 6, 4]), randn([1, 1, 6, 4])];
  const first: MaskMod = (_b, _h, _q, key) => key.eq(0);
  const mask = createBlockMask(orMasks(first, (_b, _h, i, j) => i.eq(j)), null, null, 6, 6);
  const bools = arange(6).eq(0).logicalOr(arange(6).unsqueeze(1).eq(arange(6)));
  const { scaledDotProductAttention } = nn.functional;
  assertClose(flexAttention(q, k, v, null, mask), scaledDotProductAttention(q, k, v, bools), 1e-6);
});

Deno.test("flexAttention: errors name the sizes", () => {
  const x = randn([1, 2, 3, 4]), mask = createBlockMask(causal, null, 4, 3, 3);
  assertThrows(() => flexAttention(x, x, randn([2, 3, 4])), DynError, "[2, 3, 4]");
  assertThrows(() => flexAttention(x, randn([1, 1, 3, 4]), randn([1, 1, 3, 4])), DynError, "enableGqa");
  assertThrows(() => flexAttention(x, x, x, null, mask), DynError, "[1, 4, 3, 3]");
  assertThrows(
    () => createBlockMask(causal, 0, null, 3, 3),
    DynError,
    "batch to be an integer of at least 1",
  );
});
