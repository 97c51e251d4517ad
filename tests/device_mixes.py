"""Compares what torchvet says of calls that mix devices with what a GPU does.

    python tests/device_mixes.py --torchvet target/debug/torchvet

The lists below are what an H100 did (docs/verified-on-cuda.md). torchvet must accept each call of
ACCEPTED, and the calls of REJECTED that it does not report are printed. If this machine has a GPU, the
calls run there, too, and must behave as the lists say.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

PRELUDE = [
    "import numpy",
    "import torch",
    "import torch.nn.functional as F",
    "import torchvision",
    'c = "cuda"',
    "x = torch.zeros(5, 3)",
    "i = torch.tensor([0, 1], device=c)",
    "m = torch.zeros(5, dtype=torch.bool, device=c)",
]
ACCEPTED = [
    "x[i] = 1.0",
    "x[i] = torch.ones(2, 3)",
    "x[m] = 1.0",
    "x.index_put((i,), torch.tensor(1.))",
    "x.index_put_((i,), torch.ones(2,3))",
    "x.cuda()[i] = torch.tensor(1.)",
    "x.cuda()[i] = torch.ones(1)",
    "F.l1_loss(torch.zeros((), device=c), torch.tensor(1.))",
    "F.binary_cross_entropy_with_logits(torch.zeros(3, device=c), torch.ones(3,device=c), pos_weight=torch.tensor(2.))",
    "torch.logical_and(torch.zeros((), device=c), torch.tensor(1.))",
    "torch.logical_and(torch.zeros(3,device=c),torch.tensor(1.))",
    "torch.tensor(1.) + torch.zeros((), device=c)",
    "torch.tensor(1.) < torch.zeros(3, device=c)",
    "torch.maximum(torch.tensor(1.), torch.zeros(3, device=c))",
    "torch.pow(torch.tensor(2.), torch.zeros(3, device=c))",
    "torch.atan2(torch.tensor(1.), torch.zeros(3, device=c))",
    "torch.where(torch.zeros(3,device=c)>0, torch.tensor(1.), torch.zeros(3,device=c))",
    "torch.lerp(torch.zeros(3,device=c), torch.ones(3,device=c), torch.tensor(0.5))",
    "torch.addcmul(torch.zeros(3,device=c), torch.ones(3,device=c), torch.tensor(0.5))",
    "F.poisson_nll_loss(torch.zeros(3,device=c), torch.tensor(0.5))",
    "F.kl_div(torch.zeros(3,device=c), torch.tensor(0.5))",
    "F.hinge_embedding_loss(torch.zeros(3,device=c), torch.tensor(1.))",
    "x.fill_(torch.tensor(1., device=c))",
    "torch.nn.Dropout().cuda()(torch.zeros(4,3))",
    "torch.nn.ReLU().cuda()(torch.zeros(4,3))",
    "torch.tensor([torch.zeros((),device=c), torch.zeros(())])",
    "torch.tensor(torch.zeros(3,device=c))",
    "torch.zeros(3,device=c)[torch.randperm(3)]",
    "torch.norm(torch.zeros(3,device=c) - torch.tensor(1.))",
    "F.ctc_loss(torch.zeros(5,1,3,device=c).log_softmax(-1), torch.tensor([[1,2]]), torch.tensor([5]), torch.tensor([2]))",
    "torchvision.transforms.functional.normalize(torch.zeros(3,4,4,device=c),[0.5]*3,[0.5]*3)",
    "x.copy_(torch.zeros(5,3,device=c))",
    "x[0] = torch.zeros(3, device=c)",
    "x.data = torch.zeros(5,3,device=c)",
]
REJECTED = [
    "x[i]",
    "x[m]",
    "x[i] = torch.ones(2, 3, device=c)",
    "x.cuda()[i.cpu()] = torch.ones(2,3)",
    "F.mse_loss(torch.zeros((), device=c), torch.tensor(1.))",
    "F.mse_loss(torch.tensor(1.), torch.zeros((), device=c))",
    "F.l1_loss(torch.zeros(3, device=c), torch.tensor(1.))",
    "F.mse_loss(torch.zeros(3, device=c), torch.tensor(1.))",
    "F.huber_loss(torch.zeros((), device=c), torch.tensor(1.))",
    "F.smooth_l1_loss(torch.zeros((), device=c), torch.tensor(1.))",
    "F.smooth_l1_loss(torch.zeros(3, device=c), torch.tensor(1.))",
    "F.huber_loss(torch.zeros(3, device=c), torch.tensor(1.))",
    "F.binary_cross_entropy(torch.zeros((), device=c), torch.tensor(1.))",
    "F.binary_cross_entropy_with_logits(torch.zeros((), device=c), torch.tensor(1.))",
    "F.binary_cross_entropy_with_logits(torch.zeros(3, device=c), torch.tensor([1.,1.,1.]), pos_weight=torch.tensor(2.))",
    "F.binary_cross_entropy_with_logits(torch.zeros(3, device=c), torch.ones(3,device=c), pos_weight=torch.tensor([2.]))",
    "torch.logical_and(torch.tensor(1.), torch.zeros((), device=c))",
    "torch.logical_and(torch.tensor(1.), torch.zeros(3, device=c))",
    "torch.cat([torch.zeros(0), torch.zeros(3, device=c)])",
    "torch.stack([torch.tensor(0.), torch.zeros((), device=c)])",
    "torch.where(torch.zeros(3)>0, torch.tensor(1.), torch.zeros(3,device=c))",
    "torch.zeros(3,device=c).clamp(min=torch.tensor(0.))",
    "F.gaussian_nll_loss(torch.zeros(3,device=c), torch.zeros(3,device=c), torch.tensor(0.5))",
    "torch.tensor(0.).add_(torch.zeros((), device=c))",
    "x[0,0].sub_(torch.zeros((), device=c))",
    "torch.bucketize(torch.zeros(3,device=c), torch.tensor([1.]))",
    "torch.isin(torch.zeros(3,device=c), torch.tensor([1.]))",
    "torch.allclose(torch.zeros(3,device=c), torch.tensor([1.]))",
    "torch.equal(torch.zeros(3,device=c), torch.zeros(3))",
    "torch.zeros(3,4,device=c).scatter_(1, torch.zeros(3,1,dtype=torch.long), 1.0)",
    "F.linear(torch.zeros(3), torch.zeros(2,3,device=c))",
    "F.embedding(torch.tensor([0]), torch.zeros(2,3,device=c))",
    "F.cross_entropy(torch.zeros(2,3,device=c), torch.tensor([0,1]))",
    "F.cross_entropy(torch.zeros(2,3,device=c), torch.tensor([0,1],device=c), weight=torch.ones(3))",
    "torch.nn.GRU(3,4).cuda()(torch.zeros(5,1,3,device=c), torch.zeros(1,1,4))",
    "torch.nn.BatchNorm1d(3).cuda()(torch.zeros(4,3))",
    "torch.nn.LayerNorm(3).cuda()(torch.zeros(4,3))",
    "torch.nn.PReLU().cuda()(torch.zeros(4,3))",
    "torch.nn.MultiheadAttention(4,2).cuda()(*[torch.zeros(3,1,4,device=c)]*3, attn_mask=torch.zeros(3,3))",
    "torch.nn.MultiheadAttention(4,2).cuda()(*[torch.zeros(3,1,4,device=c)]*3, key_padding_mask=torch.zeros(1,3,dtype=torch.bool))",
    "torch.zeros(3,3,device=c).masked_fill(torch.tril(torch.ones(3,3))==0, -1e9)",
    "torch.zeros(3,device=c).numpy()",
    "numpy.asarray(torch.zeros(3,device=c))",
    "torch.distributions.Normal(torch.zeros(3,device=c), torch.tensor(1.)).log_prob(torch.zeros(3,device=c))",
    "torch.multinomial(torch.ones(3,device=c), 2, generator=torch.Generator())",
    "torch.randn(3, device=c, generator=torch.Generator())",
    "torch.arange(3) < torch.tensor([1,2,3],device=c)",
    "torch.zeros(3,4,device=c).gather(1, torch.zeros(3,1,dtype=torch.long))",
    "torch.zeros(3,4,device=c).index_select(0, torch.tensor([0]))",
    "torch.zeros(3,device=c).take(torch.tensor([0]))",
    "torch.einsum('ij,jk->ik', torch.zeros(2,3,device=c), torch.zeros(3,2))",
    "torch.zeros(3,2,device=c) @ torch.zeros(2)",
    "torch.cdist(torch.zeros(3,2,device=c), torch.zeros(3,2))",
    "F.grid_sample(torch.zeros(1,1,4,4,device=c), torch.zeros(1,4,4,2))",
    "torchvision.ops.roi_align(torch.zeros(1,1,4,4,device=c), [torch.zeros(1,4)], 2)",
    "torch.nn.utils.rnn.pack_padded_sequence(torch.zeros(5,2,3,device=c), torch.tensor([5,3],device=c))",
    "setattr(torch.zeros(3,requires_grad=True), 'grad', torch.zeros(3,device=c))",
]


def reported(torchvet):
    """The calls for which torchvet reports an error."""
    calls = ACCEPTED + REJECTED
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "mixes.py")
        lines = [line for call in calls for line in ("x = torch.zeros(5, 3)", call)]
        file.write_text("\n".join(PRELUDE + lines), encoding="utf-8")
        command = [torchvet, "check", "--isolated", "--output-format", "json", str(file)]
        found = json.loads(subprocess.run(command, capture_output=True).stdout)
    rows = {one["location"]["row"] for one in found if one["severity"] == "error"}
    return {call for number, call in enumerate(calls) if len(PRELUDE) + 2 * number + 2 in rows}


def raised(call):
    names = {}
    exec("\n".join(PRELUDE), names)  # noqa: S102
    try:
        exec(call, names)  # noqa: S102
    except (RuntimeError, TypeError) as error:
        return str(error).splitlines()[0]
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torchvet", required=True)
    options = parser.parse_args()
    found = reported(options.torchvet)
    wrong = [call for call in ACCEPTED if call in found]
    for call in wrong:
        print(f"failed  {call}: torchvet reports it, but a GPU accepts it")
    missed = [call for call in REJECTED if call not in found]
    for call in missed:
        print(f"missed  {call}")
    import torch

    if torch.cuda.is_available():
        warnings.simplefilter("ignore")
        for call in ACCEPTED + REJECTED:
            said = raised(call)
            if (said is not None) != (call in REJECTED):
                wrong.append(call)
                print(f"failed  {call}: {said or 'the GPU accepts it'}")
    print(f"{len(REJECTED) - len(missed)} of {len(REJECTED)} mixes found")
    print(f"{len(ACCEPTED) + len(REJECTED) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
