"""EfficientNet without stochastic depth, as in tests/zoo/models/efficientnet.ts."""

import torch
from torch import nn

from zoo import Subject, specimen


def conv_norm(inputs, outputs, kernel, stride=1, groups=1, activate=True):
    layers = [
        nn.Conv2d(inputs, outputs, kernel, stride, (kernel - 1) // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]
    return nn.Sequential(*layers, *([nn.SiLU(inplace=True)] if activate else []))


class SqueezeExcitation(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)

    def forward(self, x):
        squeezed = nn.functional.silu(self.fc1(nn.functional.adaptive_avg_pool2d(x, 1)))
        return torch.sigmoid(self.fc2(squeezed)) * x


class MBConv(nn.Module):
    def __init__(self, ratio, kernel, stride, inputs, outputs):
        super().__init__()
        self.shortcut = stride == 1 and inputs == outputs
        expanded = inputs * ratio
        layers = [conv_norm(inputs, expanded, 1)] if ratio != 1 else []
        layers.append(conv_norm(expanded, expanded, kernel, stride, expanded))
        layers.append(SqueezeExcitation(expanded, max(1, inputs // 4)))
        layers.append(conv_norm(expanded, outputs, 1, activate=False))
        self.block = nn.Sequential(*layers)

    def forward(self, x):
        y = self.block(x)
        if self.shortcut:
            y += x
        return y


class EfficientNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            conv_norm(3, 4, 3, 2),
            nn.Sequential(MBConv(1, 3, 1, 4, 4)),
            nn.Sequential(MBConv(2, 5, 2, 4, 6), MBConv(2, 5, 1, 6, 6)),
            conv_norm(6, 12, 1),
        )
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Dropout(0), nn.Linear(12, classes))

    def forward(self, x):
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


def batch():
    return torch.randn(4, 3, 12, 12), torch.tensor([1, 4, 0, 2])


@specimen("efficientnet", batch)
def efficientnet():
    model = EfficientNet(5)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

    def train():
        optimizer = torch.optim.RMSprop(
            model.parameters(), lr=0.01, alpha=0.9, eps=1e-2, momentum=0.9, centered=True
        )
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.5)

        def step(image, target):
            optimizer.zero_grad()
            loss = criterion(model(image), target)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), max_norm=1)
            optimizer.step()
            scheduler.step()
            return loss.detach()

        return step

    return Subject(
        model,
        forward=lambda image, target: model(image),
        loss=lambda image, target: criterion(model(image), target),
        train=train,
    )
