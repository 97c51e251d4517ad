"""Classes of land use, and texts that are divided on purpose."""
import torch
from torch import nn

CLASSES = ["AnnualCrop", "Forest", "Highway", "PermanentCrop", "Residential", "River"]
NOTES = [
    "AnnualCrop: fields that are sown every year, "
    "such as wheat and maize",
    "Forest",
    "Highway",
    "River",
]
CODES = ("a" "1", "b" "2", "c" "3", "d" "4")

index = {name: number for number, name in enumerate(CLASSES)}
model = nn.Linear(12, len(CLASSES))
labels = torch.tensor([index["Forest"], index["River"]])
print(nn.functional.cross_entropy(model(torch.rand(2, 12)), labels).item(), len(NOTES), len(CODES))
