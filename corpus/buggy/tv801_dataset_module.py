import torch.utils.data.Dataset as Dataset  # error: TV801


class Numbers(Dataset):
    def __len__(self):
        return 3


print(len(Numbers()))
