import torch
import torch.nn as nn

CHARS = "0123456789"
BLANK = 0
char_to_id = {c: i + 1 for i, c in enumerate(CHARS)}


class CRNN(nn.Module):
    def __init__(self, n_out, height=16):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d((2, 2)),
        )
        self.rnn = nn.LSTM(8 * height // 2, 24, bidirectional=True)
        self.fc = nn.Linear(48, n_out)

    def forward(self, img):
        f = self.cnn(img)
        b, c, h, w = f.shape
        f = f.permute(3, 0, 1, 2).reshape(w, b, c * h)
        out, _ = self.rnn(f)
        return self.fc(out).log_softmax(2)


model = CRNN(n_out=len(CHARS) + 1)
criterion = nn.CTCLoss(blank=BLANK, zero_infinity=True)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

texts = ["1234", "9876", "5059", "3141"]
images = torch.rand(len(texts), 1, 16, 64)
targets = torch.tensor([[char_to_id[c] for c in t] for t in texts])
target_lengths = torch.full((len(texts),), 4, dtype=torch.long)

for epoch in range(3):
    log_probs = model(images)
    input_lengths = torch.full((images.size(0),), log_probs.size(0), dtype=torch.long)
    loss = criterion(log_probs, targets, input_lengths, target_lengths)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
