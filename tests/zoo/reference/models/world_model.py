"""A world model, as in tests/zoo/models/world_model.ts."""

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen

HIDDEN, SHAPE = 6, (2, 3)
FEATURES = HIDDEN + 6


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 8), nn.ELU(), nn.Linear(8, outputs))


def sampled(logits, gumbel):
    logits = logits.unflatten(-1, SHAPE)
    probs = logits.softmax(-1)
    chosen = F.one_hot((logits + gumbel).argmax(-1), SHAPE[1]).to(logits.dtype)
    return (chosen + probs - probs.detach()).flatten(-2)


def divergence(p, q):
    p, q = (each.unflatten(-1, SHAPE).log_softmax(-1) for each in (p, q))
    return (p.exp() * (p - q)).sum((-2, -1)).mean()


class WorldModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = mlp(4, 6)
        self.decoder = mlp(FEATURES, 4)
        self.reward = mlp(FEATURES, 1)
        self.inp = nn.Linear(6 + 2, HIDDEN)
        self.cell = nn.GRUCell(HIDDEN, HIDDEN)
        self.prior = nn.Linear(HIDDEN, 6)
        self.posterior = nn.Linear(HIDDEN + 6, 6)

    def advance(self, hidden, stochastic, action):
        return self.cell(F.elu(self.inp(torch.cat([stochastic, action], -1))), hidden)

    def forward(self, observed, actions, gumbel):
        embedded = self.encoder(observed)
        hidden, stochastic = observed.new_zeros(observed.size(1), HIDDEN), observed.new_zeros(observed.size(1), 6)
        states, posteriors = [], []
        for embedding, action, noise in zip(embedded, actions, gumbel):
            hidden = self.advance(hidden, stochastic, action)
            posteriors.append(self.posterior(torch.cat([hidden, embedding], -1)))
            stochastic = sampled(posteriors[-1], noise)
            states.append(torch.cat([hidden, stochastic], -1))
        states = torch.stack(states)
        return states, self.prior(states[..., :HIDDEN]), torch.stack(posteriors)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.world = WorldModel()
        self.actor = mlp(FEATURES, 2)
        self.critic = mlp(FEATURES, 1)
        self.target = mlp(FEATURES, 1).requires_grad_(False)
        self.target.load_state_dict(self.critic.state_dict())


def batch():
    uniform = torch.rand(4, 2, *SHAPE).clamp(1e-3, 1 - 1e-3)
    return torch.randn(4, 2, 4), torch.rand(4, 2, 2), torch.randn(4, 2), -torch.log(-torch.log(uniform))


@specimen("world_model", batch)
def world_model():
    model = Agent()
    world, actor, critic, target = model.world, model.actor, model.critic, model.target

    def model_loss(observed, actions, rewards, gumbel):
        states, priors, posteriors = world(observed, actions, gumbel)
        found = F.mse_loss(world.decoder(states), observed) + F.mse_loss(world.reward(states)[..., 0], rewards)
        kl = 0.8 * divergence(posteriors.detach(), priors) + (1 - 0.8) * divergence(posteriors, priors.detach())
        return found + 0.1 * kl, states

    def dream(states, gumbel):
        state = states.detach().flatten(0, 1)
        noise, features = gumbel.flatten(0, 1), [state]
        for t in range(3):
            hidden, stochastic = state.split([HIDDEN, 6], -1)
            hidden = world.advance(hidden, stochastic, actor(state.detach()).softmax(-1))
            state = torch.cat([hidden, sampled(world.prior(hidden), noise * (1 + t / 10))], -1)
            features.append(state)
        features = torch.stack(features)
        rewards, values = world.reward(features)[..., 0], target(features)[..., 0]
        returns, last = [], values[-1]
        for t in reversed(range(3)):
            last = rewards[t] + 0.9 * ((1 - 0.95) * values[t + 1] + 0.95 * last)
            returns.insert(0, last)
        return features, torch.stack(returns)

    def critic_loss(features, returns):
        return F.smooth_l1_loss(critic(features[:-1].detach())[..., 0], returns.detach())

    def loss(observed, actions, rewards, gumbel):
        value, states = model_loss(observed, actions, rewards, gumbel)
        features, returns = dream(states, gumbel)
        return value - returns.mean() + critic_loss(features, returns)

    def train():
        of_world = torch.optim.Adam(world.parameters(), lr=3e-3, eps=1e-5)
        of_actor = torch.optim.Adam(actor.parameters(), lr=3e-3, eps=1e-5)
        of_critic = torch.optim.AdamW(critic.parameters(), lr=3e-3, eps=1e-5, weight_decay=1e-3)

        def step(observed, actions, rewards, gumbel):
            of_world.zero_grad()
            loss_of_world, states = model_loss(observed, actions, rewards, gumbel)
            loss_of_world.backward()
            nn.utils.clip_grad_norm_(world.parameters(), 10.0)
            of_world.step()
            world.requires_grad_(False)
            features, returns = dream(states, gumbel)
            loss_of_actor = -returns.mean()
            of_actor.zero_grad()
            loss_of_actor.backward()
            of_actor.step()
            world.requires_grad_(True)
            loss_of_critic = critic_loss(features, returns)
            of_critic.zero_grad()
            loss_of_critic.backward()
            of_critic.step()
            with torch.no_grad():
                for to, source in zip(target.parameters(), critic.parameters()):
                    to.lerp_(source, 0.05)
            return torch.stack([loss_of_world, loss_of_actor, loss_of_critic]).detach()

        return step

    def forward(observed, actions, rewards, gumbel):
        _, priors, posteriors = world(observed, actions, gumbel)
        return torch.cat([posteriors, priors])

    return Subject(model, forward=forward, loss=loss, train=train)
