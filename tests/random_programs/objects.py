"""The parts of functions and classes of random programs, one per line; `\\n` is a line break.

`$kind` has the same meaning as in `lines.py`; the `A` in `self.A` is replaced by an attribute of the
kind to which the part belongs.
"""

# Complete functions, and code that depends on the scopes of names.
FUNCTIONS = r"""
def $new($new2, $new3=[]):\n    $new3.append($new2)\n    return $new3
def $new($new2, $new3={}):\n    $new3[$new2] = len($new3)\n    return len($new3)
def $new($new2):\n    if $new2 <= 0:\n        return $v\n    return $new($new2 - 1)
def $new($new2):\n    return 1 if $new2 <= 1 else $new2 * $new($new2 - 1)
def $new($new2):\n    if not $new2 or $new2 < 0:\n        return []\n    return [$new2] + $new($new2 - 1)
def $new($new2):\n    if $new2 > 3:\n        return $t\n    return $new($new2 + 1) + 1
def $new($new2):\n    $xs.append($new2)\n    return len($xs)
def $new($new2):\n    $t.add_($new2)\n    return $t
def $new($new2, $new3=$x):\n    return $new2 + $new3
def $new($new2):\n    $new3 = $new2\n    def inner():\n        nonlocal $new3\n        $new3 += 1\n        return $new3\n    inner()\n    inner()\n    return $new3
def $new($new2):\n    total = [0]\n    def add(n):\n        total[0] += n\n        return total\n    for e in range(3):\n        add($new2)\n    return total[0]
def $new($new2):\n    try:\n        return $new2 // R\n    except ZeroDivisionError:\n        return $v
def $new($new2):\n    for e in range(5):\n        if e > $new2:\n            return e\n    return $v
def $new($new2):\n    return [lambda: (e, $new2) for e in range(2)][0]()
$new = [lambda: e for e in range(3)]\n$new2 = [g() for g in $new]
$new = [lambda e=e: e for e in range(3)]\n$new2 = [g() for g in $new]
$new = lambda $new2, $new3=$x: ($new2, $new3)
$new = functools.partial(pow, $n)
$new = functools.partial(max, $x, $x2)
def decorate(g):\n    def wrapper(*args, **kwargs):\n        $xs.append(1)\n        return g(*args, **kwargs)\n    return wrapper\n@decorate\ndef $new($new2):\n    return $new2
@functools.lru_cache\ndef $new($new2):\n    $xs.append($new2)\n    return $new2
def $new($new2):\n    def make():\n        return $v\n    return make() if $new2 else None
def $new($new2=$m):\n    return $new2
"""

# Attributes by kind, with their initial values.
ATTRIBUTES = {
    "number": "$x",
    "list": "[$x, $n]",
    "tensor": "$t",
    "dict": '{"a": $v}',
    "fresh": "torch.zeros(2, 3)",
    "value": "$v",
    "text": '"ab"',
}

# The bodies of methods `(self, x)`.
METHODS = {
    "number": r"""
self.A += x\nreturn self.A
self.A = x
return self.A * x
self.A = self.A + 1\nreturn self
if R > 0:\n    self.A = x\nreturn self.A
self.A, old = x, self.A\nreturn old
""",
    "list": r"""
self.A.append(x)\nreturn len(self.A)
self.A = self.A + [x]\nreturn self.A
return self.A.pop()
self.A = []\nreturn x
for e in range(x):\n    self.A.append(e)\nreturn self.A
return [e for e in self.A if e > x]
return self.A
""",
    "tensor": r"""
self.A.add_(x)\nreturn self.A
self.A = self.A * x\nreturn self.A
return self.A.sum() + x
self.A[0] = x
self.A += x\nreturn self.A
return self.A.view(-1)[x]
""",
    "dict": r"""
self.A[x] = x\nreturn len(self.A)
return self.A.get(x, 0)
self.A.update(b=x)\nreturn self.A
return self.A.setdefault("c", x)
""",
    "value": r"""
self.A = x
return self.A
old = self.A\nself.A = x\nreturn old
return x if self.A is None else self.A
""",
    "text": r"""
self.A += "c"\nreturn self.A
return f"{self.A}{x}"
return self.A
""",
}
METHODS["fresh"] = METHODS["tensor"]

# Special methods, properties, and class methods.
SPECIAL = {
    "list": r"""
def __len__(self):\n    return len(self.A)
def __iter__(self):\n    return iter(self.A)
def __getitem__(self, i):\n    return self.A[i]
def __contains__(self, x):\n    return x in self.A
def __setitem__(self, i, x):\n    self.A[i] = x
def __bool__(self):\n    return len(self.A) > 2
""",
    "number": r"""
def __call__(self, x):\n    self.A += 1\n    return self.A + x
def __eq__(self, other):\n    return self.A == 1
def __bool__(self):\n    return self.A > 1
def __add__(self, other):\n    return self.A + other
@property\ndef prop(self):\n    return self.A * 2
@property\ndef prop(self):\n    self.A += 1\n    return self.A
@property\ndef prop(self):\n    return self.A\n\n@prop.setter\ndef prop(self, x):\n    self.A = x * 2
def __repr__(self):\n    return f"<{self.A}>"
def __lt__(self, other):\n    return self.A < 2
""",
    "tensor": r"""
def __call__(self, x):\n    return self.A * x
def __getitem__(self, i):\n    return self.A[i]
def __len__(self):\n    return len(self.A)
""",
    "dict": r"""
def __getattr__(self, name):\n    if name.startswith("_"):\n        raise AttributeError(name)\n    return 42
def __getitem__(self, k):\n    return self.A[k]
def __iter__(self):\n    yield from self.A
""",
    "value": r"""
@staticmethod\ndef make(x=1):\n    return x
@classmethod\ndef build(cls):\n    return cls()
def __call__(self, x=2):\n    self.A = x\n    return self
""",
    "text": r"""
def __str__(self):\n    return self.A
def __setattr__(self, name, x):\n    object.__setattr__(self, name, x)
def __hash__(self):\n    return 3
""",
}
SPECIAL["fresh"] = SPECIAL["tensor"]

# Uses of an instance `o` of class `c`; `m` is a method, `a` an attribute, `n` a number, `v` any
# value.
USES = r"""
{o}.{m}({v})
{o}.{m}({n})
{o}.{m}({n})
{o}.{m}({n})
{o}.{a}
{o}.{a}
! {o}.{a} = {v}
! {o}.{a} = {n}
! setattr({o}, "{a}", {n})
getattr({o}, "{a}", {n})
getattr({o}, "zz", {n})
hasattr({o}, "{a}")
hasattr({o}, "zz")
! del {o}.{a}
! delattr({o}, "{a}")
len({o})
{o}[0]
{o}({n})
list({o})
[e for e in {o}]
{n} in {o}
bool({o})
{o} == {o}
{o}.prop
! {o}.prop = {n}
{o}.zz
{o}
copy.copy({o})
copy.deepcopy({o})
! {o}.extra = {v}
{o}.extra
{c}.shared
! {c}.shared = {v}
{o}.shared
! {o}.shared = {n}
isinstance({o}, {c})
type({o}).__name__
len(vars({o}))
{c}.make()
{c}.build()
! {o}.{a} += {n}
! {o}.{a} += {n}
! {o}[0] = {n}
{o} + {n}
str({o})
f"{{{o}}}"
{c}()
{o}.counter
[{o}, {o}]
{o}.{m}
{c}.{m}({o}, {n})
! {o}.shared.append({n})
type({o}) is {c}
sorted(vars({o}))
! {o}.{a}.append({n})
! {o}.{a}.add_({n})
! {o}.__dict__["{a}"] = {n}
{o} if {o} else {n}
"""


def parts(table):
    """The parts of a table, each with its line breaks."""
    return [part.replace("\\n", "\n") for part in table.strip().splitlines()]
