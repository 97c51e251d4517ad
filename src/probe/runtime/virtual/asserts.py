"""The assert of a CUDA kernel that corresponds to an error of the CPU.

On a GPU, wrong values such as a class index out of range are detected inside a kernel, whose assert
makes the GPU unusable for this process. If the condition in CUDA depends on the kernel or the
version, one of the conditions is used.
"""

import re

from . import world
from .world import accelerator_error

_ASSERTS = [
    (r"nll_loss2d", r"Target -?\d+ is out of bounds", "NLLLoss2d.cu", "t >= 0 && t < n_classes"),
    (r"nll_loss", r"Target -?\d+ is out of bounds", "Loss.cu", "t >= 0 && t < n_classes"),
    (r"binary_cross_entropy", r"elements of input should be", "Loss.cu", "input_val >= zero && input_val <= one"),
    (r"binary_cross_entropy", r"elements of target should be", "Loss.cu", "target_val >= zero && target_val <= one"),
    (r"embedding_bag", r"Index|idx", "EmbeddingBag.cu", '!has_invalid_index && "Invalid input index in EmbeddingBag: index out of range [0, numRows)"'),
    (r"embedding|index_select", r"index out of range", "Indexing.cu", "srcIndex < srcSelectDimSize"),
    (r"index_fill", r"out of (bounds|range)", "IndexKernel.cu", 'idx >= -self_dim_size && idx < self_dim_size && "index out of bounds"'),
    (r"index_copy", r"out of (bounds|range)", "IndexKernel.cu", 'idx >= 0 && idx < self_dim_size && "index_copy_(): index out of bounds"'),
    (r"index_add|gather|scatter", r"out of (bounds|range)", "ScatterGatherKernel.cu", 'idx_dim >= 0 && idx_dim < index_size && "index out of bounds"'),
    (r"one_hot", r"Class values must be", "ScatterGatherKernel.cu", 'idx_dim >= 0 && idx_dim < index_size && "index out of bounds"'),
    (r"index_reduce", r"out of (bounds|range)", "Indexing.cu", "dstIndex < dstAddDimSize"),
    (r"^(_unsafe_|_)?index(_put)?(_impl)?_?$", r"out of (bounds|range)", "IndexKernel.cu", '-sizes[i] <= index && index < sizes[i] && "index out of bounds"'),
    (r"^(take|put)", r"out of range", "IndexKernel.cu", 'idx < numel && idx >= -numel && "cuda_take_put_kernel() index out of bounds"'),
    (r"masked_scatter", r"Number of elements of source", "IndexKernel.cu", "totalElements <= srcSize"),
    (r"multinomial", r"probability tensor contains", "TensorCompare.cu", "probability tensor contains either `inf`, `nan` or element < 0"),
    (r"multinomial", r"invalid multinomial distribution", "TensorCompare.cu", "invalid multinomial distribution (sum of probabilities <= 0)"),
    (r"bernoulli", r"p_in >= 0 && p_in <= 1", "DistributionTemplates.h", "0 <= p4 && p4 <= 1"),
    (r"poisson", r"invalid Poisson", "Distributions.cu", 'lambda >= 0 && "invalid Poisson rate, expected rate to be non-negative"'),
    (r"normal", r"normal expects all elements", "TensorCompare.cu", "normal expects all elements of std >= 0.0"),
    (r"multi_margin", r"target out of range", "MultiMarginLoss.cu", 'target_k >= 0 && target_k < dim && "target index is out of bounds"'),
    (r"max_unpool", r"invalid max index", "MaxUnpooling.cu", "maxind >= 0 && maxind < outputImageSize"),
    (r"repeat_interleave", r"allocated size", "Repeat.cu", "result_size == cumsum_ptr[size - 1]"),
    (r"repeat_interleave", r"can not be negative", "Repeat.cu", "repeat >= 0"),
]  # fmt: skip


def of(name, message):
    """The kernel's file and the condition, or None."""
    for function, said, file, condition in _ASSERTS:
        if re.search(function, name) and re.search(said, message):
            return file, condition
    return None


def raised(name, error):
    """If an assert corresponds to the error of the CPU: reports the assert, and raises the error of a
    GPU instead."""
    found = of(name, str(error))
    if found is None:
        return
    file, condition = found
    said = "CUDA error: device-side assert triggered"
    world.current.broken = said
    world.current.report("assert", file=file, condition=condition)
    raise accelerator_error(
        f"{said}\n{file}: Assertion `{condition}` failed. (Virtual device; the CPU says: "
        f"{type(error).__name__}: {error})"
    ) from None
