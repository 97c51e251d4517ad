"""What pandas and scikit-learn make of a table, one operation for each line."""
# needs: pandas, sklearn
import io

import numpy as np
import pandas as pd
import torch
from sklearn.datasets import load_diabetes, load_iris, make_blobs, make_regression
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold, train_test_split
from sklearn.preprocessing import LabelEncoder, MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler

rng = np.random.default_rng(0)
df = pd.DataFrame(
    {
        "i": rng.integers(0, 5, 40),
        "f": rng.normal(size=40),
        "g": rng.normal(size=40).astype("float32"),
        "b": rng.random(40) > 0.5,
        "s": ["x", "y", None, "z"] * 10,
        "t": ["p", "q"] * 20,
        "m": [1, None, 3, 4] * 10,
        "one": 1,
    }
)
file = pd.read_csv(io.StringIO("i,f,s\n1,2.5,x\n2,3.5,y\n3,4.5,z\n4,0.5,x\n"))
num = df[["i", "f", "g"]]

# One column.
i_half = (df["i"] / 2).values
i_twice = (df["i"] * 2).values
i_float = (df["i"] * 2.0).values
g_half = (df["g"] / 2).values
g_centred = ((df["g"] - df["g"].mean()) / df["g"].std()).values
i_centred = (df["i"] - df["i"].mean()).values
file_half = (file["i"] / 2).values
mixed = (df["i"] + df["f"]).values
larger = (df["i"] > 2).values
as_ints = (df["i"] > 2).astype(int).values
as_floats = df["i"].astype("float32").values
from_missing = df["m"].values
filled = df["m"].fillna(0).values
without = df["m"].dropna().values
codes = df["t"].astype("category").cat.codes.values
codes_with_gaps = df["s"].astype("category").cat.codes.astype("int64").values
factors, names = pd.factorize(df["s"])
mapped = df["t"].map({"p": 0, "q": 1}).values
mapped_partly = df["s"].map({"x": 0, "y": 1, "z": 2}).values
applied = df["i"].apply(lambda v: v + 1).values
applied_numpy = df["g"].apply(np.sqrt).values
clipped = df["i"].clip(0, 2).values
clipped_between = df["i"].clip(0.5, 2).values
shifted = df["i"].shift().values
changes = df["i"].diff().values
shuffled = df["i"].sample(frac=1).values
first = df["i"].head(7).values
masked = df["i"][df["b"]].values
where = np.where(df["i"] > 2, 1, 0)
listed = torch.tensor(df["i"].tolist())
listed_floats = torch.tensor(df["f"].tolist())
as_sequence = torch.tensor(df["f"])
as_float_tensor = torch.FloatTensor(df["i"])
element = torch.tensor(df["f"].iloc[3])

# Several columns.
table = num.values
wide = df[["i", "b"]].values
narrow = num.astype("float32").values
column = df[["i"]].values
standard = ((num - num.mean()) / num.std()).values
halves = (num / 2).values
dropped = df.drop(columns=["s", "t", "b"]).values
positions = df.iloc[:, :3].values
last = df.iloc[:, -1].values
rows = num[num["i"] > 1].values
some = num.iloc[5:15].values
located = df.loc[df["i"] > 2, ["i", "g"]].values
below = pd.concat([num, num], ignore_index=True).values
beside = pd.concat([num, df[["one"]]], axis=1).values
index_too = num.reset_index().shape[1] * torch.ones(1)
count = torch.ones(len(num), num.shape[1])
new = num.assign(double=num["i"] * 2, none=0.5).values
hot = pd.get_dummies(df["t"], dtype=float).values
row = torch.tensor(num.iloc[3].values)
row_of_texts = torch.tensor(df.iloc[3]["i"])
for label, values in df.iterrows():
    number = torch.tensor(values["f"])
for values in df.itertuples():
    again = torch.tensor([values.f, values.i])

# Written to.
copy = df.copy()
copy["i"] = copy["i"] / 4
copy["ratio"] = copy["f"] / copy["g"]
ratio = copy["ratio"].values
quarter = copy[["i", "ratio"]].values
copy[["f", "g"]] = StandardScaler().fit_transform(copy[["f", "g"]])
scaled_columns = copy[["f", "g"]].values
copy.loc[copy["f"] > 0, "i"] = 7
changed = copy["i"].values
copy.rename(columns={"i": "label"}, inplace=True)
renamed = copy["label"].values
copy["other"] = df["i"].sample(frac=1)
by_label = copy["other"].values
del copy["s"]
width = torch.ones(copy.shape[1])

# scikit-learn.
scaled = StandardScaler().fit_transform(num)
scaled_narrow = MinMaxScaler().fit_transform(df[["g"]])
scaled_ints = MinMaxScaler().fit_transform(df[["i"]].values)
scaled_file = StandardScaler().fit_transform(file.drop(columns=["s"]))
scaler = StandardScaler().fit(num)
back = scaler.inverse_transform(scaler.transform(num))
labels = LabelEncoder().fit_transform(df["t"])
ordinal = OrdinalEncoder().fit_transform(df[["t", "i"]])
one_hot = OneHotEncoder(sparse_output=False).fit_transform(df[["t"]])
one_hot_dense = OneHotEncoder().fit_transform(df[["t"]]).toarray()
components = PCA(n_components=2).fit_transform(num)
x_train, x_test, y_train, y_test = train_test_split(num, df["i"], test_size=0.3, random_state=0)
train_values = x_train.values
test_labels = y_test.to_numpy()
iris = load_iris(as_frame=True).frame
iris_features = iris.drop(columns="target").values
iris_labels = iris["target"].values
diabetes, progress = load_diabetes(return_X_y=True)
points, clusters = make_blobs(50, centers=4, n_features=3)
inputs, outputs = make_regression(30, 4, n_targets=2)
for train_rows, test_rows in KFold(4).split(num):
    fold = num.iloc[test_rows].values
