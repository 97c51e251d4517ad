import torch
import torch.nn as nn
from torch.utils.data import DataLoader

from config import Config
from data import NewsDataset
from engine import train_one_epoch
from model import TopicModel


def main():
    cfg = Config()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loader = DataLoader(NewsDataset(cfg), batch_size=cfg.batch_size, shuffle=True)
    model = TopicModel(cfg).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        loss = train_one_epoch(model, loader, criterion, optimizer, device)
        print(f"epoch {epoch + 1}/{cfg.epochs} loss {loss:.4f}")


if __name__ == "__main__":
    main()
