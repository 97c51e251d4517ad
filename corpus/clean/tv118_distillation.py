"""Distil a big teacher into a small student."""
import torch
import torch.nn as nn
import torch.nn.functional as F

TEMPERATURE = 4.0
ALPHA = 0.7
NUM_CLASSES = 6


def make_net(width):
    return nn.Sequential(nn.Linear(20, width), nn.ReLU(), nn.Linear(width, NUM_CLASSES))


def distillation_loss(student_logits, teacher_logits, labels):
    soft_student = F.log_softmax(student_logits / TEMPERATURE, dim=1)
    soft_teacher = F.softmax(teacher_logits / TEMPERATURE, dim=1)
    kd = F.kl_div(soft_student, soft_teacher, reduction="batchmean") * TEMPERATURE**2
    ce = F.cross_entropy(student_logits, labels)
    return ALPHA * kd + (1 - ALPHA) * ce


def main():
    torch.manual_seed(0)
    teacher, student = make_net(256), make_net(16)
    teacher.eval()
    for p in teacher.parameters():
        p.requires_grad_(False)
    optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
    x = torch.randn(120, 20)
    y = torch.arange(120) % NUM_CLASSES
    for step in range(10):
        batch = slice(12 * step, 12 * step + 12)
        with torch.no_grad():
            teacher_logits = teacher(x[batch])
        loss = distillation_loss(student(x[batch]), teacher_logits, y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
