import torch
import torch.nn as nn

backbone = nn.Sequential(nn.Conv2d(3, 8, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())


def features(clips):
    batch, steps, height, width, channels = clips.shape
    frames = clips.reshape(batch * steps, channels, height, width)  # warning: TV408
    return backbone(frames).view(batch, steps, -1)


print(features(torch.rand(2, 5, 24, 32, 3)).shape)
