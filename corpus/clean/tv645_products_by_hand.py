"""Own products with own gradients."""
import torch
from torch.autograd import Function


class Product(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x


class Power(Function):
    @staticmethod
    def forward(x, exponent):
        return x**exponent

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, exponent = inputs
        ctx.exponent = exponent
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ctx.exponent * x ** (ctx.exponent - 1), None


class Optional(Function):
    """The number of saved tensors depends on the input: both places agree."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.weighted = weight is not None
        if ctx.weighted:
            ctx.save_for_backward(x, weight)
            return x * weight
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, grad_output):
        if ctx.weighted:
            x, weight = ctx.saved_tensors
            return grad_output * weight, (grad_output * x).sum(0)
        (x,) = ctx.saved_tensors
        return grad_output, None


class Several(Function):
    """All saved tensors, by a star."""

    @staticmethod
    def forward(ctx, *tensors):
        ctx.save_for_backward(*tensors)
        return sum(tensors)

    @staticmethod
    def backward(ctx, grad_output):
        first, *others = ctx.saved_tensors
        return (grad_output,) * (1 + len(others))


x = torch.ones(4, 3, requires_grad=True)
weight = torch.ones(3, requires_grad=True)
Product.apply(x, x * 2).sum().backward()
Power.apply(x, 3).sum().backward()
Optional.apply(x, weight).sum().backward()
Optional.apply(x, None).sum().backward()
Several.apply(x, x + 1).sum().backward()
