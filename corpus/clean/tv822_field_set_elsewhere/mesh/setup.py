from mesh.groups import groups as env


def initialize(width):
    env.width = width
    env.row = list(range(width))
