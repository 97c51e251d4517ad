"""Fine-tuning for two versions of transformers."""
# needs: data
import torch
from transformers import AdamW  # warning: TV817
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

try:
    from transformers import TextDataset
except ImportError:
    TextDataset = None

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=2)
arguments = TrainingArguments(
    output_dir="out",
    evaluation_strategy="epoch",  # warning: TV817
    no_cuda=True,  # warning: TV817
    save_strategy="epoch",
)
trainer = Trainer(
    model=model,
    args=arguments,
    tokenizer=tokenizer,  # warning: TV817
    optimizers=(AdamW(model.parameters(), lr=2e-5), None),
)
trainer.train()
