# needs: data
"""Long reports, cut to what was thought to fit."""
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer

checkpoint = "bert-base-uncased"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)


class Reports(Dataset):
    def __init__(self, texts, labels, max_length=512):
        self.encodings = tokenizer(
            texts, truncation=True, padding="max_length", max_length=max_length, return_tensors="pt"
        )
        self.labels = torch.tensor(labels)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        item = {key: value[i] for key, value in self.encodings.items()}
        item["labels"] = self.labels[i]
        return item


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=2).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
loader = DataLoader(Reports(["All good. " * 400, "Pump failed."], [0, 1]), batch_size=2)
for batch in loader:
    batch = {k: v.to(device) for k, v in batch.items()}
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
