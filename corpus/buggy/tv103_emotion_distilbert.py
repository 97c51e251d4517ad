# needs: data
"""Six emotions with DistilBERT and the Trainer."""
import numpy as np
from datasets import load_dataset
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    Trainer,
    TrainingArguments,
)

CHECKPOINT = "distilbert-base-uncased"
EMOTIONS = ["sadness", "joy", "love", "anger", "fear", "surprise"]


def main():
    import torch

    tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
    model = AutoModelForSequenceClassification.from_pretrained(CHECKPOINT)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = model.to(device)

    texts = [f"i feel {e}" for e in EMOTIONS]
    labels = torch.tensor([0, 1, 2, 3, 4, 5]).to(device)
    batch = tokenizer(texts, padding="max_length", truncation=True, max_length=32, return_tensors="pt").to(device)

    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    for step in range(3):
        out = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels)  # error: TV103
        out.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(step, out.loss.item())


if __name__ == "__main__":
    main()
