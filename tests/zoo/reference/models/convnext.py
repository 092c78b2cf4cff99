"""ConvNeXt without stochastic depth, as in tests/zoo/models/convnext.ts."""

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


class LayerNorm2d(nn.LayerNorm):
    def forward(self, x):
        x = F.layer_norm(x.permute(0, 2, 3, 1), self.normalized_shape, self.weight, self.bias, self.eps)
        return x.permute(0, 3, 1, 2)


class Permute(nn.Module):
    def __init__(self, *dims):
        super().__init__()
        self.dims = dims

    def forward(self, x):
        return x.permute(self.dims)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.block = nn.Sequential(
            nn.Conv2d(dim, dim, 7, padding=3, groups=dim),
            Permute(0, 2, 3, 1),
            nn.LayerNorm(dim, eps=1e-6),
            nn.Linear(dim, 4 * dim),
            nn.GELU(),
            nn.Linear(4 * dim, dim),
            Permute(0, 3, 1, 2),
        )
        self.layer_scale = nn.Parameter(torch.full((dim, 1, 1), 0.5))

    def forward(self, x):
        return x + self.layer_scale * self.block(x)


class ConvNeXt(nn.Module):
    def __init__(self, dims, depths, classes):
        super().__init__()
        layers = [nn.Sequential(nn.Conv2d(3, dims[0], 2, 2), LayerNorm2d(dims[0], eps=1e-6))]
        for i, (dim, depth) in enumerate(zip(dims, depths)):
            layers.append(nn.Sequential(*[Block(dim) for _ in range(depth)]))
            if i + 1 < len(dims):
                layers.append(
                    nn.Sequential(LayerNorm2d(dim, eps=1e-6), nn.Conv2d(dim, dims[i + 1], 2, 2))
                )
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            LayerNorm2d(dims[-1], eps=1e-6), nn.Flatten(1), nn.Linear(dims[-1], classes)
        )

    def forward(self, x):
        return self.classifier(self.avgpool(self.features(x)))


def batch():
    return torch.randn(3, 3, 12, 12), torch.tensor([1, 3, 0])


@specimen("convnext", batch)
def convnext():
    model = ConvNeXt((4, 6), (1, 2), 5)

    def train():
        plain, decayed = [], []
        for name, parameter in model.named_parameters():
            flat = parameter.ndim <= 1 or name.endswith("layer_scale")
            (plain if flat else decayed).append(parameter)
        optimizer = torch.optim.AdamW(
            [{"params": plain, "weight_decay": 0.0}, {"params": decayed, "weight_decay": 0.05}], lr=0.01
        )
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10, eta_min=1e-4)

        def step(image, target):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(image), target)
            loss.backward()
            optimizer.step()
            scheduler.step()
            return loss.detach()

        return step

    return Subject(
        model,
        forward=lambda image, target: model(image),
        loss=lambda image, target: F.cross_entropy(model(image), target),
        train=train,
    )
