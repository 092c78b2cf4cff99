/**
 * A world model with an actor and a critic, as in Dreamer V2 (Hafner et al. 2021): a recurrent state with categorical
 * variables that pass gradients straight through, divergences balanced by stopped gradients, dreams whose returns are
 * weighted by λ from the back, a slowly following critic, three optimizers. Random choices come with the batch.
 */
import { cat, nn, noGrad, optim, stack, type Tensor, zeros } from "../../../mod.ts";
import { ONE, type Specimen } from "../specimen.ts";

const F = nn.functional;
const CLASSES = 3, VARIABLES = 2, HIDDEN = 6, ACTIONS = 2, HORIZON = 3;
const STOCH = CLASSES * VARIABLES, FEATURES = HIDDEN + STOCH;

/** Deterministic and stochastic parts of a state. */
interface State {
  readonly deter: Tensor;
  readonly stoch: Tensor;
}

const featuresOf = ({ deter, stoch }: State): Tensor => cat([deter, stoch], { dim: -1 });

const mlp = (inputs: number, outputs: number): nn.Sequential =>
  new nn.Sequential(new nn.Linear(inputs, 8), new nn.ELU(), new nn.Linear(8, outputs));

/** One class of each variable; the gradient is that of the probabilities. */
function sampled(logits: Tensor, gumbel: Tensor): Tensor {
  const shaped = logits.unflatten(-1, [VARIABLES, CLASSES]);
  const chosen = F.oneHot(shaped.add(gumbel).argmax(-1), CLASSES).to(logits.dtype);
  const probs = F.softmax(shaped, { dim: -1 });
  return chosen.add(probs).sub(probs.detach()).flatten(-2);
}

function divergence(p: Tensor, q: Tensor): Tensor {
  const [left, right] = [p, q].map((each) =>
    F.logSoftmax(each.unflatten(-1, [VARIABLES, CLASSES]), { dim: -1 })
  );
  return left && right ? left.exp().mul(left.sub(right)).sum([-2, -1]).mean() : p;
}

class WorldModel extends nn.Module {
  readonly encoder = mlp(4, 6);
  readonly decoder = mlp(FEATURES, 4);
  readonly reward = mlp(FEATURES, 1);
  readonly inp = new nn.Linear(STOCH + ACTIONS, HIDDEN);
  readonly cell = new nn.GRUCell(HIDDEN, HIDDEN);
  readonly prior = new nn.Linear(HIDDEN, STOCH);
  readonly posterior = new nn.Linear(HIDDEN + 6, STOCH);

  step({ deter, stoch }: State, action: Tensor): Tensor {
    return this.cell.call(F.elu(this.inp.call(cat([stoch, action], { dim: -1 }))), deter);
  }

  /** The states that were observed: observations and actions [T, B, …]. */
  override forward(obs: Tensor, actions: Tensor, gumbel: Tensor) {
    const embedded = this.encoder.call(obs), B = obs.size(1);
    const like = { dtype: obs.dtype, device: obs.device };
    let state: State = { deter: zeros([B, HIDDEN], like), stoch: zeros([B, STOCH], like) };
    const states: State[] = [], priors: Tensor[] = [], posteriors: Tensor[] = [];
    for (const [t, action] of actions.unbind(0).entries()) {
      const deter = this.step(state, action);
      const posterior = this.posterior.call(cat([deter, embedded.at(t)], { dim: -1 }));
      priors.push(this.prior.call(deter));
      posteriors.push(posterior);
      state = { deter, stoch: sampled(posterior, gumbel.at(t)) };
      states.push(state);
    }
    return { states, priors: stack(priors), posteriors: stack(posteriors) };
  }
}

class Agent extends nn.Module {
  readonly world = new WorldModel();
  readonly actor = mlp(FEATURES, ACTIONS);
  readonly critic = mlp(FEATURES, 1);
  readonly target = mlp(FEATURES, 1);

  constructor() {
    super();
    this.target.loadStateDict(this.critic.stateDict());
    for (const parameter of this.target.parameters()) parameter.requiresGrad = false;
  }
}

/** Returns from the back: rewards and values [H, B], the last value among them. */
function lambdaReturn(
  rewards: Tensor,
  values: Tensor,
  { discount, lambda }: Record<"discount" | "lambda", number>,
) {
  const found: Tensor[] = [];
  let last = values.at(-1);
  for (let t = rewards.size(0) - 2; t >= 0; t--) {
    const next = values.at(t + 1);
    last = rewards.at(t).add(next.mul(1 - lambda).add(last.mul(lambda)).mul(discount));
    found.unshift(last);
  }
  return stack(found);
}

export const worldModel: Specimen = {
  name: "world_model",
  make() {
    const model = new Agent(), { world, actor, critic, target } = model;
    const balance = 0.8;
    const modelLoss = (obs: Tensor, actions: Tensor, rewards: Tensor, gumbel: Tensor) => {
      const { states, priors, posteriors } = world.call(obs, actions, gumbel);
      const features = stack(states.map(featuresOf));
      const image = F.mseLoss(world.decoder.call(features), obs);
      const reward = F.mseLoss(world.reward.call(features).squeeze(-1), rewards);
      const kl = divergence(posteriors.detach(), priors).mul(balance)
        .add(divergence(posteriors, priors.detach()).mul(1 - balance));
      return { loss: image.add(reward).add(kl.mul(0.1)), states };
    };
    /** Dreams from the given states on. */
    const dream = (start: readonly State[], gumbel: Tensor) => {
      let state: State = {
        deter: cat(start.map(({ deter }) => deter)).detach(),
        stoch: cat(start.map(({ stoch }) => stoch)).detach(),
      };
      const features = [featuresOf(state)], noise = gumbel.flatten(0, 1);
      for (let t = 0; t < HORIZON; t++) {
        const action = F.softmax(actor.call(featuresOf(state).detach()), { dim: -1 });
        const deter = world.step(state, action);
        state = { deter, stoch: sampled(world.prior.call(deter), noise.mul(1 + t / 10)) };
        features.push(featuresOf(state));
      }
      const all = stack(features), rewards = world.reward.call(all).squeeze(-1);
      const values = target.call(all).squeeze(-1);
      return { all, returns: lambdaReturn(rewards, values, { discount: 0.9, lambda: 0.95 }) };
    };
    const criticLoss = (all: Tensor, returns: Tensor) =>
      F.smoothL1Loss(critic.call(all.at({ stop: -1 }).detach()).squeeze(-1), returns.detach());
    const train = () => {
      const modelOpt = new optim.Adam(world.parameters(), { lr: 3e-3, eps: 1e-5 });
      const actorOpt = new optim.Adam(actor.parameters(), { lr: 3e-3, eps: 1e-5 });
      const criticOpt = new optim.AdamW(critic.parameters(), { lr: 3e-3, eps: 1e-5, weightDecay: 1e-3 });
      const step = (obs: Tensor, actions: Tensor, rewards: Tensor, gumbel: Tensor) => {
        modelOpt.zeroGrad();
        const { loss, states } = modelLoss(obs, actions, rewards, gumbel);
        loss.backward();
        nn.utils.clipGradNorm_(world.parameters(), 10);
        modelOpt.step();
        for (const parameter of world.parameters()) parameter.requiresGrad = false;
        const { all, returns } = dream(states, gumbel);
        const actorLoss = returns.mean().neg();
        actorOpt.zeroGrad();
        actorLoss.backward();
        actorOpt.step();
        for (const parameter of world.parameters()) parameter.requiresGrad = true;
        const valueLoss = criticLoss(all, returns);
        criticOpt.zeroGrad();
        valueLoss.backward();
        criticOpt.step();
        noGrad(() => {
          const from = critic.parameters();
          for (const [i, to] of target.parameters().entries()) {
            const source = from[i];
            if (source) to.lerp_(source, 0.05);
          }
        });
        return stack([loss, actorLoss, valueLoss]).detach();
      };
      return { step };
    };
    return {
      model,
      forward: (obs, actions, _rewards, gumbel) => {
        const { posteriors, priors } = world.call(obs, actions, gumbel);
        return cat([posteriors, priors]);
      },
      loss: (obs, actions, rewards, gumbel) => {
        const { loss, states } = modelLoss(obs, actions, rewards, gumbel);
        const { all, returns } = dream(states, gumbel);
        return loss.sub(returns.mean()).add(criticLoss(all, returns));
      },
      train,
    };
  },
  counts: { forward: ONE, loss: ONE, step: ONE },
};
