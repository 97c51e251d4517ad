"""Fine-tunes a small GPT-2 on the texts beside the objects of a museum."""
# needs: data
import torch
from torch.utils.data import DataLoader, Dataset, random_split
from transformers import AutoModelForCausalLM, AutoTokenizer

TEXTS = [
    "Jug with a bearded face. Stoneware, Cologne, about 1600.",
    "Sundial for the pocket. Ivory and brass, Nuremberg. The cover shows a map of the winds.",
    "Shoe of a child. Leather.",
    "Ship's bell. Bronze, cast for the whaler Anna, which sank with all hands in 1871.",
    "Door lock with two keys. Wrought iron.",
    "Tile with a windmill. Tin glaze on clay, Delft.",
]


class MuseumTexts(Dataset):
    def __init__(self, texts, tokenizer, max_length=48):
        self.texts = texts
        self.tokenizer = tokenizer
        self.max_length = max_length

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        encoded = self.tokenizer(
            self.texts[index] + self.tokenizer.eos_token, padding="max_length", truncation=True,
            max_length=self.max_length, return_tensors="pt",
        )
        input_ids, mask = encoded["input_ids"].squeeze(0), encoded["attention_mask"].squeeze(0)
        return {"input_ids": input_ids, "attention_mask": mask, "labels": input_ids.clone()}  # warning: TV129


def validate(model, loader):
    model.eval()
    with torch.no_grad():
        losses = [model(**batch).loss for batch in loader]
    return torch.stack(losses).mean().item()


def main():
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained("distilgpt2")
    tokenizer.pad_token = tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained("distilgpt2")
    train_set, val_set = random_split(MuseumTexts(TEXTS, tokenizer), [4, 2])
    train_loader = DataLoader(train_set, batch_size=2, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=2)

    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    for epoch in range(3):
        model.train()
        for batch in train_loader:
            loss = model(**batch).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        print(epoch, validate(model, val_loader))
    model.save_pretrained("museum")


if __name__ == "__main__":
    main()
