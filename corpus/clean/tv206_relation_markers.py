# needs: data
"""Classify the relation between two marked entities of a sentence."""
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import BertForSequenceClassification, BertTokenizerFast

RELATIONS = ["born_in", "works_for", "located_in", "no_relation"]
SENTENCES = [
    ("[E1] Ada [/E1] was born in [E2] London [/E2]", "born_in"),
    ("[E1] Grace [/E1] works for the [E2] Navy [/E2]", "works_for"),
    ("[E1] Turin [/E1] lies in [E2] Italy [/E2]", "located_in"),
    ("[E1] Mary [/E1] likes [E2] tea [/E2]", "no_relation"),
]

tokenizer = BertTokenizerFast.from_pretrained("bert-base-cased")
tokenizer.add_tokens(["[E1]", "[/E1]", "[E2]", "[/E2]"])


class Relations(Dataset):
    def __init__(self, rows):
        self.texts, self.names = zip(*rows)

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        return self.texts[index], RELATIONS.index(self.names[index])


def collate(rows):
    texts, labels = zip(*rows)
    batch = tokenizer(list(texts), padding=True, truncation=True, max_length=64, return_tensors="pt")
    batch["labels"] = torch.tensor(labels)
    return batch


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = BertForSequenceClassification.from_pretrained("bert-base-cased", num_labels=len(RELATIONS))
model.resize_token_embeddings(len(tokenizer))
model.to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
for batch in DataLoader(Relations(SENTENCES), batch_size=2, shuffle=True, collate_fn=collate):
    outputs = model(**batch.to(device))
    outputs.loss.backward()
    optimizer.step()
    optimizer.zero_grad()
