"""Hand-made GCN on edge list with node ids from the file (not reindexed)."""
import torch
import torch.nn as nn
import torch.nn.functional as F

edges = [(3, 7), (7, 9), (9, 3), (4, 12), (12, 9), (4, 3)]
node_ids = sorted({u for e in edges for u in e})
remap = {n: i for i, n in enumerate(node_ids)}


class GCNLayer(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.lin = nn.Linear(d_in, d_out)

    def forward(self, x, edge_index):
        src, dst = edge_index
        msg = self.lin(x)[src]
        out = torch.zeros(x.size(0), msg.size(1), device=x.device)
        out.index_add_(0, dst, msg)
        return out


class Net(nn.Module):
    def __init__(self, num_nodes, hidden, classes):
        super().__init__()
        self.emb = nn.Embedding(num_nodes, hidden)
        self.conv1 = GCNLayer(hidden, hidden)
        self.conv2 = GCNLayer(hidden, classes)

    def forward(self, edge_index):
        x = self.emb.weight
        x = F.relu(self.conv1(x, edge_index))
        x = F.dropout(x, p=0.5, training=self.training)
        return F.log_softmax(self.conv2(x, edge_index), dim=1)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
edge_index = torch.tensor([(remap[a], remap[b]) for a, b in edges], dtype=torch.long).t().contiguous().to(device)
y = torch.tensor([0, 1, 0, 1, 1], device=device)
model = Net(len(node_ids), 16, 2).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(5):
    model.train()
    optimizer.zero_grad()
    out = model(edge_index)
    loss = F.nll_loss(out, y)
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
