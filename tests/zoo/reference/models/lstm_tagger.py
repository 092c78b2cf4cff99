"""An LSTM tagger and a GRU classifier, as in tests/zoo/models/lstm_tagger.ts."""

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


class LSTMTagger(nn.Module):
    def __init__(self, words, tags, dim, hidden):
        super().__init__()
        self.word_embeddings = nn.Embedding(words, dim, padding_idx=0)
        self.lstm = nn.LSTM(dim, hidden, num_layers=2, bidirectional=True, batch_first=True)
        self.hidden2tag = nn.Linear(2 * hidden, tags)

    def forward(self, sentence):
        return self.hidden2tag(self.lstm(self.word_embeddings(sentence))[0])


def sentences():
    words = torch.randint(1, 12, (3, 6))
    tags = torch.randint(0, 4, (3, 6))
    words[2, 4:], tags[2, 4:] = 0, -1
    return words, tags


@specimen("lstm_tagger", sentences)
def lstm_tagger():
    model = LSTMTagger(12, 4, 5, 4)

    def loss_of(sentence, tags):
        return F.cross_entropy(model(sentence).flatten(0, 1), tags.flatten(), ignore_index=-1)

    def train():
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
        scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [4, 7], gamma=0.3)

        def step(sentence, tags):
            model.zero_grad()
            loss = loss_of(sentence, tags)
            loss.backward()
            nn.utils.clip_grad_value_(model.parameters(), 0.05)
            optimizer.step()
            scheduler.step()
            return loss.detach()

        return step

    return Subject(model, forward=lambda sentence, tags: model(sentence), loss=loss_of, train=train)


class GRUClassifier(nn.Module):
    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.h0 = nn.Parameter(torch.randn(2, 1, hidden))
        self.gru = nn.GRU(inputs, hidden, num_layers=2)
        self.cell = nn.GRUCell(hidden, hidden)
        self.fc = nn.Sequential(nn.Linear(2 * hidden, hidden), nn.Tanh(), nn.Linear(hidden, classes))

    def forward(self, x):
        output, last = self.gru(x, self.h0.expand(-1, x.shape[1], -1).contiguous())
        state = last[-1]
        for t in range(3):
            state = self.cell(output[t], state)
        return self.fc(torch.cat([state, output.mean(0)], 1))


@specimen("gru_classifier", lambda: (torch.randn(5, 4, 3), torch.tensor([0, 2, 1, 2])))
def gru_classifier():
    model = GRUClassifier(3, 4, 3)

    def loss_of(x, target):
        return F.nll_loss(F.log_softmax(model(x), dim=1), target)

    def train():
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02, amsgrad=True)

        def step(x, target):
            optimizer.zero_grad()
            loss = loss_of(x, target)
            loss.backward()
            nn.utils.clip_grad_norm_(model.gru.parameters(), 0.25)
            optimizer.step()
            return loss.detach()

        return step

    return Subject(model, forward=lambda x, target: model(x), loss=loss_of, train=train)
