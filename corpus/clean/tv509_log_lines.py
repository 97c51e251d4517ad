import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class LogLines(IterableDataset):
    def __init__(self, lines):
        self.lines = lines

    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        for line in self.lines[first::step]:
            yield torch.tensor([float(len(word)) for word in line.split()])


lines = [f"request {i} took {i * 7} ms" for i in range(40)]
loader = DataLoader(LogLines(lines), batch_size=8, num_workers=2)
print(sum(len(batch) for batch in loader))
