//! Rules that run only if they are selected, on more programs than the Example of their page.

use crate::sandbox::Sandbox;

#[test]
fn parts_of_tensor_datasets_need_no_workers() {
    let sandbox = Sandbox::new(&[(
        "a.py",
        "\
import torch
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset, TensorDataset, random_split

class Images(Dataset):
    def __len__(self):
        return 1000

    def __getitem__(self, index):
        return torch.rand(3)

model = torch.nn.Linear(3, 2).cuda()
rows = TensorDataset(torch.rand(100, 3))
train, test = random_split(rows, [80, 20])
images, _ = random_split(Images(), [800, 200])
in_memory = DataLoader(train)
first = DataLoader(Subset(rows, range(50)))
both = DataLoader(ConcatDataset([rows, test]))
loaded = DataLoader(Subset(Images(), range(50)))
mixed = DataLoader(ConcatDataset([rows, Images()]))
split = DataLoader(images)
for epoch in range(10):
    for batch in in_memory: pass
    for batch in first: pass
    for batch in both: pass
    for batch in loaded: pass
    for batch in mixed: pass
    for batch in split: pass
",
    )]);
    let output = sandbox.run(&["check", "a.py", "--isolated", "--select", "TV703", "--output-format", "concise"]);
    let lines: Vec<&str> = output.lines().filter_map(|line| line.strip_prefix("a.py:")?.split(':').next()).collect();
    assert_eq!(lines, ["18", "19", "20"], "{output}");
}
