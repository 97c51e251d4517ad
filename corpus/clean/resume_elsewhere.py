"""Go on from a checkpoint in ways that leave the optimizer's state where the parameters are."""

import io

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def make():
    return nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))


def train(model, optimizer, rounds=3):
    for _ in range(rounds):
        x, y = torch.randn(16, 10), torch.randint(0, 2, (16,))
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def checkpoint():
    model = make().to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    train(model, optimizer)
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    return torch.load(file, map_location="cpu")


def move_state(optimizer):
    """What was loaded before the model moved is moved by hand."""
    for state in optimizer.state.values():
        for name, value in state.items():
            if torch.is_tensor(value) and name != "step":
                state[name] = value.to(device)


def moved_by_hand(saved):
    model = make()
    optimizer = torch.optim.AdamW(model.parameters())
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    model.to(device)
    move_state(optimizer)
    return model, optimizer


def loaded_after_the_move(saved):
    model = make()
    model.load_state_dict(saved["model"])
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    optimizer.load_state_dict(saved["optimizer"])
    return model, optimizer


def weights_alone(saved):
    model = make()
    model.load_state_dict(saved["model"])
    optimizer = torch.optim.AdamW(model.parameters())
    model.to(device)
    return model, optimizer


if __name__ == "__main__":
    saved = checkpoint()
    for resume in (moved_by_hand, loaded_after_the_move, weights_alone):
        train(*resume(saved))
