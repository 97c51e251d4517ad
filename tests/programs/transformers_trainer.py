"""A small BERT under `transformers.Trainer`, then a small GPT-2 that generates."""

import tempfile

import torch
from torch.utils.data import Dataset
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
    Trainer,
    TrainingArguments,
)


class Texts(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        ids = torch.randint(0, 100, (12,), generator=torch.Generator().manual_seed(index))
        return {"input_ids": ids, "attention_mask": torch.ones(12, dtype=torch.long), "labels": index % 3}


sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
model = BertForSequenceClassification(BertConfig(**sizes, vocab_size=100, num_labels=3))
arguments = TrainingArguments(
    tempfile.mkdtemp(), num_train_epochs=1, per_device_train_batch_size=8, report_to=[], disable_tqdm=True
)
trainer = Trainer(model, arguments, train_dataset=Texts(), eval_dataset=Texts())
print(f"{trainer.train().training_loss:.6f}")
print(f"{trainer.evaluate()['eval_loss']:.6f}")

device = "cuda" if torch.cuda.is_available() else "cpu"
ids = torch.randint(0, 100, (2, 16)).to(device)
gpt = GPT2LMHeadModel(GPT2Config(n_embd=32, n_layer=2, n_head=2, vocab_size=100)).to(device)
print(f"{gpt(ids, labels=ids).loss.item():.6f}")
print(gpt.eval().generate(ids, max_new_tokens=4, do_sample=False, pad_token_id=0).tolist())
