/** Steps of training as people write them. */
import { cat, manualSeed, nn, noGrad, optim, randn, type Tensor, tensor, zeros } from "../../mod.ts";
import type { Program } from "../../cli/fuzz/language/observation.ts";

function data(seed: number): { x: Tensor; y: Tensor } {
  manualSeed(seed);
  const x = randn([6, 3]);
  return { x, y: x.sum(1, true).gt(0).to("float32") };
}

const network = (seed: number) => {
  manualSeed(seed);
  return new nn.Sequential(new nn.Linear(3, 4), new nn.Tanh(), new nn.Linear(4, 1));
};

export const programs: Readonly<Record<string, Program>> = {
  "a step with stochastic gradient descent"({ compile, see }) {
    const net = network(1), optimizer = new optim.SGD(net.parameters(), { lr: 0.1, momentum: 0.9 });
    const step = compile((x: Tensor, y: Tensor) => {
      optimizer.zeroGrad();
      const loss = nn.functional.mseLoss(net.call(x), y);
      loss.backward();
      optimizer.step();
      return loss.detach();
    });
    const { x, y } = data(2);
    for (let k = 0; k < 3; k++) see(step(x, y));
    see([...net.parameters()]);
  },
  "gradients are accumulated over parts"({ compile, see }) {
    const net = network(3), optimizer = new optim.Adam(net.parameters(), { lr: 0.01 });
    const step = compile((x: Tensor, y: Tensor, parts: number) => {
      optimizer.zeroGrad();
      let total = 0 as number | Tensor;
      const xs = x.chunk(parts), ys = y.chunk(parts);
      for (let k = 0; k < parts; k++) {
        const loss = nn.functional.mseLoss(net.call(xs[k]!), ys[k]!).div(parts);
        loss.backward();
        total = loss.detach().add(total);
      }
      optimizer.step();
      return total;
    });
    const { x, y } = data(4);
    for (let k = 0; k < 3; k++) see(step(x, y, 2));
  },
  "gradients are clipped by their norm"({ compile, see }) {
    const net = network(5), optimizer = new optim.SGD(net.parameters(), { lr: 0.5 });
    const step = compile((x: Tensor, y: Tensor) => {
      optimizer.zeroGrad();
      const loss = nn.functional.binaryCrossEntropyWithLogits(net.call(x), y);
      loss.backward();
      const norm = nn.utils.clipGradNorm_(net.parameters(), 0.1);
      optimizer.step();
      return [loss.detach(), norm];
    });
    const { x, y } = data(6);
    for (let k = 0; k < 3; k++) see(step(x, y));
  },
  "the rate follows a schedule"({ compile, see }) {
    const net = network(7), optimizer = new optim.SGD(net.parameters(), { lr: 0.1 });
    const schedule = new optim.lrScheduler.StepLR(optimizer, { stepSize: 2, gamma: 0.5 });
    const step = compile((x: Tensor, y: Tensor) => {
      optimizer.zeroGrad();
      const loss = nn.functional.l1Loss(net.call(x), y);
      loss.backward();
      optimizer.step();
      return loss.detach();
    });
    const { x, y } = data(8);
    for (let k = 0; k < 4; k++) {
      see(step(x, y));
      schedule.step();
    }
  },
  "two networks against each other"({ compile, see }) {
    manualSeed(9);
    const generator = new nn.Linear(2, 3), critic = new nn.Linear(3, 1);
    const og = new optim.SGD(generator.parameters(), { lr: 0.1 }),
      oc = new optim.SGD(critic.parameters(), { lr: 0.1 });
    const step = compile((real: Tensor, noise: Tensor) => {
      oc.zeroGrad();
      const made = generator.call(noise);
      const lossC = critic.call(made.detach()).mean().sub(critic.call(real).mean());
      lossC.backward();
      oc.step();
      og.zeroGrad();
      const lossG = critic.call(generator.call(noise)).mean().neg();
      lossG.backward();
      og.step();
      return [lossC.detach(), lossG.detach()];
    });
    for (let k = 0; k < 3; k++) see(step(randn([4, 3]), randn([4, 2])));
  },
  "weights are averaged after the step"({ compile, see }) {
    const net = network(10), shadow = [...net.parameters()].map((p) => p.detach().clone());
    const optimizer = new optim.SGD(net.parameters(), { lr: 0.1 });
    const step = compile((x: Tensor, y: Tensor) => {
      optimizer.zeroGrad();
      nn.functional.mseLoss(net.call(x), y).backward();
      optimizer.step();
      noGrad(() => {
        [...net.parameters()].forEach((p, k) => shadow[k]!.mul_(0.9).add_(p.detach().mul(0.1)));
      });
    });
    const { x, y } = data(11);
    for (let k = 0; k < 3; k++) step(x, y);
    see(shadow);
  },
  "only some layers learn"({ compile, see }) {
    const net = network(12);
    net.at(0).requiresGrad_(false);
    const optimizer = new optim.SGD([...net.parameters()].filter((p) => p.requiresGrad), { lr: 0.1 });
    const step = compile((x: Tensor, y: Tensor) => {
      optimizer.zeroGrad();
      const loss = nn.functional.mseLoss(net.call(x), y);
      loss.backward();
      optimizer.step();
      return loss.detach();
    });
    const { x, y } = data(13);
    for (let k = 0; k < 2; k++) see(step(x, y));
    see([...net.parameters()].map((p) => p.grad !== null));
  },
  "an epoch with a mean and the best so far"({ compile, see }) {
    const net = network(14), optimizer = new optim.Adam(net.parameters(), { lr: 0.05 });
    let best = Infinity;
    const epoch = compile((batches: readonly { x: Tensor; y: Tensor }[]) => {
      let total = zeros([]);
      for (const { x, y } of batches) {
        optimizer.zeroGrad();
        const loss = nn.functional.mseLoss(net.call(x), y);
        loss.backward();
        optimizer.step();
        total = total.add(loss.detach());
      }
      return total.div(batches.length);
    });
    for (let k = 0; k < 3; k++) {
      const mean = Number(epoch([data(15), data(16)]).item());
      best = Math.min(best, mean);
      see(mean);
    }
    see(best);
  },
  "a policy from returns"({ compile, see }) {
    manualSeed(17);
    const policy = new nn.Linear(3, 2);
    const step = compile((states: Tensor, actions: Tensor, rewards: readonly number[]) => {
      const returns: number[] = [];
      for (let k = rewards.length - 1, sum = 0; k >= 0; k--) returns.unshift(sum = rewards[k]! + 0.9 * sum);
      const chosen = policy.call(states).logSoftmax(-1).gather(1, actions.unsqueeze(1)).squeeze(1);
      const loss = chosen.mul(tensor(returns)).mean().neg();
      policy.zeroGrad();
      loss.backward();
      return [loss.detach(), policy.weight.grad!.clone()];
    });
    see(step(randn([3, 3]), tensor([0, 1, 1]), [1, 0, 2]), step(randn([3, 3]), tensor([1, 1, 0]), [1, 0, 2]));
  },
  "contrasts within a batch"({ compile, see }) {
    manualSeed(18);
    const encoder = new nn.Linear(4, 3);
    const loss = compile((a: Tensor, b: Tensor, temperature: number) => {
      const z = nn.functional.normalize(encoder.call(cat([a, b])), { dim: 1 });
      const similar = z.matmul(z.t()).div(temperature);
      const n = a.shape[0]!, self = similar.diagonal();
      const positive = similar.at(`:${n}`, `${n}:`).diagonal();
      return similar.logsumexp(1).mean().sub(positive.mean()).add(self.mean().mul(0.01));
    });
    see(loss(randn([2, 4]), randn([2, 4]), 0.5), loss(randn([2, 4]), randn([2, 4]), 0.7));
  },
};
