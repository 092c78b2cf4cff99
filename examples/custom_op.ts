/**
 * A custom op: soft dynamic time warping, a distance between series that tolerates delays, and the mean of series under
 * it (Cuturi and Blondel, "Soft-DTW: a Differentiable Loss Function for Time-Series", 2017).
 *
 *   deno run -A examples/custom_op.ts [--steps=100] [--smoothing=0.1]
 *
 * Each cell of its table depends on three earlier ones, which loops express better than tensor ops. So there are two
 * custom ops that loop over plain numbers, forward and backward; each is one node of a compiled graph.
 */
import { parseArgs } from "@std/cli";
import {
  compile,
  library,
  linspace,
  manualSeed,
  nn,
  optim,
  rand,
  randn,
  type Tensor,
  tensor,
} from "../mod.ts";

const flags = parseArgs(Deno.args, { string: ["steps", "smoothing"] });
const steps = Number(flags.steps ?? 100), smoothing = Number(flags.smoothing ?? 0.1);

type Table = readonly (readonly number[])[];

/** Returns the soft minimum over all paths of the cost to each cell. */
function waysTo(costs: Table): Table {
  const ways: number[][] = [];
  for (const [i, row] of costs.entries()) {
    const way: number[] = ways[i] = [], above = ways[i - 1] ?? [];
    for (const [j, cost] of row.entries()) {
      const before = [above[j - 1], above[j], way[j - 1]].map((each) => each ?? Infinity);
      const least = Math.min(...before);
      const sum = before.reduce((all, each) => all + Math.exp((least - each) / smoothing), 0);
      way.push(cost + (i + j === 0 ? 0 : least - smoothing * Math.log(sum)));
    }
  }
  return ways;
}

/** The derivative of the last cell's soft minimum with respect to each cell's cost: algorithm 2 of the paper. */
function sharesOf(costs: Table): Table {
  const ways = waysTo(costs), shares: number[][] = costs.map((row) => row.map(() => 0));
  const last = shares.at(-1);
  if (last) last[last.length - 1] = 1;
  for (const [i, row] of [...shares.entries()].reverse()) {
    for (const [j, here] of [...(ways[i] ?? []).entries()].reverse()) {
      for (const [k, l] of [[i + 1, j], [i, j + 1], [i + 1, j + 1]] as const) {
        const share = shares[k]?.[l], way = ways[k]?.[l] ?? 0, cost = costs[k]?.[l] ?? 0;
        if (share) row[j] = (row[j] ?? 0) + share * Math.exp((way - cost - here) / smoothing);
      }
    }
  }
  return shares;
}

const tables = (costs: Tensor) => costs.tolist<number[][][]>();

/** Costs [B, N, M] → the distance of each pair of series [B] */
const softDtw = library.customOp("examples::soft_dtw", (costs: Tensor): Tensor => {
  return tensor(tables(costs).map((table) => waysTo(table).at(-1)?.at(-1) ?? 0), { dtype: costs.dtype });
});
softDtw.registerFake((costs: Tensor) => costs.newEmpty([costs.shape[0] ?? 0]));

/** Costs [B, N, M] → the gradient of each pair's distance [B, N, M] */
const softDtwShares = library.customOp("examples::soft_dtw_shares", (costs: Tensor): Tensor => {
  return tensor(tables(costs).map(sharesOf), { dtype: costs.dtype });
});
softDtwShares.registerFake((costs: Tensor) => costs.newEmpty(costs.shape));

softDtw.registerAutograd((context, grad: Tensor) => {
  const [costs] = context.savedTensors;
  return [costs ? softDtwShares(costs).mul(grad.reshape(-1, 1, 1)) : null];
}, { setupContext: (context, [costs]: readonly [Tensor]) => context.saveForBackward(costs) });

manualSeed(0);
const checks = library.opCheck(softDtw, [rand([2, 4, 5], { dtype: "float64" }).requiresGrad_()]);
console.log(Object.entries(checks).map(([check, result]) => `${check}: ${result}`).join(", "));

// Twenty bumps of the same height at different times, with noise.
const count = 20, length = 40, times = linspace(0, 1, length);
const delays = rand(count, 1).mul(0.5).add(0.25);
const series = times.sub(delays).div(0.06).square().mul(-0.5).exp().add(randn(count, length).mul(0.03));

const plain = series.mean(0), mean = new nn.Parameter(plain.clone());
const optimizer = new optim.Adam([mean], { lr: 0.03 });
const distance = compile((mean: Tensor) => {
  const costs = mean.reshape(1, -1, 1).sub(series.unsqueeze(1)).square();
  return softDtw(costs).mean();
}, { fullgraph: true });

for (let k = 1; k <= steps; k++) {
  optimizer.zeroGrad();
  const loss = distance(mean);
  loss.backward();
  optimizer.step();
  if (k === 1 || k % 20 === 0) console.log(`step ${k}: distance ${loss.item().toFixed(3)}`);
}

const sketch = (values: Tensor) =>
  values.tolist<number[]>().map((value) => "▁▂▃▄▅▆▇█"[Math.max(0, Math.min(7, Math.round(value * 7)))]).join(
    "",
  );
for (
  const [name, values] of [["one of them", series.at(0)], ["plain mean", plain], [
    "mean by soft DTW",
    mean,
  ]] as const
) {
  console.log(`${name.padEnd(17)}${sketch(values)}  highest ${values.amax().item().toFixed(2)}`);
}
