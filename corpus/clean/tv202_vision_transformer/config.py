from types import SimpleNamespace

cfg = SimpleNamespace(
    image_size=32,
    patch_size=4,
    dim=48,
    depth=2,
    heads=4,
    classes=10,
    batch_size=8,
    lr=3e-4,
)
