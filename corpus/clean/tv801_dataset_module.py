from torch.utils.data import Dataset


class Numbers(Dataset):
    def __len__(self):
        return 3


print(len(Numbers()))
