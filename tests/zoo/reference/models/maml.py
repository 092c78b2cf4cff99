"""Meta-learning of a start, as in tests/zoo/models/maml.ts."""

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


class Regressor(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1)
        )

    def forward(self, x):
        return self.net(x)


def adapted(model, x, y):
    params = dict(model.named_parameters())
    for _ in range(2):
        loss = F.mse_loss(torch.func.functional_call(model, params, x), y)
        grads = torch.autograd.grad(loss, params.values(), create_graph=True)
        params = {name: p - 0.1 * grad for (name, p), grad in zip(params.items(), grads)}
    return params


@specimen("maml", lambda: tuple(torch.randn(2, 5, 1) for _ in range(4)))
def maml():
    model = Regressor(8)

    def loss(x_support, y_support, x_query, y_query):
        losses = [
            F.mse_loss(torch.func.functional_call(model, adapted(model, xs, ys), xq), yq)
            for xs, ys, xq, yq in zip(x_support, y_support, x_query, y_query)
        ]
        return torch.stack(losses).mean()

    def train():
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

        def step(*batch):
            optimizer.zero_grad()
            value = loss(*batch)
            value.backward()
            optimizer.step()
            return value.detach()

        return step

    return Subject(model, forward=lambda xs, ys, xq, yq: model(xq), loss=loss, train=train)
