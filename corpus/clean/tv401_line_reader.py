import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

ALPHABET = '0123456789abcdef'
device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')


class StrLabelConverter:
    """0 is kept for the blank"""

    def __init__(self, alphabet):
        self.dict = {ch: i + 1 for i, ch in enumerate(alphabet)}
        self.alphabet = '-' + alphabet

    def encode(self, texts):
        length = [len(t) for t in texts]
        flat = [self.dict[c] for t in texts for c in t]
        return torch.IntTensor(flat), torch.IntTensor(length)

    def decode(self, path):
        out, last = [], 0
        for p in path:
            if p != 0 and p != last:
                out.append(self.alphabet[p])
            last = p
        return ''.join(out)


class FakeLines(Dataset):
    def __init__(self, n, seed=0):
        rng = np.random.RandomState(seed)
        self.texts = [''.join(rng.choice(list(ALPHABET), rng.randint(3, 6))) for _ in range(n)]
        self.glyphs = rng.rand(len(ALPHABET), 16, 12).astype(np.float32)

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        img = np.zeros((1, 16, 80), dtype=np.float32)
        for k, ch in enumerate(self.texts[i]):
            img[0, :, 4 + 14 * k:16 + 14 * k] = self.glyphs[ALPHABET.index(ch)]
        return torch.from_numpy(img), self.texts[i]


class CRNN(nn.Module):
    def __init__(self, nclass, nh=32):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv2d(1, 16, 3, 1, 1), nn.ReLU(True), nn.MaxPool2d(2, 2),
            nn.Conv2d(16, 32, 3, 1, 1), nn.BatchNorm2d(32), nn.ReLU(True), nn.MaxPool2d((8, 2)),
        )
        self.rnn = nn.LSTM(32, nh, bidirectional=True)
        self.embedding = nn.Linear(nh * 2, nclass)

    def forward(self, x):
        conv = self.cnn(x)                       # b, c, 1, w
        conv = conv.squeeze(2).permute(2, 0, 1)  # w, b, c
        out, _ = self.rnn(conv)
        return F.log_softmax(self.embedding(out), dim=2)


def train(loader, converter, model, criterion, optimizer, epoch):
    model.train()
    for i, (inp, texts) in enumerate(loader):
        inp = inp.to(device)
        preds = model(inp)

        text, length = converter.encode(texts)
        preds_size = torch.IntTensor([preds.size(0)] * preds.size(1))
        loss = criterion(preds, text, preds_size, length)

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 4 == 0:
            print('Epoch: [{}][{}/{}]\tLoss {:.5f}\t{}'.format(
                epoch, i, len(loader), loss.item(), converter.decode(preds[:, 0].argmax(1).tolist())))


if __name__ == '__main__':
    converter = StrLabelConverter(ALPHABET)
    loader = DataLoader(FakeLines(64), batch_size=8, shuffle=True)
    model = CRNN(len(ALPHABET) + 1).to(device)
    criterion = nn.CTCLoss(blank=0)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(2):
        train(loader, converter, model, criterion, optimizer, epoch)
