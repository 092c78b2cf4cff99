/**
 * Linear layers whose weights are float32, bfloat16 and float16: operands of small types are widened inside the
 * product, so that few rows take as long as reading the weight. Compared with PyTorch in the same run.
 *
 *   DYN_BENCH_PYTHON=python deno run -A cli.ts bench half
 */
import { compile, config, nn, randn, type Tensor } from "../mod.ts";
import { describeMachine, measure } from "./support/measure.ts";
import { pytorch } from "./support/pytorch.ts";

/** Number of rows of the input, and of inputs and outputs per row. */
const SHAPES = [[1, 2048, 2048], [8, 2048, 2048], [32, 1024, 4096], [256, 1024, 1024], [
  1024,
  768,
  768,
]] as const;
const TYPES = ["float32", "bfloat16", "float16"] as const;

console.log(describeMachine());
const peers = pytorch(
  SHAPES.flatMap(([m, k, n]) =>
    TYPES.map((dtype) =>
      `x, w, b = (torch.randn(s).to(torch.${dtype}) for s in ((${m}, ${k}), (${n}, ${k}), (${n},)))
measure("${m}×${k}×${n} ${dtype}", lambda x=x, w=w, b=b: torch.relu(torch.nn.functional.linear(x, w, b)), 0.3)`
    )
  ).join("\n"),
);

config.inductor.tier = "wait";
for (const [m, k, n] of SHAPES) {
  for (const dtype of TYPES) {
    const x = randn([m, k]).to(dtype), w = randn([n, k]).to(dtype), b = randn([n]).to(dtype);
    const layer = compile((x: Tensor): Tensor => nn.functional.linear(x, w, b).relu(), { fullgraph: true });
    const name = `${m}×${k}×${n} ${dtype}`;
    const [{ median } = { median: NaN }] = await measure({ [name]: () => layer(x)[Symbol.dispose]() });
    const peer = peers?.find((each) => each.name === name);
    const beside = peer
      ? `   PyTorch ${peer.median.toFixed(3)} ms, ${(median / peer.median).toFixed(2)}×`
      : "";
    console.log(`  ${name.padEnd(24)} ${median.toFixed(3).padStart(8)} ms${beside}`);
  }
}
