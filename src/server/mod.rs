//! The language server: reports the findings of `check` while the code is edited.
//!
//! One thread reads messages and keeps the documents; it never waits for an analysis. Another
//! thread always analyses the newest state: see [`worker`].

mod actions;
mod convert;
mod documents;
mod hints;
mod hover;
mod settings;
mod uri;
mod worker;
mod workspace;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

use gen_lsp_types::{
    CodeActionParams, DidChangeConfigurationParams, DidChangeNotebookDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWorkspaceFoldersParams, DidCloseNotebookDocumentParams, DidCloseTextDocumentParams,
    DidSaveNotebookDocumentParams, DidSaveTextDocumentParams, DocumentDiagnosticParams, FileChangeType, HoverParams,
    InlayHintParams, Uri,
};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::syntax::PositionEncoding;
use documents::{Document, Documents};
use settings::Options;
use worker::{Ask, Interrupt, Task, What, Worker};

/// The kind of the code action that applies all safe fixes.
const FIX_ALL: &str = "source.fixAll.torchvet";

/// Files whose change on disk may change findings.
const WATCHED: [&str; 2] = ["**/*.{py,ipynb,yaml,yml,json,md}", "**/{pyproject,torchvet,.torchvet}.toml"];

/// The capabilities of the editor.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    encoding: PositionEncoding,
    /// The editor requests findings, so those in open documents are not published.
    pulls: bool,
    refreshes_diagnostics: bool,
    refreshes_hints: bool,
    watches: bool,
    /// The editor accepts edits for a certain version of a document.
    versioned_edits: bool,
}

impl Client {
    fn of(params: &Value) -> Client {
        let able =
            |path: &str| params.pointer(&format!("/capabilities{path}")).is_some_and(|it| it == true || it.is_object());
        let encodings = params.pointer("/capabilities/general/positionEncodings").and_then(Value::as_array);
        let offers = |name: &str| encodings.is_some_and(|all| all.iter().any(|encoding| encoding == name));
        Client {
            // With UTF-8, positions need no conversion.
            encoding: if offers("utf-8") { PositionEncoding::Utf8 } else { PositionEncoding::Utf16 },
            pulls: able("/textDocument/diagnostic"),
            refreshes_diagnostics: able("/workspace/diagnostics/refreshSupport"),
            refreshes_hints: able("/workspace/inlayHint/refreshSupport"),
            watches: able("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            versioned_edits: able("/workspace/workspaceEdit/documentChanges"),
        }
    }

    /// The capabilities of the server.
    fn answer(&self) -> Value {
        let encoding = if matches!(self.encoding, PositionEncoding::Utf8) { "utf-8" } else { "utf-16" };
        let mut capabilities = json!({
            "positionEncoding": encoding,
            "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
            "notebookDocumentSync": {
                "notebookSelector": [{ "notebook": { "notebookType": "jupyter-notebook" }, "cells": [{ "language": "python" }] }],
                "save": true,
            },
            "codeActionProvider": { "codeActionKinds": ["quickfix", FIX_ALL] },
            "hoverProvider": true,
            "inlayHintProvider": true,
            "workspace": { "workspaceFolders": { "supported": true, "changeNotifications": true } },
        });
        if self.pulls
            && let Some(all) = capabilities.as_object_mut()
        {
            let options =
                json!({ "identifier": "torchvet", "interFileDependencies": true, "workspaceDiagnostics": false });
            all.insert("diagnosticProvider".to_owned(), options);
        }
        json!({
            "capabilities": capabilities,
            "serverInfo": { "name": "torchvet", "version": env!("CARGO_PKG_VERSION") },
        })
    }
}

/// Serves one editor over standard input and output until the connection ends. Returns whether the
/// editor has shut the server down properly. `stack` is the stack size of the thread that analyses.
pub(crate) fn run(stack: usize) -> Result<bool, String> {
    let (connection, threads) = Connection::stdio();
    let orderly = serve(connection, stack)?;
    threads.join().map_err(|error| error.to_string())?;
    Ok(orderly)
}

fn serve(connection: Connection, stack: usize) -> Result<bool, String> {
    let (id, params) = connection.initialize_start().map_err(|error| error.to_string())?;
    let client = Client::of(&params);
    connection.initialize_finish(id, client.answer()).map_err(|error| error.to_string())?;

    let (tasks, received) = mpsc::channel();
    let interrupt = Arc::new(Interrupt::default());
    let sender = connection.sender.clone();
    // If the receiver is gone, the server is about to end.
    let send = Box::new(move |message| _ = sender.send(message));
    let worker = Worker::new(received, send, interrupt.clone(), client.clone());
    let worker = std::thread::Builder::new().name("analysis".to_owned()).stack_size(stack).spawn(|| worker.run());
    let worker = worker.map_err(|error| error.to_string())?;

    let documents = Documents::new(client.encoding);
    let mut server = Server { connection: &connection, tasks, interrupt, documents, folders: folders(&params) };
    server.tell(Task::Folders(server.folders.clone()));
    server.configure(params.get("initializationOptions").cloned().unwrap_or_default());
    if client.watches {
        server.watch();
    }
    let result = server.serve();
    let Server { tasks, interrupt, .. } = server;
    interrupt.news();
    drop(tasks);
    let _ = worker.join();
    result
}

/// The folders that are open in the editor.
fn folders(params: &Value) -> Vec<PathBuf> {
    let listed = params.get("workspaceFolders").and_then(Value::as_array);
    let listed = listed.into_iter().flatten().filter_map(|folder| folder.get("uri"));
    let uris: Vec<&Value> = listed.collect();
    let uris = if uris.is_empty() { params.get("rootUri").into_iter().collect() } else { uris };
    uris.into_iter().filter_map(Value::as_str).filter_map(|uri| folder(&uri.into())).collect()
}

fn folder(uri: &Uri) -> Option<PathBuf> {
    let path = uri::to_path(uri)?;
    Some(path.canonicalize().unwrap_or(path))
}

/// The thread that reads messages.
struct Server<'c> {
    connection: &'c Connection,
    tasks: Sender<Task>,
    interrupt: Arc<Interrupt>,
    documents: Documents,
    folders: Vec<PathBuf>,
}

impl Server<'_> {
    fn serve(&mut self) -> Result<bool, String> {
        for message in &self.connection.receiver {
            match message {
                Message::Request(request) => {
                    if self.connection.handle_shutdown(&request).map_err(|error| error.to_string())? {
                        return Ok(true);
                    }
                    self.request(request);
                }
                Message::Notification(notification) if notification.method == "exit" => {
                    return Ok(false);
                }
                Message::Notification(notification) => self.notification(notification),
                // The server needs no responses to its own requests.
                Message::Response(_) => {}
            }
        }
        Ok(false)
    }

    fn tell(&self, task: Task) {
        // Sending cannot fail, because the worker lives longer than the loop of this thread.
        let _ = self.tasks.send(task);
        // The interrupt is set only after the task was sent: otherwise, work that begins in between
        // would not be cancelled.
        self.interrupt.news();
    }

    fn notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        let done = match method.as_str() {
            "textDocument/didOpen" => self.with(params, |server, params: gen_lsp_types::DidOpenTextDocumentParams| {
                let document = server.documents.open(params.text_document, &server.home());
                server.tell(Task::Set(document));
            }),
            "textDocument/didChange" => self.with(params, |server, params| {
                let document = server.documents.change(params);
                server.changed(document);
            }),
            "textDocument/didSave" => self.with(params, |server, params: DidSaveTextDocumentParams| {
                server.saved(&params.text_document.uri);
            }),
            "textDocument/didClose" => self.with(params, |server, params: DidCloseTextDocumentParams| {
                server.close(&params.text_document.uri);
            }),
            "notebookDocument/didOpen" => self.with(params, |server, params| {
                let document = server.documents.open_notebook(params, &server.home());
                server.tell(Task::Set(document));
            }),
            "notebookDocument/didChange" => self.with(params, |server, params: DidChangeNotebookDocumentParams| {
                let before = server.documents.get(&params.notebook_document.uri).cloned();
                let document = server.documents.change_notebook(params);
                server.changed(document);
                server.forget_cells(before);
            }),
            "notebookDocument/didSave" => self.with(params, |server, params: DidSaveNotebookDocumentParams| {
                server.saved(&params.notebook_document.uri);
            }),
            "notebookDocument/didClose" => self.with(params, |server, params: DidCloseNotebookDocumentParams| {
                server.close(&params.notebook_document.uri);
            }),
            "workspace/didChangeConfiguration" => self.with(params, |server, params: DidChangeConfigurationParams| {
                // With null, the editor expects the server to request the new settings. torchvet
                // does not request them, and keeps its settings.
                if !params.settings.is_null() {
                    server.configure(params.settings);
                }
            }),
            "workspace/didChangeWatchedFiles" => self.with(params, |server, params: DidChangeWatchedFilesParams| {
                let changed = params.changes.iter().filter_map(|change| {
                    let path = uri::to_path(&change.uri)?;
                    Some((path.canonicalize().unwrap_or(path), change.kind != FileChangeType::Changed))
                });
                server.tell(Task::Changed(changed.collect()));
            }),
            "workspace/didChangeWorkspaceFolders" => {
                self.with(params, |server, params: DidChangeWorkspaceFoldersParams| {
                    let paths = |folders: &[gen_lsp_types::WorkspaceFolder]| -> Vec<PathBuf> {
                        folders.iter().filter_map(|one| folder(&one.uri)).collect()
                    };
                    let removed = paths(&params.event.removed);
                    server.folders.retain(|folder| !removed.contains(folder));
                    server.folders.extend(paths(&params.event.added));
                    server.tell(Task::Folders(server.folders.clone()));
                })
            }
            "$/cancelRequest" => self.with(params, |server, params: Value| {
                let id = params.get("id").cloned().and_then(|id| serde_json::from_value::<RequestId>(id).ok());
                if let Some(id) = id {
                    server.interrupt.cancel(id);
                }
            }),
            _ => Ok(()),
        };
        if let Err(error) = done {
            self.log(&format!("{method}: {error}"));
        }
    }

    fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        let asked = match method.as_str() {
            "textDocument/diagnostic" => self.ask(&id, params, |params: DocumentDiagnosticParams| {
                (params.text_document.uri, What::Diagnostics { previous: params.previous_result_id })
            }),
            "textDocument/codeAction" => self.ask(&id, params, |params: CodeActionParams| {
                (params.text_document.uri.clone(), What::Actions(Box::new(params)))
            }),
            "textDocument/hover" => self.ask(&id, params, |params: HoverParams| {
                let at = params.text_document_position_params;
                (at.text_document.uri, What::Hover(at.position))
            }),
            "textDocument/inlayHint" => {
                self.ask(&id, params, |params: InlayHintParams| (params.text_document.uri, What::Hints(params.range)))
            }
            _ => Err((ErrorCode::MethodNotFound, format!("no such method: {method}"))),
        };
        let response = match asked {
            Ok(true) => return,
            // For a document that is not open, an editor gets no findings on request.
            Ok(false) if method == "textDocument/diagnostic" => {
                Response::new_ok(id, json!({"kind": "full", "items": []}))
            }
            Ok(false) => Response::new_ok(id, Value::Null),
            Err((code, message)) => Response::new_err(id, code as i32, message),
        };
        self.send(response);
    }

    /// Forwards a request; false if its document is not open.
    fn ask<P: DeserializeOwned>(
        &self,
        id: &RequestId,
        params: Value,
        what: impl FnOnce(P) -> (Uri, What),
    ) -> Result<bool, (ErrorCode, String)> {
        let params = serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))?;
        let (part, what) = what(params);
        let Some(document) = self.documents.get(&part).cloned() else { return Ok(false) };
        let _ = self.tasks.send(Task::Ask(Ask { id: id.clone(), document, part, what }));
        Ok(true)
    }

    fn with<P: DeserializeOwned>(&mut self, params: Value, act: impl FnOnce(&mut Self, P)) -> Result<(), String> {
        let params = serde_json::from_value(params).map_err(|error| error.to_string())?;
        act(self, params);
        Ok(())
    }

    fn changed(&mut self, document: Option<Arc<Document>>) {
        match document {
            Some(document) => self.tell(Task::Set(document)),
            None => self.log("a change of a document that is not open"),
        }
    }

    fn saved(&mut self, uri: &Uri) {
        if let Some(document) = self.documents.get(uri) {
            self.tell(Task::Saved(document.path.clone()));
        }
    }

    fn close(&mut self, uri: &Uri) {
        if let Some(document) = self.documents.close(uri) {
            self.tell(Task::Close(document));
        }
    }

    /// Removes the findings of cells that no longer exist.
    fn forget_cells(&self, before: Option<Arc<Document>>) {
        let gone =
            before.iter().flat_map(|document| document.parts()).filter(|cell| self.documents.get(cell).is_none());
        let gone: Vec<Uri> = gone.collect();
        if !gone.is_empty() {
            self.tell(Task::Gone(gone));
        }
    }

    fn configure(&self, settings: Value) {
        match Options::read(settings) {
            Ok(options) => self.tell(Task::Options(options)),
            Err(error) => self.notify("window/showMessage", json!({ "type": 1, "message": error })),
        }
    }

    /// Registers for notifications about changed files on disk.
    fn watch(&self) {
        let watchers: Vec<Value> = WATCHED.iter().map(|glob| json!({ "globPattern": glob })).collect();
        let registration = json!({
            "id": "torchvet-files",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": { "watchers": watchers },
        });
        let params = json!({ "registrations": [registration] });
        self.send(Request::new("torchvet-watch".to_owned().into(), "client/registerCapability".to_owned(), params));
    }

    /// The folder in which a document without a file is assumed to be.
    fn home(&self) -> PathBuf {
        let cwd = || std::env::current_dir().unwrap_or_default();
        self.folders.first().cloned().unwrap_or_else(cwd)
    }

    fn log(&self, message: &str) {
        self.notify("window/logMessage", json!({ "type": 2, "message": message }));
    }

    fn notify(&self, method: &str, params: Value) {
        self.send(Notification::new(method.to_owned(), params));
    }

    fn send(&self, message: impl Into<Message>) {
        let _ = self.connection.sender.send(message.into());
    }
}
