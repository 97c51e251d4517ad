import torch

a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
b = torch.eye(2)

print(a.shape)
print(a @ b)
print(a[0][1])

# last element of the matrix
last = a[1][1]
print("last element:", last)

row_sums = a.sum(dim=1)
col_sums = a.sum(dim=0)
print(row_sums, col_sums)

if torch.cuda.is_available():
    a = a.cuda()
    print((a * 2).cpu())
