/** Programs with stacks of disposables. */
import { compiler, type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });

/** A resource that notes when it is disposed of. */
class Resource {
  constructor(readonly name: string, readonly log: unknown[]) {}
  [Symbol.dispose](): void {
    this.log.push(this.name);
  }
}

const failing = (name: string): Disposable => ({
  [Symbol.dispose]() {
    throw new Error(name);
  },
});

/** Names and messages of an error and of what it suppressed. */
function chain(error: unknown): unknown[] {
  if (!(error instanceof Error)) return [];
  const own = [error.name, error.message];
  return error instanceof SuppressedError ? [...own, chain(error.error), chain(error.suppressed)] : own;
}

/** Programs without a break. */
export const disposables: Corpus = {
  "stacks of disposables in order, moved, and as a part of an object"({ compile, see }) {
    class Owner {
      readonly #stack = new DisposableStack();
      readonly closed: number[] = [];
      open(n: number): number {
        return this.#stack.adopt(n, (k) => this.closed.push(k));
      }
      [Symbol.dispose](): void {
        this.#stack[Symbol.dispose]();
      }
    }
    const f = compile((x: Tensor) => {
      const log: unknown[] = [], owner = new Owner();
      {
        using stack = new DisposableStack();
        const { name } = stack.use(new Resource("first", log));
        stack.use(null);
        stack.defer(() => x = x.mul(2));
        stack.adopt(3, (n) => log.push(n));
        log.push(name);
      }
      const old = new DisposableStack();
      old.defer(() => log.push("moved"));
      const moved = old.move();
      log.push(old.disposed, moved.disposed);
      moved.dispose();
      moved.dispose();
      {
        using open = owner;
        x = x.add(open.open(2) + open.open(5));
      }
      return [x, log, owner.closed, moved.disposed, moved instanceof DisposableStack, `${moved}`];
    });
    see(f(v(1)), f(v(2)));
  },
  "stacks of disposables that fail"({ compile, see }) {
    const f = compile((x: Tensor) => {
      const found: unknown[] = [];
      const stack = new DisposableStack();
      for (const name of ["a", "b", "c"]) stack.use(failing(name));
      try {
        stack.dispose();
      } catch (error) {
        found.push(chain(error), stack.disposed);
      }
      try {
        using inner = new DisposableStack();
        inner.use(failing("d"));
        throw new RangeError("body");
      } catch (error) {
        found.push(chain(error));
      }
      return [x.mul(2), found];
    });
    see(f(v(1)), f(v(2)));
  },
};

/** Programs that break the graph. */
export const brokenDisposables: Corpus = {
  "stacks of disposables that leave, come from outside, or are used around breaks"({ compile, see }) {
    const f = compile((x: Tensor, given: DisposableStack, log: unknown[]) => {
      const left = new DisposableStack();
      left.use(new Resource("left", log));
      given.defer(() => log.push("given"));
      {
        using stack = new DisposableStack();
        stack.defer(() => compiler.graphBreak());
        stack.use(new Resource("before", log));
        compiler.graphBreak();
        x = x.mul(2);
        stack.use(new Resource("behind", log));
      }
      try {
        new DisposableStack().move().use({} as never);
      } catch (error) {
        log.push((error as Error).name);
      }
      return { left, x };
    });
    for (let i = 0; i < 2; i++) {
      const log: unknown[] = [], given = new DisposableStack(), { left, x } = f(v(1), given, log);
      given.dispose();
      left.dispose();
      see(x, log, left.disposed);
    }
  },
};
