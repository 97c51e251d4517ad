"""Tables of which less is known after each step than before it."""
# needs: pandas, sklearn
import io

import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

TEXT = """age,job,height,label
31,clerk,1.7,1
45,smith,,2
27,clerk,1.8,3
52,baker,1.6,2
"""


def tidy(frame):
    """Changes the frame that it is given."""
    frame["label"] -= 1
    frame.rename(columns={"height": "size"}, inplace=True)
    frame.columns = [name.upper() for name in frame.columns]


frame = pd.read_csv(io.StringIO(TEXT))
tidy(frame)
y = torch.tensor(frame["LABEL"].values)
F.cross_entropy(torch.randn(len(frame), 3), y)

# Integer and bool columns together have dtype object until they are cast.
frame["TALL"] = frame["SIZE"] > 1.65
nn.Linear(2, 1)(torch.tensor(frame[["AGE", "TALL"]].values.astype("float32")))

# Labels from 1 are shifted by a function; the dtype of a column is changed in a loop.
table = pd.DataFrame({"label": [1, 2, 3, 4], "x": [0.5, 1.5, 2.5, 3.5]})
table["label"] = table["label"].apply(lambda label: label - 1)
F.cross_entropy(torch.randn(4, 4), torch.tensor(table["label"].values))
for column in ["x"]:
    table[column] = table[column].astype("float32")
nn.Linear(1, 1)(torch.tensor(table[["x"]].values))

# Labels are changed with `loc` and a mask, and with `replace`.
table = pd.DataFrame({"label": [0, 1, 5, 1], "x": [1, 2, 3, 4]})
table.loc[table["label"] == 5, "label"] = 2
F.cross_entropy(torch.randn(4, 3), torch.tensor(table["label"].values))
table["label"] = table["label"].replace({2: 0})
F.cross_entropy(torch.randn(4, 2), torch.tensor(table["label"].values))
table = table.pipe(lambda t: t / 2)
nn.Linear(1, 1)(torch.tensor(table[["x"]].values.astype(np.float32)))

# `factorize` returns integers, and the encoders of scikit-learn return floats.
codes, names = pd.factorize(pd.Series(["u", "v", "u", "w"]))
nn.Embedding(len(names), 2)(torch.from_numpy(codes))
ordinal = OrdinalEncoder().fit_transform(pd.DataFrame({"k": ["a", "b", "a"]}))
nn.Embedding(2, 3)(torch.tensor(ordinal, dtype=torch.long).squeeze(1))
hot = OneHotEncoder(sparse_output=False, dtype=np.float32).fit_transform(pd.DataFrame({"k": ["a", "b", "a"]}))
nn.Linear(2, 1)(torch.from_numpy(hot))
dense = OneHotEncoder().fit_transform(pd.DataFrame({"k": ["a", "b", "a"]})).toarray()
nn.Linear(2, 1)(torch.from_numpy(dense).float())

# A scaler keeps float32; a model in double precision needs float64.
narrow = StandardScaler().fit_transform(np.ones((5, 2), dtype=np.float32))
nn.Linear(2, 1)(torch.from_numpy(narrow))
nn.Linear(1, 1).double()(torch.from_numpy(StandardScaler().fit_transform(table[["x"]])))

# Missing values make the column float, which is right for the target of a binary loss.
answers = pd.DataFrame({"answer": ["yes", "no", "?", "yes"]})
answers["target"] = answers["answer"].map({"yes": 1, "no": 0})
answers = answers.dropna()
F.binary_cross_entropy_with_logits(torch.randn(3), torch.tensor(answers["target"].tolist()))

# Columns by position, and rows of a group.
wide = pd.DataFrame(np.arange(12.0).reshape(3, 4), columns=list("abcd"))
nn.Linear(3, 1)(torch.tensor(wide.iloc[:, :-1].values).float())
nn.Linear(2, 1)(torch.tensor(wide[wide.columns[1:3]].to_numpy(), dtype=torch.float32))
for _, group in wide.groupby("a"):
    nn.Linear(4, 1)(torch.tensor(group.values).float())
merged = wide.merge(pd.DataFrame({"a": [0.0, 4.0], "e": [1.0, 2.0]}), on="a")
nn.Linear(5, 1)(torch.tensor(merged.values, dtype=torch.float32))
