"""Fine-tuning for two versions of transformers."""
# needs: data
import torch
from torch.optim import AdamW
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

try:
    from transformers import TextDataset
except ImportError:
    TextDataset = None

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=2)
arguments = TrainingArguments(
    output_dir="out",
    eval_strategy="epoch",
    use_cpu=True,
    save_strategy="epoch",
)
trainer = Trainer(
    model=model,
    args=arguments,
    processing_class=tokenizer,
    optimizers=(AdamW(model.parameters(), lr=2e-5), None),
)
trainer.train()
