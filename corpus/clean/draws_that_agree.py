"""Random transforms that are called twice, and rightly so."""
import random

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms as T

augment = T.Compose([T.RandomResizedCrop(32, interpolation=T.InterpolationMode.NEAREST), T.RandomHorizontalFlip()])


def picture(i):
    return Image.fromarray(np.full((48, 48, 3), i, dtype=np.uint8))


class SameSeed(Dataset):
    """The generators are put back between the two."""

    def __len__(self):
        return 4

    def __getitem__(self, i):
        mask = Image.fromarray(np.random.default_rng(i).integers(0, 5, (48, 48), dtype=np.uint8))
        seed = random.randrange(2**31)
        random.seed(seed)
        torch.manual_seed(seed)
        image = augment(picture(i))
        random.seed(seed)
        torch.manual_seed(seed)
        mask = augment(mask)
        return T.functional.to_tensor(image), torch.from_numpy(np.array(mask)).long()


class TwoViews(Dataset):
    """Contrastive learning wants two draws of one picture."""

    def __len__(self):
        return 4

    def __getitem__(self, i):
        image = picture(i)
        views = [T.functional.to_tensor(augment(image)) for _ in range(2)]
        return views[0], views[1], torch.tensor([i, i + 1])


class Stacked(Dataset):
    """Picture and mask are one tensor while they move."""

    def __len__(self):
        return 4

    def __getitem__(self, i):
        image, mask = torch.rand(3, 48, 48), torch.randint(0, 5, (1, 48, 48))
        both = augment(torch.cat([image, mask.float()]))
        return both[:3], both[3].long()


for dataset in (SameSeed(), TwoViews(), Stacked()):
    for batch in DataLoader(dataset, batch_size=2):
        print([part.shape for part in batch])
