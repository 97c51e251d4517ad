"""Two steps of three models of timm."""

import timm
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
for name in ("resnet18", "vit_tiny_patch16_224", "convnext_atto"):
    model = timm.create_model(name, num_classes=10).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(2):
        images, labels = torch.randn(2, 3, 224, 224), torch.randint(0, 10, (2,))
        loss = torch.nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{name} {loss.item():.6f}")
