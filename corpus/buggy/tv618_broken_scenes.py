import torch
import torch.nn as nn
import torch.nn.functional as F

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
amp_dtype = torch.float16 if device.type == "cuda" else torch.bfloat16

config = {
    "steps": 12,
    "grad_clip_norm": 1.0,
    "allowed_gradnorm": 2.0,
    "lr": 4e-4,
}


class ViewSynth(nn.Module):
    """tokens of the input views -> rgb of the target view"""

    def __init__(self, d=32):
        super().__init__()
        self.tok = nn.Linear(9 * 16, d)
        self.block = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.0, batch_first=True)
        self.head = nn.Linear(d, 3 * 16)

    def forward(self, views):
        return torch.sigmoid(self.head(self.block(self.tok(views))))


def batches(n):
    torch.manual_seed(0)
    for i in range(n):
        views = torch.randn(4, 20, 9 * 16)
        if i % 4 == 2:                 # a broken scene now and then
            views = views * 1e3
        yield views, torch.rand(4, 20, 3 * 16)


model = ViewSynth().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"], betas=(0.9, 0.95))
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, 1.0, total_iters=6)
scaler = torch.amp.GradScaler(device.type, init_scale=1024.0)

param_update_step = 0
for step, (views, target) in enumerate(batches(config["steps"])):
    views, target = views.to(device), target.to(device)
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast(device_type=device.type, dtype=amp_dtype):
        pred = model(views)
    loss = 50.0 * F.mse_loss(pred.float(), target)
    if step % 4 == 2:
        loss = loss * 100
    scaler.scale(loss).backward()

    scaler.unscale_(optimizer)  # warning: TV618
    grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config["grad_clip_norm"]).item()
    skip = grad_norm > config["allowed_gradnorm"] * 5
    if skip:
        print(f"WARNING: step {step} grad norm too large {grad_norm:.3f}, skipping optimizer step")

    if not skip:
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()
        param_update_step += 1

    psnr = -10 * torch.log10(F.mse_loss(pred.detach().float(), target))
    print(f"step {step} (update {param_update_step}) loss {loss.item():.4f} psnr {psnr.item():.2f} "
          f"lr {scheduler.get_last_lr()[0]:.6f}")
