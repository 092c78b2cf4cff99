/** Models whose structure follows the data. */
import { cat, manualSeed, nn, ones, randn, stack, type Tensor, tensor, zeros } from "../../mod.ts";
import type { Program } from "../../cli/fuzz/language/observation.ts";

interface Tree {
  readonly value?: Tensor;
  readonly children?: readonly Tree[];
}

const leaf = (k: number): Tree => ({ value: ones([2]).mul(k) });
const tree: Tree = { children: [leaf(1), { children: [leaf(2), leaf(3)] }, leaf(4)] };

export const programs: Readonly<Record<string, Program>> = {
  "a tree is summed"({ compile, see }) {
    const total = (t: Tree): Tensor =>
      (t.children ?? []).reduce((s, c) => s.add(total(c)), t.value ?? zeros([2]));
    const f = compile((t: Tree) => total(t).mul(2));
    see(f(tree), f(leaf(3)));
  },
  "a tree is encoded by a layer at each node"({ compile, see }) {
    manualSeed(1);
    const merge = new nn.Linear(4, 2);
    const encode = (t: Tree): Tensor => {
      if (t.value) return t.value;
      return (t.children ?? []).map(encode).reduce((a, b) => merge.call(cat([a, b])).tanh());
    };
    const f = compile((t: Tree) => encode(t));
    see(f(tree));
  },
  "an expression is evaluated"({ compile, see }) {
    type Expression = Tensor | Call;
    interface Call {
      readonly op: "add" | "mul" | "neg";
      readonly args: readonly Expression[];
    }
    const run = (e: Expression): Tensor => {
      if (!("args" in e)) return e;
      const values = e.args.map(run);
      switch (e.op) {
        case "add":
          return values.reduce((a, b) => a.add(b));
        case "mul":
          return values.reduce((a, b) => a.mul(b));
        default:
          return values[0]!.neg();
      }
    };
    const call = (op: Call["op"], ...args: readonly Expression[]): Call => ({ op, args });
    const f = compile((x: Tensor, y: Tensor) =>
      run(call("add", call("mul", x, y), call("neg", x), call("mul", y, y, y)))
    );
    see(f(ones([2]), ones([2]).mul(3)), f(ones([2]).mul(2), ones([2])));
  },
  "blocks nest by depth"({ compile, see }) {
    const block = (x: Tensor, depth: number): Tensor =>
      depth === 0 ? x : x.add(block(x.mul(0.5), depth - 1)).relu();
    const f = compile((x: Tensor, depth: number) => block(x, depth));
    see(f(ones([2]), 3), f(ones([2]).neg(), 3));
  },
  "a matrix is raised to a power by squaring"({ compile, see }) {
    const power = (m: Tensor, n: number): Tensor => {
      if (n === 1) return m;
      const half = power(m, Math.floor(n / 2)), square = half.matmul(half);
      return n % 2 === 1 ? square.matmul(m) : square;
    };
    const f = compile((m: Tensor, n: number) => power(m, n));
    see(f(tensor([[1, 1], [1, 0]]), 10), f(tensor([[1, 2], [0, 1]]), 10));
  },
  "a list is sorted by merging, by known keys"({ compile, see }) {
    interface Item {
      key: number;
      x: Tensor;
    }
    const merge = (a: Item[], b: Item[]): Item[] => {
      if (a.length === 0 || b.length === 0) return [...a, ...b];
      const [p, ...rest] = a, [q, ...others] = b;
      return p!.key <= q!.key ? [p!, ...merge(rest, b)] : [q!, ...merge(a, others)];
    };
    const sort = (items: Item[]): Item[] => {
      if (items.length < 2) return items;
      const middle = items.length >> 1;
      return merge(sort(items.slice(0, middle)), sort(items.slice(middle)));
    };
    const f = compile((items: Item[]) => stack(sort(items).map(({ x }) => x.mul(2))));
    see(f([3, 1, 2, 0].map((key) => ({ key, x: ones([1]).mul(key) }))));
  },
  "nested lists of any depth are mapped"({ compile, see }) {
    type Nested = Tensor | readonly Nested[];
    const map = (n: Nested, fn: (x: Tensor) => Tensor): Nested =>
      Array.isArray(n) ? n.map((each: Nested) => map(each, fn)) : fn(n as Tensor);
    const f = compile((n: Nested, by: number) => map(n, (x) => x.mul(by).sin()));
    see(f([ones([1]), [ones([2]), [ones([3])]]], 2), f([zeros([1]), [zeros([2]), [zeros([3])]]], 3));
  },
  "a recurrent cell runs over lists of different lengths"({ compile, see }) {
    manualSeed(2);
    const cell = new nn.GRUCell(2, 3);
    const run = compile((xs: readonly Tensor[]) => xs.reduce((h, x) => cell.call(x, h), zeros([1, 3])));
    see(run([randn([1, 2]), randn([1, 2])]), run([randn([1, 2])]));
  },
  "ways through a graph are added up"({ compile, see }) {
    const edges: Record<string, readonly string[]> = { a: ["b", "c"], b: ["d"], c: ["d"], d: [] };
    const f = compile((features: Record<string, Tensor>) => {
      const known = new Map<string, Tensor>();
      const visit = (name: string): Tensor => {
        const found = known.get(name);
        if (found) return found;
        const own = edges[name]!.reduce((s, each) => s.add(visit(each)), features[name]!);
        known.set(name, own);
        return own;
      };
      return visit("a");
    });
    see(f({ a: ones([1]), b: ones([1]).mul(2), c: ones([1]).mul(3), d: ones([1]).mul(4) }));
  },
  "a polynomial by Horner's rule, and its derivative"({ compile, see }) {
    const horner = ([first, ...rest]: readonly number[], x: Tensor): Tensor =>
      rest.length === 0 ? x.mul(0).add(first!) : horner(rest, x).mul(x).add(first!);
    const f = compile((x: Tensor) => {
      const y = horner([1, -2, 0, 3], x);
      y.sum().backward();
      return [y, x.grad];
    });
    see(f(tensor([1, 2], { dtype: "float32", requiresGrad: true })));
  },
};
