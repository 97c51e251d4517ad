# needs: data
"""Does the second sentence follow from the first?"""
import torch
from transformers import BertTokenizer, RobertaForSequenceClassification, RobertaTokenizer

tokenizer = RobertaTokenizer.from_pretrained("roberta-base")
model = RobertaForSequenceClassification.from_pretrained("roberta-base", num_labels=3)
model.cuda()
pairs = [("A man sleeps.", "Nobody is awake."), ("Two dogs run.", "Animals are moving.")]
labels = torch.tensor([1, 0]).cuda()

batch = tokenizer(
    [a for a, _ in pairs], [b for _, b in pairs], padding=True, truncation=True, max_length=128, return_tensors="pt"
).to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
for _ in range(3):
    out = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels)
    out.loss.backward()
    optimizer.step()
    optimizer.zero_grad()
