/**
 * The cost of guards: large models, and many versions. No graph runs, so that a call consists of guards and dispatch
 * only.
 *
 *   DYN_BENCH_PYTHON=python deno run -A cli.ts bench guards
 */
import { compile, config, nn, noGrad, ones, optim, type Tensor } from "../mod.ts";
import { cacheEntries } from "../lib/dynamo/mod.ts";
import type { GraphModule } from "../lib/graph/graph_module.ts";
import { describeMachine, measure, report } from "./support/measure.ts";
import { pytorch } from "./support/pytorch.ts";
import "./support/native.ts";

/** Returns the first input as every result. */
const backend = (gm: GraphModule) => {
  const [results] = gm.graph.output.args;
  const count = Array.isArray(results) ? results.length : 1;
  return (first: unknown) => Array(count).fill(first);
};

const x = ones([1, 2]);
/** Long enough for V8 to optimise the checks. */
const LONG = { milliseconds: 6000 };

/** Returns a call that only checks whether an entry serves it. */
function guardsOf(
  fn: object,
  args: readonly unknown[],
): { readonly check: () => boolean; readonly count: number } {
  const [entry] = cacheEntries(fn);
  if (!entry) throw new Error("Expected an entry");
  const { guards } = entry;
  if (!guards.check(...args)) throw new Error("Expected the guards to hold");
  return { check: () => guards.check(...args), count: guards.codeParts.length };
}

function linears(count: number): nn.Sequential {
  return new nn.Sequential(...Array.from({ length: count }, () => new nn.Linear(2, 2)));
}

console.log(describeMachine());
for (const [layers, title] of [[200, "200 linear layers"], [500, "1,000 parameters"]] as const) {
  const model = linears(layers);
  const captured = compile((x: Tensor) => model.call(x), { backend });
  const passed = compile((model: nn.Sequential, x: Tensor) => model.call(x), { backend });
  const optimizer = new optim.SGD(model.parameters(), { lr: 0.1 });
  const step = compile((x: Tensor) => {
    optimizer.zeroGrad();
    model.call(x).sum().backward();
    optimizer.step();
  }, { backend: "eager" });
  for (let call = 0; call < 3; call++) step(x);
  const training = guardsOf(step, [x]);
  const timings = await noGrad(() => {
    for (let call = 0; call < 3; call++) {
      captured(x);
      passed(model, x);
    }
    const known = guardsOf(captured, [x]), argument = guardsOf(passed, [model, x]);
    return measure({
      [`guards (${known.count})`]: known.check,
      "a whole call": () => captured(x),
      [`model passed in: guards (${argument.count})`]: argument.check,
    }, LONG);
  });
  const ofStep = await measure({ [`step of SGD: guards (${training.count})`]: training.check }, LONG);
  const peers = pytorch(`
model = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(${layers})])
x = torch.ones(1, 2)
torch._dynamo.config.recompile_limit = 64
c = torch.compile(lambda x: model(x), backend=lambda gm, ex: lambda *a: [a[0]])
with torch.no_grad():
    measure("PyTorch, a whole call", lambda: c(x))
`);
  report(title, [...timings, ...ofStep, ...peers ?? []], timings[0]?.name ?? "");
}

config.cacheSizeLimit = 64;
const VERSIONS = 64;
const turns = Array.from({ length: VERSIONS }, (_, i) => ({ x: ones([i + 2]), i, mode: `mode ${i}` }));
const byNumber = compile((x: Tensor, n: number) => x.mul(n), { backend, dynamic: false });
const bySize = compile((x: Tensor) => x.mul(2), { backend, dynamic: false });
const byOption = compile((x: Tensor, { mode }: { mode: string }) => x.mul(mode.length), { backend });
let at = 0;
const next = () => turns[at++ % VERSIONS] ?? { x, i: 0, mode: "" };
const calls = {
  "by a number": () => byNumber(x, next().i),
  "by a size": () => bySize(next().x),
  "by an option": () => byOption(x, next()),
};
for (const call of Object.values(calls)) for (let i = 0; i < VERSIONS; i++) call();
const versions = await measure(calls, LONG);
const peers = pytorch(`
torch._dynamo.config.recompile_limit = 64
torch._dynamo.config.cache_size_limit = 64
c = torch.compile(lambda x, n: x * n, backend=lambda gm, ex: lambda *a: [a[0]], dynamic=False)
x, at = torch.ones(1, 2), 0
def turn():
    global at
    at += 1
    c(x, at % 64)
for _ in range(64): turn()
measure("PyTorch, by a number", turn)
`);
report("A call in turns of 64 versions", [...versions, ...peers ?? []], "by a number");
