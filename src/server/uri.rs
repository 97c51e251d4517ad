//! URIs of files.

use std::path::{Path, PathBuf};

use gen_lsp_types::Uri;

/// The path of a `file:` URI.
pub(super) fn to_path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.0.strip_prefix("file://")?;
    // If the authority of the URI names another machine, the path is on a Windows share.
    let (host, path) = rest.split_at(rest.find('/')?);
    let path = decode(path);
    if !host.is_empty() && host != "localhost" {
        return Some(PathBuf::from(format!("//{host}{path}")));
    }
    let drive = path.strip_prefix('/').filter(|rest| has_drive(rest));
    Some(PathBuf::from(drive.unwrap_or(&path)))
}

/// The URI of an absolute path.
pub(super) fn from_path(path: &Path) -> Uri {
    let text = path.to_string_lossy();
    // Resolved paths on Windows have this prefix.
    let text = text.strip_prefix(r"\\?\").unwrap_or(&text);
    let text = if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() };
    let mut out = String::from(if text.starts_with("//") { "file:" } else { "file://" });
    if has_drive(&text) {
        out.push('/');
    }
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    Uri(out)
}

/// A name for a text without a file: the last part of its URI.
pub(super) fn name(uri: &Uri) -> String {
    let tail = uri.0.rsplit(['/', ':', '#']).find(|part| !part.is_empty());
    decode(tail.unwrap_or("untitled")).replace(['/', '\\'], "-")
}

fn has_drive(path: &str) -> bool {
    let mut bytes = path.bytes();
    cfg!(windows) && bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic()) && bytes.next() == Some(b':')
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match hex.filter(|_| first == b'%').and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn paths_and_uris() {
        for (path, uri) in [("/a/b.py", "file:///a/b.py"), ("/a b/é#%.py", "file:///a%20b/%C3%A9%23%25.py")] {
            assert_eq!(from_path(Path::new(path)).0, uri);
            assert_eq!(to_path(&Uri(uri.to_owned())), Some(PathBuf::from(path)));
        }
        assert_eq!(to_path(&"file:///a/%zz%".into()), Some(PathBuf::from("/a/%zz%")));
        assert_eq!(to_path(&"untitled:Untitled-1".into()), None);
        assert_eq!(name(&"untitled:Untitled-1".into()), "Untitled-1");
        assert_eq!(name(&"".into()), "untitled");
    }
}
