# needs: data
"""Fine-tune GPT-2 on dialogues with speaker tokens."""
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"

DIALOGUES = [
    "<user> Hello! <bot> Hi, how can I help you?",
    "<user> What time is it? <bot> It is noon.",
]


def main():
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    tokenizer.add_special_tokens({"pad_token": "<pad>", "additional_special_tokens": ["<user>", "<bot>"]})

    model = AutoModelForCausalLM.from_pretrained("gpt2")
    model.resize_token_embeddings(len(tokenizer))
    model.to(device)
    model.train()

    enc = tokenizer(DIALOGUES, return_tensors="pt", padding=True, truncation=True, max_length=64)
    input_ids = enc["input_ids"].to(device)
    attention_mask = enc["attention_mask"].to(device)
    labels = input_ids.masked_fill(attention_mask == 0, -100)

    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    for step in range(10):
        out = model(input_ids=input_ids, attention_mask=attention_mask, labels=labels)
        out.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(step, out.loss.item())


if __name__ == "__main__":
    main()
