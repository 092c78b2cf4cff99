/** Gradients taken inside compiled functions: in the graph if the whole path is in it, by the tape otherwise. */
import { assertEquals, assertMatch } from "@std/assert";
import { autograd, cat, compile, compiler, func, ones, randn, type Tensor, tensor } from "../mod.ts";
import { helped, whole } from "./programs/asked_gradients.ts";
import "./support/turns/programs.ts";
import { register, registerUnbroken } from "./support/programs.ts";

const BACKENDS = ["eager", "aot_eager", "inductor"];

register(helped, BACKENDS, [3, 7, 12, 20]);
registerUnbroken(whole, BACKENDS, [3, 7, 12, 20]);

Deno.test("a gradient with gaps between its rows is told from one that shares memory", () => {
  const part = (x: Tensor, y: Tensor) => autograd.grad(cat([x, y], 1).square().sum(), x)[0];
  const shared = (x: Tensor, y: Tensor) => autograd.grad(x.add(y).sum(), [x, y]);
  const given = () => [ones([3, 1]).requiresGrad_(), ones([3, 1]).requiresGrad_()] as const;
  for (const [fn, why] of [[part, /is not row-major/], [shared, /shares memory/]] as const) {
    assertMatch(`${compiler.explain(fn)(...given()).breakReasons[0]?.explanation}`, why);
  }
});

/** A weight that the program updates, and a parameter that its functions read. */
interface Given {
  readonly w: Tensor;
  readonly p: Tensor;
}

/** The results of two calls, what a backward pass of each leaves, and the number of breaks. */
function runTwice(body: (given: Given) => Tensor, isCompiled: boolean) {
  const given = { w: tensor([[0.5, -1], [2, 0.25]]), p: tensor(0.75, { requiresGrad: true }) };
  const plain = () => body(given), run = isCompiled ? compile(plain, { backend: "aot_eager" }) : plain;
  const seen = [0, 1].map(() => {
    const result = run();
    if (result.requiresGrad) result.sum().backward();
    return [result, given.w, given.p.grad].map((each) => each?.tolist() ?? null);
  });
  return { seen, breaks: isCompiled ? compiler.status(run).graphBreaks : 0 };
}

const squares = (x: Tensor, p: Tensor) => x.square().mul(p).sum();

/** The gradient, which can be differentiated again. */
const gradient = (of: Tensor, by: Tensor): Tensor => autograd.grad(of, [by], { createGraph: true })[0] ?? of;

const leafOf = (w: Tensor): Tensor => w.detach().requiresGrad_();

function takenAndWritten({ w, p }: Given, use: (leaf: Tensor, y: Tensor, grad: Tensor) => Tensor): Tensor {
  const leaf = leafOf(w), y = squares(leaf, p);
  const grad = gradient(y, leaf).detach();
  w.sub_(grad, { alpha: 0.1 });
  return use(leaf, y, grad);
}

/** Programs that take gradients with respect to tensors that only they know, and whether their graphs end. */
const LOCAL: readonly (readonly [(given: Given) => Tensor, boolean])[] = [
  // The memory of what was differentiated by is updated
  [({ w, p }) => w.sub_(func.grad((x: Tensor) => squares(x, p.detach()))(w), { alpha: 0.1 }), false],
  [({ w }) => {
    const rows = func.vmap(func.grad((x: Tensor) => x.pow(3).sum()))(w);
    return w.sub_(rows, { alpha: 0.1 });
  }, false],
  [(given) => takenAndWritten(given, (_leaf, _y, grad) => grad), false],
  [(given) => takenAndWritten(given, (_leaf, _y, grad) => squares(given.w, given.p).add(grad.sum())), false],
  // What they computed before is used afterwards
  [(given) => takenAndWritten(given, (leaf) => leaf), true],
  [(given) => takenAndWritten(given, (leaf) => squares(leaf, given.p)), true],
  [(given) => takenAndWritten(given, (leaf) => gradient(squares(leaf, given.p), leaf)), true],
  [(given) => takenAndWritten(given, (leaf, y) => y.detach().mul(leaf.flatten().at(0))), true],
  [({ w, p }) => {
    const leaf = leafOf(w), twice = leaf.mul(2);
    w.add_(1);
    twice.mul(p).sum().backward();
    return leaf.grad ?? w;
  }, true],
  // Results have the history of a gradient with respect to a tensor that nothing else knows
  [({ w, p }) => {
    const leaf = leafOf(w), y = squares(leaf, p);
    return gradient(y, leaf).square().sum().add(y);
  }, false],
  [({ w, p }) => func.vmap(func.grad((x: Tensor) => x.mul(p).tanh().sum()))(w).square(), false],
  [({ w, p }) => func.jacrev((x: Tensor) => x.mul(p).tanh().sum(0))(w).sum(), false],
  [({ w }) => squares(leafOf(w), w), true],
];

Deno.test("gradients with respect to tensors of the graph end it only where something notices", () => {
  for (const [k, [body, ends]] of LOCAL.entries()) {
    const { seen } = runTwice(body, false), found = runTwice(body, true);
    assertEquals(found.seen, seen, `${k}`);
    assertEquals(found.breaks > 0, ends, `${k}`);
  }
});

Deno.test("gradients over a batch of each size are parts of one graph", () => {
  const p = tensor([1.5, -2, 3]),
    plain = (x: Tensor) =>
      func.vmap(func.grad((q: Tensor, row: Tensor) => q.mul(row).tanh().sum()), [null, 0])(p, x);
  const run = compile(plain, { backend: "aot_eager" });
  for (const size of [2, 4, 3, 5]) {
    const x = randn([size, 3]);
    assertEquals(run(x).tolist(), plain(x).tolist());
  }
  const { graphBreaks, graphs } = compiler.status(run);
  assertEquals([graphs, graphBreaks], [2, 0]);
});
