"""BERT for masked language modelling, as in tests/zoo/models/bert.ts."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen

VOCABULARY, HIDDEN, HEADS, INNER, POSITIONS = 24, 8, 2, 16, 12


class Embeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.word_embeddings = nn.Embedding(VOCABULARY, HIDDEN, padding_idx=0)
        self.position_embeddings = nn.Embedding(POSITIONS, HIDDEN)
        self.token_type_embeddings = nn.Embedding(2, HIDDEN)
        self.LayerNorm = nn.LayerNorm(HIDDEN, eps=1e-12)

    def forward(self, ids, types):
        places = torch.arange(ids.shape[1])[None]
        x = self.word_embeddings(ids) + self.token_type_embeddings(types)
        return self.LayerNorm(x + self.position_embeddings(places))


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(HIDDEN, HIDDEN)
        self.key = nn.Linear(HIDDEN, HIDDEN)
        self.value = nn.Linear(HIDDEN, HIDDEN)

    def heads(self, x):
        return x.view(*x.shape[:-1], HEADS, HIDDEN // HEADS).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        q, k, v = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        scores = q @ k.transpose(-1, -2) / math.sqrt(HIDDEN // HEADS) + mask
        return (scores.softmax(-1) @ v).permute(0, 2, 1, 3).flatten(2)


class Output(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.dense = nn.Linear(inputs, HIDDEN)
        self.LayerNorm = nn.LayerNorm(HIDDEN, eps=1e-12)

    def forward(self, x, before):
        return self.LayerNorm(self.dense(x) + before)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.self = SelfAttention()
        self.output = Output(HIDDEN)

    def forward(self, x, mask):
        return self.output(self.self(x, mask), x)


class Intermediate(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(HIDDEN, INNER)

    def forward(self, x):
        return F.gelu(self.dense(x))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()
        self.intermediate = Intermediate()
        self.output = Output(INNER)

    def forward(self, x, mask):
        x = self.attention(x, mask)
        return self.output(self.intermediate(x), x)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.ModuleList([Layer(), Layer()])

    def forward(self, x, mask):
        for layer in self.layer:
            x = layer(x, mask)
        return x


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = Embeddings()
        self.encoder = Encoder()

    def forward(self, ids, mask, types):
        x = self.embeddings(ids, types)
        mask = (1 - mask[:, None, None, :].to(x.dtype)) * torch.finfo(torch.float32).min
        return self.encoder(x, mask)


class Transform(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(HIDDEN, HIDDEN)
        self.LayerNorm = nn.LayerNorm(HIDDEN, eps=1e-12)

    def forward(self, x):
        return self.LayerNorm(F.gelu(self.dense(x)))


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.transform = Transform()
        self.decoder = nn.Linear(HIDDEN, VOCABULARY)
        self.bias = nn.Parameter(torch.zeros(VOCABULARY))
        self.decoder.bias = self.bias

    def forward(self, x):
        return self.decoder(self.transform(x))


class BertForMaskedLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.bert = Bert()
        self.cls = Head()
        self.cls.decoder.weight = self.bert.embeddings.word_embeddings.weight

    def forward(self, ids, mask, types):
        return self.cls(self.bert(ids, mask, types))


def batch():
    ids = torch.randint(1, VOCABULARY, (2, 10))
    mask = torch.ones_like(ids)
    mask[1, 7:] = 0
    ids[1, 7:] = 0
    labels = torch.where(torch.rand(2, 10) < 0.4, torch.randint(1, VOCABULARY, (2, 10)), -100)
    labels[mask == 0] = -100
    types = (torch.arange(10) > 4).long().expand(2, -1).contiguous()
    return ids, mask, types, labels


@specimen("bert", batch)
def bert():
    model = BertForMaskedLM()

    def loss_of(ids, mask, types, labels):
        return F.cross_entropy(model(ids, mask, types).view(-1, VOCABULARY), labels.view(-1))

    def train():
        plain, decayed = [], []
        for name, parameter in model.named_parameters():
            (plain if "bias" in name or "LayerNorm.weight" in name else decayed).append(parameter)
        optimizer = torch.optim.AdamW(
            [{"params": decayed, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}],
            lr=0.01,
            eps=1e-6,
        )
        scheduler = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: step / 2 if step < 2 else max(0.0, (12 - step) / 10)
        )

        def step(*given):
            model.zero_grad()
            loss = loss_of(*given)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            return loss.detach()

        return step

    return Subject(
        model, forward=lambda ids, mask, types, labels: model(ids, mask, types), loss=loss_of, train=train
    )
