"""Reviews with rare classes: a trainer with its own loss."""
# needs: data
import torch
import torch.nn.functional as F
from torch.utils.data import SequentialSampler
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):  # warning: TV816
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = F.cross_entropy(outputs.logits, labels, weight=torch.tensor([1.0, 9.0]))
        return (loss, outputs) if return_outputs else loss

    def log(self, logs):  # warning: TV816
        logs["learning_rate"] = self.optimizer.param_groups[0]["lr"]
        super().log(logs)

    def _get_train_sampler(self):  # warning: TV816
        return SequentialSampler(self.train_dataset)


class OwnStep(Trainer):
    """The class calls its loss itself."""

    def compute_loss(self, model, inputs):
        return model(**inputs).loss

    def training_step(self, model, inputs, *others):
        loss = self.compute_loss(model, inputs)
        self.accelerator.backward(loss)
        return loss.detach()


model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=2)
arguments = TrainingArguments(output_dir="out", eval_strategy="no")
WeightedTrainer(model=model, args=arguments).train()
