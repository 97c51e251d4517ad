"""An autoencoder over a noisy channel whose noise is to be the same in every run."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SYMBOLS = 16


class Channel(nn.Module):
    def __init__(self, generator):
        super().__init__()
        self.generator = generator
        self.encode = nn.Sequential(nn.Embedding(SYMBOLS, 32), nn.ReLU(), nn.Linear(32, 7))
        self.decode = nn.Sequential(nn.Linear(7, 32), nn.ReLU(), nn.Linear(32, SYMBOLS))

    def forward(self, message):
        signal = self.encode(message)
        noise = torch.empty_like(signal).normal_(0, 0.3, generator=self.generator)
        return self.decode(signal + noise)


torch.manual_seed(0)
noise = torch.Generator(device=device)
noise.manual_seed(1)
order = torch.Generator().manual_seed(2)
messages = TensorDataset(torch.randint(0, SYMBOLS, (512,), generator=torch.Generator().manual_seed(3)))
train, held = random_split(messages, [448, 64], generator=order)
model = Channel(noise).to(device)
adam = torch.optim.Adam(model.parameters(), lr=1e-3)
for (message,) in DataLoader(train, batch_size=64):
    message = message.to(device)
    loss = nn.functional.cross_entropy(model(message), message)
    adam.zero_grad()
    loss.backward()
    adam.step()

# The generator is on the CPU, where the tensor is created before it is moved.
start = torch.randn(4, 7, generator=order).to(device)
shape_only = torch.randn(4, 7, generator=order, device="meta")
print(model.decode(start).shape, shape_only.shape, noise.device.type == device.type)
for shuffled in DataLoader(messages, batch_size=256, shuffle=True, generator=order):
    print(shuffled[0].sum().item())
