"""Void labels that never reach the loss as such."""
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

cfg = SimpleNamespace(num_classes=5, ignore_label=255, loss={"ignore_index": 255})


class Tiles(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        label = torch.randint(0, cfg.num_classes, (16, 16))
        label[:, :2] = cfg.ignore_label
        return torch.rand(3, 16, 16), F.pad(label, (1, 1), value=cfg.ignore_label)


net = nn.Conv2d(3, cfg.num_classes, 1)
criterion = nn.CrossEntropyLoss(**cfg.loss)
for image, label in DataLoader(Tiles(), batch_size=2):
    out = F.interpolate(net(image), size=label.shape[-2:], mode="bilinear")
    # By the configuration.
    criterion(out, label).backward(retain_graph=True)
    # Filtered before.
    valid = label != cfg.ignore_label
    F.cross_entropy(out.permute(0, 2, 3, 1)[valid], label[valid]).backward(retain_graph=True)
    # Void labels become -100, or an additional class.
    remapped = torch.where(label == cfg.ignore_label, torch.full_like(label, -100), label)
    F.cross_entropy(out, remapped).backward(retain_graph=True)
    more = torch.cat([out, out[:, :1]], dim=1)
    label[label == cfg.ignore_label] = cfg.num_classes
    F.cross_entropy(more, label).backward()

# The padding is a real class, or the loss ignores it.
tags = [torch.tensor([1, 2]), torch.tensor([3, 1, 2])]
logits = torch.randn(2, 3, 4)
outside = pad_sequence(tags, batch_first=True, padding_value=0)
F.cross_entropy(logits.transpose(1, 2), outside)
unknown = pad_sequence(tags, batch_first=True, padding_value=-1)
F.cross_entropy(logits.transpose(1, 2), unknown, ignore_index=-1)
F.nll_loss(logits.log_softmax(2).transpose(1, 2), unknown.clamp(min=0), reduction="none")[unknown >= 0].mean()
