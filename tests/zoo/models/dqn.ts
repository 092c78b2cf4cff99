/**
 * Deep Q-learning (Mnih et al. 2015) as PyTorch's tutorial writes it: a policy and a target network, batches drawn
 * from a replay memory, states without successor masked out, Q-values gathered by action, the Huber loss, gradients
 * clipped by value, a soft update of the target's state dict.
 */
import { nn, noGrad, optim, type Tensor, zeros } from "../../../mod.ts";
import { ONE, type Specimen } from "../specimen.ts";

const F = nn.functional;

class DQN extends nn.Module {
  readonly layer1: nn.Linear;
  readonly layer2: nn.Linear;
  readonly value: nn.Linear;
  readonly advantage: nn.Linear;

  constructor(nObservations: number, nActions: number) {
    super();
    this.layer1 = new nn.Linear(nObservations, 12);
    this.layer2 = new nn.Linear(12, 12);
    this.value = new nn.Linear(12, 1);
    this.advantage = new nn.Linear(12, nActions);
  }

  override forward(x: Tensor): Tensor {
    x = F.relu(this.layer1.call(x));
    x = F.relu(this.layer2.call(x), { inplace: true });
    const advantage = this.advantage.call(x);
    return this.value.call(x).add(advantage.sub(advantage.mean(1, { keepdim: true })));
  }
}

/** The last transitions, as rows of tensors. */
class ReplayMemory {
  constructor(
    readonly columns: Readonly<Record<"state" | "action" | "nextState" | "reward" | "done", Tensor>>,
  ) {}

  sample(rows: Tensor) {
    const { state, action, nextState, reward, done } = this.columns;
    return {
      state: state.indexSelect(0, rows),
      action: action.indexSelect(0, rows),
      nextState: nextState.indexSelect(0, rows),
      reward: reward.at(rows),
      done: done.at(rows),
    };
  }
}

class Agent extends nn.Module {
  readonly policyNet = new DQN(4, 3);
  readonly targetNet: DQN = this.policyNet.clone();

  constructor(readonly gamma: number) {
    super();
    this.targetNet.requiresGrad_(false);
  }

  override forward(state: Tensor): Tensor {
    return this.policyNet.call(state);
  }

  loss(memory: ReplayMemory, rows: Tensor): Tensor {
    const { state, action, nextState, reward, done } = memory.sample(rows);
    const stateActionValues = this.policyNet.call(state).gather(1, action);
    const nextStateValues = zeros([rows.size(0)], { dtype: state.dtype, device: state.device });
    noGrad(() => {
      const best = this.policyNet.call(nextState).argmax(1, { keepdim: true });
      const doubled = this.targetNet.call(nextState).gather(1, best).squeeze(1);
      nextStateValues.copy_(doubled.where(done.logicalNot(), 0));
    });
    const expected = nextStateValues.mul(this.gamma).add(reward);
    return F.smoothL1Loss(stateActionValues, expected.unsqueeze(1));
  }

  softUpdate(tau: number): void {
    const targetState = this.targetNet.stateDict(), policyState = this.policyNet.stateDict();
    noGrad(() => {
      for (const key of Object.keys(policyState)) {
        const target = targetState[key], policy = policyState[key];
        if (target && policy) target.copy_(policy.mul(tau).add(target.mul(1 - tau)));
      }
    });
  }
}

export const dqn: Specimen = {
  name: "dqn",
  make() {
    const agent = new Agent(0.9);
    const memoryOf = (state: Tensor, action: Tensor, nextState: Tensor, [reward, done]: [Tensor, Tensor]) =>
      new ReplayMemory({ state, action, nextState, reward, done });
    const lossOf = (...[state, action, nextState, reward, done, rows]: Tensor[]) => {
      if (!state || !action || !nextState || !reward || !done || !rows) throw new Error("Six tensors");
      return agent.loss(memoryOf(state, action, nextState, [reward, done]), rows.at(0));
    };
    const train = () => {
      const optimizer = new optim.AdamW(agent.policyNet.parameters(), { lr: 0.01, amsgrad: true });
      let steps = 0;
      const step = (...[state, action, nextState, reward, done, rows]: Tensor[]) => {
        if (!state || !action || !nextState || !reward || !done || !rows) throw new Error("Six tensors");
        const memory = memoryOf(state, action, nextState, [reward, done]);
        const loss = agent.loss(memory, rows.at(steps % 3));
        optimizer.zeroGrad();
        loss.backward();
        nn.utils.clipGradValue_(agent.policyNet.parameters(), 0.1);
        optimizer.step();
        agent.softUpdate(0.1);
        return loss.detach();
      };
      return { step, after: () => void steps++ };
    };
    return { model: agent, forward: (state) => agent.call(state), loss: lossOf, train };
  },
  counts: { forward: ONE, loss: ONE, step: { graphs: 3, breaks: 0, recompiles: 2 } },
};
