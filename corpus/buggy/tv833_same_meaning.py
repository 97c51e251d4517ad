"""Fine-tunes DistilBERT to tell whether two sentences mean the same."""
# needs: data
import torch
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

CHECKPOINT = "distilbert-base-uncased"


class PairCollator:
    """Tokenizes the pairs of a batch, so that each batch is only as long as its longest pair."""

    def __init__(self, tokenizer, max_length=128):
        self.tokenizer = tokenizer
        self.max_length = max_length

    def __call__(self, samples):
        batch = self.tokenizer(
            [sample["sentence1"] for sample in samples],  # warning: TV833
            [sample["sentence2"] for sample in samples],
            padding=True, truncation=True, max_length=self.max_length, return_tensors="pt",
        )
        batch["labels"] = torch.tensor([sample["label"] for sample in samples])
        return batch


def compute_metrics(prediction):
    guesses = prediction.predictions.argmax(axis=-1)
    truth = prediction.label_ids
    found = ((guesses == 1) & (truth == 1)).sum()
    return {
        "accuracy": (guesses == truth).mean(),
        "recall": found / max((truth == 1).sum(), 1),
        "precision": found / max((guesses == 1).sum(), 1),
    }


def main():
    pairs = load_dataset("glue", "mrpc")
    tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
    model = AutoModelForSequenceClassification.from_pretrained(CHECKPOINT, num_labels=2)
    arguments = TrainingArguments(
        output_dir="pairs",
        learning_rate=3e-5,
        num_train_epochs=2,
        per_device_train_batch_size=32,
        eval_strategy="epoch",
    )
    trainer = Trainer(
        model=model,
        args=arguments,
        data_collator=PairCollator(tokenizer),
        train_dataset=pairs["train"],
        eval_dataset=pairs["validation"],
        compute_metrics=compute_metrics,
    )
    trainer.train()
    print(trainer.evaluate())
    trainer.save_model("pairs/best")


if __name__ == "__main__":
    main()
