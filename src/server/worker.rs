//! The thread that analyses. It gets every change, does the most urgent work first, and cancels its
//! current work when a newer message makes it useless.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gen_lsp_types::{
    CodeActionParams, Diagnostic, DocumentDiagnosticReport, FullDocumentDiagnosticReport, LogMessageParams,
    MessageType, Position, PublishDiagnosticsParams, Range, RelatedFullDocumentDiagnosticReport,
    RelatedUnchangedDocumentDiagnosticReport, ShowMessageParams, UnchangedDocumentDiagnosticReport, Uri,
};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use rustc_hash::{FxHashMap, FxHashSet};

use super::documents::Document;
use super::settings::Options;
use super::workspace::{Stopped, Workspace};
use super::{Client, actions, hints, hover};
use crate::panics;

/// If edits come faster than analyses finish, the next analysis is delayed: by the duration of the
/// last analysis divided by `PAUSE`, but at most by `LONGEST_PAUSE`.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
const PAUSE: u32 = 4;

/// A message to the worker.
pub(super) enum Task {
    Set(Arc<Document>),
    Saved(PathBuf),
    Close(Arc<Document>),
    /// Cells that no longer exist.
    Gone(Vec<Uri>),
    Options(Options),
    Folders(Vec<PathBuf>),
    /// Files that changed on disk, and whether each was created or deleted.
    Changed(Vec<(PathBuf, bool)>),
    Ask(Ask),
}

/// A request that refers to a state of a document.
pub(super) struct Ask {
    pub id: RequestId,
    pub document: Arc<Document>,
    /// The URI of the document or of one of its cells.
    pub part: Uri,
    pub what: What,
}

pub(super) enum What {
    Diagnostics { previous: Option<String> },
    Actions(Box<CodeActionParams>),
    Hover(Position),
    Hints(Range),
}

/// Cancellation signal from the reader thread.
#[derive(Default)]
pub(super) struct Interrupt {
    /// The number of messages that make the current work useless.
    news: AtomicU64,
    cancelled: Mutex<FxHashSet<RequestId>>,
}

impl Interrupt {
    pub(super) fn news(&self) {
        self.news.fetch_add(1, Ordering::Release);
    }

    pub(super) fn cancel(&self, id: RequestId) {
        self.cancelled.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        self.news();
    }

    /// Forgets the cancellations of requests that were already answered.
    fn forget(&self) {
        self.cancelled.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn takes_back(&self, id: &RequestId) -> bool {
        self.cancelled.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }
}

/// The channel for messages to the editor.
pub(super) type Outgoing = Box<dyn Fn(Message) + Send>;

pub(super) struct Worker {
    tasks: Receiver<Task>,
    send: Outgoing,
    interrupt: Arc<Interrupt>,
    client: Client,
    workspace: Workspace,
    /// Documents to analyse, the most urgent last.
    queue: Vec<PathBuf>,
    /// The document that was edited last.
    edited: Option<PathBuf>,
    asks: Vec<Ask>,
    /// The request that is being answered.
    answering: Option<RequestId>,
    published: FxHashMap<Uri, Vec<Diagnostic>>,
    /// The duration of the last analysis.
    cost: Duration,
    /// Whether the last analysis was cancelled because a newer message made it useless.
    overtaken: bool,
    /// The earliest time at which the document that was edited last is analysed.
    not_before: Option<Instant>,
    requests: i32,
}

impl Worker {
    pub(super) fn new(tasks: Receiver<Task>, send: Outgoing, interrupt: Arc<Interrupt>, client: Client) -> Self {
        let workspace = Workspace::new(client.encoding);
        Worker {
            tasks,
            send,
            interrupt,
            client,
            workspace,
            queue: Vec::new(),
            edited: None,
            asks: Vec::new(),
            answering: None,
            published: FxHashMap::default(),
            cost: Duration::ZERO,
            overtaken: false,
            not_before: None,
            requests: 0,
        }
    }

    /// Processes tasks until all senders are gone.
    pub(super) fn run(mut self) {
        loop {
            let idle = self.queue.is_empty() && self.asks.is_empty();
            if idle {
                match self.tasks.recv() {
                    Ok(task) => self.take(task),
                    Err(_) => return,
                }
            }
            let seen = self.interrupt.news.load(Ordering::Acquire);
            if !self.take_all() {
                return;
            }
            // A panic outside an analysis must not end the server either.
            if let Err(message) = panics::catch(|| self.step(seen)) {
                self.queue.pop();
                self.notify("window/logMessage", bug(&message));
                if let Some(id) = self.answering.take() {
                    self.send(Response::new_err(id, ErrorCode::InternalError as i32, message));
                }
            }
        }
    }

    /// Takes the pending messages; false if all senders are gone.
    fn take_all(&mut self) -> bool {
        loop {
            match self.tasks.try_recv() {
                Ok(task) => self.take(task),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
    }

    fn take(&mut self, task: Task) {
        match task {
            Task::Set(document) => {
                let path = document.path.clone();
                if self.client.pulls {
                    // From now on the editor requests findings, so earlier published ones are
                    // withdrawn.
                    self.publish(document.uri.clone(), None, Vec::new());
                }
                self.workspace.set(document);
                // A single keystroke is handled at once. If keystrokes come faster than analyses
                // finish, a pause avoids analyses that would be cancelled.
                let pause = self.overtaken.then(|| (self.cost / PAUSE).min(LONGEST_PAUSE));
                self.not_before = pause.map(|pause| Instant::now() + pause);
                self.edited = Some(path.clone());
                self.enqueue_stale();
                self.enqueue(path);
            }
            Task::Saved(path) => {
                self.workspace.changed(&path, false);
                self.enqueue_stale();
                self.enqueue(path);
            }
            Task::Close(document) => {
                let concerned = self.workspace.close(&document.path);
                self.queue.retain(|path| *path != document.path);
                for part in document.parts() {
                    self.publish(part, None, Vec::new());
                }
                self.enqueue_stale();
                for path in concerned {
                    self.tell_of(&path);
                }
            }
            Task::Gone(parts) => {
                for part in parts {
                    self.publish(part, None, Vec::new());
                }
            }
            Task::Options(options) => {
                if *self.workspace.settings.options() != options {
                    self.workspace.settings.set_options(options);
                    self.refresh();
                }
            }
            Task::Folders(folders) => {
                self.workspace.folders = folders;
                self.refresh();
            }
            Task::Changed(paths) => {
                for (path, born_or_gone) in &paths {
                    self.workspace.changed(path, *born_or_gone && self.workspace.document(path).is_none());
                }
                let matters = |path: &Path| {
                    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                    crate::config::CONFIG_FILES.contains(&name)
                        || path.extension().is_some_and(|extension| extension == "md")
                };
                if paths.iter().any(|(path, _)| matters(path)) {
                    self.workspace.settings.forget();
                    self.workspace.all_changed();
                }
                let before = self.queue.len();
                self.enqueue_stale();
                if self.queue.len() > before {
                    self.ask_again();
                }
            }
            Task::Ask(ask) => self.asks.push(ask),
        }
    }

    fn enqueue(&mut self, path: PathBuf) {
        self.queue.retain(|other| *other != path);
        self.queue.push(path);
    }

    fn enqueue_stale(&mut self) {
        let stale = self.workspace.documents().filter(|document| self.workspace.is_stale(&document.path));
        let stale: Vec<PathBuf> =
            stale.map(|document| document.path.clone()).filter(|path| !self.queue.contains(path)).collect();
        self.queue.splice(0..0, stale);
    }

    fn refresh(&mut self) {
        self.workspace.all_changed();
        self.enqueue_stale();
        self.ask_again();
    }

    /// Asks the editor to repeat its requests.
    fn ask_again(&mut self) {
        for (able, method) in [
            (self.client.refreshes_diagnostics, "workspace/diagnostic/refresh"),
            (self.client.refreshes_hints, "workspace/inlayHint/refresh"),
        ] {
            if able {
                self.requests = self.requests.wrapping_add(1);
                let id = RequestId::from(format!("torchvet-{}", self.requests));
                self.send(Request::new(id, method.to_owned(), serde_json::Value::Null));
            }
        }
    }

    /// Does the most urgent work: first the document that was edited last, then requests, then the
    /// other documents.
    fn step(&mut self, seen: u64) {
        let interrupt = self.interrupt.clone();
        if self.asks.is_empty() {
            interrupt.forget();
        }
        let taken_back: Vec<Ask> = self.asks.extract_if(.., |ask| interrupt.takes_back(&ask.id)).collect();
        for ask in taken_back {
            let message = "the request was cancelled".to_owned();
            self.send(Response::new_err(ask.id, ErrorCode::RequestCanceled as i32, message));
        }
        let edited = self.edited.as_ref().is_some_and(|edited| self.queue.last() == Some(edited));
        if !edited {
            if let Some(index) = self.asks.iter().position(|ask| self.awaited(ask).is_none()) {
                let ask = self.asks.remove(index);
                self.answer(ask, seen);
                return;
            }
            // A document that an answer needs is analysed first.
            if let Some(path) = self.asks.first().and_then(|ask| self.awaited(ask)) {
                self.enqueue(path);
            }
        }
        let Some(path) = self.queue.last().cloned() else { return };
        if edited && self.pause() {
            return;
        }
        let clock = Instant::now();
        let news = &interrupt.news;
        let analysed = self.workspace.analyse(&path, &|| news.load(Ordering::Relaxed) != seen);
        self.overtaken = analysed.is_none();
        let Some(analysed) = analysed else { return };
        self.queue.retain(|other| *other != path);
        if let Some(bug) = analysed.bug {
            self.bug(&path, &bug);
        }
        // If a changed document may still have findings in a file, nothing is published for this
        // file yet.
        self.tell_of(&path);
        for other in analysed.concerned.iter().filter(|other| **other != path) {
            self.tell_of(other);
        }
        self.cost = clock.elapsed();
        for mistake in self.workspace.settings.mistakes() {
            self.notify("window/showMessage", ShowMessageParams { kind: MessageType::Error, message: mistake });
        }
    }

    /// A document to analyse before a request can be answered.
    fn awaited(&self, ask: &Ask) -> Option<PathBuf> {
        match ask.what {
            What::Diagnostics { .. } | What::Actions(_) => self.workspace.awaited(&ask.document.path),
            What::Hover(_) | What::Hints(_) => None,
        }
    }

    /// Waits for a message until `not_before`; false if none arrived.
    fn pause(&mut self) -> bool {
        let Some(left) = self.not_before.and_then(|end| end.checked_duration_since(Instant::now())) else {
            return false;
        };
        match self.tasks.recv_timeout(left) {
            Ok(task) => self.take(task),
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => {}
        }
        true
    }

    fn answer(&mut self, ask: Ask, seen: u64) {
        let Ask { id, document, part, what } = &ask;
        self.answering = Some(id.clone());
        let interrupt = self.interrupt.clone();
        let cancelled = || interrupt.news.load(Ordering::Relaxed) != seen;
        let current = self.workspace.document(&document.path).is_some_and(|now| now.version == document.version);
        let json = |value: Result<serde_json::Value, serde_json::Error>| value.unwrap_or_default();
        let answer = match what {
            What::Diagnostics { previous } => Ok(json(serde_json::to_value(self.pulled(document, part, previous)))),
            // The answer would refer to a state that no longer exists.
            _ if !current => Err(Stopped::Cancelled),
            What::Actions(params) => {
                let all = actions::actions(&mut self.workspace, &self.client, document, part, params);
                Ok(json(serde_json::to_value(all)))
            }
            What::Hover(position) => hover::hover(&mut self.workspace, document, part, *position, &cancelled)
                .map(|hover| json(serde_json::to_value(hover))),
            What::Hints(range) => hints::hints(&mut self.workspace, document, part, *range, &cancelled)
                .map(|hints| json(serde_json::to_value(hints))),
        };
        self.answering = None;
        match answer {
            Ok(value) => self.send(Response::new_ok(id.clone(), value)),
            Err(Stopped::Cancelled) if current => self.asks.push(ask),
            Err(Stopped::Cancelled) => {
                let message = "the document has changed".to_owned();
                self.send(Response::new_err(id.clone(), ErrorCode::ContentModified as i32, message));
            }
            Err(Stopped::Bug(message)) => {
                self.bug(&document.path, &message);
                self.send(Response::new_err(id.clone(), ErrorCode::InternalError as i32, message));
            }
        }
    }

    /// The answer to an editor that requests findings.
    fn pulled(&mut self, document: &Document, part: &Uri, previous: &Option<String>) -> DocumentDiagnosticReport {
        let found = self.findings(&document.path).unwrap_or_default();
        let items: Vec<Diagnostic> =
            found.into_iter().filter(|(uri, _)| uri == part).map(|(_, diagnostic)| diagnostic).collect();
        let id = fingerprint(&items);
        if *previous == Some(id.clone()) {
            let unchanged_document_diagnostic_report = UnchangedDocumentDiagnosticReport { result_id: id };
            return DocumentDiagnosticReport::RelatedUnchangedDocumentDiagnosticReport(
                RelatedUnchangedDocumentDiagnosticReport {
                    related_documents: None,
                    unchanged_document_diagnostic_report,
                },
            );
        }
        let full_document_diagnostic_report = FullDocumentDiagnosticReport { result_id: Some(id), items };
        DocumentDiagnosticReport::RelatedFullDocumentDiagnosticReport(RelatedFullDocumentDiagnosticReport {
            related_documents: None,
            full_document_diagnostic_report,
        })
    }

    /// The findings in a file, each with the URI under which it is shown.
    fn findings(&mut self, path: &Path) -> Option<Vec<(Uri, Diagnostic)>> {
        self.workspace.shown(path)
    }

    /// Publishes the findings in a file.
    fn tell_of(&mut self, path: &Path) {
        let document = self.workspace.document(path).cloned();
        // For an editor that requests findings, only the findings in files that are not open are
        // published.
        if document.is_some() && self.client.pulls {
            return;
        }
        let Some(found) = self.findings(path) else { return };
        let Some(document) = document else {
            let uri = super::uri::from_path(path);
            self.publish(uri, None, found.into_iter().map(|(_, diagnostic)| diagnostic).collect());
            return;
        };
        let version = document.cells.is_none().then_some(document.version);
        for part in document.parts() {
            let own = found.iter().filter(|(uri, _)| *uri == part).map(|(_, diagnostic)| diagnostic.clone()).collect();
            self.publish(part, version, own);
        }
    }

    fn publish(&mut self, uri: Uri, version: Option<i32>, diagnostics: Vec<Diagnostic>) {
        let known = self.published.get(&uri);
        if version.is_none() && known.map_or(diagnostics.is_empty(), |known| *known == diagnostics) {
            return;
        }
        self.published.insert(uri.clone(), diagnostics.clone());
        self.notify("textDocument/publishDiagnostics", PublishDiagnosticsParams { uri, version, diagnostics });
    }

    fn bug(&self, path: &Path, message: &str) {
        self.notify("window/logMessage", bug(&format!("{}: {message}", path.display())));
    }

    fn notify(&self, method: &str, params: impl serde::Serialize) {
        self.send(Notification::new(method.to_owned(), params));
    }

    fn send(&self, message: impl Into<Message>) {
        (self.send)(message.into());
    }
}

fn bug(message: &str) -> LogMessageParams {
    LogMessageParams { kind: MessageType::Error, message: format!("torchvet crashed; please report it: {message}") }
}

fn fingerprint(items: &[Diagnostic]) -> String {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    serde_json::to_string(items).unwrap_or_default().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
