import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class AttentionPool(nn.Module):
    """a few learned queries read from the patch tokens"""

    def __init__(self, dim, n_queries=4, n_heads=4):
        super().__init__()
        self.queries = nn.Parameter(torch.randn(1, n_queries, dim) * 0.02)
        self.norm = nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, n_heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, tokens):
        b = tokens.size(0)
        q = self.queries.expand(b, -1, -1)
        kv = self.norm(tokens)
        out, _ = self.attn(q, kv, kv)
        out = out + self.mlp(out)
        return out.mean(dim=1)


class PatchClassifier(nn.Module):
    def __init__(self, patch=4, dim=32, n_classes=5):
        super().__init__()
        self.proj = nn.Conv2d(3, dim, kernel_size=patch, stride=patch)
        self.pos = nn.Parameter(torch.zeros(1, 64, dim))
        self.pool = AttentionPool(dim)
        self.head = nn.Linear(dim, n_classes)

    def forward(self, img):
        tokens = self.proj(img).flatten(2).transpose(1, 2)   # B, N, D
        tokens = tokens + self.pos[:, :tokens.size(1)]
        return self.head(self.pool(tokens))


def accuracy(model, loader):
    model.eval()
    good = n = 0
    with torch.no_grad():
        for img, label in loader:
            pred = model(img.to(device)).argmax(1).cpu()
            good += (pred == label).sum().item()
            n += label.numel()
    return good / n


def main():
    torch.manual_seed(0)
    imgs = torch.rand(160, 3, 32, 32)
    labels = torch.randint(0, 5, (160,))
    imgs += labels[:, None, None, None] * 0.2
    train = DataLoader(TensorDataset(imgs[:128], labels[:128]), batch_size=16, shuffle=True)
    test = DataLoader(TensorDataset(imgs[128:], labels[128:]), batch_size=16)

    model = PatchClassifier().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.05)
    for epoch in range(3):
        model.train()
        for img, label in train:
            loss = F.cross_entropy(model(img.to(device)), label.to(device), label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f} acc {accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
