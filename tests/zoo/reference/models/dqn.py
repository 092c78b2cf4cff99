"""Double Q-learning with a target network, as in tests/zoo/models/dqn.ts."""

import copy

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


class DQN(nn.Module):
    def __init__(self, observations, actions):
        super().__init__()
        self.layer1 = nn.Linear(observations, 12)
        self.layer2 = nn.Linear(12, 12)
        self.value = nn.Linear(12, 1)
        self.advantage = nn.Linear(12, actions)

    def forward(self, x):
        x = torch.relu(self.layer2(torch.relu(self.layer1(x))))
        advantage = self.advantage(x)
        return self.value(x) + advantage - advantage.mean(1, keepdim=True)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.policyNet = DQN(4, 3)
        self.targetNet = copy.deepcopy(self.policyNet).requires_grad_(False)


def batch():
    count = 12
    rows = torch.stack([torch.randperm(count)[:6] for _ in range(3)])
    return (
        torch.randn(count, 4),
        torch.randint(0, 3, (count, 1)),
        torch.randn(count, 4),
        torch.randn(count),
        torch.rand(count) < 0.3,
        rows,
    )


@specimen("dqn", batch)
def dqn():
    agent = Agent()

    def loss_of(state, action, following, reward, done, chosen):
        found = agent.policyNet(state[chosen]).gather(1, action[chosen])
        with torch.no_grad():
            best = agent.policyNet(following[chosen]).argmax(1, keepdim=True)
            worth = agent.targetNet(following[chosen]).gather(1, best).squeeze(1)
            wanted = reward[chosen] + 0.9 * torch.where(done[chosen], 0, worth)
        return F.smooth_l1_loss(found, wanted.unsqueeze(1))

    def train():
        optimizer = torch.optim.AdamW(agent.policyNet.parameters(), lr=0.01, amsgrad=True)
        steps = 0

        def step(*given):
            nonlocal steps
            loss = loss_of(*given[:5], given[5][steps % 3])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(agent.policyNet.parameters(), 0.1)
            optimizer.step()
            with torch.no_grad():
                for target, policy in zip(agent.targetNet.parameters(), agent.policyNet.parameters()):
                    target.copy_(policy * 0.1 + target * 0.9)
            steps += 1
            return loss.detach()

        return step

    return Subject(
        agent,
        forward=lambda state, *rest: agent.policyNet(state),
        loss=lambda *given: loss_of(*given[:5], given[5][0]),
        train=train,
    )
