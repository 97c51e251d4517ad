"""Values as plain data, for the report."""

import contextlib

import torch

from . import contracts

_SHOWN = 8


def argument(name, value):
    """A description of an argument in one line."""
    return {"name": name, "text": text(value)}


def text(value):
    if isinstance(value, torch.Tensor):
        shape = ", ".join(str(size) for size in value.shape)
        line = f"{contracts.dtype_name(value.dtype)}[{shape}] {value.device}"
        if value.requires_grad:
            line += " requires_grad"
        with contextlib.suppress(Exception):  # a meta tensor has no values
            line += f", {contracts.values(value)}"
        return line
    if isinstance(value, (list, tuple)) and len(value) > _SHOWN:
        return f"{type(value).__name__} of {len(value)}"
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."


def offence(finding, arguments):
    """The values that violate the contract: of which argument, how many, and in which samples."""
    if finding.offence is None:
        return None
    tensor, marks = finding.offence
    name = next((name for name, value in arguments.items() if value is tensor), None)
    flat = tensor.detach().reshape(-1)
    wrong = marks(flat)
    count = int(wrong.sum())
    if count == 0 or name is None:
        return None
    bad = flat[wrong]
    # `torch.unique` would list every NaN separately, so all NaNs are counted as one value.
    nans = int(torch.isnan(bad).sum()) if bad.dtype.is_floating_point else 0
    distinct, counts = torch.unique(bad[~torch.isnan(bad)] if nans else bad, return_counts=True)
    values = [
        {"value": f"{value:g}", "count": number}
        for value, number in zip(distinct[:_SHOWN].tolist(), counts[:_SHOWN].tolist())
    ]
    if nans:
        values.append({"value": "nan", "count": nans})
    rows = []
    if tensor.ndim > 0:
        rows = torch.unique(torch.nonzero(wrong.reshape(tensor.shape))[:, 0]).tolist()
    return {
        "argument": name,
        "count": count,
        "of": flat.numel(),
        "values": values,
        "distinct": int(distinct.numel()) + (nans > 0),
        "samples": rows[:32],
        "samples_total": len(rows),
    }
