"""Restricted Boltzmann machine, one step of contrastive divergence."""
import torch
import torch.nn.functional as F


class RBM:
    def __init__(self, n_vis, n_hid, lr=0.05):
        self.W = torch.randn(n_hid, n_vis) * 0.1
        self.v_bias = torch.zeros(n_vis)
        self.h_bias = torch.zeros(n_hid)
        self.lr = lr

    def sample_h(self, v):
        p = F.linear(v, self.W, self.h_bias)
        return p, torch.bernoulli(p)  # error: TV205

    def sample_v(self, h):
        p = torch.sigmoid(F.linear(h, self.W.t(), self.v_bias))
        return p, torch.bernoulli(p)

    def update(self, v0):
        ph0, h0 = self.sample_h(v0)
        _, vk = self.sample_v(h0)
        phk, _ = self.sample_h(vk)
        self.W += self.lr * (ph0.t() @ v0 - phk.t() @ vk) / v0.size(0)
        self.v_bias += self.lr * (v0 - vk).mean(0)
        self.h_bias += self.lr * (ph0 - phk).mean(0)
        return (v0 - vk).abs().mean()


torch.manual_seed(0)
rbm = RBM(n_vis=64, n_hid=24)
digits = (torch.rand(100, 64) > 0.8).float()
for epoch in range(5):
    err = [rbm.update(digits[i : i + 20]).item() for i in range(0, 100, 20)]
    print(epoch, sum(err) / len(err))
