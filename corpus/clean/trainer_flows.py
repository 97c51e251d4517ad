"""Training flows that look like mistakes and are none."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(32, 4), torch.arange(32) % 3)
loader = DataLoader(data, batch_size=8)


class Trainer:
    """Clears gradients in a hook that runs after each step."""

    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        self.hooks = [self.after_step]

    def after_step(self):
        self.optimizer.zero_grad()

    def run(self):
        for x, y in loader:
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            for hook in self.hooks:
                hook()


def accumulate(model, optimizer, every=2):
    for i, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y) / every
        loss.backward()
        if (i + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()


def zeroed_by_hand(model, optimizer):
    for x, y in loader:
        for p in model.parameters():
            p.grad = None
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


def zeroed_through_model(model, optimizer):
    for x, y in loader:
        model.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


def gan():
    G, D = nn.Linear(2, 2), nn.Linear(2, 1)
    opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
    for step in range(3):
        fake = G(torch.randn(8, 2))
        opt_d.zero_grad()
        (F.softplus(-D(torch.randn(8, 2))).mean() + F.softplus(D(fake.detach())).mean()).backward()
        opt_d.step()
        opt_g.zero_grad()
        F.softplus(-D(fake)).mean().backward()
        opt_g.step()


def wgan(critics=3):
    G, D = nn.Linear(2, 2), nn.Linear(2, 1)
    opt_g, opt_d = torch.optim.RMSprop(G.parameters()), torch.optim.RMSprop(D.parameters())
    for step in range(3):
        for _ in range(critics):
            opt_d.zero_grad()
            (D(G(torch.randn(8, 2)).detach()).mean() - D(torch.randn(8, 2)).mean()).backward()
            opt_d.step()
            for p in D.parameters():
                p.data.clamp_(-0.01, 0.01)
        opt_g.zero_grad()
        (-D(G(torch.randn(8, 2))).mean()).backward()
        opt_g.step()


def meta_learning(model):
    meta = torch.optim.SGD(model.parameters(), lr=0.1)
    for task in range(2):
        weights = dict(model.named_parameters())
        for inner in range(2):
            loss = torch.func.functional_call(model, weights, (torch.randn(4, 4),)).pow(2).mean()
            grads = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
            weights = {name: w - 0.1 * g for (name, w), g in zip(weights.items(), grads)}
        meta.zero_grad()
        torch.func.functional_call(model, weights, (torch.randn(4, 4),)).pow(2).mean().backward()
        meta.step()


def truncated_bptt():
    rnn = nn.LSTM(3, 5)
    optimizer = torch.optim.SGD(rnn.parameters(), lr=0.1)
    state = None
    for chunk in range(4):
        out, state = rnn(torch.randn(6, 2, 3), state)
        state = tuple(s.detach() for s in state)
        optimizer.zero_grad()
        out.pow(2).mean().backward()
        optimizer.step()


def summed_loss(model, optimizer):
    """One backward for the losses of all batches."""
    total = 0.0
    for x, y in loader:
        total = total + F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    total.backward()
    optimizer.step()


def two_heads():
    trunk, a, b = nn.Linear(4, 4), nn.Linear(4, 1), nn.Linear(4, 1)
    optimizer = torch.optim.SGD([*trunk.parameters(), *a.parameters(), *b.parameters()], lr=0.1)
    for step in range(2):
        h = torch.tanh(trunk(torch.randn(3, 4)))
        optimizer.zero_grad()
        a(h).mean().backward(retain_graph=True)
        b(h).mean().backward()
        optimizer.step()


def attack(model, x, y):
    """Gradients of the input, in evaluation mode."""
    model.eval()
    for step in range(3):
        x = x.detach().requires_grad_()
        F.cross_entropy(model(x), y).backward()
        x = x + 0.1 * x.grad.sign()
    return x


def distil(student, teacher):
    teacher.eval()
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for x, y in loader:
        loss = F.kl_div(student(x).log_softmax(1), teacher(x).softmax(1), reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def warm_up_state(model):
    """An empty step, so that the optimizer has its state before a checkpoint is loaded."""
    optimizer = torch.optim.Adam(model.parameters())
    optimizer.zero_grad()
    optimizer.step()
    return optimizer


model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 3))
Trainer(model).run()
optimizer = warm_up_state(model)
optimizer.zero_grad()
accumulate(model, optimizer)
zeroed_by_hand(model, optimizer)
zeroed_through_model(model, optimizer)
gan()
wgan()
meta_learning(nn.Linear(4, 4))
truncated_bptt()
summed_loss(model, optimizer)
two_heads()
attack(model, torch.randn(4, 4), torch.arange(4) % 3)
distil(nn.Linear(4, 3), nn.Linear(4, 3))


def frozen_statistics(model):
    """A second phase in which batch norm and dropout are left as they are."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    model.eval()
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


def epochs(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    scaler = torch.amp.GradScaler("cpu")
    for done in range(1):
        scheduler.step()
    for epoch in range(2):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            scaler.scale(F.cross_entropy(model(x), y)).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
        scheduler.step()
        model.eval()
        with torch.no_grad():
            for x, y in loader:
                model(x)


frozen_statistics(model)
epochs(model)


class CallsSuperFirst(type):
    """Makes `super().__init__()` unnecessary, as fastai's modules do."""

    def __call__(cls, *args, **kwargs):
        made = cls.__new__(cls)
        nn.Module.__init__(made)
        made.__init__(*args, **kwargs)
        return made


class Block(nn.Module, metaclass=CallsSuperFirst):
    def __init__(self, width):
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return F.dropout(self.layer(x), 0.1, self.training)


print(Block(4).eval()(torch.randn(2, 4)).shape)


class Noam:
    """An optimizer in a wrapper, which a scaler steps."""

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.param_groups = optimizer.param_groups

    def step(self):
        for group in self.optimizer.param_groups:
            group["lr"] *= 0.9
        self.optimizer.step()


def wrapped(model):
    inner = torch.optim.Adam(model.parameters())
    optimizer, scaler = Noam(inner), torch.amp.GradScaler("cpu")
    for x, y in loader:
        inner.zero_grad()
        scaler.scale(F.cross_entropy(model(x), y)).backward()
        scaler.step(optimizer)
        scaler.update()


wrapped(model)


def exchanged_head():
    """The new head is given to the optimizer; another is wrapped; a third has its own."""
    net = nn.Sequential()
    net.body, net.head = nn.Linear(4, 4), nn.Linear(4, 9)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net.head = nn.Linear(4, 3)
    optimizer.add_param_group({"params": net.head.parameters()})
    net.body = nn.Sequential(net.body, nn.ReLU())
    other = nn.Sequential()
    other.body, other.head = nn.Linear(4, 4), nn.Linear(4, 9)
    first = torch.optim.SGD(other.parameters(), lr=0.1)
    other.head = nn.Linear(4, 3)
    second = torch.optim.SGD(other.head.parameters(), lr=0.1)
    for x, y in loader:
        for model, optimizers in ((net, [optimizer]), (other, [first, second])):
            for one in optimizers:
                one.zero_grad()
            F.cross_entropy(model(x), y).backward()
            for one in optimizers:
                one.step()


exchanged_head()
