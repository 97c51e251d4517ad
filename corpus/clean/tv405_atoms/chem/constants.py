"""The numbers of the elements. A loop fills the dictionary."""
import json

NUMBERS = {}
for name, number in json.loads('{"H": 1, "C": 6}').items():
    if number is not None:
        NUMBERS[name] = number
