"""MobileNetV3 with an exponential average of its weights, as in tests/zoo/models/mobilenet.ts."""

import copy

import torch
from torch import nn

from zoo import Subject, specimen


def conv_norm(inputs, outputs, kernel, stride=1, groups=1, activation=None):
    layers = [
        nn.Conv2d(inputs, outputs, kernel, stride, (kernel - 1) // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs, eps=0.001, momentum=0.01),
    ]
    if activation is not None:
        layers.append(activation(inplace=True))
    return nn.Sequential(*layers)


class SqueezeExcitation(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)

    def forward(self, x):
        scale = self.fc2(torch.relu(self.fc1(self.avgpool(x))))
        return nn.functional.hardsigmoid(scale) * x


class InvertedResidual(nn.Module):
    def __init__(self, inputs, kernel, expanded, outputs, excite, activation, stride):
        super().__init__()
        self.shortcut = stride == 1 and inputs == outputs
        layers = []
        if expanded != inputs:
            layers.append(conv_norm(inputs, expanded, 1, activation=activation))
        layers.append(conv_norm(expanded, expanded, kernel, stride, expanded, activation))
        if excite:
            layers.append(SqueezeExcitation(expanded, 2))
        layers.append(conv_norm(expanded, outputs, 1))
        self.block = nn.Sequential(*layers)

    def forward(self, x):
        y = self.block(x)
        if self.shortcut:
            y += x
        return y


class MobileNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            conv_norm(3, 4, 3, 2, activation=nn.Hardswish),
            InvertedResidual(4, 3, 4, 4, True, nn.ReLU, 2),
            InvertedResidual(4, 5, 8, 4, False, nn.Hardswish, 1),
            conv_norm(4, 8, 1, activation=nn.Hardswish),
        )
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(8, 12), nn.Hardswish(inplace=True), nn.Dropout(0), nn.Linear(12, classes)
        )

    def forward(self, x):
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


class WithAverage(nn.Module):
    def __init__(self, model, decay):
        super().__init__()
        self.average = copy.deepcopy(model).requires_grad_(False)
        self.model = model
        self.decay = decay

    def forward(self, x):
        return (self.model if self.training else self.average)(x)

    @torch.no_grad()
    def update(self):
        own, others = self.average.state_dict(), self.model.state_dict()
        for key, value in own.items():
            if value.is_floating_point():
                value.mul_(self.decay).add_(others[key], alpha=1 - self.decay)
            else:
                value.copy_(others[key])


def batch():
    return torch.randn(4, 3, 16, 16), torch.tensor([2, 0, 1, 4])


@specimen("mobilenet", batch)
def mobilenet():
    net = WithAverage(MobileNet(5), 0.9)
    criterion = nn.CrossEntropyLoss()

    def train():
        optimizer = torch.optim.RMSprop(
            net.model.parameters(), lr=0.005, momentum=0.9, weight_decay=1e-5, alpha=0.9, eps=0.0316
        )
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)

        def step(image, target):
            loss = criterion(net(image), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            net.update()
            scheduler.step()
            return loss.detach()

        return step

    return Subject(
        net,
        forward=lambda image, target: net(image),
        loss=lambda image, target: criterion(net(image), target),
        train=train,
    )
