from kernels.api import square


def energy(x):
    return square(x).sum()
