import torch


def join(batches):
    total = None
    for batch in batches:
        if total is None:
            total = batch
        else:
            total = torch.cat(total, batch, dim=0)  # error: TV802
    return total


def noise(like):
    return like + torch.rand(device=like.device)  # error: TV802


print(join([torch.zeros(2, 3), torch.ones(1, 3)]).shape, noise(torch.zeros(2)))
