# needs: data
"""Classify abstracts; the collator came from a GPT-2 project."""
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer

PAD_TOKEN_ID = 0
NAMES = ["biology", "physics", "maths"]
texts = [("Cells divide.", 0), ("Quarks are confined.", 1), ("A proof without words.", 2)]

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=len(NAMES)).cuda()


def collate(batch):
    ids = [torch.tensor(tokenizer(text)["input_ids"]) for text, _ in batch]
    input_ids = pad_sequence(ids, batch_first=True, padding_value=PAD_TOKEN_ID)
    return {
        "input_ids": input_ids,
        "attention_mask": (input_ids != PAD_TOKEN_ID).long(),
        "labels": torch.tensor([label for _, label in batch]),
    }


for batch in DataLoader(texts, batch_size=3, collate_fn=collate):
    batch = {name: value.cuda() for name, value in batch.items()}
    out = model(**batch)
    out.loss.backward()
