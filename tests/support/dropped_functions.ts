/**
 * Functions that are compiled, called and dropped; returns the objects without references afterwards. Invariant: every
 * call creates new functions.
 */
import { compile, type CompileOptions, compiler, nn, noGrad, optim, type Tensor } from "../../mod.ts";
import type { GraphModule } from "../../lib/graph/graph_module.ts";

/** Makes, calls and drops. */
export type Drop = (x: Tensor, i: number) => readonly object[];

/** Runs graphs as they are and notes them. */
function noting(made: object[]): CompileOptions {
  return {
    backend: (gm: GraphModule) => {
      made.push(gm);
      return (...inputs: unknown[]) => gm.forward(...inputs);
    },
  };
}

/** The ways to do that. */
export const DROPPED: Readonly<Record<string, Drop>> = {
  "a closure with constants": (x, i) => {
    const made: object[] = [], k = { by: i + 0.5 };
    const fn = (x: Tensor) => x.mul(k.by).add(1);
    const compiled = compile(fn, noting(made));
    compiled(x);
    return [...made, k, fn, compiled];
  },
  "a closure with variables": (x, i) => {
    const made: object[] = [];
    let n = i, kept = { n };
    const fn = (x: Tensor) => {
      n++;
      kept = { n };
      return x.mul(n);
    };
    const compiled = compile(fn, noting(made));
    for (let call = 0; call < 3; call++) compiled(x);
    return [...made, kept, fn, compiled];
  },
  "a closure with graph breaks": (x, i) => {
    const made: object[] = [], k = { by: i + 0.5 };
    const fn = (x: Tensor) => {
      let y = x.mul(k.by);
      for (let j = 0; j < 2; j++) {
        console.assert(true);
        y = y.add(j);
      }
      return y;
    };
    const compiled = compile(fn, noting(made));
    compiled(x);
    return [...made, k, fn, compiled];
  },
  "an async closure": (x, i) => {
    const made: object[] = [], k = { by: i + 0.5 };
    const fn = async (x: Tensor) => {
      const y = x.mul(k.by);
      await null;
      return y.add(1);
    };
    const compiled = compile(fn, noting(made));
    void compiled(x);
    return [...made, k, fn, compiled];
  },
  "versions of a function": (x, i) => {
    const made: object[] = [];
    const fn = (x: Tensor, n: number, mode: string) => x.mul(n + mode.length);
    const compiled = compile(fn, noting(made));
    for (let n = 0; n < 6; n++) compiled(x, i + n, "abc".slice(n % 3));
    return [...made, fn, compiled];
  },
  "a function given up": (x) => {
    const made: object[] = [], k = { by: 1 };
    const fn = (x: Tensor) => x.mul(eval("k.by"));
    const compiled = compile(fn, noting(made));
    compiled(x);
    return [k, fn, compiled];
  },
  "one function compiled anew": (x) => {
    const made: object[] = [], compiled = compile(shared, noting(made));
    compiled(x);
    return [...made, compiled];
  },
  "functions as arguments": (x, i) => {
    const made: object[] = [], k = { by: i + 0.5 };
    const compiled = compile((x: Tensor, f: (x: Tensor) => Tensor) => f(x).add(1), noting(made));
    const fn = (x: Tensor) => x.mul(k.by);
    compiled(x, fn);
    return [...made, k, fn, compiled];
  },
  "a function of a text": (x, i) => {
    const made: object[] = [];
    const fn: unknown = new Function("x", `return x.mul(${i}.5)`);
    if (typeof fn !== "function") return [];
    const compiled = compile(fn as (x: Tensor) => Tensor, noting(made));
    compiled(x);
    return [...made, fn, compiled];
  },
  "a module": (x) => {
    const made: object[] = [], net = new nn.Sequential(new nn.Linear(2, 2), new nn.BatchNorm1d(2));
    net.eval();
    const compiled = compile((x: Tensor) => net.call(x), noting(made));
    noGrad(() => compiled(x.unsqueeze(0)));
    return [...made, net, ...net.children(), ...net.parameters(), compiled];
  },
  "a module that is compiled in place": (x) => {
    const made: object[] = [], net = new nn.Sequential(new nn.Linear(2, 2), new nn.ReLU());
    net.compile(noting(made));
    noGrad(() => net.call(x));
    return [...made, net, ...net.children(), ...net.parameters()];
  },
  "a training step": (x) => {
    const made: object[] = [], net = new nn.Linear(2, 2), optimizer = new optim.Adam(net.parameters());
    const step = compile((x: Tensor) => {
      optimizer.zeroGrad();
      net.call(x).sum().backward();
      optimizer.step();
    }, noting(made));
    for (let call = 0; call < 3; call++) step(x);
    return [...made, net, optimizer, ...net.parameters(), step];
  },
  "symbols": (x, i) => {
    const made: object[] = [], key = Symbol(`key ${i}`), k = { [key]: i + 0.5 };
    const compiled = compile((x: Tensor) => x.mul(k[key] ?? 1), noting(made));
    compiled(x);
    return [...made, k, compiled];
  },
  "an explanation": (x, i) => {
    const k = { by: i + 0.5 }, fn = (x: Tensor) => x.mul(k.by);
    compiler.explain(fn)(x);
    return [k, fn];
  },
};

function shared(x: Tensor): Tensor {
  return x.mul(2);
}
