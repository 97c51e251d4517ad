"""Wave heights with their uncertainty: the network gives the parameters of a distribution."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Beta, Categorical, Exponential, Gamma, Laplace, Normal


class Waves(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 32), nn.Tanh())
        self.shape = nn.Linear(32, 1)
        self.rate = nn.Linear(32, 1)
        self.log_scale = nn.Parameter(torch.zeros(1))
        self.kind = nn.Linear(32, 3)

    def forward(self, buoy):
        hidden = self.body(buoy)
        shape, rate = self.shape(hidden).squeeze(-1), self.rate(hidden).squeeze(-1)
        yield Gamma(F.softplus(shape) + 1e-4, rate.exp())
        yield Normal(shape, F.softplus(rate) + 1e-3)
        yield Normal(shape, rate.clamp(min=-5, max=2).exp())
        yield Laplace(shape, self.log_scale.exp().expand_as(shape))
        yield Normal(shape, rate.abs() + 1e-3)
        yield Exponential(torch.sigmoid(rate) + 0.1)
        yield Beta(1 + F.relu(shape), 1 + rate.square())
        yield Normal(shape, rate, validate_args=False)
        yield Categorical(logits=self.kind(hidden))
        yield Categorical(logits=self.kind(hidden).log_softmax(-1))
        yield Categorical(self.kind(hidden).softmax(-1))


torch.manual_seed(0)
model = Waves()
buoy = torch.randn(256, 5)
for spread in model(buoy):
    print(type(spread).__name__, spread.batch_shape)
mean, var = torch.randn(8, requires_grad=True), torch.rand(8)
print(F.gaussian_nll_loss(mean, torch.randn(8), var), nn.GaussianNLLLoss()(mean, torch.randn(8), model.rate(torch.rand(8, 32)).squeeze(1).exp()))
