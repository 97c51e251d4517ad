from chem import build

print(build.gas().shape)
