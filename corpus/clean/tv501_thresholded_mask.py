"""A mask of 0 and 1 may be interpolated: rounding the result works as a threshold."""
import torch
import torch.nn.functional as F
from torchvision import tv_tensors
from torchvision.transforms import functional as TF

mask = tv_tensors.Mask(torch.randint(0, 2, (1, 1, 64, 64)))
small = (F.interpolate(mask.float(), size=(32, 32), mode="bilinear") > 0.5).long()
twice = F.interpolate(mask.float(), size=(48, 48), mode="bilinear")
tiny = F.interpolate(twice, size=(16, 16), mode="bilinear").round().long()
turned = TF.rotate(mask.float(), 30.0, TF.InterpolationMode.BILINEAR) > 0.5
resized = TF.resize(mask.float(), [32, 32]) > 0.5
print(small.shape, tiny.shape, turned.shape, resized.shape)
