/** Programs that answer requests. */
import { manualSeed, nn, noGrad, ones, stack, type Tensor, tensor, zeros } from "../../mod.ts";
import type { Program } from "../../cli/fuzz/language/observation.ts";

interface Request {
  readonly path: string;
  readonly body: readonly number[];
}

class BadRequest extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

const row = (values: readonly number[]): Tensor => tensor([...values], { dtype: "float32" });

export const programs: Readonly<Record<string, Program>> = {
  "a request is scored"({ compile, see }) {
    manualSeed(1);
    const net = new nn.Linear(3, 2);
    const handle = compile((x: Tensor) => noGrad(() => net.call(x).softmax(-1)));
    const answer = ({ body }: Request) => ({ status: 200, scores: handle(row(body)) });
    see(answer({ path: "/score", body: [1, 2, 3] }), answer({ path: "/score", body: [3, 2, 1] }));
  },
  async "a handler parses, computes and answers"({ compile, see }) {
    const handle = compile(async (text: () => Promise<string>) => {
      const { values, scale } = JSON.parse(await text());
      const x = tensor(values, { dtype: "float32" }).mul(scale);
      return { mean: x.mean(), max: x.amax() };
    });
    for (const scale of [1, 2]) {
      see(await handle(() => Promise.resolve(JSON.stringify({ values: [1, 2], scale }))));
    }
  },
  "routes choose the model"({ compile, see }) {
    const routes: Record<string, (x: Tensor) => Tensor> = {
      "/double": (x) => x.mul(2),
      "/square": (x) => x.square(),
    };
    const handle = compile(({ path, body }: Request) => {
      const route = routes[path];
      if (!route) throw new BadRequest(404, `no ${path}`);
      return route(row(body));
    });
    const answer = (request: Request) => {
      try {
        return { status: 200, result: handle(request) };
      } catch (error) {
        if (error instanceof BadRequest) return { status: error.status, message: error.message };
        throw error;
      }
    };
    for (const path of ["/double", "/square", "/none", "/double"]) see(answer({ path, body: [1, 2] }));
  },
  "bad input is refused inside"({ compile, see, attempt }) {
    const handle = compile((body: readonly number[]) => {
      if (body.length !== 2) throw new BadRequest(400, `expected 2 numbers but found ${body.length}`);
      return row(body).exp();
    });
    for (const body of [[1, 2], [1], [3, 4]]) attempt(() => handle(body));
    see("done");
  },
  "requests are batched"({ compile, see }) {
    const score = compile((xs: readonly Tensor[]) => stack(xs).mul(3).sum(1).unbind());
    const queue: { x: Tensor; done: (y: Tensor) => void }[] = [];
    const answers: Tensor[] = [];
    const flush = () => {
      const all = queue.splice(0);
      score(all.map(({ x }) => x)).forEach((y, k) => all[k]!.done(y));
    };
    for (let k = 0; k < 4; k++) {
      queue.push({ x: ones([2]).mul(k), done: (y) => answers.push(y) });
      if (queue.length === 2) flush();
    }
    see(answers);
  },
  "a session remembers"({ compile, see }) {
    const sessions = new Map<string, { state: Tensor; turns: number }>();
    const turn = compile((id: string, x: Tensor) => {
      const session = sessions.get(id) ?? { state: zeros([2]), turns: 0 };
      const state = session.state.mul(0.5).add(x);
      sessions.set(id, { state, turns: session.turns + 1 });
      return state.tanh();
    });
    for (const id of ["a", "b", "a", "a"]) see(turn(id, ones([2])));
    see(sessions.get("a")?.turns, sessions.get("b")?.turns);
  },
  "a limit is kept between requests"({ compile, see }) {
    let left = 3;
    const limited = compile((x: Tensor) => {
      if (left === 0) return null;
      left--;
      return x.mul(left + 1);
    });
    for (let k = 0; k < 5; k++) see(limited(ones([1])));
  },
  "features come from optional fields"({ compile, see }) {
    interface User {
      readonly age?: number;
      readonly likes?: { readonly tags?: readonly string[] };
      readonly history?: Tensor;
    }
    const encode = compile((user: User, table: Tensor) => {
      const age = (user.age ?? 30) / 100, tags = user.likes?.tags?.length ?? 0;
      const history = user.history?.mean() ?? tensor(0);
      return table.mul(age).add(tags).add(history);
    });
    see(
      encode({}, ones([2])),
      encode({ likes: { tags: ["x", "y"] } }, ones([2])),
      encode({ history: ones([3]) }, ones([2])),
    );
  },
  "the answer is made of parts"({ compile, see }) {
    const describe = compile(
      (x: Tensor, { details = false, top = 2 }: { details?: boolean; top?: number } = {}) => {
        const [values, indices] = x.topk(top);
        return { values, indices, ...(details ? { mean: x.mean(), shape: [...x.shape] } : {}) };
      },
    );
    const x = tensor([3, 1, 2], { dtype: "float32" });
    see(describe(x), describe(x, { details: true }), describe(x, { top: 1 }));
  },
  async "answers come with a deadline"({ compile, see }) {
    const handle = compile(async (x: Tensor, signal: { readonly aborted: boolean }) => {
      let y = x;
      for (let k = 0; k < 3; k++) {
        if (signal.aborted) return { y, k, late: true };
        y = y.mul(2);
        await null;
      }
      return { y, k: 3, late: false };
    });
    see(await handle(ones([1]), { aborted: false }));
    const signal = { aborted: false }, pending = handle(ones([1]), signal);
    signal.aborted = true;
    see(await pending);
  },
};
