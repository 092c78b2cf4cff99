/**
 * A physics-informed network: it solves a damped oscillation, u″ + 2d·u′ + w²·u = 0 with u(0) = 1 and u′(0) = 0, from
 * the equation alone (Raissi, Perdikaris and Karniadakis, 2019). The training step contains time derivatives and
 * differentiates through them; the result is checked by `func.jvp` and `func.hessian`.
 *
 *   deno run -A examples/physics.ts [--steps=6000]
 */
import { parseArgs } from "@std/cli";
import {
  autograd,
  compile,
  func,
  linspace,
  manualSeed,
  nn,
  noGrad,
  onesLike,
  optim,
  type Tensor,
  tensor,
} from "../mod.ts";

const { steps = "6000" } = parseArgs(Deno.args, { string: ["steps"] });
const damping = 0.5, speed = 3;
manualSeed(0);

const net = new nn.Sequential(
  new nn.Linear(1, 32),
  new nn.Tanh(),
  new nn.Linear(32, 32),
  new nn.Tanh(),
  new nn.Linear(32, 1),
);
const times = linspace(0, 3, 60).unsqueeze(1), start = tensor([[0]], { dtype: "float32" });

/** The network's values at times, and the first two time derivatives. */
function derivatives(at: Tensor): readonly [u: Tensor, first: Tensor, second: Tensor] {
  const t = at.clone().requiresGrad_(), u = net.call(t);
  const by = (value: Tensor): Tensor => {
    const [derivative = value] = autograd.grad([value.sum()], [t], { createGraph: true });
    return derivative ?? value;
  };
  const first = by(u);
  return [u, first, by(first)];
}

const optimizer = new optim.Adam(net.parameters(), { lr: 3e-3 });
const schedule = new optim.lrScheduler.CosineAnnealingLR(optimizer, Number(steps), 1e-4);
const step = compile(() => {
  optimizer.zeroGrad();
  const [u, first, second] = derivatives(times);
  const equation = second.add(first.mul(2 * damping)).add(u.mul(speed ** 2)).square().mean();
  const [height, rate] = derivatives(start);
  const loss = equation.div(speed ** 4).add(height.sub(1).square().mean().mul(10)).add(
    rate.square().mean().div(speed ** 2),
  );
  loss.backward();
  optimizer.step();
  return loss.detach();
});

for (let k = 1; k <= Number(steps); k++) {
  const loss = step().item();
  schedule.step();
  if (k === 1 || k % 1000 === 0 || k === Number(steps)) {
    console.log(`step ${k}: loss ${loss.toExponential(2)}`);
  }
}

const exact = (t: Tensor) => {
  const w = Math.sqrt(speed ** 2 - damping ** 2);
  return t.mul(-damping).exp().mul(t.mul(w).cos().add(t.mul(w).sin().mul(damping / w)));
};
const off = noGrad(() => net.call(times).sub(exact(times)).abs().amax().item());
console.log(`off by ${off.toFixed(4)} at most`);

// Checks the result in another way: velocity and acceleration at one time, by forward mode and as a Hessian.
const at = (t: Tensor) => net.call(t.reshape(1, 1)).sum(), early = tensor(0.5, { dtype: "float32" });
const [place, velocity] = func.jvp(at, [early], [onesLike(early)]) as [Tensor, Tensor];
const acceleration = (func.hessian(at)(early) as Tensor).item();
const residue = acceleration + 2 * damping * velocity.item() + speed ** 2 * place.item();
console.log(
  `at 0.5: u = ${place.item().toFixed(3)}, u″ = ${acceleration.toFixed(3)}, the equation leaves ${
    residue.toFixed(3)
  }`,
);
