"""Neural radiance fields, as in tests/zoo/models/nerf.ts."""

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


def embedded(x, bands):
    waves = [wave(x * 2.0**band) for band in range(bands) for wave in (torch.sin, torch.cos)]
    return torch.cat([x, *waves], -1)


class NeRF(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.pts_linears = nn.ModuleList([nn.Linear(15, width), nn.Linear(width, width), nn.Linear(width + 15, width)])
        self.alpha_linear = nn.Linear(width, 1)
        self.rgb_linear = nn.Linear(width + 9, 3)

    def forward(self, points, directions):
        first = embedded(points, 2)
        h = torch.relu(self.pts_linears[0](first))
        h = torch.relu(self.pts_linears[1](h))
        h = torch.relu(self.pts_linears[2](torch.cat([first, h], -1)))
        rgb = torch.sigmoid(self.rgb_linear(torch.cat([h, embedded(directions, 1)], -1)))
        return rgb, self.alpha_linear(h)[..., 0]

    def render(self, origins, directions, z):
        points = origins[:, None] + directions[:, None] * z[..., None]
        length = directions.norm(dim=-1, keepdim=True)
        rgb, density = self(points, (directions / length)[:, None].expand(points.shape))
        far = torch.full_like(z[:, :1], 1e10)
        alpha = 1 - torch.exp(-torch.relu(density) * torch.cat([z.diff(dim=-1), far], -1) * length)
        passed = torch.cat([torch.ones_like(far), 1 - alpha + 1e-10], -1).cumprod(-1)[:, :-1]
        weights = alpha * passed
        return (weights[..., None] * rgb).sum(-2), weights

    def rays(self, origins, directions):
        t = torch.linspace(0, 1, 6, dtype=origins.dtype)
        z = (2 * (1 - t) + 6 * t).expand(len(origins), 6)
        coarse, weights = self.render(origins, directions, z)
        drawn = sample((z[:, 1:] + z[:, :-1]) / 2, weights[:, 1:-1], 5).detach()
        fine, _ = self.render(origins, directions, torch.cat([z, drawn], -1).sort(-1)[0])
        return coarse, fine


def sample(bins, weights, count):
    weights = weights + 1e-5
    cdf = F.pad((weights / weights.sum(-1, keepdim=True)).cumsum(-1), (1, 0))
    u = torch.linspace(0, 1, count, dtype=cdf.dtype).expand(len(cdf), count).contiguous()
    above = torch.searchsorted(cdf.detach(), u, right=True)
    below = (above - 1).clamp(min=0)
    above = above.clamp(max=cdf.size(-1) - 1)
    low, high = cdf.gather(1, below), cdf.gather(1, above)
    span = torch.where(high - low < 1e-5, 1.0, high - low)
    start, end = bins.gather(1, below), bins.gather(1, above)
    return start + (u - low) / span * (end - start)


@specimen("nerf", lambda: (torch.randn(5, 3), torch.randn(5, 3), torch.rand(5, 3)))
def nerf():
    model = NeRF(12)

    def loss(origins, directions, target):
        coarse, fine = model.rays(origins, directions)
        return F.mse_loss(fine, target) + F.mse_loss(coarse, target)

    def train():
        optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
        done = 0

        def step(origins, directions, target):
            nonlocal done
            optimizer.zero_grad()
            value = loss(origins, directions, target)
            value.backward()
            optimizer.step()
            optimizer.param_groups[0]["lr"] = 5e-3 * 0.1 ** (done / 100)
            done += 1
            return value.detach()

        return step

    return Subject(model, forward=lambda o, d, target: torch.cat(model.rays(o, d)), loss=loss, train=train)
