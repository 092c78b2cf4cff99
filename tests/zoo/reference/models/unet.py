"""U-Net for binary masks, as in tests/zoo/models/unet.ts."""

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


class DoubleConv(nn.Module):
    def __init__(self, inputs, outputs, middle=None):
        super().__init__()
        middle = middle or outputs
        self.double_conv = nn.Sequential(
            nn.Conv2d(inputs, middle, 3, padding=1, bias=False),
            nn.BatchNorm2d(middle),
            nn.ReLU(inplace=True),
            nn.Conv2d(middle, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        return self.double_conv(x)


class Down(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), DoubleConv(inputs, outputs))

    def forward(self, x):
        return self.maxpool_conv(x)


class Up(nn.Module):
    def __init__(self, inputs, outputs, bilinear):
        super().__init__()
        if bilinear:
            self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
            self.conv = DoubleConv(inputs + outputs, outputs, inputs // 2)
        else:
            self.up = nn.ConvTranspose2d(inputs, outputs, 2, stride=2)
            self.conv = DoubleConv(2 * outputs, outputs)

    def forward(self, low, skip):
        low = self.up(low)
        y, x = skip.size(2) - low.size(2), skip.size(3) - low.size(3)
        low = F.pad(low, [x // 2, x - x // 2, y // 2, y - y // 2])
        return self.conv(torch.cat([skip, low], dim=1))


class UNet(nn.Module):
    def __init__(self, channels, classes, width):
        super().__init__()
        self.inc = DoubleConv(channels, width)
        self.down1 = Down(width, 2 * width)
        self.down2 = Down(2 * width, 4 * width)
        self.up1 = Up(4 * width, 2 * width, bilinear=False)
        self.up2 = Up(2 * width, width, bilinear=True)
        self.outc = nn.Conv2d(width, classes, 1)
        self.criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([2.0]))

    def forward(self, x):
        first = self.inc(x)
        second = self.down1(first)
        third = self.down2(second)
        return self.outc(self.up2(self.up1(third, second), first))


def dice_loss(input, target, epsilon=1e-6):
    both = 2 * (input * target).sum(dim=(-1, -2))
    sets = input.sum(dim=(-1, -2)) + target.sum(dim=(-1, -2))
    sets = torch.where(sets == 0, both, sets)
    return 1 - ((both + epsilon) / (sets + epsilon)).mean()


def batch():
    return torch.randn(2, 2, 13, 10), (torch.rand(2, 13, 10) > 0.6).float()


@specimen("unet", batch)
def unet():
    model = UNet(2, 1, 4)

    def loss_of(image, mask):
        found = model(image).squeeze(1)
        return model.criterion(found, mask) + dice_loss(torch.sigmoid(found), mask)

    def train():
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-8)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer, mode="min", patience=1, threshold=0.1
        )

        def step(image, mask):
            loss = loss_of(image, mask)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1)
            optimizer.step()
            scheduler.step(loss.detach())
            return loss.detach()

        return step

    return Subject(model, forward=lambda image, mask: model(image), loss=loss_of, train=train)
