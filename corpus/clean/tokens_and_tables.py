# needs: data
"""Tokenizers and tables that fit, though they do not look like it."""
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

# The padding token is an existing token.
gpt_tokenizer = AutoTokenizer.from_pretrained("gpt2")
gpt_tokenizer.pad_token = gpt_tokenizer.eos_token
gpt = AutoModelForCausalLM.from_pretrained("gpt2")
batch = gpt_tokenizer(["a", "b c"], padding=True, return_tensors="pt")
labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
gpt(**batch, labels=labels).loss.backward()


def add_tokens(tokenizer, model, tokens):
    added = tokenizer.add_tokens(tokens)
    if added > 0:
        model.resize_token_embeddings(len(tokenizer))
    return model


bert_tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
bert = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=1)
bert = add_tokens(bert_tokenizer, bert, ["[NAME]", "[PLACE]"])
batch = bert_tokenizer(["one"], ["two"], padding="max_length", truncation=True, max_length=512, return_tensors="pt")
# With `num_labels=1`, the label is a float (regression).
bert(**batch, labels=torch.tensor([0.7])).loss.backward()

# A RoBERTa whose embedding has two segments.
config = AutoConfig.from_pretrained("roberta-base", type_vocab_size=2, num_labels=3)
roberta = AutoModelForSequenceClassification.from_config(config)
tokenizer = AutoTokenizer.from_pretrained("roberta-base")
batch = tokenizer(["one"], ["two"], truncation=True, max_length=512, padding="max_length", return_tensors="pt")
segments = (torch.arange(512) > 10).long().unsqueeze(0)
roberta(**batch, token_type_ids=segments, labels=torch.tensor([2])).loss.backward()
roberta(**tokenizer(["one"], ["two"], return_tensors="pt", return_token_type_ids=True))

# -100 is replaced before the lookup.
ids = labels.masked_fill(labels == -100, gpt_tokenizer.pad_token_id)
gpt(input_ids=ids)
