"""The simple statements of random programs: one template per line, grouped by feature.

A line is an expression, whose value is assigned to a name, or, after `! `, a statement. `\\n` is a
line break: a part that may raise for an element of a collection stands on its own line, because
verdicts are about lines. `$kind` is replaced by a part of that kind (`writer.py` chooses it). Within
a line, the same word is always the same part; `$t2` is another part of kind `t`. Most statements
that raise are discarded, so a line need not be valid for every choice of its parts.

    t f i b   a tensor: any, floating, integer, boolean      a     an array of NumPy
    u         a tensor of the first tensor's shape           w     a view of some tensor, or any tensor
    d e       a dimension of the first tensor                k     an index, perhaps negative
    n m       a number from 1 to 4; a name of an integer     c     a number, any
    x         a name or literal of a number                  q     a name of a bool, or a condition
    s         a name of a string                             key   a string or number as key
    xs ts     a list; a list of tensors                      tu di st   a tuple, a dict, a set
    v         any value: a literal or a name                 any   any name
    shape     a shape; `reshape`: one of the first tensor's size         dtype, npdtype
    cond      a condition                                    new   a new name, or one to bind again
"""

CREATE = """
torch.zeros($shape)
torch.zeros($shape, dtype=$dtype)
torch.ones($shape)
torch.ones($n, $n2, dtype=$dtype)
torch.full($shape, $c)
torch.full(($n, $n2), $x)
torch.arange($n)
torch.arange($m)
torch.arange($k, 6)
torch.arange(0, 12, $n)
torch.arange(5, 0, -$n)
torch.arange(0.0, 1.0, 0.25)
torch.arange(12).view(3, 4)
torch.arange(12.0).reshape(2, 3, 2)
torch.linspace($c, 5, $n)
torch.linspace(0, 1, 5)
torch.logspace(0, 2, 3)
torch.randn($shape)
torch.rand($n, $n2)
torch.randint(0, 5, $shape)
torch.randint($n, (3, 2))
torch.randint(-3, 3, (4,), dtype=$dtype)
torch.randperm($n)
torch.eye($n)
torch.eye($n, $n2)
torch.empty($shape)
torch.tensor($c)
torch.tensor([$c, $c2, $c3])
torch.tensor([[1, 2, 3], [4, 5, 6]])
torch.tensor([[1.5, -2.0], [0.0, 4.0]])
torch.tensor([True, False, True])
torch.tensor([$c, $c2], dtype=$dtype)
torch.tensor($xs)
torch.tensor([$x, $x2])
torch.tensor([])
torch.as_tensor([$x, $x2, 3])
torch.zeros_like($t)
torch.ones_like($t, dtype=$dtype)
torch.full_like($t, $c)
torch.empty_like($t)
torch.rand_like($f)
torch.randn_like($f)
torch.randint_like($t, 0, 4)
$t.new_zeros($shape)
$t.new_ones(2, 3)
$t.new_full((2,), $c)
$t.new_tensor([1, 2])
$t.new_empty(($n,))
torch.from_numpy($a)
torch.tensor($a)
torch.as_tensor($a)
torch.tril($t)
torch.triu($t, 1)
torch.diag($t)
torch.bernoulli($f.sigmoid())
torch.normal(0.0, 1.0, ($n, 2))
torch.randn(2, 3, requires_grad=True)
torch.ones(3, 2).requires_grad_()
F.one_hot(torch.arange($n))
F.one_hot($i.flatten().abs() % 3, 3)
torch.multinomial(torch.ones(4), 2)
torch.complex(torch.ones(2), torch.zeros(2))
torch.tril_indices(3, 3)
torch.scalar_tensor($c)
"""

VIEWS = """
$t.view(-1)
$t.view($reshape)
$t.reshape($reshape)
$t.reshape(-1, $n)
$t.reshape($t2.shape)
$t.view_as($u)
$t.T
$t.mT
$t.t()
$t.transpose($d, $e)
torch.transpose($t, $d, $e)
$t.permute(*range($t.dim() - 1, -1, -1))
$t.permute(1, 0)
$t.permute(2, 0, 1)
$t[$k]
$w[$k]
$t[$k:]
$t[:$k]
$t[::$n]
$t[:, $k]
$t[..., $k]
$t[..., $k:]
$t[$k, $k2]
$t[$k, :, None]
$t[None]
$t[:, None]
$t[()]
$t[[0, $k]]
$t[$i]
$t[torch.tensor([0, 0, $k])]
$t[$t > 0]
$t[$b]
$t[$k:$k2, ..., :$n]
$t[$m]
$t.unsqueeze($d)
$t.unsqueeze(-1)
$t.squeeze()
$t.squeeze($d)
$t.expand($n, *$t.shape)
$t.unsqueeze(0).expand($n, *$t.shape)
$t.expand_as($t2)
torch.broadcast_to($t, ($n, *$t.shape))
$t.narrow($d, 0, $n)
$t.select($d, $k)
$t.flatten()
$t.flatten(1)
$t.flatten(0, 1)
$t.unflatten($d, (-1, 1))
$t.ravel()
$t.contiguous()
$t.clone()
$t.detach()
$t.data
$t.diagonal()
$t.unfold($d, $n, 1)
$t.movedim(0, -1)
$t.swapaxes($d, $e)
$t.index_select($d, torch.tensor([0, $n]))
$t.gather($d, torch.zeros_like($t, dtype=torch.long))
$t.gather($d, $i)
$t.take(torch.tensor([0, $n]))
$t.masked_select($t > $c)
$t.roll($k, $d)
$t.flip($d)
$t.repeat($n, $n2)
$t.repeat_interleave($n)
$t.repeat_interleave($n, dim=$d)
torch.tile($t, ($n,))
$t.unbind($d)
$t.chunk($n, dim=$d)
$t.split($n)
$t.split([$n, $n2], dim=$d)
$t.nonzero()
torch.atleast_2d($t)
! $new, $new2 = $t.chunk(2, dim=$d)
! $new, *$new2 = $t.split(1)
! $new, $new2 = $t[:2]
! $new, $new2 = $t.shape
! $new, *$new2 = $t.shape
! $new, $new2, $new3 = $t.unbind($d)
$t
$w
"""

WRITES = """
! $t.add_($c)
! $w.add_($c)
! $w.sub_($x)
! $w.mul_($c)
! $w.mul_($t2)
! $f.div_($c)
! $w.fill_($c)
! $w.zero_()
! $w.neg_()
! $w.abs_()
! $w.clamp_($k, 3)
! $w.clamp_(min=0)
! $w.relu_()
! $w.copy_($u)
! $w.copy_($t2)
! $t[$k] = $c
! $w[$k] = $c
! $w[$k] = $x
! $w[$k] = $t2
! $t[$k:] = $c
! $t[:, $k] = $c
! $w[..., $k] = $c
! $w[$k, $k2] = $c
! $t[...] = $c
! $t[:] = $u
! $t[$t > $c] = $c2
! $t[$b] = $c
! $t[[0, $k]] = $c
! $t[$i] = $c
! $t[$k] += $c
! $w[$k] *= $c
! $t[:, $k] -= 1
! $t[$k:$k2] += $t2
! $w += $c
! $w += $u
! $w -= $t2
! $w *= $c
! $f /= $c
! $w //= $n
! $w %= $n
! $i <<= 1
! $b &= $b2
! $b |= $b2
! $b ^= True
! $w.masked_fill_($w > $c, $c2)
! $w.index_fill_($d, torch.tensor([0]), $c)
! $w.index_add_(0, torch.tensor([0]), torch.ones_like($w[:1]))
! $w.scatter_(0, torch.zeros_like($w, dtype=torch.long), $c)
! $f.uniform_($n, 6)
! $f.normal_()
! $w.random_(0, 4)
! $f.exp_()
! $f.round_()
! $f.floor_()
! $f.sigmoid_()
! $f.sqrt_()
! $w.pow_(2)
! $w.eq_($c)
! $w.t_()
! $w.transpose_($d, $e)
! $w.unsqueeze_($d)
! $w.squeeze_()
! $f.bernoulli_(0.5)
! $w.lt_($c)
! $w.cumsum_(0)
! $t.data = $t2
! $t.data.fill_($c)
! torch.add($t, $u, out=$u2)
! torch.mul($t, 2, out=$t)
! $w.flatten()[0] = $c
! $w.view(-1)[$k] = $c
! $w.reshape(-1).add_(1)
! $w.T.fill_($c)
! $t[0], $t[1] = $c, $c2
! $w.squeeze().mul_(2)
! $t.numpy()[0] = $c
! $t.fill_diagonal_($c)
! nn.init.constant_($f, $c)
! nn.init.uniform_($f, -1, 1)
! nn.init.zeros_($f)
! $w.requires_grad_(True)
$w.add_($c)
$w.fill_($c)
$w.clamp_(0, 2)
$t
$t2
$w
"""

DTYPES = """
$t.float()
$t.double()
$t.half()
$t.bfloat16()
$t.int()
$t.long()
$t.short()
$t.byte()
$t.bool()
$t.to($dtype)
$t.to(dtype=$dtype)
$t.type($dtype)
$t.type_as($t2)
$t.to($t2)
$t.to("cpu")
$t.cpu()
$t + $c
$t - $x
$c - $t
$t * $u
$t + $u
$t + $t2
$t * $t2
$t / $n
$t / $u
$n / $t
$t // $n
$t // $c
$t % $n
$t % $c
$t ** 2
$t ** 0.5
2 ** $t
-$t
abs($t)
~$b
~$i
$i & 3
$i | $n
$i ^ $n
$b & $b2
$b | $b2
$b ^ $b2
$i << $n
$i >> 1
$t > $c
$t >= $x
$t == $u
$t != $c
$t < $u
$t <= $t2
$b + $b2
$b * $c
$b.sum()
$t.where($t > 0, $c)
torch.where($t > $c, $t, $u)
torch.where($b, $c, $c2)
torch.where($t > 0, 1.0, 0.0)
torch.where($t > 0)
torch.maximum($t, $u)
torch.minimum($t, $u)
torch.max($t, $u)
torch.clamp($t, $k, 3)
torch.clamp($t, min=$c)
$t.clamp(max=$c)
torch.relu($t)
$t.sigmoid()
$t.tanh()
$t.exp()
$t.abs().sqrt()
$t.abs().log1p()
$t.sin()
$t.cos()
$t.sign()
$t.round()
$t.floor()
$t.ceil()
$t.trunc()
$t.frac()
$t.neg()
$t.square()
$t.reciprocal()
$t.pow($n)
$t.fmod($n)
$t.remainder($c)
$t.isnan()
$t.logical_not()
$t.logical_and($u)
$t.eq($c)
$t.ne($u)
$t.gt($c)
torch.isin($t, torch.tensor([1, 2]))
torch.nan_to_num($t)
torch.lerp($f, $f, 0.5)
torch.floor_divide($t, $n)
torch.div($t, $n, rounding_mode="floor")
torch.div($t, $n, rounding_mode="trunc")
torch.add($t, $u, alpha=2)
torch.bitwise_and($i, $n)
torch.logical_or($b, $b2)
torch.equal($t, $u)
torch.allclose($f, $f)
torch.heaviside($f, torch.tensor(1.0))
torch.result_type($t, $t2)
$t.masked_fill($t > 0, $c)
$t.masked_fill($b, $c)
$t.scatter(0, torch.zeros_like($t, dtype=torch.long), $c)
$t.index_fill(0, torch.tensor([0]), $c)
F.softmax($f, dim=$d)
F.log_softmax($f, -1)
F.relu($t)
F.leaky_relu($f)
F.gelu($f)
F.elu($f)
F.pad($t, (1, $n))
F.pad($t, (0, 1), value=$c)
F.normalize($f, dim=0)
F.dropout($f, 0.5)
F.hardtanh($f)
F.sigmoid($f)
F.softplus($f)
F.interpolate(torch.rand(1, 1, 4, 4), scale_factor=2)
"""

REDUCE = """
$t.sum()
$t.sum($d)
$t.sum($d, keepdim=True)
$t.sum(dim=($d, $e))
torch.sum($t, dim=$d, dtype=$dtype)
$f.mean()
$f.mean($d)
$f.mean($d, keepdim=True)
$t.prod()
$t.prod($d)
$t.max()
$t.min()
$t.amax($d)
$t.amin()
$t.max($d).values
$t.min($d).indices
$t.max($d)[0]
$t.argmax()
$t.argmax($d)
$t.argmin($d, keepdim=True)
$t.any()
$t.all()
$t.any($d)
$t.all($d, keepdim=True)
$f.std()
$f.var($d)
$f.norm()
$f.norm(dim=$d)
$t.count_nonzero()
$t.count_nonzero($d)
$t.median()
$f.logsumexp($d)
$t.cumsum($d)
$t.cumprod($d)
$t.cummax($d)
$t.sort()
$t.sort($d, descending=True).values
$t.argsort($d)
$t.topk($n)
$t.unique()
$t.mode()
$f.quantile(0.5)
torch.bincount($i)
torch.histc($f, 4)
torch.diff($t)
torch.aminmax($t)
torch.cat([$t, $u])
torch.cat([$t, $u], dim=$d)
torch.cat(($t, $t2), $d)
torch.cat($ts)
torch.stack([$t, $u])
torch.stack([$t, $u], dim=$d)
torch.stack($ts)
torch.hstack([$t, $u])
torch.vstack([$t, $t2])
torch.concat([$t, $t2])
$t @ $t2
$f @ $f.T
$f @ $f2
torch.mm($f, $f2)
torch.matmul($f, $f2)
torch.bmm($f, $f2)
torch.outer($t.flatten(), $t2.flatten())
torch.dot($f.flatten(), $f.flatten())
torch.einsum("ij,jk->ik", $f, $f2)
torch.einsum("ij->ji", $t)
torch.einsum("i,j->ij", $f, $f2)
torch.kron($t, $t2)
torch.meshgrid($t, $t2, indexing="ij")
torch.cdist($f, $f2)
torch.trace($t)
F.linear($f, torch.ones(2, 3))
F.mse_loss($f, $f2)
F.cross_entropy(torch.randn(4, 3), torch.randint(0, 3, (4,)))
F.cross_entropy(torch.randn(4, 3), $i)
F.embedding($i, torch.zeros(6, 2))
! $new, $new2 = $t.max($d)
! $new, $new2 = $t.sort($d)
! $new, $new2 = $f.topk(1, $d)
! $new, $new2 = torch.std_mean($f)
! $new, $new2 = torch.unique($t, return_counts=True)
"""

SCALARS = """
$t.max().item()
$t.sum().item()
$t.flatten()[0].item()
$t[$k, $k2].item()
$t.tolist()
$t.numel()
$t.nelement()
$t.size()
$t.size($d)
$t.shape
$t.shape[$d]
$t.shape[$k:]
$t.shape[0] * $t.shape[-1]
$t.shape == $t2.shape
$t.dim()
$t.ndim
len($t)
len($t.shape)
tuple($t.shape)
list($t.shape)
math.prod($t.shape)
float($t.sum())
int($t.max())
bool($t.any())
$t.dtype
$t.dtype == $dtype
$t.dtype.is_floating_point
$t.device.type
$t.is_floating_point()
$t.requires_grad
$t.is_leaf
$t.is_contiguous()
$t.stride()
$t.stride(0)
$t.element_size()
$t.storage_offset()
$t.shape.numel()
$t is $t2
isinstance($any, torch.Tensor)
torch.is_tensor($any)
sum($t.flatten().tolist())
max($t.flatten().tolist())
[row.sum().item() for row in $t]
[int(e) for e in $t.flatten()]
list($t)
torch.numel($t)
$t.item()
str($t.shape)
str($t.dtype)
f"{tuple($t.shape)}"
torch.get_default_dtype()
torch.is_grad_enabled()
$t.grad
$t.grad_fn
$t.tolist()[0]
"""

NUMPY = """
np.zeros($shape)
np.ones(($n, 2), dtype=$npdtype)
np.arange($n)
np.arange(6).reshape(2, 3)
np.arange(0, 1, 0.25)
np.linspace(0, 1, $n)
np.array([$c, $c2, $c3])
np.array([[1, 2], [3, 4]])
np.array([[1.5, 2], [3, 4]], dtype=$npdtype)
np.array($xs)
np.eye($n)
np.full(($n, 3), $c)
np.random.rand($n, 2)
np.random.randint(0, 4, (3, $n))
np.zeros_like($a)
np.ones_like($a, dtype=$npdtype)
$t.numpy()
$t.detach().numpy()
$t.detach().cpu().numpy()
$t.numpy().copy()
$a.reshape(-1)
$a.T
$a[$k]
$a[$k:]
$a[:, $k]
$a[..., 0]
$a[None]
$a[$a > $c]
$a.astype($npdtype)
$a.copy()
$a.flatten()
$a.ravel()
$a.sum()
$a.sum(axis=0)
$a.mean()
$a.mean(axis=-1, keepdims=True)
$a.max()
$a.argmax()
$a.argmax(axis=0)
$a.min(axis=0)
$a.cumsum()
$a.tolist()
$a.item(0)
$a.shape
$a.shape[0]
$a.dtype
$a.size
$a.ndim
len($a)
$a + $c
$a * $a2
$a / $n
$a // $n
$a % $n
$a > $c
$a @ $a2
-$a
np.where($a > 0, $a, $c)
np.clip($a, 0, 2)
np.concatenate([$a, $a])
np.stack([$a, $a])
np.vstack([$a, $a2])
np.exp($a)
np.sqrt(np.abs($a))
np.floor($a)
np.sort($a)
np.argsort($a)
np.unique($a)
np.expand_dims($a, 0)
np.squeeze($a)
np.transpose($a)
np.tile($a, 2)
np.repeat($a, 2)
np.dot($a, $a2)
np.maximum($a, $a2)
np.allclose($a, $a)
np.float32($c)
np.int64($n) + $x
float($a.sum())
int($a.max())
! $a[$k] = $c
! $a[$k:] = $c
! $a[:, $k] = $c
! $a[$a > $c] = $c2
! $a += $c
! $a *= $n
! $a -= $a2
! $a[$k] += $c
! $a.sort()
! $a.fill($c)
! $a.resize((2, 2))
! $a.shape = (-1,)
! $a.put(0, $c)
! np.copyto($a, $c)
! np.random.shuffle($a)
! $a.reshape(-1)[0] = $c
! np.add($a, 1, out=$a)
! $new, $new2 = $a.shape
$a
$t
"""

NUMBERS = """
$c
$x + $x2
$x - $x2
$x * $x2
$x / $x2
$x // $n
$x // -$n
$x % $n
$x % -$n
-$x
-$x // $n
$x ** 2
2 ** ($m % 8)
$m // $m2
$m % $m2
divmod($m, $n)
divmod(-$m, $n)
abs($x)
min($x, $x2)
max($x, $x2, 1)
round($x)
round($x / 3, 1)
int($x)
int($x / 2)
float($x)
bool($x)
int($q)
$m & 3
$m | 4
$m ^ $n
~$m
$m << $n
$m >> 1
$x < $x2
$x == $x2
0 <= $x < 5
$x < $x2 < $n
not $x
$x or $x2
$x and $x2
$x if $q else $x2
$q and $x
$q or None
True + $n
$q + $q
$m.bit_length()
math.floor($x / 2)
math.ceil($x / 2)
math.sqrt(abs($x))
math.gcd($m, 6)
math.prod([$x, 2, 3])
math.inf
math.log2(8)
math.isclose($x, $x2)
pow($n, 2, 3)
sum([$x, $x2, 1])
sum(range($n))
len(range($m))
hash($n) == $n
$x is None
isinstance($any, int)
isinstance($any, (int, float))
type($any) is int
type($x).__name__
int("1$n")
float("1.5")
int("ff", 16)
complex($n, 1)
random.randint(0, $n)
random.choice([1, 2, 3])
random.random()
len(os.environ["DATA"])
$any
! $m += $x
! $m -= 1
! $m *= $n
! $m //= $n
! $m %= $n
! $m **= $m % 3
! $m <<= 1
! $m = $m + 1
! $new = $new2 = $x
! $new, $new2 = $x, $x2
! $m, $new = $x, $m
! $new, ($new2, $new3) = $x, ($x2, $n)
! $new, *$new2, $new3 = $x, $x2, 3, 4
! $new, $new2 = divmod($m, $n)
! $new: int = $x
! del $any
"""

STRINGS = """
"ab" + $s
$s + $s2
$s * $n
$s.upper()
$s.title()
$s[$k:]
$s[::-1]
$s[0]
len($s)
$s.replace("a", "xy")
$s.split(",")
$s.split()
",".join([$s, $s2])
"".join(sorted($s))
$s.strip()
$s.startswith("a")
$s.endswith("b")
$s.find("b")
$s.count("a")
$s.index("a")
$s.isdigit()
$s.zfill($n)
$s.rjust(6, "-")
$s.partition("-")
$s.encode()
"a" in $s
$s == $s2
$s < $s2
f"{$x}-{$s}"
f"{$x:.2f}"
f"{$m:03d}|{$s!r:>6}"
f"{$x=}"
"%d-%s" % ($m, $s)
"%.1f" % $x
"{}/{}".format($x, $s)
"{a}{b}".format(a=$s, b=$n)
str($x)
str($any) if isinstance($any, int) else ""
repr($s)
$s or "none"
int($s) if $s.isdigit() else -1
chr(97 + $n)
ord("a")
list($s)
set($s)
$s.splitlines()
! $s += "b"
! $new, $new2 = "p-q".split("-")
"a,b" if $q else "c"
"""

LISTS = """
[$v, $v2]
[$x, $x2, $n]
[$t, $u]
[[$x, $n], [$x2]]
[]
list(range($n))
list(range($m))
list(range(5, 0, -$n))
[$v] * $n
$xs + [$v]
$xs[$k]
$xs[-1]
$xs[$k:$k2]
$xs[::-1]
$xs[::2]
$xs * 2
len($xs)
len($xs) > $n
$xs == $xs2
$xs is $xs2
$x in $xs
$v not in $xs
$xs.index($xs[0])
$xs.count($v)
$xs.copy()
$xs
list($xs)
tuple($xs)
list(reversed($xs))
sorted($xs)
sorted($xs, reverse=True)
sorted($xs, key=lambda e: -e)
sum($xs)
min($xs)
max($xs, default=0)
any($xs)
all($xs)
any(\\n    e > $n\\n    for e in $xs)
all(isinstance(e, int) for e in $xs)
sum(e for e in $xs if isinstance(e, int))
sum(1 for e in $xs\\n    if e)
next(iter($xs))
next(iter($xs), None)
list(enumerate($xs))
list(zip($xs, $xs2))
dict(zip("abc", $xs))
list(map(str, $xs))
list(map(lambda e: e * 2, $xs))
list(filter(None, $xs))
[e for e in $xs]
[e for e in $xs\\n    if e]
[e for e in $xs\\n    if isinstance(e, int) and e > $n]
[e * 2 for e in range($n) if $cond]
[i * j for i in range($n) for j in range(2)]
[[i] * j for i, j in enumerate([1, 2])]
[e for row in [[1, 2], [3]] for e in row]
{e: i for i, e in enumerate($xs)}
{e for e in $xs}
[\\n    len(str(e))\\n    for e in $xs]
[$xs.pop() for _ in range(2)]
[t.shape for t in $ts]
[t * 2 for t in $ts]
sum(t.sum() for t in $ts)
len($ts)
$ts[$k]
functools.reduce(lambda p, e: p + e, $xs, 0)
itertools.chain($xs, [1])
list(itertools.islice($xs, 2))
copy.copy($xs)
copy.deepcopy($xs)
max($xs, key=lambda e: -e)
$xs.pop()
$xs.pop(0)
$xs.pop($k)
! $xs.append($v)
! $xs.append($x)
! $xs.extend([$v, $v2])
! $xs.extend($xs2)
! $xs.insert($k, $v)
! $xs.remove($xs[0])
! $xs.remove($n)
! $xs.reverse()
! $xs.sort()
! $xs.sort(key=lambda e: -e)
! $xs.clear()
! $xs += [$v]
! $xs *= 2
! $xs[$k] = $v
! $xs[0] = $x
! $xs[$k:$k2] = [$v]
! $xs[:] = [$v, $v2, $n]
! $xs[len($xs):] = [$x]
! $xs[$k] += $n
! del $xs[$k]
! del $xs[:1]
! $xs[0], $xs[-1] = $xs[-1], $xs[0]
! $xs[-1].append($x)
! $xs[$k].add_($c)
! $ts[$k].add_($c)
! $ts.append($t)
! $ts.append($ts[0])
! $new, *$new2 = $xs
! *$new, $new2 = $xs
! $new, $new2 = $xs[:2]
! [$xs.append(e) for e in range($n)]
! list(map($xs.append, [1, 2]))
! $xs.append(len($xs))
"""

TUPLES = """
($v, $v2)
($x,)
()
$tu[$k]
$tu[-1]
$tu + ($v,)
len($tu)
$tu[$k:]
$x in $tu
$tu == ($x, $x2)
$tu
list($tu)
sum(e for e in $tu if isinstance(e, int))
tuple(e for e in range($n))
Pair($x, $v)
Pair(1, right=$x).right
Pair($x, 2)._replace(left=$n)
! $new, $new2 = $tu[:2]
! $new, *$new2 = $tu
! $tu += ($x,)
! $tu[0].append($x)
"""

DICTS = """
{"a": $v, "b": $x}
{$key: $v, $key2: $v2}
dict(a=$x, b=$v)
{}
{k: v for k, v in zip("ab", [$x, $x2])}
{k: len(str(v)) for k, v in $di.items()}
{k: v for k, v in $di.items() if k != "a"}
{**$di, $key: $v}
$di | {$key: $v}
$di[$key]
$di["a"]
$di.get($key)
$di.get($key, $x)
$key in $di
len($di)
list($di)
list($di.values())
list($di.items())
sorted($di)
tuple($di.keys())
sum($di.values())
next(iter($di.values()))
max($di, key=$di.get)
$di.copy()
$di
dict($di)
$di == $di2
dict.fromkeys("ab", $x)
collections.Counter("abca")
collections.defaultdict(int)
collections.defaultdict(list)
collections.OrderedDict(a=$x)
collections.deque([$x, $n], maxlen=2)
copy.deepcopy($di)
$di.pop($key, None)
$di.pop("a")
$di.setdefault($key, $v)
$di.setdefault($key, []).append($x)
$di.popitem()
! $di[$key] = $v
! $di["a"] = $x
! $di[$key] += 1
! $di.update(a=$x)
! $di.update({$key: $v})
! $di.update($di2)
! $di.setdefault($key, $x)
! $di |= {$key: $v}
! del $di[$key]
! $di.clear()
! $di[$key] = $di.get($key, 0) + 1
! $di[$key].append($x)
! $di.setdefault("l", []).append($v)
! $di[len($di)] = $x
! $di[$x] = $s
! $new = $di.pop($key)
"""

SETS = """
{$x, $x2, $n}
set($xs)
set()
$st | {$x}
$st & {1, 2}
$st - {$x}
$st ^ {$n}
len($st)
$x in $st
sorted($st)
sum($st)
min($st)
$st == {1, 2}
$st <= {1, 2, 3}
$st.copy()
$st
frozenset($st)
{e % 2 for e in range($n)}
$st.union([$x])
list($st)
! $st.add($x)
! $st.discard($x)
! $st.remove($n)
! $st.update([$x, 7])
! $st |= {$n}
! $st -= {1}
! $st.clear()
$st.pop()
"""

CHAINS = """
$q and $xs.append($x)
$q or $xs.append($x)
$q and $w.add_(1)
$xs.append($n) or $x
$xs and $xs.pop()
$xs and $xs[0]
($x if $q else None) or $x2
$any or $any2
$any and $any2
$v if $q else $v2
$t if $q else $t2
$t if $q else None
[$x, $x2][$q]
($x, $x2)[bool($q)]
$q and not $q
$cond and $x > 1 and $xs.append(1)
($q and $x) or ($x2 and $n)
$x if $x2 > 1 else $v if $q else $n
[$x if e else $n for e in range(2)]
{True: $v, False: $v2}[bool($q)]
None if $q else $t
(lambda: $x)() if $q else $x2
! $q and $xs.append($v)
! $cond and $xs.append($x)
! $cond or $xs.append($x)
! $cond and $t.fill_($c)
! $xs.append($x) if $cond else None
! $q or $di.update(a=$x)
! assert $x is not None
! assert isinstance($x, (int, float)), "number"
! assert $cond or $q
! assert $cond
"""

WALRUS = """
($new2 := $x) + 1
($new2 := $m) > 2
[($new2 := e) for e in range($n)]
$q and ($new2 := $x)
len($new2 := [$x, $n])
[y for e in range($n) if (y := e * 2) > 1]
any(($new2 := e) > 1 for e in range(4))
"""

LAYERS = """
nn.Linear(3, $n)($f)
nn.Linear(4, 2)(torch.randn($n, 4))
nn.Linear(2, 2, bias=False)($f)
nn.Linear($f.shape[-1], 3)($f)
nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, $n))($f)
nn.Conv2d(1, $n, 3, padding=1)(torch.randn(2, 1, 5, 5))
nn.Conv2d(3, 4, $n, stride=2)(torch.randn(1, 3, 8, 8))
nn.Conv1d(2, 3, $n)(torch.randn(1, 2, 6))
nn.MaxPool2d(2)(torch.randn(1, 1, 6, 5))
nn.AdaptiveAvgPool2d(1)(torch.randn(2, 3, 4, 4))
nn.BatchNorm1d(3)(torch.randn(4, 3))
nn.LayerNorm(4)(torch.randn(2, 4))
nn.Embedding(6, $n)($i)
nn.Embedding(10, 3)(torch.randint(0, 8, (2, 4)))
nn.Dropout(0.5)($f)
nn.Flatten()($t)
nn.LSTM(3, 4, batch_first=True)(torch.randn(2, 5, 3))
nn.GRU(2, 3)(torch.randn(4, 1, 2))
nn.MultiheadAttention(4, 2)(torch.randn(3, 1, 4), torch.randn(3, 1, 4), torch.randn(3, 1, 4))
nn.MSELoss()($f, $f2)
nn.CrossEntropyLoss()(torch.randn(4, $n), torch.randint(0, $n2, (4,)))
nn.CrossEntropyLoss(reduction="none")(torch.randn(4, 3), torch.tensor([0, 1, 2, $n]))
nn.BCELoss()(torch.rand(3), torch.ones(3))
nn.BCEWithLogitsLoss()($f, torch.ones_like($f))
nn.NLLLoss()(F.log_softmax(torch.randn(2, 3), 1), torch.tensor([0, $n]))
nn.Softmax(dim=-1)($f)
nn.Parameter(torch.zeros($shape))
nn.Identity()($any)
nn.Unfold(2)(torch.randn(1, 1, 3, 3))
nn.PixelShuffle(2)(torch.randn(1, 4, 2, 2))
nn.Upsample(scale_factor=2)(torch.randn(1, 1, 2, $n))
nn.ConvTranspose2d(2, 1, 2, stride=2)(torch.randn(1, 2, 3, $n))
[p.shape for p in nn.Linear(2, $n).parameters()]
sum(p.numel() for p in nn.Linear(3, $n).parameters())
nn.Linear(2, $n).weight
nn.Linear(2, $n).bias.shape
list(nn.Linear(1, 1).state_dict())
len(nn.Sequential(nn.ReLU(), nn.Flatten()))
nn.ModuleList([nn.Linear(2, 2) for _ in range($n)])
torch.autograd.grad(($f * 2).sum(), $f, allow_unused=True)
"""

MANY = """
[[] for _ in range(R + 1)]
[[$x] for _ in range(R + 1)]
[{"a": $x} for _ in range(R + 1)]
[($x, [$v]) for _ in range(R + 1)]
[torch.zeros(2) for _ in range(R + 1)]
[torch.full((2,), $c) for _ in range(R + 2)]
[$t * 1 for _ in range(R + 1)]
[$t for _ in range(R + 1)]
[torch.rand(e + 1) for e in range(R + 1)]
{e: [] for e in range(R + 1)}
{e: torch.zeros(2) for e in range(R + 1)}
{str(e): $t + 0 for e in range(R + 1)}
list($ts)
list($di.values())
$ts[0]
$ts[R]
$ts[-1].sum()
$xs[R]
$di[R]
$di["0"]
($xs[0], $xs[-1])
$xs[0] is $xs[-1]
len($xs[0])
len($xs[R])
len($di[0])
$xs[0]["a"]
$xs[-1]["a"]
$xs[0][1]
sum(\\n    len(e)\\n    for e in $xs)
! $xs[0].append($x)
! $xs[R].append($x)
! $xs[-1].extend([$x, $x2])
! $xs[0].clear()
! $xs[0]["a"] = $v
! $xs[R].update(a=$v, b=$x)
! $xs[0][1].append($x)
! $ts[0].fill_($c)
! $ts[R].add_($c)
! $ts[0][0] = $c
! $ts[-1] += 1
! $ts[0].unsqueeze_(0)
! $ts[R] = $t
! $di[0].append($x)
! $di[0].fill_($c)
! $di[R].add_(1)
! $di["0"].mul_($c)
! $di[R] = $t
! for e in $ts:\\n    e.add_($c)
! for e in $xs:\\n    e.append($x)
! for e in $di.values():\\n    e.add_($c)
"""

TABLES = {
    "create": (CREATE, 10),
    "views": (VIEWS, 12),
    "writes": (WRITES, 14),
    "dtypes": (DTYPES, 10),
    "reduce": (REDUCE, 6),
    "scalars": (SCALARS, 6),
    "numpy": (NUMPY, 6),
    "numbers": (NUMBERS, 8),
    "strings": (STRINGS, 4),
    "lists": (LISTS, 12),
    "tuples": (TUPLES, 3),
    "dicts": (DICTS, 7),
    "sets": (SETS, 3),
    "many": (MANY, 6),
    "chains": (CHAINS, 4),
    "walrus": (WALRUS, 2),
    "layers": (LAYERS, 4),
}
