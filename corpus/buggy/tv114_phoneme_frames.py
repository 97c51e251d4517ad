import torch
import torch.nn as nn
import torch.nn.functional as F


class Acoustic(nn.Module):
    def __init__(self, mels, phonemes):
        super().__init__()
        self.rnn = nn.GRU(mels, 32, batch_first=True)
        self.head = nn.Linear(32, phonemes)

    def forward(self, frames):
        return self.head(self.rnn(frames)[0])


def objective(frames, phones):
    frame_lengths = torch.full((frames.shape[0],), frames.shape[1])
    phone_lengths = torch.full((phones.shape[0],), phones.shape[1])
    return F.ctc_loss(frames.transpose(0, 1), phones, frame_lengths, phone_lengths)  # error: TV114


model = Acoustic(20, 12)
loss = objective(model(torch.randn(4, 30, 20)), torch.randint(1, 12, (4, 5)))
loss.backward()
print(loss.item())
