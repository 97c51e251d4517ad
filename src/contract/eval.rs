//! Runs one contract on the facts of one call.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::Conditions;
use super::value::{Cv, Read, same_shape};
use crate::diagnostic::Severity;
use crate::python::{Bound, Interp};
use crate::syntax::ast::{
    self, BoolOp, CmpOp, FStringPart, InterpolatedStringElement, Number, Operator, StmtFunctionDef, UnaryOp,
};
use crate::syntax::{Expr, Span, Stmt};
use crate::value::{Dim, Dtype, Origin, Size, Tensor, Value, dims_text};

/// The result of a contract.
pub(super) struct Finding {
    /// The report whose condition is false. The page determines the severity of a `require`.
    pub statement: Statement,
    pub message: String,
    pub reads: Vec<Read>,
    /// The condition is false, but perhaps not in every run, or only for tensors that are not
    /// empty.
    pub weak: bool,
    /// `require(…, raises=False)`: the call does not raise, but has a wrong result.
    pub silent: bool,
}

/// The result of the evaluation of a contract for one call.
pub(super) struct Judgement {
    /// `None` if nothing is known to be wrong.
    pub finding: Option<Finding>,
    pub conditions: Conditions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Statement {
    Require,
    Suspect,
    Advise,
}

impl Statement {
    pub(super) fn severity(self, page: Severity) -> Severity {
        match self {
            Statement::Require => page,
            Statement::Suspect => page.min(Severity::Warning),
            Statement::Advise => Severity::Info,
        }
    }
}

/// Whether the evaluation of the contract continues.
enum Step {
    Next,
    Done,
    Found(Finding),
}

pub(super) struct Judge<'a, 'p> {
    pub it: &'a Interp<'p>,
    bound: &'a Bound,
    source: &'a dyn Fn(Span) -> Option<String>,
    names: FxHashMap<String, (Cv, Vec<Read>)>,
    reads: Vec<Read>,
    pub weak: bool,
    conditions: Conditions,
}

/// Evaluates the contract for a call.
pub(super) fn judge(
    it: &Interp<'_>,
    function: &StmtFunctionDef,
    bound: &Bound,
    source: &dyn Fn(Span) -> Option<String>,
) -> Judgement {
    let (names, conditions) = (FxHashMap::default(), Conditions::default());
    let mut judge = Judge { it, bound, source, names, reads: Vec::new(), weak: false, conditions };
    for parameter in function.parameters.iter_non_variadic_params() {
        let name = parameter.parameter.name.as_str();
        let value = match judge.bound.arg(name) {
            Some(_) => judge.argument(name),
            // The call omits the argument, or may pass it in an unknown `*args` or `**kwargs`; then the
            // value is unknown. If the contract has a default for it, the default in the
            // library's signature is used or, if that is unknown, the default in the contract.
            None => match parameter.default.as_deref() {
                Some(default) if !bound.open => {
                    let given = bound.get(name);
                    if given.is_unknown() { judge.eval(default) } else { judge.of_value(&given, name) }
                }
                _ => Cv::Unknown,
            },
        };
        judge.names.insert(name.to_owned(), (value, Vec::new()));
    }
    let finding = match judge.block(&function.body) {
        Step::Found(finding) => Some(finding),
        Step::Next | Step::Done => None,
    };
    Judgement { finding, conditions: judge.conditions }
}

impl Judge<'_, '_> {
    pub(super) fn read(&mut self, label: String, at: Origin) {
        self.note(Read { label, at, blame: false });
    }

    pub(super) fn note(&mut self, read: Read) {
        if !self.reads.contains(&read) {
            self.reads.push(read);
        }
    }

    fn argument(&mut self, name: &str) -> Cv {
        let value = self.bound.get(name);
        self.of_value(&value, name)
    }

    pub(super) fn of_value(&self, value: &Value, name: &str) -> Cv {
        match value {
            Value::Unknown | Value::Open(_) | Value::Any(_) => Cv::Unknown,
            Value::None => Cv::None,
            Value::Bool(b) => Cv::Bool(*b),
            Value::Int(n) => Cv::int(*n),
            Value::Float(x) => Cv::Float(*x),
            Value::Str(s) => Cv::Str(s.clone()),
            Value::Size(poly) => Cv::Size(Size::Expr(poly.clone())),
            Value::Dtype(d) => Cv::Dtype(*d),
            Value::Obj(_) => match self.it.heap.tensor_of(value) {
                Some(tensor) => Cv::Tensor(Rc::new(tensor), Rc::from(self.shown(name))),
                None => Cv::Other(value.clone()),
            },
            other => Cv::Other(other.clone()),
        }
    }

    /// The source text of an argument, if it is short enough for a message.
    fn shown(&self, name: &str) -> String {
        let text = self.bound.span(name).and_then(|span| (self.source)(span));
        match text {
            Some(text) if text.len() <= 40 && !text.contains('\n') => text,
            _ => name.to_owned(),
        }
    }

    // Evaluation of statements.

    fn block(&mut self, body: &[Stmt]) -> Step {
        for stmt in body {
            match self.statement(stmt) {
                Step::Next => {}
                end => return end,
            }
        }
        Step::Next
    }

    fn statement(&mut self, stmt: &Stmt) -> Step {
        match stmt {
            Stmt::Return(_) => Step::Done,
            Stmt::Assign(s) => {
                if let [Expr::Name(name)] = s.targets.as_slice() {
                    let outer = std::mem::take(&mut self.reads);
                    let value = self.eval(&s.value);
                    let reads = std::mem::replace(&mut self.reads, outer);
                    self.names.insert(name.id.to_string(), (value, reads));
                }
                Step::Next
            }
            Stmt::If(s) => {
                let mut arms: Vec<(Option<&Expr>, &[Stmt])> = vec![(Some(&s.test), &s.body)];
                arms.extend(s.elif_else_clauses.iter().map(|c| (c.test.as_ref(), &c.body[..])));
                for (test, body) in arms {
                    let truth = match test {
                        None => Some(true),
                        Some(test) => self.eval(test).truth(),
                    };
                    match truth {
                        Some(true) => return self.block(body),
                        Some(false) => {}
                        // It is not known which arm runs, or whether it returns, so the evaluation
                        // stops.
                        None => {
                            self.conditions.undecided += 1;
                            return Step::Done;
                        }
                    }
                }
                Step::Next
            }
            Stmt::Expr(s) => match &*s.value {
                Expr::Call(call) => self.claim(call),
                _ => Step::Next,
            },
            _ => Step::Next,
        }
    }

    /// `require(condition, message)` and the other reports.
    fn claim(&mut self, call: &ast::ExprCall) -> Step {
        let statement = match &*call.func {
            Expr::Name(name) => match name.id.as_str() {
                "require" => Statement::Require,
                "suspect" => Statement::Suspect,
                "advise" => Statement::Advise,
                _ => return Step::Next,
            },
            _ => return Step::Next,
        };
        let [condition, message] = &*call.arguments.args else { return Step::Next };
        self.reads.clear();
        self.weak = false;
        let truth = self.eval(condition).truth();
        *(if truth.is_some() { &mut self.conditions.decided } else { &mut self.conditions.undecided }) += 1;
        if truth != Some(false) {
            return Step::Next;
        }
        let reads = std::mem::take(&mut self.reads);
        let weak = self.weak;
        let message = self.eval(message).text();
        let silent = !call.arguments.keywords.is_empty();
        Step::Found(Finding { statement, message, reads, weak, silent })
    }

    // Evaluation of expressions.

    fn eval(&mut self, expr: &Expr) -> Cv {
        match expr {
            Expr::Name(name) => match self.names.get(name.id.as_str()) {
                Some((value, reads)) => {
                    let (value, reads) = (value.clone(), reads.clone());
                    for read in reads {
                        self.note(read);
                    }
                    value
                }
                None => Cv::Unknown,
            },
            Expr::NumberLiteral(n) => match &n.value {
                Number::Int(i) => i.as_i64().map_or(Cv::Unknown, Cv::int),
                Number::Float(x) => Cv::Float(*x),
                Number::Complex { .. } => Cv::Unknown,
            },
            Expr::StringLiteral(s) => Cv::Str(Rc::from(s.value.to_str())),
            Expr::BooleanLiteral(b) => Cv::Bool(b.value),
            Expr::NoneLiteral(_) => Cv::None,
            Expr::FString(f) => self.fstring(f),
            Expr::Tuple(t) => {
                let dims: Option<Vec<Dim>> = t
                    .elts
                    .iter()
                    .map(|e| match self.eval(e) {
                        Cv::Size(size) => Some(Dim::new(size, None)),
                        _ => None,
                    })
                    .collect();
                dims.map_or(Cv::Unknown, Cv::Shape)
            }
            Expr::Attribute(a) => self.attribute(a),
            Expr::Call(call) => self.call(call),
            Expr::Subscript(s) => self.subscript(s),
            Expr::BoolOp(e) => self.bool_op(e),
            Expr::UnaryOp(e) => {
                let value = self.eval(&e.operand);
                match (e.op, value) {
                    (UnaryOp::Not, value) => Cv::tri(value.truth().map(|t| !t)),
                    (UnaryOp::USub, Cv::Size(size)) => Cv::Size(Size::Int(0).sub(&size)),
                    (UnaryOp::USub, Cv::Float(x)) => Cv::Float(-x),
                    _ => Cv::Unknown,
                }
            }
            Expr::BinOp(e) => {
                let (left, right) = (self.eval(&e.left), self.eval(&e.right));
                binary(e.op, left, right)
            }
            Expr::Compare(e) => self.compare(e),
            Expr::If(e) => match self.eval(&e.test).truth() {
                Some(true) => self.eval(&e.body),
                Some(false) => self.eval(&e.orelse),
                None => Cv::Unknown,
            },
            _ => Cv::Unknown,
        }
    }

    fn bool_op(&mut self, e: &ast::ExprBoolOp) -> Cv {
        let decides = e.op == BoolOp::Or;
        let mut result = Some(!decides);
        for operand in &e.values {
            match self.eval(operand).truth() {
                Some(t) if t == decides => return Cv::Bool(decides),
                Some(_) => {}
                // A later operand may still decide: `unknown and False` is false.
                None => result = None,
            }
        }
        Cv::tri(result)
    }

    fn compare(&mut self, e: &ast::ExprCompare) -> Cv {
        let mut left = self.eval(&e.left);
        let mut result = Some(true);
        for (op, right) in e.ops.iter().zip(&*e.comparators) {
            let fits = if let (CmpOp::In | CmpOp::NotIn, Expr::Tuple(t)) = (op, right) {
                let mut any = Some(false);
                for element in &t.elts {
                    let element = self.eval(element);
                    match equals(&left, &element) {
                        Some(true) => {
                            any = Some(true);
                            break;
                        }
                        None => any = None,
                        Some(false) => {}
                    }
                }
                if *op == CmpOp::NotIn { any.map(|t| !t) } else { any }
            } else {
                let right = self.eval(right);
                let fits = compare(*op, &left, &right);
                left = right;
                fits
            };
            match fits {
                Some(false) => return Cv::Bool(false),
                None => result = None,
                Some(true) => {}
            }
        }
        Cv::tri(result)
    }

    fn attribute(&mut self, a: &ast::ExprAttribute) -> Cv {
        let name = a.attr.as_str();
        if matches!(&*a.value, Expr::Name(n) if n.id.as_str() == "torch") {
            return Dtype::parse(name).map_or(Cv::Unknown, Cv::Dtype);
        }
        match self.eval(&a.value) {
            Cv::Tensor(tensor, shown) => self.tensor_attribute(&tensor, &shown, name),
            _ => Cv::Unknown,
        }
    }

    fn tensor_attribute(&mut self, tensor: &Rc<Tensor>, shown: &Rc<str>, name: &str) -> Cv {
        match name {
            "shape" => match &tensor.shape {
                Some(dims) => {
                    self.read(format!("`{shown}` gets shape {} here", dims_text(dims)), shape_origin(tensor));
                    Cv::Shape(dims.clone())
                }
                None => Cv::Unknown,
            },
            "ndim" => match &tensor.shape {
                Some(dims) => Cv::int(i64::try_from(dims.len()).unwrap_or(i64::MAX)),
                None => Cv::Unknown,
            },
            "dtype" => match tensor.dtype {
                Some(dtype) => {
                    self.read(format!("`{shown}` gets dtype {dtype} here"), tensor.dtype_at);
                    Cv::Dtype(dtype)
                }
                None => Cv::Unknown,
            },
            "device" => tensor.device.map_or(Cv::Unknown, |device| Cv::Other(Value::Device(device))),
            "is_cuda" => match tensor.device {
                Some(device) => {
                    let same = device.same(crate::value::Device::CUDA);
                    let known = if device.is_cuda() { Some(true) } else { same };
                    self.read(format!("`{shown}` is placed on {device} here"), tensor.device_at);
                    Cv::tri(known)
                }
                None => Cv::Unknown,
            },
            "requires_grad" => match tensor.grad {
                crate::value::Grad::Unknown => Cv::Unknown,
                crate::value::Grad::Off => Cv::Bool(false),
                _ => Cv::Bool(true),
            },
            _ => Cv::Unknown,
        }
    }

    fn call(&mut self, call: &ast::ExprCall) -> Cv {
        match &*call.func {
            Expr::Attribute(a) => {
                let Cv::Tensor(tensor, shown) = self.eval(&a.value) else { return Cv::Unknown };
                let args: Vec<Cv> = call.arguments.args.iter().map(|e| self.eval(e)).collect();
                match (a.attr.as_str(), args.as_slice()) {
                    ("numel", []) => {
                        if let Some(dims) = &tensor.shape {
                            self.read(format!("`{shown}` gets shape {} here", dims_text(dims)), shape_origin(&tensor));
                        }
                        Cv::Size(tensor.numel())
                    }
                    ("dim", []) => self.tensor_attribute(&tensor, &shown, "ndim"),
                    ("size", [index]) => {
                        let shape = self.tensor_attribute(&tensor, &shown, "shape");
                        element(&shape, index.as_int())
                    }
                    ("is_floating_point", []) => match self.tensor_attribute(&tensor, &shown, "dtype") {
                        Cv::Dtype(d) => Cv::Bool(d.is_floating()),
                        _ => Cv::Unknown,
                    },
                    _ => Cv::Unknown,
                }
            }
            Expr::Name(name) => {
                let args: Vec<Cv> = call.arguments.args.iter().map(|e| self.eval(e)).collect();
                let ignoring = call.arguments.keywords.iter().find(|k| k.arg.is_some()).map(|k| self.eval(&k.value));
                self.helper(name.id.as_str(), &args, ignoring)
            }
            _ => Cv::Unknown,
        }
    }

    fn subscript(&mut self, s: &ast::ExprSubscript) -> Cv {
        // A dimension of a shape is read on its own, so that the label shows the origin of this
        // dimension.
        if let Expr::Attribute(a) = &*s.value
            && a.attr.as_str() == "shape"
            && !matches!(&*s.slice, Expr::Slice(_))
            && let Cv::Tensor(tensor, shown) = self.eval(&a.value)
        {
            let Some(index) = self.eval(&s.slice).as_int() else { return Cv::Unknown };
            let Some(dim) = tensor.dim(index) else { return Cv::Unknown };
            if !dim.size.is_unknown() {
                let label = format!("`{shown}` gets size {} in dimension {index} here", dim.size);
                self.read(label, dim.at.or(tensor.shape_at));
            }
            return Cv::Size(dim.size.clone());
        }
        let value = self.eval(&s.value);
        match (&value, &*s.slice) {
            (Cv::Shape(dims), Expr::Slice(slice)) => {
                let mut bound = |e: &Option<Box<Expr>>| match e {
                    None => Some(None),
                    Some(e) => self.eval(e).as_int().map(Some),
                };
                let (Some(start), Some(stop)) = (bound(&slice.lower), bound(&slice.upper)) else {
                    return Cv::Unknown;
                };
                let len = i64::try_from(dims.len()).unwrap_or(i64::MAX);
                let place = |n: i64| usize::try_from((if n < 0 { n + len } else { n }).clamp(0, len)).unwrap_or(0);
                let (start, stop) = (place(start.unwrap_or(0)), place(stop.unwrap_or(len)));
                Cv::Shape(dims.get(start..stop.max(start)).unwrap_or_default().to_vec())
            }
            (_, index) => {
                let index = self.eval(index).as_int();
                element(&value, index)
            }
        }
    }

    fn fstring(&mut self, f: &ast::ExprFString) -> Cv {
        let mut text = String::new();
        for part in &f.value {
            match part {
                FStringPart::Literal(literal) => text.push_str(&literal.value),
                FStringPart::FString(f) => {
                    for element in &f.elements {
                        match element {
                            InterpolatedStringElement::Literal(literal) => text.push_str(&literal.value),
                            InterpolatedStringElement::Interpolation(e) => {
                                let value = self.eval(&e.expression);
                                text.push_str(&value.text());
                            }
                        }
                    }
                }
            }
        }
        Cv::Str(Rc::from(text))
    }
}

fn shape_origin(tensor: &Tensor) -> Origin {
    tensor.shape_at.or_else(|| tensor.shape.as_ref().and_then(|dims| dims.iter().find_map(|d| d.at)))
}

fn element(value: &Cv, index: Option<i64>) -> Cv {
    let (Cv::Shape(dims), Some(index)) = (value, index) else { return Cv::Unknown };
    let len = i64::try_from(dims.len()).unwrap_or(i64::MAX);
    let at = if index < 0 { index + len } else { index };
    match usize::try_from(at).ok().and_then(|at| dims.get(at)) {
        Some(dim) => Cv::Size(dim.size.clone()),
        None => Cv::Unknown,
    }
}

fn binary(op: Operator, left: Cv, right: Cv) -> Cv {
    match (op, left, right) {
        (Operator::Add, Cv::Size(a), Cv::Size(b)) => Cv::Size(a.add(&b)),
        (Operator::Sub, Cv::Size(a), Cv::Size(b)) => Cv::Size(a.sub(&b)),
        (Operator::Mult, Cv::Size(a), Cv::Size(b)) => Cv::Size(a.mul(&b)),
        (Operator::Mod, Cv::Size(a), Cv::Size(b)) => match (&a, &b) {
            (Size::Int(x), Size::Int(y)) if *y > 0 => Cv::int(x.rem_euclid(*y)),
            _ if a.div_exact(&b).is_some() => Cv::int(0),
            _ => Cv::Unknown,
        },
        (Operator::Add, Cv::Shape(mut a), Cv::Shape(b)) => {
            a.extend(b);
            Cv::Shape(a)
        }
        _ => Cv::Unknown,
    }
}

fn equals(a: &Cv, b: &Cv) -> Option<bool> {
    match (a, b) {
        (Cv::Unknown, _) | (_, Cv::Unknown) => None,
        (Cv::None, Cv::None) => Some(true),
        (Cv::Other(_), _) | (_, Cv::Other(_)) => None,
        (Cv::None, _) | (_, Cv::None) => Some(false),
        (Cv::Str(x), Cv::Str(y)) => Some(x == y),
        (Cv::Dtype(x), Cv::Dtype(y)) => Some(x == y),
        (Cv::Shape(x), Cv::Shape(y)) => same_shape(x, y),
        (Cv::Size(x), Cv::Size(y)) => x.equals(y),
        _ => match (a.as_f64(), b.as_f64()) {
            (Some(x), Some(y)) => Some(x == y),
            _ => None,
        },
    }
}

/// The least and the greatest value that a number may have.
fn bounds(value: &Cv) -> Option<(f64, f64)> {
    match value {
        Cv::Other(number @ (Value::Ranged(_) | Value::Floats(_))) => {
            number.range().map(|(range, _)| (range.lo(), range.hi()))
        }
        value => value.as_f64().map(|number| (number, number)),
    }
}

fn compare(op: CmpOp, a: &Cv, b: &Cv) -> Option<bool> {
    let less = |a: &Cv, b: &Cv| match (a, b) {
        (Cv::Size(x), Cv::Size(y)) => x.less(y),
        _ => {
            let ((a_low, a_high), (b_low, b_high)) = (bounds(a)?, bounds(b)?);
            if a_high < b_low { Some(true) } else { (a_low >= b_high).then_some(false) }
        }
    };
    match op {
        CmpOp::Eq => equals(a, b),
        CmpOp::NotEq => equals(a, b).map(|t| !t),
        CmpOp::Is | CmpOp::IsNot => {
            let same = match (a, b) {
                (Cv::Unknown, _) => None,
                (Cv::None, Cv::None) => Some(true),
                // An unmodelled value of a library may be None.
                (Cv::Other(Value::Path(_)), Cv::None) => None,
                (_, Cv::None) => Some(false),
                _ => None,
            };
            if op == CmpOp::IsNot { same.map(|t| !t) } else { same }
        }
        CmpOp::Lt => less(a, b),
        CmpOp::Gt => less(b, a),
        CmpOp::LtE => less(b, a).map(|t| !t),
        CmpOp::GtE => less(a, b).map(|t| !t),
        CmpOp::In | CmpOp::NotIn => None,
    }
}
