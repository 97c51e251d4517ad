import torch
from torch import nn


class ViT(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        n_patches = (cfg.image_size // cfg.patch_size) ** 2
        self.patchify = nn.Conv2d(3, cfg.dim, cfg.patch_size, stride=cfg.patch_size)
        self.cls = nn.Parameter(torch.zeros(1, 1, cfg.dim))
        self.pos = nn.Embedding(n_patches, cfg.dim)
        layer = nn.TransformerEncoderLayer(cfg.dim, cfg.heads, 2 * cfg.dim, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, cfg.depth)
        self.head = nn.Linear(cfg.dim, cfg.classes)

    def forward(self, images):
        x = self.patchify(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.size(0), -1, -1), x], dim=1)
        positions = torch.arange(x.size(1), device=x.device)
        x = x + self.pos(positions)  # error: TV202
        x = self.encoder(x)
        return self.head(x[:, 0])
