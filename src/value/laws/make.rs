//! Values, objects and changes of the heap, made from arbitrary bytes. Each choice has few options,
//! so that many values are equal, or differ in only one fact.

use std::rc::Rc;

use super::super::{
    Among, ArrayKind, Attrs, CodeId, Data, Device, Dict, Dim, Dtype, Function, Grad, Heap, Instance, Items, Iter, Key,
    Lazy, Met, ObjId, Open, Origin, Partial, Past, Picks, Progress, Range, Ranged, Role, Scope, Sign, Size, Source,
    Suspended, Sym, Symbol, Taken, Tensor, Topic, Type, UserClass, Value, sym,
};
use crate::syntax::{FileId, Span};

/// Arbitrary bytes, read one after the other, followed by zeros.
pub(super) struct Bytes<'a> {
    bytes: &'a [u8],
    /// Whether the bounds of ranges are integers: joins of other ranges depend on the order of the
    /// joins.
    integral: bool,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(bytes: &'a [u8], integral: bool) -> Bytes<'a> {
        Bytes { bytes, integral }
    }

    /// A number below `n`.
    pub(super) fn below(&mut self, n: u8) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        first % n
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 1
    }

    fn some<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.coin().then(|| make(self))
    }

    fn many<T>(&mut self, most: u8, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = self.below(most + 1);
        (0..count).map(|_| make(self)).collect()
    }

    pub(super) fn name(&mut self) -> Sym {
        sym(["p", "q", "inherited", "method"][usize::from(self.below(4))])
    }

    fn span(&mut self) -> Span {
        let start = u32::from(self.below(2));
        Span { file: FileId(0), start, end: start + 1 }
    }

    fn at(&mut self) -> Origin {
        self.some(Self::span)
    }

    fn text(&mut self) -> Rc<str> {
        Rc::from(["a", "b", "c"][usize::from(self.below(3))])
    }

    fn size(&mut self) -> Size {
        match self.below(4) {
            0 => Size::Unknown,
            1 => Size::symbol(Symbol { id: 1, name: sym("B"), sign: Sign::Positive, half_of: None }),
            n => Size::Int(i64::from(n)),
        }
    }

    fn number(&mut self) -> f64 {
        let n = f64::from(self.below(6));
        if self.integral { n } else { n / 2.0 }
    }

    fn range(&mut self) -> Range {
        let (a, b) = (self.number(), self.number());
        let mut range = match self.below(3) {
            0 => Range::of_values(&[a]).unwrap(),
            1 => Range::bounds(a.min(b), a.max(b)),
            _ => Range::bounds(a, a).union(&Range::bounds(b, b)),
        };
        (range.attained, range.certain, range.epoch) = (self.coin(), self.coin(), self.coin());
        range.below =
            self.some(|_| Size::symbol(Symbol { id: 1, name: sym("B"), sign: Sign::Positive, half_of: None }));
        range.uneven = self.some(|it| match it.coin() {
            true => Rc::from([]),
            false => Rc::from([Range::bounds(0.0, it.number())]),
        });
        let value = if self.coin() { range.lo() } else { range.hi() };
        // If there is only one value, a known member adds nothing.
        let told = range.attained && range.lo() == range.hi();
        range.met = self.some(|it| Met { value, always: it.coin() }).filter(|_| !told);
        range
    }

    fn ranged(&mut self) -> Ranged {
        Ranged {
            range: self.range(),
            dense: self.coin(),
            span: self.some(|it| Size::Int(i64::from(it.below(2)))),
            at: self.at(),
        }
    }

    fn device(&mut self) -> Device {
        if self.coin() { Device::CPU } else { Device::CUDA }.implied_if(self.below(4) == 3)
    }

    fn taken(&mut self) -> Taken {
        [Taken::Perhaps, Taken::Drawn, Taken::Each][usize::from(self.below(3))]
    }

    fn past(&mut self) -> Past {
        Past {
            interpolated: self.at(),
            scaled: self.at(),
            recoloured: self.at(),
            flipped: self.at(),
            whole: self.coin(),
            drawn: self.some(|it| (it.span(), 0)),
            vocabulary: self.some(|it| (i64::from(it.below(2)), it.span())),
        }
    }

    pub(super) fn tensor(&mut self, world: &World) -> Tensor {
        let mut out = Tensor::default();
        if self.below(8) == 7 {
            out.array = ArrayKind::Numpy;
        }
        if self.below(8) == 7 {
            out.wrapper = Some(sym("torchvision.tv_tensors.Mask"));
        }
        let dim = |it: &mut Self| {
            let size = it.size();
            let at = it.at().filter(|_| !size.is_unknown());
            Dim { size, at, batch: it.coin() }
        };
        out.shape = self.some(|it| it.many(2, dim));
        if out.shape.is_none() {
            let ends = self.many(2, dim);
            out.set_trailing(ends);
        }
        out.shape_at = self.at().filter(|_| out.shape.is_some());
        out.dtype = self.some(|it| if it.coin() { Dtype::Float32 } else { Dtype::Int64 });
        out.dtype_at = self.at().filter(|_| out.dtype.is_some());
        out.device = self.some(Self::device);
        out.device_at = self.at().filter(|_| out.device.is_some());
        out.range = self.some(Self::range);
        out.range_at = self.at().filter(|_| out.range.is_some());
        out.role = self.some(|it| if it.coin() { Role::Logits } else { Role::Image });
        out.role_at = self.at().filter(|_| out.role.is_some());
        out.past = self.past();
        out.grad = [Grad::Unknown, Grad::Off, Grad::Leaf, Grad::Attached][usize::from(self.below(4))];
        out.layout = self.some(|it| if it.coin() { Rc::from([0, 1]) } else { Rc::from([1, 0]) });
        out.picks = self.some(|it| Picks { of: world.tensor, writes: 0, lo: it.number(), hi: 6.0, all: it.coin() });
        out.data = self.some(|it| if it.coin() { Rc::from([f64::NAN]) } else { Rc::from([1.0]) });
        (out.parameter, out.freed, out.unsure) = (self.coin(), self.at(), self.coin());
        out
    }

    fn attrs(&mut self, heap: &mut Heap, world: &World, depth: u8) -> Attrs {
        self.many(2, |it| (it.name(), it.value(heap, world, depth))).into_iter().collect()
    }

    pub(super) fn items(&mut self, heap: &mut Heap, world: &World, depth: u8) -> Items {
        if self.coin() {
            Items::Many(self.value(heap, world, depth))
        } else {
            Items::Exact(self.many(2, |it| it.value(heap, world, depth)))
        }
    }

    pub(super) fn dict(&mut self, heap: &mut Heap, world: &World, depth: u8) -> Dict {
        let entries = self.many(2, |it| (Key::Str(it.text()), it.value(heap, world, depth)));
        let mut dict = Dict { open: self.some(|it| it.value(heap, world, depth)), ..Dict::default() };
        dict.entries.extend(entries);
        if self.integral {
            // If the orders of keys differ, a join forgets more than necessary, so the keys are
            // sorted.
            dict.entries.sort_by(|a, _, b, _| format!("{a:?}").cmp(&format!("{b:?}")));
        }
        dict
    }

    #[expect(clippy::iter_not_returning_iterator, reason = "an iterator of a program")]
    pub(super) fn iter(&mut self, heap: &mut Heap, world: &World, depth: u8) -> Iter {
        if self.below(3) == 1 {
            let [first, second] = &world.sources;
            let source = if self.below(2) == 0 { first } else { second }.clone();
            let progress = match self.below(3) {
                0 => Progress::Fresh,
                1 => Progress::Started,
                _ => Progress::Done,
            };
            let suspended = Some(Suspended { source, progress });
            return Iter {
                items: Items::Many(Value::Unknown),
                once: self.below(2) == 1,
                first: None,
                last: None,
                filled: false,
                suspended,
            };
        }
        Iter {
            once: self.below(2) == 1,
            filled: self.below(2) == 1,
            suspended: None,
            items: self.items(heap, world, depth),
            first: self.some(|it| it.value(heap, world, depth)),
            last: self.some(|it| it.value(heap, world, depth)),
        }
    }

    /// A value of any kind, which may refer to existing objects or to new ones.
    pub(super) fn value(&mut self, heap: &mut Heap, world: &World, depth: u8) -> Value {
        let kind = self.below(27);
        self.value_of(kind, heap, world, depth)
    }

    pub(super) fn value_of(&mut self, kind: u8, heap: &mut Heap, world: &World, depth: u8) -> Value {
        let Some(below) = depth.checked_sub(1) else {
            return Value::Int(i64::from(self.below(4)));
        };
        let mut value = |it: &mut Self| it.value(heap, world, below);
        match kind {
            0 => Value::Unknown,
            1 => Value::None,
            2 => [Value::Ellipsis, Value::Bool(true), Value::Bool(false)][usize::from(self.below(3))].clone(),
            3 => Value::Int(i64::from(self.below(6))),
            4 => Value::Float(self.number()),
            5 => Value::Str(self.text()),
            6 => Value::size(&self.size()),
            7 => {
                let types = [Type::Bool, Type::Int, Type::Float, Type::Complex, Type::Str, Type::Bytes];
                Value::Any(types[usize::from(self.below(6))])
            }
            8 => {
                let ranged = self.ranged();
                let fits = self.integral && ranged.range.lo() < ranged.range.hi();
                if fits { Value::Ranged(Rc::new(ranged)) } else { Value::ranged(ranged.range, ranged.dense, ranged.at) }
            }
            9 => {
                let ranged = self.ranged();
                let fits = ranged.range.lo() < ranged.range.hi();
                if fits { Value::Floats(Rc::new(ranged)) } else { Value::floats(ranged.range, ranged.at) }
            }
            10 => {
                let texts: &[&str] = [&["a", "b"], &["b", "a"], &["b", "c"]][usize::from(self.below(3))];
                Value::Among(Rc::new(Among {
                    texts: texts.iter().copied().map(Rc::from).collect(),
                    taken: self.taken(),
                }))
            }
            11 => Value::tuple(self.many(2, value)),
            12 => Value::Slice(Rc::new([value(self), value(self), Value::None])),
            13 => Value::Dtype(if self.coin() { Dtype::Float32 } else { Dtype::Int64 }),
            14 => Value::Device(self.device()),
            15 => Value::path(if self.coin() { "torch.nn" } else { "torch.nn.Module" }),
            16 => Value::Bound(Rc::new((value(self), Value::path("len")))),
            17 => Value::Method(Rc::new((value(self), self.name()))),
            18 => Value::Super(Rc::new((world.class, value(self)))),
            19 => Value::Lazy(Rc::new(Lazy { file: FileId(0), module: sym("m"), name: self.some(Self::name) })),
            20 => Value::Partial(Rc::new(Partial {
                func: Value::path("len"),
                args: self.many(1, &mut value),
                kwargs: self.many(1, |it| (it.name(), value(it))),
            })),
            21 => {
                let fates: &[&'static str] = [&["a"][..], &["b"], &["a", "b"]][usize::from(self.below(3))];
                Value::Fates(fates.iter().map(|name| [Topic::new(name).into()].into()).collect())
            }
            26 => Value::Open(Rc::new(Open {
                device: self.device(),
                device_at: self.at(),
                grad: [Grad::Unknown, Grad::Off, Grad::Leaf, Grad::Attached][usize::from(self.below(4))],
            })),
            22 => Value::Obj(world.all()[usize::from(self.below(10))]),
            23 => {
                let tensor = self.tensor(world);
                let id = heap.alloc(Data::Tensor(tensor.clone()));
                match self.below(3) {
                    // A view of memory that was written to.
                    0 => {
                        let view = heap.share_memory(tensor.clone(), id);
                        let view = heap.alloc(Data::Tensor(view));
                        if self.coin() {
                            heap.overwrite(id, tensor);
                        }
                        Value::Obj(view)
                    }
                    1 => {
                        heap.overwrite(id, tensor);
                        Value::Obj(id)
                    }
                    _ => Value::Obj(id),
                }
            }
            24 => {
                let items = self.items(heap, world, below);
                let data = match self.below(3) {
                    0 => Data::Set(items),
                    1 => Data::Iter(self.iter(heap, world, below)),
                    _ => Data::List(items),
                };
                Value::Obj(heap.alloc(data))
            }
            _ => {
                let data = if self.coin() {
                    Data::Dict(self.dict(heap, world, below))
                } else {
                    let class = if self.coin() { Value::Obj(world.class) } else { Value::path("torch.nn.Module") };
                    Data::Instance(Instance { class, attrs: self.attrs(heap, world, below), open: self.coin() })
                };
                Value::Obj(heap.alloc(data))
            }
        }
    }

    /// Some changes of the existing objects.
    pub(super) fn run(&mut self, heap: &mut Heap, world: &World) {
        for _ in 0..=self.below(6) {
            self.change(heap, world);
        }
    }

    fn change(&mut self, heap: &mut Heap, world: &World) {
        match self.below(13) {
            0 | 1 => {
                let (name, value) = (self.name(), self.value(heap, world, 2));
                heap.bind(world.scope, name, Some(value));
            }
            2 => heap.bind(world.scope, sym("p"), None),
            3 => {
                let (name, value) = (self.name(), self.value(heap, world, 2));
                heap.bind(world.instance, name, Some(value));
            }
            4 => {
                let name = self.name();
                heap.bind(world.instance, name, None);
            }
            5 => *heap.get_mut(world.list) = Data::List(self.items(heap, world, 2)),
            6 => *heap.get_mut(world.set) = Data::Set(self.items(heap, world, 2)),
            7 => *heap.get_mut(world.dict) = Data::Dict(self.dict(heap, world, 2)),
            8 => *heap.get_mut(world.iter) = Data::Iter(self.iter(heap, world, 2)),
            9 => {
                let facts = Tensor { array: ArrayKind::Torch, wrapper: None, ..self.tensor(world) };
                heap.overwrite(if self.coin() { world.tensor } else { world.view }, facts);
            }
            10 => {
                let (dtype, unsure) = (self.tensor(world).dtype, self.below(4) == 3);
                heap.update_tensor(if self.coin() { world.tensor } else { world.view }, |tensor| {
                    tensor.dtype_at = tensor.dtype_at.filter(|_| dtype.is_some());
                    (tensor.dtype, tensor.unsure) = (dtype, unsure);
                });
            }
            11 => {
                let (name, value) = (self.name(), self.value(heap, world, 2));
                match self.below(3) {
                    0 => {
                        if let Data::Class(class) = heap.get_mut(world.class) {
                            class.attrs.insert(name, value);
                            class.open |= self.coin();
                        }
                    }
                    1 => {
                        if let Data::Function(function) = heap.get_mut(world.function) {
                            function.attrs.insert(name, value);
                        }
                    }
                    _ => {
                        if let Data::Function(function) = heap.get_mut(world.function) {
                            function.defaults = vec![(name, value)];
                        }
                    }
                }
            }
            _ => {
                let value = self.value(heap, world, 2);
                let open = self.coin();
                if let Some(instance) = heap.instance_mut(world.instance) {
                    instance.attrs.insert(sym("p"), value);
                    instance.open = open;
                }
            }
        }
    }
}

/// An object of each kind.
pub(super) struct World {
    pub scope: ObjId,
    pub list: ObjId,
    pub set: ObjId,
    pub dict: ObjId,
    pub iter: ObjId,
    pub tensor: ObjId,
    pub view: ObjId,
    pub function: ObjId,
    pub class: ObjId,
    pub instance: ObjId,
    pub sources: [Rc<Source>; 2],
}

impl World {
    pub(super) fn new(heap: &mut Heap) -> World {
        let scope = heap.alloc(Data::Scope(Scope::default()));
        heap.bind(scope, sym("q"), Some(Value::Int(1)));
        let list = heap.alloc(Data::List(Items::Exact(vec![Value::Int(1)])));
        let set = heap.alloc(Data::Set(Items::Exact(vec![Value::Int(1)])));
        let dict = heap.alloc(Data::Dict(Dict::default()));
        let iter = heap.alloc(Data::Iter(Iter {
            items: Items::Many(Value::Int(1)),
            once: false,
            first: None,
            last: None,
            filled: false,
            suspended: None,
        }));
        let facts = Tensor { range: Some(Range::attained(0.0, 3.0)), ..Tensor::default() };
        let tensor = heap.alloc(Data::Tensor(facts.clone()));
        let view = heap.share_memory(facts, tensor);
        let view = heap.alloc(Data::Tensor(view));
        let function = heap.alloc(Data::Function(Function {
            code: CodeId(0),
            name: sym("f"),
            path: sym("m.f"),
            scope,
            defaults: vec![(sym("p"), Value::None)],
            owner: None,
            attrs: Attrs::default(),
        }));
        let mut attrs = Attrs::default();
        attrs.insert(sym("inherited"), Value::Int(1));
        attrs.insert(sym("method"), Value::Obj(function));
        let class = heap.alloc(Data::Class(UserClass {
            name: sym("C"),
            path: sym("m.C"),
            code: CodeId(1),
            bases: vec![Value::path("object")],
            attrs,
            fields: None,
            open: false,
        }));
        let instance = heap.instance(Value::Obj(class));
        let source = || Rc::new(Source::Zip { over: Vec::new(), call: Span { file: FileId(0), start: 0, end: 0 } });
        let sources = [source(), source()];
        World { scope, list, set, dict, iter, tensor, view, function, class, instance, sources }
    }

    pub(super) fn all(&self) -> [ObjId; 10] {
        let World { scope, list, set, dict, iter, tensor, view, function, class, instance, sources: _ } = self;
        [*scope, *list, *set, *dict, *iter, *tensor, *view, *function, *class, *instance]
    }
}
