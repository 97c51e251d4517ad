# needs: data
import torch
import torch.nn as nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 2).to(device)
optimizer = torch.optim.Adam(model.parameters())


def resume(path):
    checkpoint = torch.load(path)  # info: TV309
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint["epoch"]


model.load_state_dict(torch.load("weights.pt"))  # info: TV309
table = torch.load("table.pt")
print(resume("checkpoint.pt"), table.shape)
