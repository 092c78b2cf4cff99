/**
 * Deep Q-learning: a network learns to balance a pole on a cart (Mnih et al., "Playing Atari with Deep Reinforcement
 * Learning", 2013; the cart of Barto, Sutton and Anderson, 1983).
 *
 *   deno run -A examples/dqn.ts [--episodes=220] [--ticks=300]
 */
import { parseArgs } from "@std/cli";
import { compile, manualSeed, nn, noGrad, optim, rand, type Tensor, tensor } from "../mod.ts";

const flags = parseArgs(Deno.args, { string: ["episodes", "ticks"] });
const episodes = Number(flags.episodes ?? 220), most = Number(flags.ticks ?? 300);
manualSeed(3);

/** Position and velocity of the cart, angle and angular velocity of the pole. */
type State = readonly [x: number, speed: number, angle: number, turn: number];

/** The state after a push to one side for a fiftieth of a second. */
function pushed([x, speed, angle, turn]: State, right: boolean): State {
  const [gravity, pole, length, total, tick] = [9.8, 0.1, 0.5, 1.1, 0.02];
  const sin = Math.sin(angle), cos = Math.cos(angle);
  const push = ((right ? 10 : -10) + pole * length * turn * turn * sin) / total;
  const tilt = (gravity * sin - cos * push) / (length * (4 / 3 - pole * cos * cos / total));
  const slide = push - pole * length * tilt * cos / total;
  return [x + tick * speed, speed + tick * slide, angle + tick * turn, turn + tick * tilt];
}

const isLost = ([x, , angle]: State) => Math.abs(x) > 2.4 || Math.abs(angle) > 0.21;

interface Step {
  readonly state: State;
  readonly right: boolean;
  readonly next: State;
  readonly lost: boolean;
}

const makeNet = () =>
  new nn.Sequential(
    new nn.Linear(4, 64),
    new nn.ReLU(),
    new nn.Linear(64, 64),
    new nn.ReLU(),
    new nn.Linear(64, 2),
  );
const online = makeNet(), target = makeNet();
target.loadStateDict(online.stateDict());
const optimizer = new optim.Adam(online.parameters(), { lr: 1e-3 });

/** Moves the value of a state towards the reward of a tick plus the value of the next state. */
const learn = compile((states: Tensor, actions: Tensor, next: Tensor, alive: Tensor) => {
  optimizer.zeroGrad();
  const worth = online.call(states).gather(1, actions).squeeze(1);
  const wanted = noGrad(() => target.call(next).amax(1).mul(alive).mul(0.99).add(1));
  const loss = nn.functional.smoothL1Loss(worth, wanted);
  loss.backward();
  optimizer.step();
  return loss.detach();
});

const values = compile((state: Tensor) => online.call(state));
const memory: Step[] = [];
const chance = (count: number) => rand(count).toTypedArray();
const floats = (rows: number | readonly number[] | readonly State[]) => tensor(rows, { dtype: "float32" });

let ticks = 0, best = 0;
const recent: number[] = [];
for (let episode = 1; episode <= episodes; episode++) {
  let state: State = [...chance(4)].map((u) => (Number(u) - 0.5) * 0.1) as unknown as State, length = 0;
  for (; length < most && !isLost(state); length++) {
    const explores = Number(chance(1)[0]) < Math.max(0.02, 1 - ticks / 1000);
    const [left = 0, right = 0] = explores ? chance(2) : noGrad(() => values(floats([state])).toTypedArray());
    const next = pushed(state, right > left), step = { state, right: right > left, next, lost: isLost(next) };
    if (memory.length < 10_000) memory.push(step);
    else memory[ticks % 10_000] = step;
    state = next;
    ticks++;
    if (memory.length < 200 || ticks % 2 !== 0) continue;
    const drawn = [...chance(64)].flatMap((u) => memory[Math.floor(Number(u) * memory.length)] ?? []);
    learn(
      floats(drawn.map((each) => each.state)),
      tensor(drawn.map((each) => [Number(each.right)])),
      floats(drawn.map((each) => each.next)),
      floats(drawn.map((each) => each.lost ? 0 : 1)),
    );
    if (ticks % 200 === 0) target.loadStateDict(online.stateDict());
  }
  recent.push(length);
  const last = recent.slice(-20), mean = last.reduce((sum, each) => sum + each, 0) / last.length;
  best = Math.max(best, mean);
  if (episode % 20 === 0) console.log(`episode ${episode}: ${mean.toFixed(0)} of ${most} ticks`);
  if (mean > 0.9 * most) break;
}
console.log(`best mean of twenty episodes: ${best.toFixed(0)} of ${most} ticks`);
