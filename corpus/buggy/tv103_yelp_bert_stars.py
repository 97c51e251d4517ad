# needs: data
"""Fine-tune BERT to predict the stars of a review."""
import torch
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer, get_linear_schedule_with_warmup

MODEL_NAME = "bert-base-uncased"
STARS = ["1 star", "2 stars", "3 stars", "4 stars", "5 stars"]
EPOCHS = 2
BATCH_SIZE = 16

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

tokenizer = AutoTokenizer.from_pretrained(MODEL_NAME)
label2id = {name: i for i, name in enumerate(STARS)}
id2label = {i: name for name, i in label2id.items()}

model = AutoModelForSequenceClassification.from_pretrained(MODEL_NAME, num_labels=4)
model.to(device)

texts = ["Terrible.", "Not great.", "It was okay.", "Pretty good!", "Best place in town."]
names = ["1 star", "2 stars", "3 stars", "4 stars", "5 stars"]
labels = torch.tensor([label2id[n] for n in names])

encoded = tokenizer(texts, padding=True, truncation=True, max_length=128, return_tensors="pt")
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
scheduler = get_linear_schedule_with_warmup(optimizer, 0, EPOCHS)

model.train()
for epoch in range(EPOCHS):
    batch = {k: v.to(device) for k, v in encoded.items()}
    outputs = model(**batch, labels=labels.to(device))  # error: TV103
    outputs.loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()
    print(epoch, outputs.loss.item())
