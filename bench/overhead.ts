/**
 * The cost of a call on tiny tensors: sin(t) + cos(t) on 8 elements, guards included.
 *
 *   DYN_BENCH_PYTHON=python deno run -A cli.ts bench overhead
 */
import { compile, nn, randn, type Tensor } from "../mod.ts";
import { describeMachine, measure, report } from "./support/measure.ts";
import { pytorch } from "./support/pytorch.ts";
import "./support/native.ts";

const t = randn([8]);
const fn = (t: Tensor) => t.sin().add(t.cos());
const compiled = compile(fn);
compiled(t);

/** 200 parameters to guard. */
const deep = new nn.Sequential(...Array.from({ length: 100 }, () => new nn.Linear(2, 2)));
const small = randn([1, 2]);
const compiledDeep = compile((x: Tensor) => deep.call(x));

console.log(describeMachine());
const timings = await measure({ "dyn inductor": () => compiled(t), "dyn eager": () => fn(t) });
const peers = pytorch(`
t = torch.randn(8)
f = lambda t: torch.sin(t) + torch.cos(t)
c = torch.compile(f)
measure("PyTorch eager", lambda: f(t))
measure("PyTorch inductor", lambda: c(t))
`);
report("sin(t) + cos(t), 8 elements", [...timings, ...peers ?? []], "dyn inductor");
report(
  "100 linear layers of 2×2, one row",
  await measure({ "dyn inductor": () => compiledDeep(small), "dyn eager": () => deep.call(small) }),
  "dyn inductor",
);
