//! Leaving blocks: `return`, `break`, `continue`, `raise`, and what runs on the way out.
//!
//! Each frame has a stack of the blocks around its current statement. A path that leaves blocks
//! goes through the stack from the inside out: it exits `with` blocks and runs `finally` blocks. It
//! is then stored as an [`Exit`] for the block at whose end it continues.

use super::cadence::Cadence;
use super::interp::{Frame, Interp, Rounds};
use super::stmt::Flow;
use crate::syntax::Stmt;
use crate::value::{Delta, Mark, Topic, Value};

/// How a path leaves blocks.
#[derive(Debug, Clone)]
pub(super) enum Leave {
    Return(Value),
    Break,
    Continue,
    /// The value is the exception: an instance, a class, or unknown.
    Raise(Value),
    /// A generator is closed: no further elements are requested.
    Close,
}

/// A unique number of a block or of a function's call.
pub(super) type BlockId = u32;

/// A path that has left some blocks.
pub(super) struct Exit {
    /// The block or call at whose end it continues.
    pub to: BlockId,
    pub how: Leave,
    /// The changes of the heap since the mark of that block.
    pub state: Delta,
    /// Whether the path recurs in the loop. False if the path left from an arm with an unclear
    /// cadence.
    pub recurs: bool,
}

/// A block whose body is running.
#[derive(Clone)]
pub(super) struct Block<'p> {
    pub id: BlockId,
    pub mark: Mark,
    pub kind: BlockKind<'p>,
}

impl Block<'_> {
    fn is_try(&self) -> bool {
        matches!(self.kind, BlockKind::Try(_))
    }
}

#[derive(Clone)]
pub(super) enum BlockKind<'p> {
    Loop(Loop),
    /// `with`, for a context manager that was entered.
    With(Value),
    /// `with`, for a manager that is a generator at its `yield`: the generator continues before the
    /// block is left.
    Resumes,
    Finally(&'p [Stmt]),
    /// Code during which a note has another value. On the way out, the note gets this earlier value
    /// again.
    Note(Topic, Value),
    /// `try` with handlers, `with suppress(…)` or `with pytest.raises(…)`.
    Try(Catches),
}

/// Which exceptions the handlers of a `try` catch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Catches {
    All,
    Some,
    /// Only exceptions that come from outside the program, such as `KeyboardInterrupt` and `OSError`. No mistake in
    /// the code raises them.
    Outer,
}

/// A loop that is running.
#[derive(Clone)]
pub(super) struct Loop {
    pub rounds: Rounds,
    /// The number of undecided branches around it.
    pub undecided: u32,
    /// One of its later rounds is replayed for the observer.
    pub shown: bool,
    /// The heap mark of the current round, at the end of which paths that `continue` are joined.
    pub round: Mark,
    /// The generator that it iterates over, as an index among the waiting generators.
    pub generator: Option<usize>,
}

impl<'p> Interp<'p> {
    /// A new number for a block or a call.
    pub(super) fn block_id(&mut self) -> BlockId {
        self.last_block = self.last_block.wrapping_add(1);
        self.last_block
    }

    pub(super) fn push_block(&mut self, mark: Mark, kind: BlockKind<'p>) -> BlockId {
        let id = self.block_id();
        if let Some(frame) = self.frames.last_mut() {
            frame.blocks.push(Block { id, mark, kind });
        }
        id
    }

    pub(super) fn pop_block(&mut self) -> Option<Block<'p>> {
        self.frames.last_mut().and_then(|frame| frame.blocks.pop())
    }

    /// Runs something while a note has this value. Afterwards, the note has its earlier value
    /// again, or `initial` if it had none. This also holds on the paths on which an exception
    /// leaves the code.
    pub(crate) fn noting<T>(
        &mut self,
        topic: Topic,
        value: Value,
        initial: Value,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.remembered(topic).unwrap_or(initial);
        self.remember(topic, value);
        let mark = self.heap.mark();
        self.push_block(mark, BlockKind::Note(topic, before.clone()));
        let result = run(self);
        self.pop_block();
        self.heap.release(mark);
        self.remember(topic, before);
        result
    }

    /// Takes the paths that continue at the end of this block, in order.
    pub(super) fn take_exits(&mut self, to: BlockId) -> Vec<Exit> {
        if self.exits.iter().all(|exit| exit.to != to) {
            return Vec::new();
        }
        let (taken, kept) = std::mem::take(&mut self.exits).into_iter().partition(|exit| exit.to == to);
        self.exits = kept;
        taken
    }

    /// Ends the current path, and stores its state for the block at whose end it continues.
    pub(super) fn leave(&mut self, how: Leave) -> Flow {
        if matches!(how, Leave::Raise(_)) {
            self.raised = self.raised.wrapping_add(1);
            if !self.frames.iter().chain(&self.waiting).any(|frame| frame.blocks.iter().any(Block::is_try)) {
                self.uncaught = self.uncaught.wrapping_add(1);
            }
            if !self.is_caught() {
                return Flow::Stopped;
            }
        }
        // The changes that `finally` and `with` blocks make on the way out are only in the stored
        // states: a handler inside such a block runs before these changes.
        let mark = self.heap.mark();
        let journals = self.heap.pause_journals();
        self.leave_frame(how);
        self.heap.resume_journals(journals);
        self.heap.undo(mark);
        self.heap.release(mark);
        Flow::Stopped
    }

    /// Whether any code may run after the exception: a handler, a `finally` block, a manager's
    /// `__exit__`, or the rest of a generator that is used as a manager.
    fn is_caught(&self) -> bool {
        let sees = |block: &Block<'p>| match &block.kind {
            BlockKind::Try(_) | BlockKind::Finally(_) | BlockKind::Resumes => true,
            BlockKind::With(manager) => self.heap.instance_of(manager).is_some_and(|i| i.class.as_obj().is_some()),
            BlockKind::Loop(_) | BlockKind::Note(..) => false,
        };
        self.frames.iter().chain(&self.waiting).any(|frame| frame.blocks.iter().any(sees))
    }

    /// Whether a path has already returned from the current function.
    pub(super) fn returned_before(&self) -> bool {
        let current = self.frames.last().map(|frame| frame.id);
        self.exits.iter().any(|exit| Some(exit.to) == current && matches!(exit.how, Leave::Return(_)))
    }

    /// Leaves the blocks of the current frame; for an exception, also the frame.
    fn leave_frame(&mut self, how: Leave) {
        if self.leave_blocks(&how) == Flow::Stopped {
            return;
        }
        let mark = self.frames.last().and_then(|frame| Some((frame.id, frame.mark?)));
        match (how, mark) {
            (Leave::Return(value), Some((id, mark))) => self.keep_exit(id, mark, Leave::Return(value)),
            // A handler around the first use of a lazily executed module does not see this module half
            // executed: a failed import leaves no module behind.
            (Leave::Raise(_), _) if self.frames.last().is_some_and(|frame| frame.is_lazy_module) => {}
            (Leave::Raise(exception), _) if self.frames.len() > 1 => {
                // The path leaves the caller's blocks from the place of the call.
                let Some(frame) = self.frames.pop() else { return };
                self.leave_frame(Leave::Raise(exception));
                self.frames.push(frame);
            }
            _ => {}
        }
    }

    /// Leaves the blocks of the current frame, the innermost block first, until one of them stops the
    /// path. Returns whether the path continues outside all of them.
    fn leave_blocks(&mut self, how: &Leave) -> Flow {
        let count = self.frames.last().map_or(0, |frame| frame.blocks.len());
        for at in (0..count).rev() {
            let Some(block) = self.frames.last().and_then(|f| f.blocks.get(at)).cloned() else { continue };
            if self.leave_block(at, block, how) == Flow::Stopped {
                return Flow::Stopped;
            }
        }
        Flow::Next
    }

    /// Makes a path leave one block. Returns whether the path continues outwards.
    fn leave_block(&mut self, at: usize, block: Block<'p>, how: &Leave) -> Flow {
        let keep = |it: &mut Self| {
            it.keep_exit(block.id, block.mark, how.clone());
            Flow::Stopped
        };
        match (&block.kind, how) {
            (BlockKind::Loop(_), Leave::Break) | (BlockKind::Resumes, _) => keep(self),
            (BlockKind::Loop(innermost), Leave::Continue) => {
                self.keep_exit(block.id, innermost.round, Leave::Continue);
                Flow::Stopped
            }
            (BlockKind::Try(catches), Leave::Raise(_)) => {
                keep(self);
                if *catches == Catches::All { Flow::Stopped } else { Flow::Next }
            }
            (BlockKind::Loop(Loop { generator: Some(waiting), .. }), _) => {
                self.close_waiting(*waiting);
                Flow::Next
            }
            (BlockKind::Loop(_) | BlockKind::Try(_), _) => Flow::Next,
            (BlockKind::Note(topic, before), _) => {
                self.remember(*topic, before.clone());
                Flow::Next
            }
            (BlockKind::Finally(body), how) => {
                let body: &'p [Stmt] = body;
                // A line that fails after an exception may succeed without one.
                let after_exception = matches!(how, Leave::Raise(_));
                self.guessing(after_exception, |it| it.outside(at, |it| it.exec_block(body)))
            }
            (BlockKind::With(manager), Leave::Raise(_)) => {
                let manager = manager.clone();
                match self.outside(at, |it| it.exit_manager(&manager, true)) {
                    Some(true) => keep(self),
                    Some(false) => Flow::Next,
                    None => {
                        keep(self);
                        Flow::Next
                    }
                }
            }
            (BlockKind::With(manager), _) => {
                let manager = manager.clone();
                self.outside(at, |it| it.exit_manager(&manager, false));
                Flow::Next
            }
        }
    }

    /// Runs something in the innermost function, outside this block and the blocks inside it.
    fn outside<T>(&mut self, at: usize, run: impl FnOnce(&mut Self) -> T) -> T {
        let inner = self.frames.last_mut().map(|f| f.blocks.split_off(at)).unwrap_or_default();
        let result = run(self);
        if let Some(frame) = self.frames.last_mut() {
            frame.blocks.extend(inner);
        }
        result
    }

    pub(super) fn keep_exit(&mut self, to: BlockId, mark: Mark, how: Leave) {
        let recurs = self.frames.last().and_then(|f| f.arms.last()) != Some(&Cadence::Unclear);
        let state = self.heap.delta(mark);
        self.exits.push(Exit { to, how, state, recurs });
    }

    /// Closes a generator after the loop over it was left: runs its `finally` blocks and exits its
    /// `with` blocks.
    fn close_waiting(&mut self, at: usize) {
        let has_ends = |frame: &Frame<'p>| {
            frame.blocks.iter().any(|b| matches!(b.kind, BlockKind::Finally(_) | BlockKind::With(_)))
        };
        if self.waiting.get(at).is_some_and(has_ends) {
            self.in_waiting(at, |it| it.leave_blocks(&Leave::Close));
        }
    }

    /// Closes the generator that yielded last.
    pub(super) fn close_innermost(&mut self) {
        if let Some(at) = self.waiting.len().checked_sub(1) {
            self.close_waiting(at);
        }
    }

    /// Raises an exception at the `yield` of the innermost waiting generator. If the exception may
    /// leave the generator, it is also raised outside the `with` block that the generator manages.
    /// Returns whether the generator may catch it.
    pub(super) fn raise_in_waiting(&mut self, exception: Value) -> bool {
        let Some(at) = self.waiting.len().checked_sub(1) else { return false };
        let exits = self.exits.len();
        let how = Leave::Raise(exception);
        let passes = self.in_waiting(at, |it| it.leave_blocks(&how)) == Some(Flow::Next);
        let caught = self.exits.len() > exits;
        if passes {
            let managed = self.frames.last().map_or(0, |frame| frame.blocks.len().saturating_sub(1));
            self.outside(managed, |it| it.leave_frame(how));
        }
        caught
    }

    /// Runs something in the frame of a waiting generator.
    fn in_waiting<T>(&mut self, at: usize, run: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let mut later = self.waiting.split_off(at.min(self.waiting.len()));
        if later.is_empty() {
            return None;
        }
        let mut generator = later.remove(0);
        let consumer = generator.consumer.take();
        self.frames.push(generator);
        let result = run(self);
        if let Some(mut generator) = self.frames.pop() {
            generator.consumer = consumer;
            self.waiting.push(generator);
        }
        self.waiting.extend(later);
        Some(result)
    }

    /// Sets the mark of the innermost block: the states of its exits are changes since this mark.
    pub(super) fn set_innermost_mark(&mut self, mark: Mark) {
        if let Some(block) = self.frames.last_mut().and_then(|frame| frame.blocks.last_mut()) {
            block.mark = mark;
        }
    }
}
