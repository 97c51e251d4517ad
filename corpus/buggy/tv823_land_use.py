"""Classes of land use, one comma short."""
import torch
from torch import nn

CLASSES = [
    "AnnualCrop",
    "Forest",
    "Highway",
    "PermanentCrop"  # warning: TV823
    "Residential",
    "River",
]

index = {name: number for number, name in enumerate(CLASSES)}
model = nn.Linear(12, len(CLASSES))
labels = torch.tensor([index["Forest"], index["River"]])
print(nn.functional.cross_entropy(model(torch.rand(2, 12)), labels).item())
