import torch


class Gaussian:
    def __init__(self, mean, log_sigma):
        self.mean, self.sigma = mean, log_sigma.exp()

    def sample(self):
        return self.mean + self.sigma * torch.randn_like(self.mean)
