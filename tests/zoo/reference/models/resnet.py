"""ResNet and ResNeXt: basic and bottleneck blocks, as in tests/zoo/models/resnet.ts."""

import torch
from torch import nn

from zoo import Subject, specimen


def conv3x3(inputs, outputs, stride=1, groups=1):
    return nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, groups=groups, bias=False)


def conv1x1(inputs, outputs, stride=1):
    return nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False)


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, inputs, planes, stride, downsample, groups, base_width):
        super().__init__()
        self.relu = nn.ReLU(inplace=True)
        self.conv1 = conv3x3(inputs, planes, stride)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = downsample

    def forward(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        y += shortcut
        return self.relu(y)


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, inputs, planes, stride, downsample, groups, base_width):
        super().__init__()
        width = int(planes * (base_width / 64)) * groups
        self.relu = nn.ReLU(inplace=True)
        self.conv1 = conv1x1(inputs, width)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = conv3x3(width, width, stride, groups)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = conv1x1(width, planes * self.expansion)
        self.bn3 = nn.BatchNorm2d(planes * self.expansion)
        self.downsample = downsample

    def forward(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        y += shortcut
        return self.relu(y)


class ResNet(nn.Module):
    def __init__(self, block, layers, classes, width, groups=1, width_per_group=64):
        super().__init__()
        self.groups, self.base_width, self.inputs = groups, width_per_group, width
        self.conv1 = nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = self.stage(block, width, layers[0], 1)
        self.layer2 = self.stage(block, width * 2, layers[1], 2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(width * 2 * block.expansion, classes)

    def stage(self, block, planes, count, stride):
        blocks = []
        for i in range(count):
            step, downsample, outputs = stride if i == 0 else 1, None, planes * block.expansion
            if step != 1 or self.inputs != outputs:
                downsample = nn.Sequential(conv1x1(self.inputs, outputs, step), nn.BatchNorm2d(outputs))
            blocks.append(block(self.inputs, planes, step, downsample, self.groups, self.base_width))
            self.inputs = outputs
        return nn.Sequential(*blocks)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.avgpool(self.layer2(self.layer1(x)))
        return self.fc(torch.flatten(x, 1))


def batch():
    return torch.randn(4, 3, 16, 16), torch.tensor([0, 3, 1, 4])


def subject(model):
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

    def train():
        optimizer = torch.optim.SGD(
            model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4, nesterov=True
        )
        schedules = torch.optim.lr_scheduler
        scheduler = schedules.SequentialLR(
            optimizer,
            [
                schedules.LinearLR(optimizer, start_factor=0.1, total_iters=3),
                schedules.CosineAnnealingLR(optimizer, T_max=7),
            ],
            milestones=[3],
        )

        def step(image, target):
            value = criterion(model(image), target)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            scheduler.step()
            return value.detach()

        return step

    return Subject(
        model,
        forward=lambda image, target: model(image),
        loss=lambda image, target: criterion(model(image), target),
        train=train,
    )


@specimen("resnet18", batch)
def resnet18():
    return subject(ResNet(BasicBlock, (1, 2), classes=5, width=4))


@specimen("resnet50", batch)
def resnet50():
    return subject(ResNet(Bottleneck, (1, 1), classes=5, width=2))


@specimen("resnext", batch)
def resnext():
    return subject(ResNet(Bottleneck, (1, 1), classes=5, width=2, groups=2))
