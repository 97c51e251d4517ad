//! The interpreter's state, and its interface for libraries.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::budget::{Budget, Meter};
use super::cadence::Cadence;
use super::context::Context;
use super::generator::Consumer;
use super::import::{Deferred, Sources};
use super::leave::{Block, BlockId, BlockKind, Exit, Loop};
use super::writes::Writes;
use super::{Args, Bound, CommandOption, Event, Library, Observer, Rejection};
use crate::syntax::ast::{ExprGenerator, ExprLambda, StmtClassDef, StmtFunctionDef};
use crate::syntax::{FileId, Ranged, Span, TextRange};
use crate::value::{CodeId, Heap, Mark, Note, ObjId, Origin, Sym, Value, sym};

/// The largest depth of calls.
pub(super) const MAX_DEPTH: usize = 40;
/// The number of frames while an uncalled function runs: one for its module, and one for the
/// function.
pub(super) const UNCALLED_DEPTH: usize = 2;
/// The largest number of active calls of one function.
pub(super) const MAX_RECURSION: usize = 2;

/// A piece of the program that can be run.
#[derive(Clone, Copy)]
pub(super) enum Body<'p> {
    Function(&'p StmtFunctionDef),
    Lambda(&'p ExprLambda),
    /// A class; `None` for one without a class statement.
    Class(Option<&'p StmtClassDef>),
    /// A generator expression.
    Expression(&'p ExprGenerator),
}

/// A body with its file.
#[derive(Clone)]
pub(super) struct Code<'p> {
    pub file: FileId,
    pub body: Body<'p>,
    /// Whether a call only creates a generator or a coroutine; cached.
    pub suspends: OnceCell<bool>,
    /// What a call may write; cached.
    pub writes: OnceCell<Rc<Writes>>,
    /// The local variables of the body that are bound only by assignments, loops and `with`;
    /// computed when a name without a value is read.
    pub locals: OnceCell<FxHashSet<Sym>>,
}

impl<'p> Code<'p> {
    pub(super) fn new(file: FileId, body: Body<'p>) -> Self {
        Code { file, body, suspends: OnceCell::new(), writes: OnceCell::new(), locals: OnceCell::new() }
    }
}

/// What is known about the rounds of an active loop.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rounds {
    /// A number that is new each time the loop begins.
    pub run: u32,
    /// The number of elements that it iterates over, if known.
    pub count: Option<i64>,
    /// Each round is run separately, because the elements are few and known.
    pub unrolled: bool,
    /// A `break` or `return` may end the loop early.
    pub leaves: bool,
    /// Its iterable is treated as possibly empty: see `Heap::note_perhaps_empty`.
    pub perhaps_none: bool,
}

/// An active module, class body or function call.
pub(super) struct Frame<'p> {
    pub file: FileId,
    pub scope: ObjId,
    /// The scope of the module, class body or function itself. Inside a comprehension, it differs
    /// from `scope`.
    pub home: ObjId,
    /// The scope in which functions defined here look up names.
    pub closure: ObjId,
    pub code: Option<CodeId>,
    /// The place of the call.
    pub call: Option<Span>,
    /// [`Interp::decisions`] at the beginning of the call.
    pub decisions: u64,
    /// For `super()`: the class whose method this is, and the first argument of the method.
    pub owner: Option<(ObjId, Option<Value>)>,
    /// The class whose body this is.
    pub class_body: Option<ObjId>,
    /// The frame runs statements of a lazily executed module.
    pub is_lazy_module: bool,
    /// The heap mark at the beginning of the call.
    pub mark: Option<Mark>,
    /// The id of the call. A path that leaves it by `return` is stored as an [`Exit`] to this id.
    pub id: BlockId,
    /// The blocks around the current statement, outermost first.
    pub blocks: Vec<Block<'p>>,
    /// The cadence of each active arm of an unknown condition.
    pub arms: Vec<Cadence>,
    /// The consumer of the values that a generator yields.
    pub consumer: Option<Consumer<'p>>,
    /// The number of open `with` blocks that expect an exception (`pytest.raises`).
    pub raising: u32,
    /// The number of open `try` blocks whose handlers catch the exceptions of rejected calls.
    pub handling: u32,
    pub globals: Vec<Sym>,
    pub nonlocals: Vec<Sym>,
}

impl<'p> Frame<'p> {
    pub(super) fn new(file: FileId, scope: ObjId) -> Frame<'p> {
        Frame {
            file,
            scope,
            home: scope,
            closure: scope,
            code: None,
            call: None,
            decisions: 0,
            owner: None,
            class_body: None,
            is_lazy_module: false,
            mark: None,
            id: 0,
            blocks: Vec::new(),
            arms: Vec::new(),
            consumer: None,
            raising: 0,
            handling: 0,
            globals: Vec::new(),
            nonlocals: Vec::new(),
        }
    }

    /// The active loops of this frame, outermost first.
    pub(super) fn loops(&self) -> impl DoubleEndedIterator<Item = &Loop> {
        self.blocks.iter().filter_map(|block| match &block.kind {
            BlockKind::Loop(inside) => Some(inside),
            _ => None,
        })
    }
}

/// One abstract execution of a program.
pub(crate) struct Interp<'p> {
    pub heap: Heap,
    pub(super) library: &'p dyn Library,
    pub(super) observer: &'p dyn Observer,
    pub(super) sources: &'p dyn Sources<'p>,
    /// The file that is checked.
    pub root: FileId,
    /// A file and an offset: the observer gets the values of all expressions around this place.
    pub spot: Option<(FileId, u32)>,
    /// Functions that nothing calls are called with the defaults of their parameters, except defaults such
    /// as `None` or 0, instead of unknown values.
    pub with_defaults: bool,
    /// A function that nothing calls has a parameter with a default other than, for example, `None` or 0.
    pub has_defaults: bool,
    pub(super) code: Vec<Code<'p>>,
    pub(super) code_ids: FxHashMap<usize, CodeId>,
    pub(super) frames: Vec<Frame<'p>>,
    /// Generators that wait at a `yield` while their consumer runs.
    pub(super) waiting: Vec<Frame<'p>>,
    /// Paths that have left blocks. Each continues at the end of the outermost block or call that
    /// it has left.
    pub(super) exits: Vec<Exit>,
    pub(super) last_block: BlockId,
    /// The last evaluated comprehension or generator may have no elements.
    pub(super) perhaps_none: bool,
    /// Whether the type of a number may come from the annotation of a parameter, which may be wrong.
    pub(super) supposes_numbers: bool,
    /// The current path ended inside an expression.
    pub(super) stopped: bool,
    pub(super) context: Context,
    pub(super) modules: FxHashMap<FileId, ObjId>,
    pub(super) mros: RefCell<FxHashMap<ObjId, Rc<[Value]>>>,
    /// The method resolution orders of library classes.
    pub(super) lines: RefCell<FxHashMap<Sym, Rc<[Value]>>>,
    /// The attributes that the methods of a class, other than the constructor, assign.
    pub(super) stored: FxHashMap<ObjId, Rc<[Sym]>>,
    /// Whether a function uses a parameter in a way that only tensors allow.
    pub(super) tensor_parameters: FxHashMap<(CodeId, Sym), bool>,
    /// For each file, the types of its objects, recognised by what the file does with them.
    pub(super) protocols: FxHashMap<FileId, Rc<super::protocol::Protocols>>,
    /// For each file, the names of its functions that contain a loop or call such a function.
    pub(super) loops: FxHashMap<FileId, FxHashSet<&'p str>>,
    /// The places of the root file that the run has reached.
    pub(super) reached: super::skipped::Reached,
    /// Functions that run as if nothing called them, although the program calls them. Each is given as
    /// the range of its name in its definition.
    pub also_uncalled: FxHashSet<TextRange>,
    /// Bodies that ran at least once.
    pub(super) executed: FxHashSet<CodeId>,
    /// The functions that the root file defines, in order, except those in an arm of an unknown
    /// condition inside a function or loop.
    pub(super) defined: Vec<ObjId>,
    /// For each of these functions that is inside a function, the code of this outer function.
    pub(super) outer: FxHashMap<ObjId, CodeId>,
    /// The methods that subclasses in the program override, by base class and name.
    pub(super) overridden: FxHashSet<(ObjId, Sym)>,
    /// The scopes of lazily executed modules.
    pub(super) deferred: FxHashMap<ObjId, Deferred<'p>>,
    /// The names of lazily executed modules that are being bound, innermost last.
    pub(super) demands: Vec<(ObjId, Sym)>,
    /// Names that no `import *` of a module binds. They are kept during one lookup, which may reach
    /// the module by very many chains of imports.
    pub(super) unstarred: FxHashSet<(ObjId, Sym)>,
    /// The files of the lazily executed modules.
    pub(super) foreign: FxHashSet<FileId>,
    pub(super) meter: Meter,
    /// The number of reads of local names that no path assigns.
    pub(super) unbound_reads: usize,
    /// The number of rejected calls, and the place of the last.
    pub refused: (u32, Option<Span>),
    /// The number of undecided branches around the last rejected call, and the number of stored
    /// exits at that time.
    pub(super) refused_in: (u32, usize),
    /// The callee of the current call is a global name, or an attribute of a global name or of
    /// `self`; it is not a local variable.
    pub(super) callee_is_global: bool,
    /// The number of objects at the last rejected call.
    pub(super) refused_since: usize,
    /// The last call after whose failure the analysis went on.
    pub(super) went_on: Option<Span>,
    /// The calls whose arguments were compared with the parameters of the callee.
    pub(super) placed: FxHashSet<Span>,
    /// The analysed file ended with an exception or a call such as `sys.exit()`. False if its last statement
    /// is such a call or `raise`.
    pub(crate) ended_early: bool,
    /// For each function: the names whose only assignment in it is a quotient.
    pub(super) quotients: FxHashMap<CodeId, FxHashSet<String>>,
    /// The places of operations that succeeded: a [doubtful](super::Certainty::Doubtful) failure at
    /// one of them does not occur in every run.
    pub passed: FxHashSet<Span>,
    /// The same for functions that have callers, but run as if nothing called them. It counts only for
    /// failures in such runs.
    passed_alone: FxHashSet<Span>,
    /// The places of operations (attribute accesses, calls, conditions) on unknown objects. These
    /// operations may have succeeded.
    pub unjudged: FxHashSet<Span>,
    /// The variables of the program that are bound only by assignments, loops and `with`; computed
    /// when a name without a value is read.
    pub(super) script: OnceCell<FxHashSet<Sym>>,
    /// The program defines descriptor classes.
    pub(super) has_descriptors: bool,
    /// A flag of the program, such as `use_cuda`, decided against the GPU.
    pub declines_gpu: bool,
    /// The canonical paths of library members that the program replaced or added.
    pub(super) replaced: FxHashSet<Sym>,
    /// The library modules in which the program tests whether a name exists.
    pub(super) tested_modules: FxHashSet<Sym>,
    /// Functions that unseen code may call: hooks, callbacks.
    pub(super) hooks: Vec<(super::Hook, Value)>,
    /// The number of loops that have begun.
    pub(super) begun: u32,
    /// The places of the literals among the arguments of calls in arms of unknown conditions.
    pub(super) literals: FxHashSet<Span>,
    /// The number of paths that ended in an exception, or ended the program.
    pub(super) raised: u32,
    /// How many of these paths were outside any `try`, or ended the program in a way that no
    /// handler catches.
    pub(super) uncaught: u32,
    /// A counter that grows at every condition, branch and loop.
    pub(super) decisions: u64,
    /// An object for the state of libraries (default dtype and device, modes). It is on the heap,
    /// so that the end of a branch restores it, and joins merge it.
    pub state: ObjId,
}

impl<'p> Interp<'p> {
    pub(crate) fn new(
        sources: &'p dyn Sources<'p>,
        library: &'p dyn Library,
        observer: &'p dyn Observer,
        root: FileId,
        budget: Budget,
    ) -> Interp<'p> {
        let mut heap = Heap::new();
        let state = heap.instance(Value::path("torchvet.state"));
        Interp {
            heap,
            library,
            observer,
            sources,
            root,
            spot: None,
            with_defaults: false,
            has_defaults: false,
            code: Vec::new(),
            code_ids: FxHashMap::default(),
            frames: Vec::new(),
            waiting: Vec::new(),
            exits: Vec::new(),
            last_block: 0,
            perhaps_none: false,
            supposes_numbers: false,
            stopped: false,
            context: Context::new(),
            modules: FxHashMap::default(),
            mros: RefCell::default(),
            lines: RefCell::default(),
            stored: FxHashMap::default(),
            tensor_parameters: FxHashMap::default(),
            protocols: FxHashMap::default(),
            loops: FxHashMap::default(),
            literals: FxHashSet::default(),
            reached: super::skipped::Reached::default(),
            also_uncalled: FxHashSet::default(),
            executed: FxHashSet::default(),
            defined: Vec::new(),
            outer: FxHashMap::default(),
            overridden: FxHashSet::default(),
            deferred: FxHashMap::default(),
            demands: Vec::new(),
            unstarred: FxHashSet::default(),
            foreign: FxHashSet::default(),
            meter: Meter::new(budget),
            unbound_reads: 0,
            refused: (0, None),
            refused_in: (0, 0),
            callee_is_global: false,
            refused_since: 0,
            went_on: None,
            placed: FxHashSet::default(),
            ended_early: false,
            quotients: FxHashMap::default(),
            passed: FxHashSet::default(),
            passed_alone: FxHashSet::default(),
            unjudged: FxHashSet::default(),
            script: OnceCell::new(),
            has_descriptors: false,
            declines_gpu: false,
            replaced: FxHashSet::default(),
            tested_modules: FxHashSet::default(),
            hooks: Vec::new(),
            begun: 0,
            raised: 0,
            uncaught: 0,
            decisions: 0,
            state,
        }
    }

    /// The first argument of the innermost active method: `self`.
    pub(crate) fn method_receiver(&self) -> Option<&Value> {
        self.frames.iter().rev().find_map(|f| f.owner.as_ref())?.1.as_ref()
    }

    /// Whether a constructor of this object is active, here or in a caller.
    pub(crate) fn constructs(&self, object: ObjId) -> bool {
        self.constructors(object).next().is_some()
    }

    /// The active constructors of an object.
    pub(super) fn constructors(&self, object: ObjId) -> impl Iterator<Item = &'p StmtFunctionDef> {
        self.frames
            .iter()
            .filter(move |frame| matches!(&frame.owner, Some((_, Some(Value::Obj(id)))) if *id == object))
            .filter_map(|frame| self.definition(frame))
            .filter(|def| def.name.as_str() == "__init__")
    }

    /// Whether a function of this name is active, here or in a caller.
    pub(crate) fn inside(&self, name: &str) -> bool {
        self.frames.iter().filter_map(|frame| self.definition(frame)).any(|def| def.name.as_str() == name)
    }

    /// The definition of a frame's function; `None` for other code, such as a lambda.
    pub(super) fn definition(&self, frame: &Frame<'p>) -> Option<&'p StmtFunctionDef> {
        match self.code.get(frame.code?.0 as usize)?.body {
            Body::Function(def) => Some(def),
            Body::Lambda(_) | Body::Class(_) | Body::Expression(_) => None,
        }
    }

    /// The text of a settings file that the program opens by this path. The path is tried relative
    /// to the folder of the current file, the folder of the script, and the project's root.
    pub(crate) fn data_file(&self, path: &str) -> Option<&'p str> {
        self.sources.data(self.file(), path).or_else(|| self.sources.data(self.root, path))
    }

    /// Whether the current function has an `if` condition that reads an attribute of this name.
    pub(crate) fn tests_attribute(&self, name: &str) -> bool {
        let def = self.frames.last().and_then(|frame| self.definition(frame));
        def.is_some_and(|def| super::narrow::tests(&def.body, name))
    }

    /// Whether this place of the current function is in an `if` statement with a condition that reads a
    /// parameter of the function. A condition that consists only of a comparison with `None` does not
    /// count. The first parameter is ignored, because it may be `self`.
    pub(crate) fn depends_on_parameter(&self, at: Span) -> bool {
        let Some(def) = self.frames.last().and_then(|frame| self.definition(frame)) else { return false };
        let is_parameter = |name: &&str| def.parameters.iter().skip(1).any(|p| p.name().as_str() == *name);
        super::narrow::guards(&def.body, at.start).into_iter().any(|test| {
            let mut names = Vec::new();
            super::narrow::names(test, &mut names);
            !super::narrow::tests_none(test) && names.iter().any(is_parameter)
        })
    }

    /// Whether this place of the current function is in an `if` statement with a condition that reads a switch:
    /// a name with `train` or `eval`, or an attribute of `module` that code outside of its constructor sets.
    pub(crate) fn depends_on_switch(&self, module: &Value, at: Span) -> bool {
        let Some(def) = self.frames.last().and_then(|frame| self.definition(frame)) else { return false };
        let is_mode = |name: &&str| name.contains("train") || name.contains("eval");
        let is_set =
            |name: &str| self.sources.assigns_from_outside(self.root, name) || self.sets_later(module, sym(name));
        super::narrow::guards(&def.body, at.start).into_iter().any(|test| {
            let mut names = Vec::new();
            super::narrow::names(test, &mut names);
            names.iter().any(is_mode) || super::narrow::attributes(test).any(|name| is_mode(&name) || is_set(name))
        })
    }

    /// The place of the current function's definition; `None` in other code, such as a lambda.
    pub(crate) fn function(&self) -> Option<Span> {
        let frame = self.frames.last()?;
        Some(Span::new(frame.file, self.definition(frame)?))
    }

    /// The current file.
    pub(crate) fn file(&self) -> FileId {
        self.frames.last().map_or(self.root, |f| f.file)
    }

    pub(super) fn span(&self, node: &impl Ranged) -> Span {
        let range = node.range();
        Span { file: self.file(), start: range.start().to_u32(), end: range.end().to_u32() }
    }

    /// Counts a step; returns false if the budget is spent.
    pub(super) fn step(&mut self) -> bool {
        let inlined = self.inlined();
        self.meter.visit(&mut self.heap.visited);
        self.meter.step(!self.demands.is_empty(), inlined)
    }

    /// Whether the current path has ended, by an exception or with the program.
    pub(crate) fn has_stopped(&self) -> bool {
        self.stopped
    }

    /// The number of steps so far.
    pub(crate) fn spent(&self) -> u64 {
        self.meter.spent
    }

    /// Whether the budget is spent.
    pub(crate) fn exhausted(&self) -> bool {
        self.meter.exhausted
    }

    pub(super) fn code_of(&mut self, address: usize, make: impl FnOnce() -> Code<'p>) -> CodeId {
        if let Some(id) = self.code_ids.get(&address) {
            return *id;
        }
        let id = CodeId(u32::try_from(self.code.len()).unwrap_or(u32::MAX));
        self.code.push(make());
        self.code_ids.insert(address, id);
        id
    }

    /// Whether the current code is in a function that an uncalled function calls. The call contexts
    /// in which the called function really runs are unknown.
    pub(crate) fn inlined(&self) -> bool {
        self.context.speculative && self.frames.len() > UNCALLED_DEPTH
    }

    /// In a function that an uncalled function of the analysed file calls: the call in the uncalled function, if each
    /// run of it reaches the current place.
    pub(crate) fn call_that_gets_here(&self) -> Option<Span> {
        let Context { guesses, doubts, in_doubt, .. } = self.context;
        let is_sure = self.inlined() && guesses == 0 && doubts == 0 && !in_doubt;
        let call = self.frames.get(UNCALLED_DEPTH)?.call.filter(|call| is_sure && call.file == self.root)?;
        let receiver = |frame: &Frame<'p>| frame.owner.as_ref().and_then(|(_, receiver)| receiver.as_ref()?.as_obj());
        let own = self.frames.get(UNCALLED_DEPTH - 1).and_then(receiver);
        // A subclass, or the program, may replace the methods of the same object.
        let may_differ = |frame: &Frame<'p>| {
            let is_own = own.is_some() && receiver(frame) == own;
            is_own && self.definition(frame).is_none_or(|def| self.may_differ_in_subclass(frame, def.name.as_str()))
        };
        (!self.frames.iter().skip(UNCALLED_DEPTH).any(may_differ)).then_some(call)
    }

    fn may_differ_in_subclass(&self, frame: &Frame<'p>, method: &str) -> bool {
        let Some((owner, _)) = frame.owner.as_ref() else { return true };
        let is_derived = match self.heap.get(*owner) {
            crate::value::Data::Class(class) => self.sources.derives(self.root, class.name.as_str()),
            _ => true,
        };
        is_derived || self.is_overridden_in_subclass(*owner, sym(method)) || self.sources.assigns(self.root, method)
    }

    /// In the replay of a loop's second round: a number that identifies the round, and the number
    /// of open loops. `None` otherwise, and in code that not every round reaches.
    pub(crate) fn every_round(&self) -> Option<(usize, usize)> {
        let shown = self.context.carried.filter(|_| self.second_round())?;
        let innermost = self.frames.iter().rev().find_map(|f| f.loops().last())?;
        // In a nested loop that is not replayed itself, the events of the first round are not those
        // of every round.
        let itself = innermost.shown && innermost.undecided == self.context.undecided;
        itself.then(|| (shown, self.open_loops()))
    }

    /// Whether the current code is the replay of a second round of which it is only assumed that there is one:
    /// the number of the loop's elements is not known.
    pub(crate) fn assumes_round(&self) -> bool {
        let replayed = self.frames.iter().rev().flat_map(|f| f.loops().rev()).find(|l| l.shown);
        self.second_round() && !self.imagining() && replayed.is_some_and(|l| l.rounds.count.is_none())
    }

    /// If the current code runs under a condition that holds in every `n`th round: `n`, and the
    /// place of the condition.
    pub(crate) fn every(&self) -> Option<(i64, Span)> {
        let arms = self.frames.iter().rev().flat_map(|f| f.arms.iter().rev());
        arms.into_iter().find_map(|arm| match arm {
            Cadence::Every(n, test) => Some((*n, *test)),
            _ => None,
        })
    }

    /// Whether the current round is certainly not the first one, and the object was created before
    /// it.
    pub(crate) fn is_carried(&self, id: ObjId) -> bool {
        self.context.carried.is_some_and(|then| id.is_among_first(then))
    }

    /// Whether the current code may run again: it is inside a loop.
    pub(crate) fn in_loop(&self) -> bool {
        self.open_loops() > 0
    }

    /// Whether the current code is inside a loop of the current function.
    pub(crate) fn in_own_loop(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.loops().next().is_some())
    }

    /// The number of nested active loops.
    pub(crate) fn open_loops(&self) -> usize {
        self.frames.iter().map(|f| f.loops().count()).sum()
    }

    /// The active loops, outermost first.
    pub(crate) fn rounds(&self) -> Vec<Rounds> {
        self.frames.iter().flat_map(|f| f.loops().map(|l| l.rounds)).collect()
    }

    /// The scope of the current function or module.
    pub(crate) fn scope(&self) -> Option<ObjId> {
        self.frames.last().map(|f| f.scope)
    }

    /// If methods of instances of `class` are active: whether the outermost of these calls was made in a
    /// loop (loops inside the method are ignored). Otherwise: whether the code is in a loop.
    pub(crate) fn in_loop_outside(&self, class: &str) -> bool {
        let inside = |f: &Frame| {
            f.owner.as_ref().and_then(|(_, receiver)| receiver.as_ref()).is_some_and(|r| self.is_instance(r, class))
        };
        self.frames.iter().take_while(|f| !inside(f)).any(|f| f.loops().next().is_some())
    }

    /// Whether the current function is the constructor of a class of the program.
    pub(crate) fn in_constructor(&self) -> bool {
        let code = self.frames.last().and_then(|frame| self.code.get(frame.code?.0 as usize));
        matches!(code.map(|code| code.body), Some(Body::Function(def)) if def.name.as_str() == "__init__")
    }

    /// Whether an argument is a literal, in a call in an arm of an unknown condition.
    pub(crate) fn is_literal(&self, argument: Span) -> bool {
        self.literals.contains(&argument)
    }

    /// Records that the operation at this place succeeded.
    ///
    /// Nothing is recorded while a function that the program calls runs as if nothing called it: the success
    /// of an operation on unknown arguments does not show that the operation succeeds in the real calls.
    /// In the functions that such a function calls, the place is recorded.
    pub(crate) fn pass(&mut self, place: Span) {
        // A loop over the unknown result of a failed call has the place of this call.
        if self.went_on == Some(place) {
            return;
        }
        if self.runs_alone() {
            self.passed_alone.insert(place);
        } else {
            self.passed.insert(place);
        }
    }

    /// Whether the current code is in a function that has callers, but runs as if nothing called it.
    fn runs_alone(&self) -> bool {
        self.context.has_callers && !self.inlined()
    }

    /// Whether an operation at this place succeeded in an earlier round of a loop, while the current function
    /// ran as if nothing called it.
    pub(crate) fn passed_before(&self, place: Span) -> bool {
        self.runs_alone() && self.passed_alone.contains(&place)
    }

    /// Records that the operation on an unknown object at this place may have succeeded. In a
    /// function that nothing calls, nothing is recorded: its parameters are unknown in any case. In
    /// the functions that such a function calls, the place is recorded, because an operation in
    /// them may fail for only one of several callers.
    pub(super) fn pass_unjudged(&mut self, place: Span) {
        if !self.context.speculative || self.inlined() {
            self.unjudged.insert(place);
        }
    }

    /// Notifies the observer of the call of a library function, or of a function of the program
    /// that the observer watches.
    pub(crate) fn announce(&mut self, path: Sym, bound: &Bound, span: Span) {
        let observer = self.observer();
        observer.call(self, path, bound, span);
    }

    /// Notifies the observer that a library rejects the call at `place`, which may differ from the
    /// place of the mistake.
    pub(crate) fn reject(&mut self, rejection: Rejection, place: Span) {
        self.refuse(place);
        let observer = self.observer();
        observer.rejected(self, rejection);
    }

    /// The libraries, for calls from one library to another.
    pub(crate) fn library(&self) -> &'p dyn Library {
        self.library
    }

    /// Calls a library's function as if the program had called it; `None` if there is none.
    pub(crate) fn call_function(&mut self, path: &str, args: &Args, span: Span) -> Option<Value> {
        self.library.call_function(self, sym(path), args, span)
    }

    /// Whether any file of the program contains this text, such as the name of a function that the
    /// program may call.
    pub(crate) fn mentions(&self, text: &'static str) -> bool {
        self.sources.mentions(self.root, text)
    }

    /// Whether the current file contains a text.
    pub(crate) fn file_contains(&self, text: &str) -> bool {
        self.sources.contains(self.file(), text)
    }

    /// Whether a file is not the analysed one, and can also be run as a program.
    pub(crate) fn is_other_script(&self, file: FileId) -> bool {
        file != self.root && self.sources.bindings(file).is_main
    }

    /// Whether the analysed file contains tests.
    pub(crate) fn is_test(&self) -> bool {
        self.sources.is_test(self.root)
    }

    /// Whether the analysed file is a notebook.
    pub(crate) fn is_notebook(&self) -> bool {
        self.sources.is_notebook(self.root)
    }

    /// Whether any file of the program calls a function or class of this name.
    pub(crate) fn calls_name(&self, name: Sym) -> bool {
        self.sources.calls(self.root, name.as_str())
    }

    /// Whether the program calls functions of this name in constructors, and nowhere else.
    pub(crate) fn constructs_with(&self, name: &str) -> bool {
        self.sources.constructs_with(self.root, name)
    }

    /// Notifies the observer that a library rejects this call in runs in which the rejection's
    /// assumption holds.
    pub(crate) fn suspect(&mut self, rejection: Rejection) {
        let observer = self.observer();
        observer.rejected(self, rejection);
    }

    /// Gives the observer the arguments of this call, if a library has rejected it since the number
    /// in [`Interp::refused`] was `before`.
    pub(crate) fn tell_refused(&self, before: u32, path: Sym, bound: &Bound) {
        if self.refused.0 != before {
            self.observer().refused(self, before, path, bound);
        }
    }

    /// Records that the call at this place is rejected: the call raises an exception, so its result
    /// is unknown.
    pub(crate) fn refuse(&mut self, place: Span) {
        self.refused = (self.refused.0.wrapping_add(1), Some(place));
        self.refused_in = (self.context.undecided, self.exits.len());
        self.refused_since = self.heap.len();
    }

    pub(crate) fn event(&mut self, event: Event<'_>) {
        let observer = self.observer();
        observer.event(self, event);
    }

    /// A note of the run, made by a library or a rule.
    pub(crate) fn remembered(&self, note: impl Into<Note>) -> Option<Value> {
        self.heap.note(self.state, note)
    }

    pub(crate) fn remember(&mut self, note: impl Into<Note>, value: Value) {
        let state = self.state;
        self.heap.set_note(state, note, value);
    }

    /// The call of the outermost active method of an instance of a library class (`model(x)`, for
    /// `torch.nn.Module`). `None` outside such methods, in functions that nothing calls, and for a
    /// fact whose origin is in the method or in an active function that the method called.
    pub(crate) fn entered(&self, class: &str, fact: Origin) -> Option<Span> {
        let at = self.frames.iter().position(|f| {
            f.owner.as_ref().and_then(|(_, receiver)| receiver.as_ref()).is_some_and(|r| self.is_instance(r, class))
        })?;
        let inside = |frame: &Frame| {
            let code = self.code.get(frame.code?.0 as usize)?;
            match code.body {
                Body::Function(def) => Some(Span::new(code.file, def).contains(fact?)),
                Body::Lambda(_) | Body::Class(_) | Body::Expression(_) => None,
            }
        };
        if self.context.speculative || self.frames.iter().skip(at).any(|f| inside(f) == Some(true)) {
            return None;
        }
        self.frames.get(at)?.call
    }

    /// Whether the origin of a fact is in the current function.
    pub(crate) fn is_of_current_function(&self, fact: Origin) -> bool {
        let code = self.frames.last().and_then(|frame| self.code.get(frame.code?.0 as usize));
        code.zip(fact).is_some_and(|(code, fact)| match code.body {
            Body::Function(def) => Span::new(code.file, def).contains(fact),
            Body::Lambda(_) | Body::Class(_) | Body::Expression(_) => false,
        })
    }

    /// The outermost active method of an instance of a library class: the instance, and the call.
    pub(crate) fn outermost(&self, class: &str) -> Option<(Value, Span)> {
        self.frames.iter().find_map(|frame| {
            let receiver = frame.owner.as_ref()?.1.as_ref()?;
            self.is_instance(receiver, class).then(|| Some((receiver.clone(), frame.call?)))?
        })
    }

    /// The places of the active calls of program functions, innermost first. A function that
    /// nothing calls has none.
    pub(crate) fn callers(&self) -> Vec<Span> {
        let called = if self.context.speculative { UNCALLED_DEPTH } else { 0 };
        self.frames.iter().skip(called).rev().filter_map(|frame| frame.call).collect()
    }

    /// The value of a command-line option: its default, unless the observer gives another value.
    pub(crate) fn option(&mut self, option: &CommandOption<'_>) -> Value {
        // The observer is asked in speculative runs, too: an option has one value throughout the
        // run.
        let observer = self.observer;
        observer.option(self, option).unwrap_or_else(|| option.default.clone())
    }
}
