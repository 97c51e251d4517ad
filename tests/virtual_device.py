"""Tests the virtual device with code that programs use with a GPU.

    python tests/virtual_device.py [part of a name …]

Each function in TESTS runs in a fork, with two virtual GPUs. The assertions were checked against PyTorch's
documentation and source.
"""

import contextlib
import copy
import inspect
import io
import os
import sys
import traceback
import warnings

import probe_corpus
import torch
import torch.nn.functional as F
from torch import nn


def raises(text, call):
    try:
        call()
    except Exception as error:  # noqa: BLE001
        assert text in f"{type(error).__name__}: {error}", f"{type(error).__name__}: {error}"
        return
    raise AssertionError(f"nothing was raised, and not {text}")


def moves():
    x = torch.randn(3, 4)
    y = x.cuda()
    assert str(y.device) == "cuda:0" and y.is_cuda and not y.is_cpu and y.get_device() == 0
    assert x.device.type == "cpu" and x.get_device() == -1
    assert y.to("cuda") is y and y.cuda() is y and x.cpu() is x
    assert y.to(torch.float64).device == y.device
    assert y.to("cuda:1").device == torch.device("cuda", 1)
    assert y.to(device="cpu", dtype=torch.float16).dtype == torch.float16
    assert x.to(y).device == y.device and x.to(y.to(torch.float64)).dtype == torch.float64
    assert x.type_as(y).is_cuda and y.type() == "torch.cuda.FloatTensor"
    assert x.type(torch.cuda.DoubleTensor).type() == "torch.cuda.DoubleTensor"
    y[0] = 7
    assert not torch.equal(x, y.cpu())
    assert y.view(-1).device == y.device and y.T.device == y.device and y.data.device == y.device
    raises("invalid device ordinal", lambda: x.to("cuda:2"))
    raises("can't convert cuda:0 device type tensor to numpy", y.numpy)
    raises("can't convert cuda:0", lambda: __import__("numpy").asarray(y))
    assert y.numpy(force=True).shape == (3, 4)
    assert "device='cuda:0'" in repr(y) and "device" not in repr(x)


def factories():
    for make in (torch.zeros, torch.ones, torch.empty, torch.randn, torch.rand):
        assert make(2, device="cuda").is_cuda and not make(2).is_cuda
    assert torch.arange(3, device="cuda").is_cuda and torch.tensor([1.0], device="cuda:1").get_device() == 1
    assert torch.full((2,), 1, device=0).is_cuda and torch.as_tensor([1], device="cuda").is_cuda
    x = torch.zeros(2, 2, device="cuda")
    for like in (
        torch.zeros_like(x),
        torch.randn_like(x),
        x.new_zeros(3),
        x.new_tensor([1]),
        torch.full_like(x, 2),
    ):
        assert like.is_cuda
    assert not torch.zeros_like(x, device="cpu").is_cuda and not x.new_zeros(3, device="cpu").is_cuda
    assert not torch.tensor([x[0, 0], x[1, 1]]).is_cuda
    with torch.device("cuda"):
        assert torch.zeros(2).is_cuda and nn.Linear(2, 2).weight.is_cuda
    with torch.cuda.device(1):
        assert torch.zeros(2, device="cuda").get_device() == 1
    torch.set_default_device("cuda")
    assert torch.zeros(2).is_cuda and torch.tensor([1]).is_cuda
    assert not hasattr(torch, "get_default_device") or torch.get_default_device().type == "cuda"


def gradients():
    leaf = torch.randn(3, requires_grad=True)
    (leaf.cuda() * 2).sum().backward()
    assert not leaf.grad.is_cuda and leaf.grad.tolist() == [2, 2, 2]
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(), nn.Linear(4, 2)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        F.cross_entropy(model(torch.randn(5, 3).cuda()), torch.randint(0, 2, (5,)).cuda()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    assert all(one.is_cuda and one.grad.is_cuda for one in model.parameters())
    assert all(state["exp_avg"].is_cuda for state in optimizer.state.values())
    (grad,) = torch.autograd.grad(model(torch.randn(5, 3).cuda()).sum(), [model[0].weight])
    assert grad.is_cuda

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            assert x.is_cuda and grad.is_cuda
            return grad * 2 + torch.zeros_like(x)

    x = torch.randn(3, device="cuda", requires_grad=True)
    Double.apply(x).sum().backward()
    assert x.grad.is_cuda

    # PyTorch moves the targets and the lengths, and its backward pass divides by the moved lengths.
    scores = torch.randn(10, 2, 5, device="cuda", requires_grad=True)
    targets, lengths = torch.tensor([1, 2, 3]).int(), torch.tensor([2, 1]).int()
    nn.CTCLoss()(scores.log_softmax(2), targets, torch.tensor([10, 10]).int(), lengths).backward()
    assert scores.grad.is_cuda and not lengths.is_cuda
    y = torch.utils.checkpoint.checkpoint(model, torch.randn(5, 3, device="cuda"), use_reentrant=False)
    y.sum().backward()


def files():
    model = nn.Linear(2, 2).cuda()
    saved = io.BytesIO()
    torch.save(model.state_dict(), saved)
    for place, is_cuda in ((None, True), ("cpu", False), ("cuda:1", True)):
        saved.seek(0)
        loaded = torch.load(saved, map_location=place)
        assert loaded["weight"].is_cuda == is_cuda, place
        assert torch.equal(loaded["weight"].cpu(), model.weight.detach().cpu())
    assert loaded["weight"].get_device() == 1
    model.load_state_dict(loaded)
    assert model.weight.get_device() == 0
    assert copy.deepcopy(model).weight.is_cuda
    assert model.cpu().weight.device.type == "cpu"


def loaders():
    from torch.utils.data import DataLoader, TensorDataset

    data = TensorDataset(torch.arange(6.0), torch.arange(6))
    for x, _ in DataLoader(data, batch_size=2, pin_memory=True, num_workers=1):
        assert x.is_pinned() and not x.is_cuda
        assert x.cuda(non_blocking=True).is_cuda
    raises("only dense CPU tensors can be pinned", lambda: torch.zeros(2, device="cuda").pin_memory())
    on_gpu = TensorDataset(torch.arange(6.0).cuda())
    for workers, message in ((0, None), (1, "initialization error")):
        loader = DataLoader(on_gpu, batch_size=2, num_workers=workers)
        if message is None:
            assert all(x.is_cuda for (x,) in loader)
        else:
            raises(message, lambda: list(loader))  # noqa: B023
    generator = torch.Generator(device="cuda")
    raises(
        "Expected a 'cpu' device type for generator but found 'cuda'",
        lambda: torch.randperm(3, generator=generator),
    )
    assert torch.randn(3, generator=generator, device="cuda").is_cuda


def in_a_worker():
    class Moving(torch.utils.data.Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, index):
            return torch.zeros(2).cuda()

    torch.zeros(1).cuda()
    loader = torch.utils.data.DataLoader(Moving(), num_workers=1)
    raises("Cannot re-initialize CUDA in forked subprocess", lambda: list(loader))


def half_precision():
    if torch.__version__ < (2, 3):
        return  # the CPU's autocast has no float16, and its gradients cannot be unscaled
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(72, 4)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda") if hasattr(torch.amp, "GradScaler") else torch.cuda.amp.GradScaler()
    for _ in range(2):
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            logits = model(torch.randn(3, 1, 8, 8, device="cuda"))
            assert logits.dtype == torch.float16, logits.dtype
            loss = F.cross_entropy(logits, torch.randint(0, 4, (3,), device="cuda"))
            assert torch.is_autocast_enabled()
            raises("unsafe to autocast", lambda: F.binary_cross_entropy(logits.sigmoid(), logits.sigmoid()))  # noqa: B023
        assert loss.dtype == torch.float32
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
    assert scaler.get_scale() > 0
    assert not torch.is_autocast_enabled()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert model(torch.randn(3, 1, 8, 8, device="cuda")).dtype == torch.bfloat16


def several():
    x, y = torch.zeros(2, device="cuda:0"), torch.zeros(2, device="cuda:1")
    raises("at least two devices, cuda:0 and cuda:1!", lambda: x + y)
    assert (x + y.to(0)).get_device() == 0 and torch.cuda.device_count() == 2
    torch.cuda.set_device(1)
    assert torch.zeros(1).cuda().get_device() == 1 and torch.cuda.current_device() == 1
    torch.cuda.set_device(0)
    model = nn.DataParallel(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)).cuda())
    out = model(torch.randn(6, 4).cuda())
    assert out.shape == (6, 2) and out.get_device() == 0
    out.sum().backward()
    assert model.module[0].weight.grad.get_device() == 0
    raises("Expected all tensors to be on the same device", lambda: nn.Linear(2, 2).to("cuda:1")(x))


def mixes():
    x, c, s = torch.randn(3, 4, device="cuda"), torch.randn(3, 4), torch.tensor(2.0)
    rows, mask, cells = torch.tensor([0, 1]), torch.tensor([True, False, True]), c > 0
    for legal in (
        lambda: [x + s, s * x, x / s, x**s, torch.maximum(x, s), x == s, x.lerp(x, s)],
        lambda: [torch.where(x > 0, x, s), x.masked_fill(x > 0, s), torch.tensor(0.0) + x.sum()],
        lambda: [x[rows], x[mask], x[cells], x[rows, rows.cuda()], x[[0, 1]], x[:, torch.tensor([3])]],
        lambda: [x.__setitem__(index, 0) for index in (rows, mask, cells, 0, slice(1))],
        lambda: [x.__setitem__(index, s) for index in (rows, mask, cells, 0, slice(1))],
        lambda: [x.__setitem__(0, c[0]), x.__setitem__(slice(2), c[:2]), c.__setitem__(0, x[0]), x.copy_(c)],
        lambda: [
            c[torch.tensor(1, device="cuda")],
            torch.tensor_split(x, torch.tensor([1, 2])),
            range(rows.cuda()[1]),
        ],
        lambda: [x.fill_(s), c.fill_(s.cuda()), x.cpu().add_(c), x.add_(s)],
        lambda: [c.__setitem__(rows.cuda(), 0), F.l1_loss(x.sum(), s), torch.logical_and(x, s)],
    ):
        legal()
    same = "Expected all tensors to be on the same device"
    for message, illegal in (
        (same, lambda: x + c),
        (same, lambda: c + x.sum()),
        (same, lambda: s.add_(x.sum())),
        (same, lambda: x + torch.tensor([2.0])),
        (same, lambda: x.clamp(min=s)),
        (same, lambda: torch.cat([x, c])),
        (same, lambda: torch.stack([x, c])),
        (same, lambda: torch.where(cells, x, s)),
        (same, lambda: x.__setitem__(rows, c[:2])),
        (same, lambda: x.index_select(0, rows)),
        (same, lambda: x.gather(0, torch.zeros(1, 4, dtype=torch.long))),
        (same, lambda: x.repeat_interleave(torch.tensor([1, 2, 1]), 0)),
        (same, lambda: F.mse_loss(x, c)),
        (
            "indices should be either on cpu or on the same device as the indexed tensor (cpu)",
            lambda: c[rows.cuda()],
        ),
        (same, lambda: F.mse_loss(x.sum(), s)),
        (same, lambda: F.binary_cross_entropy_with_logits(x.sum(), s)),
        (same, lambda: torch.logical_and(s, x)),
        ("expected self and mask to be on the same device", lambda: x.masked_fill(cells, 0)),
        (
            "1D CPU int64 tensor",
            lambda: nn.utils.rnn.pack_padded_sequence(x[None], torch.tensor([3]).cuda(), True),
        ),
        (
            "weight type (torch.FloatTensor) should be the same",
            lambda: F.conv1d(x[None], torch.randn(2, 3, 1)),
        ),
    ):
        raises(message, illegal)


def questions():
    cuda = torch.cuda
    assert cuda.is_available() and torch.backends.cuda.is_built() and torch.version.cuda
    assert (
        cuda.get_device_name()
        and cuda.get_device_name(0)
        and cuda.get_device_properties("cuda").total_memory > 2**30
    )
    assert cuda.get_device_capability()[0] >= 7 and cuda.is_bf16_supported()
    cuda.empty_cache()
    cuda.reset_peak_memory_stats()
    assert cuda.memory_allocated() >= 0 and cuda.max_memory_allocated() >= 0 and cuda.memory_reserved() >= 0
    free, total = cuda.mem_get_info()
    assert 0 < free <= total
    cuda.memory_summary()
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    start.record()
    stream = cuda.Stream()
    stream.wait_stream(cuda.current_stream())
    with cuda.stream(stream):
        x = torch.zeros(3, device="cuda")
        x.record_stream(stream)
    end.record()
    cuda.synchronize()
    assert start.elapsed_time(end) >= 0
    cuda.manual_seed(1)
    cuda.manual_seed_all(1)
    cuda.set_rng_state(cuda.get_rng_state())
    with torch.random.fork_rng():
        torch.randn(2, device="cuda")
    if hasattr(torch, "accelerator"):
        assert torch.accelerator.is_available() and torch.accelerator.current_accelerator().type == "cuda"
        assert torch.accelerator.device_count() == 2
    assert isinstance(torch.default_generator, torch.Generator)
    assert isinstance(torch.cuda.FloatTensor([1.0]), torch.cuda.FloatTensor)
    torch.cuda.nvtx.range_push("x")
    torch.cuda.nvtx.range_pop()


def layers():
    x = torch.randn(2, 5, 8, device="cuda")
    packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 3]), batch_first=True)
    for made in (
        lambda: nn.LSTM(8, 4, num_layers=2, bidirectional=True, batch_first=True),
        lambda: nn.GRU(8, 4, batch_first=True),
        lambda: nn.RNN(8, 4, batch_first=True),
    ):
        layer = made().cuda()
        out, _ = layer(packed)
        padded, lengths = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
        assert padded.is_cuda and not lengths.is_cuda
        padded.sum().backward()
        assert layer(x)[0].is_cuda and layer.weight_ih_l0.grad.is_cuda
        raises("are not at the same device", lambda: made()(x))  # noqa: B023
    attention = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, batch_first=True), 2).cuda()
    mask = nn.Transformer.generate_square_subsequent_mask(5, device="cuda")
    assert attention(x, mask=mask).is_cuda and attention.eval()(x).is_cuda
    raises("same device", lambda: attention.train()(x, mask=torch.zeros(5, 5)))
    assert F.scaled_dot_product_attention(x, x, x).is_cuda
    raises("same device", lambda: F.scaled_dot_product_attention(x, x.cpu(), x))
    table = nn.EmbeddingBag(5, 3).cuda()
    assert table(torch.tensor([[0, 1], [2, 3]], device="cuda")).is_cuda
    assert (
        F.interpolate(x[:, None], scale_factor=2).is_cuda
        and F.grid_sample(
            torch.randn(1, 1, 4, 4, device="cuda"),
            torch.zeros(1, 2, 2, 2, device="cuda"),
            align_corners=False,
        ).is_cuda
    )
    vectorized = torch.func.vmap(lambda row: (row * torch.ones(8, device=row.device)).sum())(x[0])
    assert vectorized.is_cuda and torch.func.grad(lambda one: (one**2).sum())(x[0]).is_cuda


def asserts():
    three = torch.zeros(4, 3, device="cuda")
    wrong = torch.tensor([0, 1, 3, 2], device="cuda")
    raises("device-side assert triggered", lambda: F.cross_entropy(three, wrong))
    # After an assert, the CUDA context is unusable.
    raises("device-side assert triggered", lambda: three + 1)
    raises("device-side assert triggered", torch.cuda.synchronize)
    assert torch.zeros(2).sum() == 0 and torch.cuda.is_available()


def memory():
    """Objects that a program deletes are freed, and so are the records about them."""
    from torchvet_probe.virtual import tags

    freed = []
    for _ in range(50):
        x = torch.zeros(2**22, device="cuda") + 1
        freed.append(x.untyped_storage()._weak_ref())
        del x
    assert all(map(torch.UntypedStorage._expired, freed))
    for _ in range(20000):
        torch.zeros(1, device="cuda")
    assert len(tags._tags) < 10000, len(tags._tags)


TESTS = (
    moves,
    factories,
    gradients,
    files,
    loaders,
    in_a_worker,
    half_precision,
    several,
    mixes,
    questions,
    layers,
    asserts,
    memory,
)


def main():
    probe_corpus.load_runtime()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    failed = 0
    for test in TESTS:
        if sys.argv[1:] and not any(part in test.__name__ for part in sys.argv[1:]):
            continue
        child = os.fork()
        if child == 0:
            from torchvet_probe import virtual, watch

            status = 1
            with contextlib.suppress(Exception):
                try:
                    device = virtual.install(2, lambda *_, **__: None)
                    watch.watch_threads([device])
                    with device:
                        test()
                    status = 0
                except BaseException:  # noqa: BLE001
                    traceback.print_exc()
            sys.stderr.flush()
            os._exit(status)
        ok = os.waitpid(child, 0)[1] == 0
        failed += not ok
        print(
            f"{'ok' if ok else 'FAILED':7} {test.__name__} ({len(inspect.getsource(test).splitlines())} lines)",
            flush=True,
        )
    print(f"{failed} failed, on PyTorch {torch.__version__}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
