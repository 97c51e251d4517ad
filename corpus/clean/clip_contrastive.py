import torch
import torch.nn as nn
import torch.nn.functional as F


class TwoTower(nn.Module):
    def __init__(self, d_img=32, d_txt=24, dim=16):
        super().__init__()
        self.img = nn.Linear(d_img, dim)
        self.txt = nn.Linear(d_txt, dim)
        self.logit_scale = nn.Parameter(torch.tensor(2.6592))

    def forward(self, image, text):
        i = F.normalize(self.img(image), dim=-1)
        t = F.normalize(self.txt(text), dim=-1)
        return self.logit_scale.exp() * i @ t.t()


def info_nce(logits):
    labels = torch.arange(logits.size(0), device=logits.device)
    return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2


def siglip(logits):
    n = logits.size(0)
    labels = 2 * torch.eye(n, device=logits.device) - 1
    return -F.logsigmoid(labels * logits).sum() / n


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = TwoTower().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.2)
for step in range(4):
    image = torch.randn(12, 32, device=device)
    text = torch.randn(12, 24, device=device)
    logits = model(image, text)
    loss = info_nce(logits) if step % 2 == 0 else siglip(logits)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        model.logit_scale.clamp_(0, 4.6052)
    print(step, loss.item())
