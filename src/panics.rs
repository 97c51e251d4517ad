//! Catches panics, so that a bug that one file triggers does not stop the check of the other files.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Makes panics inside [`catch`] silent; all others are printed as usual.
pub(crate) fn install() {
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if CATCHING.get() {
            CAUGHT.with(|caught| *caught.borrow_mut() = Some(info.to_string()));
        } else {
            default(info);
        }
    }));
}

/// Runs a function. If it panics, returns the message of the panic, with its place.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let outer = CATCHING.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(outer);
    result.map_err(|_| {
        let caught = CAUGHT.with(|caught| caught.borrow_mut().take());
        caught.unwrap_or_else(|| "panicked".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::{catch, install};

    #[test]
    fn a_panic_becomes_its_message() {
        install();
        let caught = catch(|| {
            #[expect(clippy::manual_assert, reason = "the test needs a panic")]
            if true {
                panic!("no such luck")
            }
        });
        assert!(caught.is_err_and(|message| message.contains("no such luck")));
        assert_eq!(catch(|| 1), Ok(1));
    }
}
