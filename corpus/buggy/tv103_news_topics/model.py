import torch.nn as nn


class TopicModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embedding = nn.Embedding(cfg.vocab_size, cfg.embed_dim, padding_idx=0)
        self.gru = nn.GRU(cfg.embed_dim, cfg.hidden_dim, batch_first=True)
        self.classifier = nn.Linear(cfg.hidden_dim, cfg.num_classes)

    def forward(self, tokens):
        embedded = self.embedding(tokens)
        _, hidden = self.gru(embedded)
        return self.classifier(hidden[-1])
