import torch
import torch.nn as nn


def both(layer, images, use_cuda):
    layer = nn.Linear(3, 4)
    if use_cuda:
        layer = layer.cuda()
        images = images.cuda()
    noise = torch.randn(2, 3)
    noise = noise.cuda() if use_cuda else noise
    return layer(images + noise)


def on_the_cpu_first(values, use_cuda):
    if use_cuda:
        values = values.cuda()
    total = values * 2
    if not use_cuda:
        return values.numpy()
    if use_cuda:
        total = total.cpu()
    return total.numpy()


def by_index(gpu, values):
    weight = torch.ones(5)
    if gpu is not None:
        weight, values = weight.cuda(gpu), values.cuda(gpu)
    if gpu is None:
        return values.numpy() + weight.numpy()
    return values * weight


def without(args, values):
    shift = torch.ones(3)
    if not args.no_cuda:
        values, shift = values.cuda(), shift.cuda()
    values = values + shift
    if args.no_cuda:
        return values.numpy()
    return values.cpu().numpy()


print(both(None, torch.rand(2, 3), False).shape, on_the_cpu_first(torch.rand(2), False))
print(by_index(None, torch.rand(5)))
