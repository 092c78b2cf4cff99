"""T5, as in tests/zoo/models/t5.ts."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen

VOCABULARY, DIM, KEY, INNER, HEADS, BUCKETS, DISTANCE = 20, 8, 4, 12, 2, 8, 20


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(DIM))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


def bucket(distance, both):
    count, base = BUCKETS, 0
    if both:
        count //= 2
        base = (distance > 0).long() * count
        distance = distance.abs()
    else:
        distance = -torch.clamp(distance, max=0)
    exact = count // 2
    far = torch.log(distance.float() / exact) / math.log(DISTANCE / exact) * (count - exact)
    far = torch.clamp(exact + torch.nan_to_num(far, neginf=0).long(), max=count - 1)
    return base + torch.where(distance < exact, distance, far)


class Attention(nn.Module):
    def __init__(self, decodes, biased):
        super().__init__()
        self.decodes = decodes
        self.q = nn.Linear(DIM, HEADS * KEY, bias=False)
        self.k = nn.Linear(DIM, HEADS * KEY, bias=False)
        self.v = nn.Linear(DIM, HEADS * KEY, bias=False)
        self.o = nn.Linear(HEADS * KEY, DIM, bias=False)
        self.relative_attention_bias = nn.Embedding(BUCKETS, HEADS) if biased else None

    def bias(self, queries, keys):
        if self.relative_attention_bias is None:
            return 0
        distance = torch.arange(keys)[None] - torch.arange(queries)[:, None]
        return self.relative_attention_bias(bucket(distance, not self.decodes)).permute(2, 0, 1)[None]

    def forward(self, x, mask, other=None, bias=None):
        other = x if other is None else other
        heads = lambda y: y.view(y.shape[0], -1, HEADS, KEY).transpose(1, 2)
        q, k, v = heads(self.q(x)), heads(self.k(other)), heads(self.v(other))
        if bias is None:
            bias = self.bias(q.shape[2], k.shape[2]) + mask
        weights = (q @ k.transpose(-1, -2) + bias).softmax(-1)
        return self.o((weights @ v).transpose(1, 2).flatten(2)), bias


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.wi = nn.Linear(DIM, INNER, bias=False)
        self.wo = nn.Linear(INNER, DIM, bias=False)

    def forward(self, x):
        return self.wo(torch.relu(self.wi(x)))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.DenseReluDense = Dense()
        self.layer_norm = Norm()

    def forward(self, x):
        return x + self.DenseReluDense(self.layer_norm(x))


class SelfAttention(nn.Module):
    def __init__(self, decodes, first):
        super().__init__()
        self.SelfAttention = Attention(decodes, first)
        self.layer_norm = Norm()

    def forward(self, x, mask, bias):
        y, bias = self.SelfAttention(self.layer_norm(x), mask, bias=bias)
        return x + y, bias


class CrossAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.EncDecAttention = Attention(True, False)
        self.layer_norm = Norm()

    def forward(self, x, other, mask):
        return x + self.EncDecAttention(self.layer_norm(x), mask, other)[0]


class Block(nn.Module):
    def __init__(self, decodes, first):
        super().__init__()
        layers = [SelfAttention(decodes, first), FeedForward()]
        if decodes:
            layers.insert(1, CrossAttention())
        self.layer = nn.ModuleList(layers)

    def forward(self, x, mask, bias, other=None, other_mask=None):
        x, bias = self.layer[0](x, mask, bias)
        if other is not None:
            x = self.layer[1](x, other, other_mask)
        return self.layer[-1](x), bias


class Stack(nn.Module):
    def __init__(self, decodes, embedding):
        super().__init__()
        self.decodes = decodes
        self.embed_tokens = embedding
        self.block = nn.ModuleList([Block(decodes, i == 0) for i in range(2)])
        self.final_layer_norm = Norm()

    def forward(self, ids, other=None, other_mask=None):
        x, bias = self.embed_tokens(ids), None
        if self.decodes:
            mask = (1 - torch.ones(ids.shape[1], ids.shape[1]).tril())[None, None].to(x.dtype) * -1e9
        else:
            mask = hidden(ids, x)
        for block in self.block:
            x, bias = block(x, mask, bias, other, other_mask)
        return self.final_layer_norm(x)


def hidden(ids, like):
    return (ids == 0)[:, None, None].to(like.dtype) * -1e9


class T5(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Embedding(VOCABULARY, DIM)
        self.encoder = Stack(False, self.shared)
        self.decoder = Stack(True, self.shared)
        self.lm_head = nn.Linear(DIM, VOCABULARY, bias=False)
        self.lm_head.weight = self.shared.weight

    def forward(self, ids, given):
        states = self.encoder(ids)
        return self.lm_head(self.decoder(given, states, hidden(ids, states)) * DIM**-0.5)


def batch():
    ids = torch.randint(1, VOCABULARY, (2, 9))
    ids[0, 6:] = 0
    labels = torch.randint(1, VOCABULARY, (2, 7))
    labels[1, 5:] = -100
    return ids, labels


@specimen("t5", batch)
def t5():
    model = T5()

    def loss_of(ids, labels):
        given = torch.cat([torch.zeros_like(labels[:, :1]), labels[:, :-1]], dim=1).clamp(min=0)
        return F.cross_entropy(model(ids, given).view(-1, VOCABULARY), labels.view(-1))

    def train():
        optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1, initial_accumulator_value=0.1)

        def step(ids, labels):
            loss = loss_of(ids, labels)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5, norm_type=math.inf)
            optimizer.step()
            optimizer.zero_grad()
            return loss.detach()

        return step

    def decode(ids, labels):
        tokens = [0]
        for _ in range(6):
            tokens.append(int(model(ids[:1], torch.tensor([tokens]))[0, -1].argmax()))
        return tokens[1:]

    return Subject(
        model,
        forward=lambda ids, labels: model(ids, labels.clamp(min=0)),
        loss=loss_of,
        train=train,
        decode=decode,
    )
