//! `for` and `while`. A `for` loop over few known elements is usually unrolled; other loops run
//! until a fixpoint.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::Args;
use super::changing::Over;
use super::context::{Context, Mode};
use super::entry::blocks;
use super::generator::Consumer;
use super::interp::{Interp, Rounds};
use super::leave::{Block, BlockId, BlockKind, Catches, Exit, Leave, Loop};
use super::stmt::Flow;
use crate::syntax::ast::{StmtFor, StmtFunctionDef, StmtWhile};
use crate::syntax::{Expr, FileId, Ranged, Span, Stmt, called, calls, statements};
use crate::value::{Data, Delta, Items, Iter, Mark, Value};

/// A loop over at most this many known elements is run element by element, except for some loops
/// that contain other loops: see `Interp::unrolls`.
const UNROLL: usize = 8;
/// A loop whose body has at most `SHORT_BODY` bytes of source is unrolled up to this many elements.
const UNROLL_LONG: usize = 96;
const SHORT_BODY: u32 = 600;
/// A loop whose body has at most `SHORTER_BODY` bytes of source is unrolled up to this many
/// elements, so that the lengths of lists to which it appends stay known.
const UNROLL_LONGER: usize = 512;
const SHORTER_BODY: u32 = 120;
/// After this number of rounds, values that still change become unknown: see
/// `Heap::give_up_changes`.
const PATIENCE: usize = 4;
/// After this number of rounds, everything that the body changes becomes unknown.
const MAX_ROUNDS: usize = 16;

impl<'p> Interp<'p> {
    /// Runs a loop. If an exception ends its first round on every path, or a name that no path assigns
    /// ends one of the paths, everything that the body writes becomes unknown, because the corrected
    /// program would run the whole body.
    pub(super) fn looping(&mut self, body: &'p [Stmt], run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        let (guesses, unbound_reads) = (self.context.guesses, self.unbound_reads);
        let flow = run(self);
        if flow == Flow::Next && (self.context.guesses > guesses || self.unbound_reads > unbound_reads) {
            self.havoc_block(body);
        }
        flow
    }

    pub(super) fn exec_for(&mut self, stmt: &'p StmtFor) -> Flow {
        let span = self.span(&*stmt.iter);
        let since = self.heap.len();
        let iterable = self.eval(&stmt.iter);
        if self.stopped {
            return Flow::Stopped;
        }
        if self.context.speculative
            && let Some(backward) = self.accumulates(stmt)
        {
            self.event(super::Event::Accumulates { backward });
        }
        let rounds = self.rounds_of(stmt, &iterable);
        let round = move |it: &mut Self, value: Value| {
            let value = it.element_of_batches(stmt, value);
            it.assign(&stmt.target, value);
            it.exec_block(&stmt.body)
        };
        let iterator = self.iterator_of(&iterable, span);
        if self.heap.suspended(&iterator).is_some() {
            return self.over_suspended(&iterator, rounds, span, &stmt.orelse, Rc::new(round));
        }
        if self.user_method(&iterator, "__next__").is_some() {
            return self.over_iterator(&iterator, rounds, span, &stmt.orelse, &mut |it, value| round(it, value));
        }
        let certain = self.surely_not_empty(&iterable);
        let over = self.heap.sources_of(&iterator);
        let items = self.iterate(&iterator, span);
        let body_size = stmt.body.last().map_or(0, |last| last.end().to_u32())
            - stmt.body.first().map_or(0, |f| f.start().to_u32());
        match items {
            Items::Exact(items) if items.is_empty() => self.exec_block(&stmt.orelse),
            Items::Exact(items) if self.unrolls(&items, stmt, body_size) => {
                // A statement of the body may run in only some of the rounds, so rules get no
                // number of rounds.
                let rounds = Rounds { count: None, unrolled: true, ..rounds };
                let Some(list) = self.changing(&iterator, stmt) else {
                    let over = match self.heap.dictionary_now(&iterator) {
                        Some(keys) => Over::Keys(keys),
                        None => Over::Sources(over),
                    };
                    return self.unrolled_over(items, over, rounds, &stmt.orelse, &round);
                };
                let places = self.places(items.len());
                let last = places.len().saturating_sub(1);
                self.unrolled(places, rounds, &stmt.orelse, &mut |it, at| it.round_at(list, &at, last, &round))
            }
            Items::Exact(items) => {
                // The first element may differ in kind from the others, so each round gets the join
                // of all elements.
                let count = items.len();
                let element = Items::Exact(items).element(&mut self.heap);
                self.counted(stmt, count, &element, |it| {
                    let mut surely = Some(true);
                    let mut begin = |_: &mut Self| surely.take();
                    let mut body = |it: &mut Self| {
                        let value = it.element_by_now(&iterator, &over).unwrap_or_else(|| element.clone());
                        round(it, value)
                    };
                    it.widened(rounds, true, &stmt.orelse, &mut begin, &mut body, None)
                })
            }
            Items::Many(element) => {
                let mut first = match iterator.as_obj().map(|id| self.heap.get(id)) {
                    Some(Data::Iter(iter)) => iter.first.clone(),
                    _ => None,
                };
                // Each round has its own batch: a write to one batch does not affect the next one.
                let made = self.heap.renewed(&element, since);
                let mut last = |it: &mut Self| {
                    if let Some(last) = it.last_of(&iterable, span) {
                        round(it, last);
                    }
                };
                let mut body = |it: &mut Self| {
                    let value = first.take().unwrap_or_else(|| it.heap.renewed(&made, since));
                    let value = it.element_by_now(&iterator, &over).unwrap_or(value);
                    // Each round has another element, with another graph.
                    let value = it.heap.one_of_many(&value);
                    round(it, value)
                };
                self.widened(rounds, certain, &stmt.orelse, &mut |_| None, &mut body, Some(&mut last))
            }
        }
    }

    /// A loop over an iterator of the program: calls its `__next__`.
    pub(super) fn over_iterator(
        &mut self,
        iterator: &Value,
        rounds: Rounds,
        span: Span,
        orelse: &'p [Stmt],
        round: &mut dyn FnMut(&mut Self, Value) -> Flow,
    ) -> Flow {
        let ends: RefCell<Vec<Delta>> = RefCell::default();
        let outer = self.heap.mark();
        let flow = self.widened(
            rounds,
            true,
            &[],
            &mut |_| Some(true),
            &mut |it| {
                // `StopIteration` ends the loop.
                let before = it.is_live().then(|| it.heap.delta(outer));
                let id = it.push_block(outer, BlockKind::Try(Catches::All));
                let next = it.user_method(iterator, "__next__").unwrap_or(Value::Unknown);
                let value = it.call(&next, Args::positional([iterator.clone()], span), span);
                it.pop_block();
                let left = it.take_exits(id);
                if it.is_live() {
                    // If no path raised `StopIteration`, unseen code is assumed to raise it.
                    let unseen = before.filter(|_| left.is_empty());
                    ends.borrow_mut().extend(left.into_iter().map(|exit| exit.state).chain(unseen));
                }
                if it.stopped { Flow::Stopped } else { round(it, value) }
            },
            None,
        );
        // Paths that left by `break` continue after the `else` block.
        let mut exits = Vec::new();
        if flow == Flow::Next {
            exits.push(self.heap.delta(outer));
        }
        self.heap.undo(outer);
        let ends = ends.into_inner();
        if !ends.is_empty() {
            self.heap.join(&ends, false);
            if self.exec_block(orelse) == Flow::Next {
                exits.push(self.heap.delta(outer));
            }
        }
        if self.meet(outer, &exits) { Flow::Next } else { Flow::Stopped }
    }

    /// A loop over a generator: the body runs at each `yield`.
    pub(super) fn over_suspended(
        &mut self,
        generator: &Value,
        rounds: Rounds,
        span: Span,
        orelse: &'p [Stmt],
        round: Consumer<'p>,
    ) -> Flow {
        let (mark, id) = self.begin_loop(rounds);
        let place = self.waiting.len();
        self.change_loop(|l| l.generator = Some(place));
        let consumer = move |it: &mut Self, value: Value| {
            let begin = it.heap.mark();
            let shown = !it.is_live();
            it.change_loop(|l| (l.round, l.shown) = (begin, shown));
            let flow = round(it, value);
            let mut ends: Vec<Delta> = it.take_continues(id).into_iter().map(|exit| exit.state).collect();
            if flow == Flow::Next {
                ends.push(it.heap.delta(begin));
            }
            if it.meet(begin, &ends) { Flow::Next } else { Flow::Stopped }
        };
        let flow = self.drive(generator, span, Rc::new(consumer));
        self.pop_block();
        let mut exits = Vec::new();
        if flow == Flow::Next && self.exec_block(orelse) == Flow::Next {
            exits.push(self.heap.delta(mark));
        }
        exits.extend(self.take_exits(id).into_iter().map(|exit| exit.state));
        if self.meet(mark, &exits) { Flow::Next } else { Flow::Stopped }
    }

    /// Calls `round` for each of these elements. If their number is unknown or larger than `most`,
    /// runs `round` until a fixpoint.
    pub(super) fn over_items(
        &mut self,
        items: Items,
        most: usize,
        round: &mut dyn FnMut(&mut Self, Value) -> Flow,
    ) -> Flow {
        self.over_items_in(Rounds::default(), items, most, round)
    }

    pub(super) fn over_items_in(
        &mut self,
        rounds: Rounds,
        items: Items,
        most: usize,
        round: &mut dyn FnMut(&mut Self, Value) -> Flow,
    ) -> Flow {
        match items {
            Items::Exact(items) if items.is_empty() => Flow::Next,
            Items::Exact(items) if items.len() <= most => self.unrolled(items, rounds, &[], round),
            items => {
                let certain = matches!(items, Items::Exact(_));
                let element = items.element(&mut self.heap);
                let mut body = |it: &mut Self| {
                    let element = it.another(&element);
                    round(it, element)
                };
                self.widened(rounds, certain, &[], &mut |_| None, &mut body, None)
            }
        }
    }

    /// Whether a loop over the iterable certainly runs at least once. An instance of a class, such
    /// as a data loader, and a tensor of unknown shape are assumed not to be empty. A list of
    /// unknown length may be empty.
    pub(super) fn surely_not_empty(&self, iterable: &Value) -> bool {
        if self.heap.is_perhaps_empty(iterable) {
            return false;
        }
        match iterable {
            Value::Tuple(items) => !items.is_empty(),
            Value::Obj(id) => match self.heap.get(*id) {
                Data::List(Items::Exact(items)) | Data::Set(Items::Exact(items)) => !items.is_empty(),
                Data::Iter(Iter { items: Items::Exact(items), .. }) => !items.is_empty(),
                Data::Iter(iter) => iter.filled,
                Data::Dict(dict) => !dict.entries.is_empty(),
                Data::List(_) | Data::Set(_) => false,
                Data::Tensor(tensor) => {
                    let rows = tensor.shape.as_ref().and_then(|dims| dims.first());
                    rows.is_none_or(|rows| rows.size.is_positive())
                }
                _ => self.payload(iterable).is_none_or(|payload| self.surely_not_empty(&payload)),
            },
            _ => false,
        }
    }

    /// What is known about the rounds of a `for` loop.
    fn rounds_of(&mut self, stmt: &'p StmtFor, iterable: &Value) -> Rounds {
        let perhaps_none = self.heap.is_perhaps_empty(iterable);
        let count = self.count_of(&stmt.iter, iterable);
        Rounds { count, leaves: leaves(&stmt.body), perhaps_none, ..Rounds::default() }
    }

    fn count_of(&mut self, iter: &'p Expr, iterable: &Value) -> Option<i64> {
        let Expr::Call(call) = iter else { return self.length_of(iterable) };
        let name = match &*call.func {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => "",
        };
        let first = call.arguments.args.first()?;
        match (name, &*call.arguments.args) {
            ("range" | "trange", [_]) => self.eval(first).as_int(),
            ("range" | "trange", [_, end]) => Some(self.eval(end).as_int()?.saturating_sub(self.eval(first).as_int()?)),
            // These functions iterate over their argument once.
            ("enumerate" | "tqdm" | "track", _) => match first {
                Expr::Name(_) | Expr::Attribute(_) => {
                    let inner = self.eval(first);
                    self.length_of(&inner)
                }
                Expr::Call(_) => self.count_of(first, &Value::Unknown),
                _ => None,
            },
            _ => self.length_of(iterable),
        }
    }

    fn length_of(&mut self, iterable: &Value) -> Option<i64> {
        match iterable.as_obj() {
            Some(id) if matches!(self.heap.get(id), Data::List(_) | Data::Instance(_)) => {
                let library = self.library;
                let known = self.heap.exact_items(iterable).map(|items| items.len());
                let known = known.and_then(|n| i64::try_from(n).ok());
                let ours = |name: &&str| self.overrides(iterable, name);
                if ["__iter__", "__getitem__", "__len__"].iter().any(ours) {
                    return None;
                }
                known.or_else(|| library.length(self, iterable)?.as_int())
            }
            _ => None,
        }
    }

    pub(super) fn begin_loop(&mut self, rounds: Rounds) -> (Mark, BlockId) {
        let mark = self.heap.mark();
        self.decisions += 1;
        self.begun = self.begun.wrapping_add(1);
        let rounds = Rounds { run: self.begun, ..rounds };
        let begun = Loop { rounds, undecided: self.context.undecided, shown: false, round: mark, generator: None };
        (mark, self.push_block(mark, BlockKind::Loop(begun)))
    }

    /// Updates the entry of the innermost block, which is a loop.
    fn change_loop(&mut self, change: impl FnOnce(&mut Loop)) {
        let innermost = self.frames.last_mut().and_then(|f| f.blocks.last_mut());
        if let Some(Block { kind: BlockKind::Loop(innermost), .. }) = innermost {
            change(innermost);
        }
    }

    /// The paths that ended a round with `continue`.
    pub(super) fn take_continues(&mut self, of: BlockId) -> Vec<Exit> {
        let continues = |exit: &Exit| exit.to == of && matches!(exit.how, Leave::Continue);
        if !self.exits.iter().any(continues) {
            return Vec::new();
        }
        let (taken, kept) = std::mem::take(&mut self.exits).into_iter().partition(continues);
        self.exits = kept;
        taken
    }

    /// The states at the end of a round, and whether all paths that ended the round with `continue`
    /// recur.
    pub(super) fn round_ends(&mut self, flow: Flow, mark: Mark, of: BlockId) -> (Vec<Delta>, bool) {
        let continues = self.take_continues(of);
        let recurs = continues.iter().all(|exit| exit.recurs);
        let mut ends: Vec<Delta> = continues.into_iter().map(|exit| exit.state).collect();
        if flow == Flow::Next {
            ends.push(self.heap.delta(mark));
        }
        (ends, recurs)
    }

    pub(super) fn unrolled(
        &mut self,
        items: Vec<Value>,
        rounds: Rounds,
        orelse: &'p [Stmt],
        round: &mut dyn FnMut(&mut Self, Value) -> Flow,
    ) -> Flow {
        let (mark, id) = self.begin_loop(rounds);
        let (mut alive, outer, before) = (true, self.context, self.left());
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                self.context.carried = Some(self.heap.len());
                self.doubt_round(outer, self.left() != before);
            }
            let flow = round(self, item);
            if flow == Flow::Next && !self.exits.iter().any(|exit| exit.to == id && matches!(exit.how, Leave::Continue))
            {
                continue;
            }
            let (ends, recurs) = self.round_ends(flow, mark, id);
            self.heap.undo(mark);
            if ends.is_empty() {
                alive = false;
                break;
            }
            self.heap.join_taken(&ends, false, recurs);
        }
        (self.context.carried, self.context.in_doubt) = (outer.carried, outer.in_doubt);
        self.pop_block();
        if alive && !orelse.is_empty() && self.exec_block(orelse) == Flow::Stopped {
            alive = false;
        }
        let breaks = self.take_exits(id);
        if !breaks.is_empty() || !alive {
            let mut exits: Vec<Delta> = breaks.into_iter().map(|exit| exit.state).collect();
            if alive {
                exits.push(self.heap.delta(mark));
            }
            return if self.meet(mark, &exits) { Flow::Next } else { Flow::Stopped };
        }
        self.heap.release(mark);
        Flow::Next
    }

    /// Runs a loop's body from the state on entry, then from the joined states at the end of its
    /// rounds, until a fixpoint. The join covers, for example, an accumulator that is a number
    /// before the loop and a tensor inside it. Values that keep changing become unknown.
    ///
    /// `begin` evaluates the condition. It returns `Some(false)` if the loop ends, and `None` if
    /// the loop may end. `certain` means that the body runs at least once. `last` runs the last
    /// round, if its element differs from the others.
    pub(super) fn widened(
        &mut self,
        rounds: Rounds,
        certain: bool,
        orelse: &'p [Stmt],
        begin: &mut dyn FnMut(&mut Self) -> Option<bool>,
        body: &mut dyn FnMut(&mut Self) -> Flow,
        last: Option<&mut dyn FnMut(&mut Self)>,
    ) -> Flow {
        let start = self.before();
        let (mark, id) = self.begin_loop(rounds);
        let filling = match rounds.perhaps_none {
            true => self.heap.set_filling(0),
            false => self.heap.begin_filling() - 1,
        };
        // The state at the end of the rounds so far; `None` before the first one.
        let mut state: Option<Delta> = None;
        // The states in which the condition ends the loop.
        let mut ended: Vec<Delta> = Vec::new();
        let (moments, outer, before) = (self.observer().moments(), self.context, self.exits.len());
        let uncaught = self.uncaught;
        // Whether the previous round surely ran, and whether the loop may have no round.
        let (mut entered, mut skipped) = (true, false);
        for round in 1.. {
            self.heap.undo(mark);
            if let Some(state) = &state {
                self.heap.apply(state);
            }
            self.context.later_rounds = outer.later_rounds + u32::from(state.is_some());
            let left = self.left() != (before, uncaught);
            self.doubt_round(outer, state.is_some() && (left || !entered));
            let enters = begin(self);
            if std::mem::take(&mut self.stopped) {
                break;
            }
            if enters != Some(true) && (state.is_some() || !certain) {
                // A state after a round includes the states after earlier rounds, but not the state
                // before the first round.
                ended.truncate(1);
                ended.push(self.heap.delta(mark));
            }
            if enters == Some(false) {
                break;
            }
            let left = self.left() != (before, uncaught);
            entered = enters == Some(true) || certain && (state.is_none() || !rounds.perhaps_none);
            self.doubt_round(outer, state.is_some() && (left || !entered));
            skipped |= round == 1 && enters != Some(true);
            let flow = body(self);
            let (mut ends, recurs) = self.round_ends(flow, mark, id);
            self.heap.undo(mark);
            if ends.is_empty() || round > MAX_ROUNDS {
                break;
            }
            let first = state.is_none();
            if first && outer.later_rounds == 0 && self.is_live() && self.observer().moments() != moments {
                self.show_second_round((mark, id), (&ends, recurs), skipped, begin, body);
            }
            let previous = state.take();
            ends.splice(0..0, previous.clone());
            let changed = self.heap.join_taken(&ends, !first, first && recurs);
            let next = self.heap.delta(mark);
            if self.second_round() {
                // In a replay, one round of a nested loop is enough for the rules about order.
                ended.clear();
                ended.extend((enters != Some(true)).then(|| next.clone()));
                state = Some(next);
                break;
            }
            if !first && !changed {
                state = Some(next);
                break;
            }
            let spent = !self.step();
            state = Some(match previous {
                _ if spent || round >= MAX_ROUNDS => self.heap.forget_changes(mark, &next),
                Some(previous) if round >= PATIENCE => self.heap.give_up_changes(mark, &previous, &next),
                _ => next,
            });
            if spent {
                ended.extend(state.clone());
                break;
            }
        }
        self.heap.undo(mark);
        // The last round runs only if no path leaves the loop earlier.
        if let (Some(last), Some(state)) = (last, &state)
            && self.is_live()
            && self.exits.len() == before
        {
            self.heap.apply(state);
            last(self);
            self.stopped = false;
            self.heap.undo(mark);
            self.exits.truncate(before);
        }
        (self.context.later_rounds, self.context.in_doubt) = (outer.later_rounds, outer.in_doubt);
        self.pop_block();
        if state.is_none() && self.exits.iter().all(|exit| exit.to != id) {
            // If every path leaves the function in the first round, the code after the loop runs
            // only if the loop has no round.
            if skipped && ended.is_empty() {
                ended.push(self.heap.delta(mark));
            }
            // If an exception ends the first round, later failures are assumed to follow from it:
            // the corrected program runs the whole body.
            let left = self.exits.get(before..).unwrap_or_default();
            let is_here = |to: BlockId| self.frames.last().is_some_and(|f| f.blocks.iter().any(|b| b.id == to));
            let leaves = |exit: &Exit| matches!(exit.how, Leave::Raise(_)) && !is_here(exit.to);
            let raises = (self.uncaught != uncaught || !left.is_empty()) && left.iter().all(leaves);
            self.context.guesses += u32::from(self.surely_rejected(start) || raises);
        }
        if !orelse.is_empty() && !ended.is_empty() {
            self.heap.join(&ended, false);
            ended.clear();
            if self.exec_block(orelse) == Flow::Next {
                ended.push(self.heap.delta(mark));
            }
            self.heap.undo(mark);
        }
        ended.extend(self.take_exits(id).into_iter().map(|exit| exit.state));
        let met = self.meet(mark, &ended);
        self.heap.set_filling(filling);
        if met { Flow::Next } else { Flow::Stopped }
    }

    /// The number of paths that left a block and wait to continue in an outer one, and the number
    /// of paths that ended with an uncaught exception or ended the program.
    fn left(&self) -> (usize, u32) {
        (self.exits.len(), self.uncaught)
    }

    /// Begins a round. `doubt`: it is not certain that the round runs, although earlier rounds did.
    fn doubt_round(&mut self, outer: Context, doubt: bool) {
        self.context.in_doubt = outer.in_doubt || doubt;
    }

    /// Runs a loop's body from the state in which its first round ended, only for the observer: the
    /// effects are discarded. If the rule states of several paths are stored separately at the end
    /// of this round, but not at its beginning, the next round is replayed, too. `skipped`: the
    /// loop may have no round; in that case, the program does not evaluate the condition a second
    /// time.
    fn show_second_round(
        &mut self,
        (mark, id): (Mark, BlockId),
        (ends, recurs): (&[Delta], bool),
        skipped: bool,
        begin: &mut dyn FnMut(&mut Self) -> Option<bool>,
        body: &mut dyn FnMut(&mut Self) -> Flow,
    ) {
        self.on_trial(Mode::Replay, |it, _| {
            it.heap.join_taken(ends, false, recurs);
            let decided = !it.heap.has_fates_apart(it.state);
            if let Some((ends, recurs)) = it.show_round((mark, id), skipped, begin, body)
                && decided
            {
                it.heap.undo(mark);
                it.heap.join_taken(&ends, false, recurs);
                if it.heap.has_fates_apart(it.state) {
                    it.show_round((mark, id), skipped, begin, body);
                }
            }
        });
        self.change_loop(|l| l.shown = false);
    }

    /// Replays one more round for the observer. Returns the states of all paths at the end of the
    /// round, and whether each path with a `continue` recurs (see `Exit::recurs`). Returns `None` if
    /// every path leaves the body early, for example with `continue`.
    fn show_round(
        &mut self,
        (mark, id): (Mark, BlockId),
        skipped: bool,
        begin: &mut dyn FnMut(&mut Self) -> Option<bool>,
        body: &mut dyn FnMut(&mut Self) -> Flow,
    ) -> Option<(Vec<Delta>, bool)> {
        self.context.carried = Some(self.heap.len());
        self.change_loop(|l| l.shown = true);
        let doubt = self.context.in_doubt;
        self.context.in_doubt |= skipped;
        let enters = begin(self);
        self.context.in_doubt = doubt;
        let flow = if enters == Some(false) || self.stopped { Flow::Stopped } else { body(self) };
        self.stopped = false;
        let ends = self.round_ends(flow, mark, id);
        (flow == Flow::Next).then_some(ends)
    }

    /// Whether a loop over known elements is run element by element.
    fn unrolls(&mut self, items: &[Value], stmt: &StmtFor, body_size: u32) -> bool {
        if items.len() == 1 {
            return true;
        }
        // Rounds over integers, such as epochs, are assumed to be alike; rounds over other elements
        // may differ.
        let alike = items.iter().all(|item| item.as_int().is_some());
        if has_loop(&stmt.body) {
            return items.len() <= UNROLL && !alike;
        }
        items.len() <= UNROLL
            || (items.len() <= UNROLL_LONG && body_size <= SHORT_BODY
                || items.len() <= UNROLL_LONGER && body_size <= SHORTER_BODY)
                && !(alike && self.calls_loop(&stmt.body))
    }

    /// Whether a body calls a function of the program that contains a loop, as far as their names tell.
    fn calls_loop(&mut self, body: &[Stmt]) -> bool {
        let names: Vec<&str> = body.iter().flat_map(calls).filter_map(called).collect();
        let files: Vec<FileId> = self.modules.keys().copied().chain([self.root]).collect();
        files.into_iter().any(|file| {
            let sources = self.sources;
            let loops = self.loops.entry(file).or_insert_with(|| functions_with_loops(&sources.module(file).body));
            names.iter().any(|name| loops.contains(name))
        })
    }

    pub(super) fn exec_while(&mut self, stmt: &'p StmtWhile) -> Flow {
        let mut begin = |it: &mut Self| it.condition(&stmt.test);
        let mut body = |it: &mut Self| {
            it.assume(&stmt.test, true);
            it.exec_block(&stmt.body)
        };
        self.widened(Rounds::default(), false, &stmt.orelse, &mut begin, &mut body, None)
    }
}

/// Whether a loop's body contains a `break` or `return` that ends the loop.
fn leaves(body: &[Stmt]) -> bool {
    body.iter().any(|s| match s {
        Stmt::Break(_) | Stmt::Return(_) => true,
        // A `break` in the body of a nested loop does not end this loop. A `return` there does, and so does a
        // `break` in the `else` block of the nested loop.
        Stmt::For(s) => returns(&s.body) || leaves(&s.orelse),
        Stmt::While(s) => returns(&s.body) || leaves(&s.orelse),
        _ => blocks(s).into_iter().any(leaves),
    })
}

fn returns(body: &[Stmt]) -> bool {
    body.iter().any(|s| matches!(s, Stmt::Return(_)) || blocks(s).into_iter().any(returns))
}

/// The names of the functions in a file that contain a loop, or call another of these functions.
fn functions_with_loops(body: &[Stmt]) -> FxHashSet<&str> {
    let defs: Vec<&StmtFunctionDef> =
        statements(body, true).into_iter().filter_map(Stmt::as_function_def_stmt).collect();
    let (looping, others): (Vec<_>, Vec<_>) = defs.into_iter().partition(|def| has_loop(&def.body));
    let mut found: FxHashSet<&str> = looping.into_iter().map(|def| def.name.as_str()).collect();
    let mut others: Vec<(&str, Vec<&str>)> = others
        .into_iter()
        .map(|def| (def.name.as_str(), def.body.iter().flat_map(calls).filter_map(called).collect()))
        .collect();
    loop {
        let before = others.len();
        others.retain(|(name, calls)| {
            let calls_one = calls.iter().any(|call| found.contains(call));
            if calls_one {
                found.insert(name);
            }
            !calls_one
        });
        if others.len() == before {
            return found;
        }
    }
}

/// Whether a body contains a loop: unrolling nested loops multiplies the rounds.
fn has_loop(body: &[Stmt]) -> bool {
    body.iter().any(|s| match s {
        Stmt::For(_) | Stmt::While(_) => true,
        Stmt::If(s) => has_loop(&s.body) || s.elif_else_clauses.iter().any(|c| has_loop(&c.body)),
        Stmt::With(s) => has_loop(&s.body),
        Stmt::Try(s) => has_loop(&s.body),
        _ => false,
    })
}
