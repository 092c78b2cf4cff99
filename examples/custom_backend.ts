/**
 * A custom graph backend: it prints captured graphs as JavaScript over typed arrays, and trains with them.
 *
 *   deno run -A examples/custom_backend.ts [--steps=200]
 *
 * After AOTAutograd a backend receives functional graphs of simple ops, forward and backward separately. This one fuses
 * each elementwise float32 graph into one loop, and leaves all others to the interpreter.
 */
import { parseArgs } from "@std/cli";
import {
  compile,
  compiler,
  type fx,
  isTensor,
  linspace,
  manualSeed,
  optim,
  randn,
  type Tensor,
  tensor,
} from "../mod.ts";

/** Ops that the printer supports, as expressions over the elements of their operands. */
const EXPRESSIONS: Readonly<Record<string, (...operands: string[]) => string>> = {
  add: (a, b) => `${a} + ${b}`,
  sub: (a, b) => `${a} - ${b}`,
  mul: (a, b) => `${a} * ${b}`,
  neg: (a) => `-${a}`,
  sin: (a) => `Math.sin(${a})`,
  cos: (a) => `Math.cos(${a})`,
  exp: (a) => `Math.exp(${a})`,
};

let printed = 0, handedBack = 0;

/** The loop of a graph, as the text of a function of its inputs' and outputs' elements; null if it cannot be one. */
function loopOf(graph: fx.Graph): { readonly text: string; readonly shape: readonly number[] } | null {
  const lines: string[] = [], results: string[] = [];
  const names: string[] = [];
  let shape: readonly number[] | null = null;
  for (const node of graph.nodes) {
    const { value } = node.meta;
    if (node.op === "output") {
      const list = node.args[0];
      for (const [k, each] of (Array.isArray(list) ? list : [list]).entries()) {
        results.push(`out${k}[i] = ${each};`);
      }
      continue;
    }
    if (value.kind !== "tensor" || value.tensor.dtype !== "float32") return null;
    const sizes = value.tensor.shape.map(Number);
    if (shape !== null && sizes.join() !== shape.join()) return null;
    shape = sizes;
    if (node.op === "placeholder") {
      names.push(node.name);
      lines.push(`const ${node.name} = in_${node.name}[i];`);
      continue;
    }
    const expression = EXPRESSIONS[node.target];
    if (!expression || Object.keys(node.kwargs).length > 0) return null;
    lines.push(`const ${node.name} = ${expression(...node.args.map(String))};`);
  }
  if (shape === null) return null;
  const outputs = results.map((_, k) => `out${k}`);
  const parameters = [...names.map((name) => `in_${name}`), ...outputs, "n"].join(", ");
  const text = `(${parameters}) => { for (let i = 0; i < n; i++) { ${[...lines, ...results].join(" ")} } }`;
  return { text, shape };
}

/** Compiles one functional graph. */
function printLoops(gm: fx.GraphModule) {
  const loop = loopOf(gm.graph);
  if (loop === null) {
    handedBack++;
    return gm.forward;
  }
  printed++;
  const run: (...args: unknown[]) => void = new Function(`return ${loop.text}`)();
  const size = loop.shape.reduce((product, each) => product * each, 1);
  const count = gm.graph.nodes.filter(({ op }) => op === "output").flatMap(({ args }) => args[0]).length;
  return (...inputs: unknown[]) => {
    const outputs = Array.from({ length: count }, () => new Float32Array(size));
    run(...inputs.map((each) => isTensor(each) ? each.toTypedArray() : each), ...outputs, size);
    return outputs.map((elements) => tensor(elements, { dtype: "float32" }).reshape(loop.shape));
  };
}

compiler.registerBackend("loops", compiler.aotAutograd({ fwCompiler: printLoops }), {
  module: import.meta.url,
});

const { steps = "200" } = parseArgs(Deno.args, { string: ["steps"] });

// Fits a sine of unknown amplitude, frequency and phase to noisy points: y = a · sin(b · x + c)
manualSeed(0);
const x = linspace(-3, 3, 256);
const y = x.mul(1.5).add(0.5).sin().mul(2).add(randn(256).mul(0.05));
const parameters = [1, 1, 0].map((start) => tensor(start, { dtype: "float32", requiresGrad: true }));
const [a, b, c] = parameters;
if (!a || !b || !c) throw new Error("Expected three parameters");
const optimizer = new optim.Adam(parameters, { lr: 0.05 });

/** The curve: one elementwise graph; its gradient is another one. */
const curve = compile(
  (x: Tensor, a: Tensor, b: Tensor, c: Tensor) => b.mul(x).add(c).sin().mul(a),
  { backend: "loops", fullgraph: true },
);

let loss = NaN;
for (let step = 1; step <= Number(steps); step++) {
  optimizer.zeroGrad();
  const wide = parameters.map((parameter) => parameter.expand([256]).contiguous());
  const [height = a, speed = b, phase = c] = wide;
  const error = curve(x, height, speed, phase).sub(y).square().mean();
  error.backward();
  optimizer.step();
  loss = error.item();
  if (step === 1 || step % 50 === 0) console.log(`step ${step}: loss ${loss.toFixed(4)}`);
}
const found = parameters.map((parameter) => parameter.item().toFixed(2));
console.log(`y = ${found[0]} · sin(${found[1]} x + ${found[2]}), mean squared error ${loss.toFixed(4)}`);
console.log(`${printed} graphs became loops, ${handedBack} were handed back`);
