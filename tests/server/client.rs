//! A client of the language server that behaves like an editor.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The time limit for an answer, which is long enough for a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct Client {
    server: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    next: i64,
    /// The findings that were last published for each URI, and the version of the text.
    pub published: BTreeMap<String, (Option<i64>, Vec<Value>)>,
    /// All other notifications and requests of the server.
    pub said: Vec<Value>,
    pub answer: Value,
}

impl Client {
    /// Starts a server in a folder and initializes it.
    pub(crate) fn start(folder: &Path, capabilities: Value, options: Value) -> Client {
        Client::start_in(&[folder], capabilities, options)
    }

    pub(crate) fn start_in(folders: &[&Path], capabilities: Value, options: Value) -> Client {
        let mut command = Command::new(env!("CARGO_BIN_EXE_torchvet"));
        command.arg("server").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut server = command.current_dir(folders[0]).spawn().unwrap();
        let mut output = BufReader::new(server.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = server.stdin.take();
        let (published, said, answer) = (BTreeMap::new(), Vec::new(), Value::Null);
        let mut client = Client { server, input, messages, next: 0, published, said, answer };
        let folders: Vec<Value> = folders.iter().map(|path| json!({"uri": uri(path), "name": "folder"})).collect();
        let params = json!({
            "processId": null, "rootUri": null, "workspaceFolders": folders,
            "capabilities": capabilities, "initializationOptions": options,
        });
        client.answer = client.request("initialize", params);
        client.notify("initialized", json!({}));
        client
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and waits for its result.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.response(id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Sends a request and returns its id.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let id = self.next;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub(crate) fn response(&mut self, id: i64) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let message = self.receive(end);
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.keep(message);
        }
    }

    fn receive(&mut self, end: Instant) -> Value {
        let left = end.saturating_duration_since(Instant::now());
        self.messages.recv_timeout(left).unwrap_or_else(|error| panic!("the server sent no message: {error}"))
    }

    fn keep(&mut self, message: Value) {
        if message["method"] == "textDocument/publishDiagnostics" {
            let params = &message["params"];
            let uri = params["uri"].as_str().unwrap().to_owned();
            let found = params["diagnostics"].as_array().unwrap().clone();
            self.published.insert(uri, (params["version"].as_i64(), found));
        } else {
            if message.get("id").is_some() {
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": null});
                self.write(&answer);
            }
            self.said.push(message);
        }
    }

    fn write(&mut self, message: &Value) {
        let text = message.to_string();
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    /// Opens a file with a text, which may differ from the text on disk.
    pub(crate) fn open(&mut self, path: &Path, text: &str) -> String {
        let uri = uri(path);
        let item = json!({"uri": uri, "languageId": "python", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": item}));
        uri
    }

    /// Replaces the complete text of a document.
    pub(crate) fn set(&mut self, uri: &str, version: i64, text: &str) {
        self.change(uri, version, json!([{ "text": text }]));
    }

    pub(crate) fn change(&mut self, uri: &str, version: i64, changes: Value) {
        let document = json!({"uri": uri, "version": version});
        self.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
    }

    pub(crate) fn close(&mut self, uri: &str) {
        self.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    }

    /// Waits until the server has finished its work on these documents.
    pub(crate) fn settle(&mut self, uris: &[&str]) {
        for uri in uris {
            self.actions(uri, [0, 0, 0, 0], None);
        }
    }

    /// Waits for the findings of a document, and returns them as `code line:column` (from 0).
    pub(crate) fn found(&mut self, uri: &str) -> Vec<String> {
        self.settle(&[uri]);
        self.published.get(uri).map(|(_, found)| found.iter().map(short).collect()).unwrap_or_default()
    }

    pub(crate) fn actions(&mut self, uri: &str, range: [u64; 4], only: Option<&str>) -> Vec<Value> {
        let mut context = json!({"diagnostics": []});
        if let Some(only) = only {
            context["only"] = json!([only]);
        }
        let params = json!({"textDocument": {"uri": uri}, "range": self::range(range), "context": context});
        self.request("textDocument/codeAction", params).as_array().cloned().unwrap_or_default()
    }

    pub(crate) fn hover(&mut self, uri: &str, line: u64, character: u64) -> String {
        let params = json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}});
        let hover = self.request("textDocument/hover", params);
        hover.pointer("/contents/value").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    pub(crate) fn hints(&mut self, uri: &str) -> Vec<String> {
        let params = json!({"textDocument": {"uri": uri}, "range": range([0, 0, 10_000, 0])});
        let hints = self.request("textDocument/inlayHint", params);
        let text = |hint: &Value| {
            let at = &hint["position"];
            format!("{}:{} {}", at["line"], at["character"], hint["label"].as_str().unwrap())
        };
        hints.as_array().unwrap().iter().map(text).collect()
    }

    pub(crate) fn diagnose(&mut self, uri: &str, previous: Option<&str>) -> Value {
        let mut params = json!({"textDocument": {"uri": uri}});
        if let Some(previous) = previous {
            params["previousResultId"] = json!(previous);
        }
        self.request("textDocument/diagnostic", params)
    }

    /// Whether the server has sent a message of this method with this text, or does so soon.
    pub(crate) fn hears(&mut self, method: &str, text: &str) -> bool {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            if self.said.iter().any(|said| said["method"] == method && said.to_string().contains(text)) {
                return true;
            }
            match self.messages.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(message) => self.keep(message),
                Err(_) => return false,
            }
        }
    }

    /// Whether the server has removed the findings of a document, or does so soon.
    pub(crate) fn clears(&mut self, uri: &str) -> bool {
        let end = Instant::now() + PATIENCE;
        while self.published.get(uri).is_some_and(|(_, found)| !found.is_empty()) {
            match self.messages.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(message) => self.keep(message),
                Err(_) => return false,
            }
        }
        true
    }

    /// Ends the server as editors do, and returns its exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        self.input = None;
        self.server.wait().unwrap().code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().split_once(": ") {
            Some(("Content-Length", count)) => length = count.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.to_str().unwrap())
}

pub(crate) fn range([line, character, end_line, end_character]: [u64; 4]) -> Value {
    json!({"start": {"line": line, "character": character}, "end": {"line": end_line, "character": end_character}})
}

fn short(found: &Value) -> String {
    let at = &found["range"]["start"];
    format!("{} {}:{}", found["code"].as_str().unwrap(), at["line"], at["character"])
}

/// A temporary folder with files, and its canonical path.
pub(crate) fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    for (name, text) in files {
        let file = path.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    (folder, path)
}

/// The text of a document after the edits of a code action, whose positions count UTF-16 units.
pub(crate) fn apply(action: &Value, uri: &str, text: &str) -> String {
    let edits = match action.pointer("/edit/changes") {
        Some(changes) => changes[uri].clone(),
        None => {
            let all = action.pointer("/edit/documentChanges").and_then(Value::as_array).unwrap();
            all.iter().find(|one| one["textDocument"]["uri"] == uri).unwrap()["edits"].clone()
        }
    };
    let mut edits: Vec<(usize, usize, String)> = edits
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| {
            let at = |key: &str| offset(text, &edit["range"][key]);
            (at("start"), at("end"), edit["newText"].as_str().unwrap().to_owned())
        })
        .collect();
    edits.sort();
    let mut out = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        out.replace_range(start..end, &new);
    }
    out
}

/// The byte offset of a position that counts UTF-16 units.
pub(crate) fn offset(text: &str, position: &Value) -> usize {
    let line = position["line"].as_u64().unwrap();
    let start = (0..line).fold(0, |at, _| text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1));
    let mut units = position["character"].as_u64().unwrap();
    let mut at = start;
    for c in text[start..].chars() {
        if units == 0 {
            break;
        }
        units = units.saturating_sub(c.len_utf16() as u64);
        at += c.len_utf8();
    }
    at
}
