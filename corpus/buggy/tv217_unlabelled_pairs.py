"""A contrastive loss that leaves out pairs without labels."""
import torch
import torch.nn.functional as F


def similarity_loss(features, labels):
    features = F.normalize(features, dim=1)
    rows, columns = labels[:, None], labels[None, :]
    unlabelled = rows == -1 | columns == -1  # warning: TV217
    same = (rows == columns) & ~unlabelled
    scores = features @ features.T
    return F.binary_cross_entropy_with_logits(scores, same.float())


def main():
    torch.manual_seed(0)
    features = torch.randn(12, 8, requires_grad=True)
    labels = torch.randint(-1, 3, (12,))
    loss = similarity_loss(features, labels)
    loss.backward()
    print(loss.item())


main()
