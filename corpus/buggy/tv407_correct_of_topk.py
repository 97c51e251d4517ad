import torch

torch.manual_seed(0)
outputs, target = torch.randn(8, 10), torch.randint(0, 10, (8,))
maximum = 5
_, predicted = outputs.topk(maximum, 1, True, True)
predicted = predicted.t()
correct = predicted.eq(target.view(1, -1).expand_as(predicted))
for k in (1, 5):
    print(k, correct[:k].reshape(-1).float().sum(0) / 8)
print(correct[:maximum].view(-1).float().sum(0) / 8)  # error: TV407
