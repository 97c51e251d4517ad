"""GPT-2 fine-tuning: pad token added, embeddings not resized."""
# needs: data
import torch
from torch.utils.data import Dataset, DataLoader
from transformers import GPT2Tokenizer, GPT2LMHeadModel

POEMS = ["roses are red", "violets are blue and so are you", "sugar is sweet"]


class PoemDataset(Dataset):
    def __init__(self, poems, tokenizer, max_length=32):
        self.input_ids = []
        self.attn_masks = []
        for p in poems:
            enc = tokenizer("<|startoftext|>" + p + "<|endoftext|>", truncation=True,
                            max_length=max_length, padding="max_length", return_tensors="pt")
            self.input_ids.append(enc["input_ids"].squeeze(0))
            self.attn_masks.append(enc["attention_mask"].squeeze(0))

    def __len__(self):
        return len(self.input_ids)

    def __getitem__(self, idx):
        return self.input_ids[idx], self.attn_masks[idx]


tokenizer = GPT2Tokenizer.from_pretrained("gpt2", bos_token="<|startoftext|>", eos_token="<|endoftext|>",
                                          pad_token="<|pad|>")
model = GPT2LMHeadModel.from_pretrained("gpt2")
model.resize_token_embeddings(len(tokenizer))
device = torch.device("cuda")
model.to(device)
loader = DataLoader(PoemDataset(POEMS, tokenizer), batch_size=2, shuffle=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
for epoch in range(4):
    for batch in loader:
        b_input_ids = batch[0].to(device)
        b_masks = batch[1].to(device)
        labels = torch.where(b_masks == 1, b_input_ids, -100)
        model.zero_grad()
        outputs = model(b_input_ids, labels=labels, attention_mask=b_masks)
        loss = outputs[0]
        loss.backward()
        optimizer.step()
