"""The observation of a game, extended by what the opponent is expected to do."""
import numpy as np
import torch


def observe(board, opponent):
    state = torch.tensor([board]).to(opponent.device)
    chances = torch.softmax(opponent(state).squeeze(), dim=0)
    return np.concatenate([board, chances.detach().numpy()])  # warning: TV306


class Policy(torch.nn.Linear):
    @property
    def device(self):
        return self.weight.device


if __name__ == "__main__":
    import pickle

    stored = pickle.dumps({"small": Policy(3, 2)})
    print(observe([0.0, 1.0, 0.0], pickle.loads(stored)["small"]).shape)
