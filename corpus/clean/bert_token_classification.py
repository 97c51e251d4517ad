# needs: data
import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForTokenClassification, AutoTokenizer, DataCollatorForTokenClassification

LABELS = ["O", "B-PER", "I-PER", "B-ORG", "I-ORG"]
label2id = {l: i for i, l in enumerate(LABELS)}

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = AutoModelForTokenClassification.from_pretrained(
    "bert-base-cased",
    num_labels=len(LABELS),
    id2label=dict(enumerate(LABELS)),
    label2id=label2id,
)

data = [
    (["Ada", "Lovelace", "joined", "Acme"], ["B-PER", "I-PER", "O", "B-ORG"]),
    (["Nobody", "came"], ["O", "O"]),
]


def encode(words, tags):
    enc = tokenizer(words, is_split_into_words=True, truncation=True, max_length=32)
    labels, previous = [], None
    for w in enc.word_ids():
        labels.append(-100 if w is None or w == previous else label2id[tags[w]])
        previous = w
    enc["labels"] = labels
    return enc


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model.to(device)
collator = DataCollatorForTokenClassification(tokenizer)
loader = DataLoader([encode(*d) for d in data], batch_size=2, collate_fn=collator)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5)
for batch in loader:
    batch = batch.to(device)
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(loss.item())
