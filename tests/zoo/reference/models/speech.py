"""A network over raw sound, as in tests/zoo/models/speech.ts."""

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


class M5(nn.Module):
    def __init__(self, inputs, outputs, channels):
        super().__init__()
        self.conv1 = nn.Conv1d(inputs, channels, 16, stride=4)
        self.bn1 = nn.BatchNorm1d(channels)
        self.conv2 = nn.Conv1d(channels, channels, 3, padding="same", padding_mode="reflect")
        self.bn2 = nn.BatchNorm1d(channels)
        self.gated = nn.Sequential(
            nn.Conv1d(channels, 2 * channels, 3, dilation=2, padding=2),
            nn.GLU(dim=1),
            nn.InstanceNorm1d(channels, affine=True),
        )
        self.fc1 = nn.Linear(channels, outputs)

    def forward(self, x):
        x = F.max_pool1d(torch.relu(self.bn1(self.conv1(x))), 2)
        x = F.avg_pool1d(torch.relu(self.bn2(self.conv2(x))), 2)
        x = x + self.gated(x)
        return F.log_softmax(self.fc1(x.mean(-1, keepdim=True).permute(0, 2, 1)), 2)


@specimen("speech", lambda: (torch.randn(4, 1, 120), torch.tensor([1, 3, 0, 2])))
def speech():
    model = M5(1, 4, 4)
    model.conv1.bias.requires_grad_(False)

    def loss_of(sound, target):
        return F.nll_loss(model(sound).squeeze(1), target)

    def train():
        trained = [p for p in model.parameters() if p.requires_grad]
        optimizer = torch.optim.SGD(trained, lr=0.01, momentum=0.9, weight_decay=1e-4)
        scheduler = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, max_lr=0.1, total_steps=12, cycle_momentum=False
        )

        def step(sound, target):
            loss = loss_of(sound, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            return loss.detach()

        return step

    return Subject(model, forward=lambda sound, target: model(sound), loss=loss_of, train=train)
