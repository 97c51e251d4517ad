import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1),
            nn.BatchNorm2d(16),
            nn.ReLU(True),
            nn.Conv2d(16, 32, 3, 2, 1),
            nn.BatchNorm2d(32),
            nn.ReLU(True),
        )

    def forward(self, x):
        return self.layers(x)


encoder = Encoder()
classifier = nn.Conv2d(32, 7, 1)
aux = nn.Conv2d(32, 7, 1)
params = [*encoder.parameters(), *classifier.parameters(), *aux.parameters()]
optimizer = torch.optim.SGD(params, lr=0.01, momentum=0.9)

for step in range(3):
    image = torch.rand(2, 3, 48, 64)
    label = torch.randint(0, 7, (2, 48, 64))
    feats = encoder(image)
    logits = F.interpolate(classifier(feats), size=label.shape[1:], mode="bilinear", align_corners=False)
    aux_logits = F.interpolate(aux(feats), size=label.shape[-2:], mode="bilinear", align_corners=True)
    loss = F.cross_entropy(logits, label) + 0.4 * F.cross_entropy(aux_logits, label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    confidence = F.softmax(logits, dim=1).max(dim=1).values.mean()
    print(step, loss.item(), confidence.item())
