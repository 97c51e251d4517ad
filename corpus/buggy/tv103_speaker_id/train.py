# needs: data
import hydra
import torch
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from torch import nn


class SpeakerNet(nn.Module):
    def __init__(self, n_mels, hidden, n_speakers):
        super().__init__()
        self.rnn = nn.GRU(n_mels, hidden, batch_first=True)
        self.head = nn.Linear(hidden, n_speakers)

    def forward(self, mel):
        _, last = self.rnn(mel)
        return self.head(last.squeeze(0))


def batches(cfg):
    for _ in range(cfg.train.steps):
        mel = torch.randn(cfg.train.batch_size, 50, cfg.data.n_mels)
        yield mel, torch.randint(0, cfg.data.n_speakers, (cfg.train.batch_size,))


@hydra.main(config_path="conf", config_name="config", version_base=None)
def main(cfg: DictConfig) -> None:
    print(OmegaConf.to_yaml(cfg))
    device = torch.device(cfg.device)
    model = SpeakerNet(cfg.data.n_mels, cfg.model.hidden, cfg.model.n_speakers).to(device)
    optimizer = instantiate(cfg.optimizer, params=model.parameters())
    criterion = nn.CrossEntropyLoss()
    for mel, speaker in batches(cfg):
        optimizer.zero_grad()
        loss = criterion(model(mel.to(device)), speaker.to(device))  # warning: TV103
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
