# A field of a global object is None until another module assigns it.
from mesh import layers, setup

setup.initialize(4)
print(setup.env.width, layers.__name__)
