import torch
import torch.nn.functional as F
from torchvision.models.segmentation import deeplabv3_resnet50

torch.manual_seed(0)
model = deeplabv3_resnet50(weights=None, weights_backbone=None, num_classes=4).eval()
masks = torch.randint(0, 4, (1, 64, 64))
with torch.no_grad():
    outputs = model(torch.rand(1, 3, 64, 64))
print(F.cross_entropy(outputs["out"], masks))
print(F.cross_entropy(outputs, masks))  # error: TV405
