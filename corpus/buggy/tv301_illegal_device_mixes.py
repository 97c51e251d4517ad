# needs: cuda
"""What looks like the legal mixes of devices, and is none. Each line by itself fails."""
import torch
import torch.nn.functional as F

device = torch.device("cuda")
x = torch.randn(4, 6, device=device)


def one_element_is_no_number():
    return x + torch.tensor([2.0])  # error: TV301


def total_of_one_element():
    total = torch.zeros(1)
    return total + x.mean()  # error: TV301


def clamped_by_a_tensor():
    return x.clamp(min=torch.tensor(0.0))  # error: TV301


def in_place_into_the_cpu():
    total = torch.zeros(())
    total += x.mean()  # error: TV301
    return total


def index_of_the_gpu():
    return torch.arange(10)[x.argmax(dim=1)]  # error: TV301


def mask_of_the_gpu():
    return torch.randn(4, 6)[x > 0]  # error: TV301


def assigned_by_index():
    x[torch.tensor([0, 1])] = torch.zeros(2, 6)  # error: TV301


def selected():
    return x.index_select(0, torch.tensor([0, 1]))  # error: TV301


def gathered():
    return x.gather(1, torch.zeros(4, 1, dtype=torch.long))  # error: TV301


def joined():
    return torch.cat([x, torch.zeros(1, 6)])  # error: TV301


def repeated():
    return x.repeat_interleave(torch.tensor([1, 2, 1, 1]), dim=0)  # error: TV301


def chosen():
    return torch.where(torch.rand(4, 6) > 0.5, x, 0.0)  # error: TV301


def compared():
    return F.mse_loss(x.mean(dim=0), torch.zeros(6))  # error: TV301


for check in (one_element_is_no_number, clamped_by_a_tensor, joined, chosen, compared):
    check()
