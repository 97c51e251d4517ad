from dataclasses import dataclass


@dataclass
class Config:
    vocab_size: int = 2000
    embed_dim: int = 32
    hidden_dim: int = 64
    num_classes: int = 4
    max_len: int = 24
    batch_size: int = 16
    lr: float = 2e-3
    epochs: int = 2
