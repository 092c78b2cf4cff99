/**
 * Eager calls of several classes, a few of them with "few", for a separate process: prints their results, and what was
 * cached. With "hot" each is repeated until native code has taken over; with "source" the texts of two programs are
 * printed, too; with "others" the calls have other sizes.
 */
import { shipEntries } from "../../lib/base/shipped_entries.ts";
import { counters } from "../../lib/base/logs.ts";
import { OPS } from "../../lib/ops/table.ts";
import { classPlan } from "../../lib/tensor/classes.ts";
import { entryOf } from "../../lib/tensor/plan.ts";
import { arange, manualSeed, nn, noGrad, randn, type Tensor } from "../../mod.ts";

// Only entries that the processes made themselves
shipEntries(null);
manualSeed(1);
const [rows, columns] = Deno.args.includes("others") ? [290, 350] : [257, 300];
const x = randn([rows, columns]), y = randn([rows, columns]), row = randn([columns]);
const wide = x.t(), image = randn([4, 3, 40, 40]), weight = randn([8, 3, 3, 3]);

const CALLS: Readonly<Record<string, () => Tensor>> = {
  add: () => x.add(y),
  number: () => x.mul(1.5),
  transposed: () => wide.add(y.t()),
  sum: () => x.sum(),
  rows: () => x.exp().sum(1),
  softmax: () => x.softmax(1),
  layerNorm: () => nn.functional.layerNorm(x, [columns], row, row),
  sorted: () => x.sort(1)[1] ?? x,
  // Runs op by op, which is kept, too
  topk: () => x.topk(5)[0] ?? x,
  product: () => x.matmul(wide),
  image: () => nn.functional.conv2d(image, weight, { stride: 2, padding: 1 }),
  range: () => arange(150 * columns),
  drawn: () => randn([150 * columns]),
  gradient: () => {
    const z = x.clone().requiresGrad_();
    nn.functional.gelu(z).sum().backward();
    return z.grad ?? z;
  },
};

function bits(tensor: Tensor): string {
  const values = tensor.reshape(-1).tolist();
  let hash = 0;
  for (const value of Array.isArray(values) ? values : []) {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, Number(value));
    hash = (Math.imul(hash, 31) + view.getInt32(0) + Math.imul(view.getInt32(4), 7)) | 0;
  }
  return `${tensor.dtype} ${tensor.shape} ${hash}`;
}

const told: Record<string, string> = {};
const isFew = Deno.args.includes("few");
for (const [name, call] of Object.entries(CALLS)) {
  if (isFew && !["add", "rows", "softmax"].includes(name)) continue;
  manualSeed(2);
  told[name] = bits(call());
  if (!Deno.args.includes("hot")) continue;
  const native = () => counters.get("tiers", "eager_native"), before = native();
  while (native() === before) noGrad(call);
}
const sources = Deno.args.includes("source")
  ? [x, wide].map((self) =>
    classPlan({ entry: entryOf(OPS.tanh), args: { self }, numbers: [] })?.program?.source
  )
  : [];
// Some is kept when the process ends
globalThis.addEventListener("unload", () => {
  const groups = ["cached_classes", "cached_programs", "tiers"];
  const counts = Object.fromEntries(
    groups.map((group) => [group, Object.fromEntries(counters.entries(group))]),
  );
  console.log(JSON.stringify({ told, sources, counts }));
});
