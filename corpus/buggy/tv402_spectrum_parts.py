"""Real and imaginary parts of what is no longer complex; a bound that is no number."""

import torch

signal = torch.randn(2, 4000)
spectrum = torch.stft(signal, 512, window=torch.hann_window(512), return_complex=True)
power = spectrum.abs().float()
phase = torch.atan2(power.imag, power)  # error: TV402
limit = torch.full((257,), 3.0)
power.clamp(0, limit)  # error: TV405
