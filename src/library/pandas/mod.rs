//! pandas: the parts of frames and Series that matter for tensors created from them.
//!
//! An attribute that is in no table may be a method that changes the object, so reading it makes
//! the frame or Series unknown. `labels::attribute` implements this, with a few exceptions.

pub(crate) mod arithmetic;
mod column;
pub(crate) mod create;
pub(crate) mod encode;
pub(crate) mod export;
mod facts;
pub(crate) mod labels;
pub(crate) mod row;
pub(crate) mod rows;
pub(crate) mod select;
pub(crate) mod series;

pub(crate) use arithmetic::{augmented, binary, unary};
pub(crate) use column::elements_of as elements;
pub(crate) use create::table;
pub(crate) use encode::sorted;
pub(crate) use facts::{Sequence, as_array, as_sequence, forget, is_frame, is_pandas, is_wide, of_numpy};
pub(crate) use labels::set_attribute;
pub(crate) use rows::split_off;

use super::table::Table;

pub(crate) fn register(t: &mut Table) {
    let frame = t.class(facts::FRAME, &[], "data=None, index=None, columns=None, dtype=None, copy=None");
    frame.keeps_arguments = false;
    frame.make = Some(create::frame);
    frame.attribute = Some(labels::attribute);
    let series = t.class(facts::SERIES, &[], "data=None, index=None, dtype=None, name=None, copy=None");
    series.keeps_arguments = false;
    series.make = Some(create::series);
    series.attribute = Some(labels::attribute);
}

/// Registers the same method for frames and Series.
fn both(t: &mut Table, names: &str, sig: &'static str, run: super::table::Run) {
    t.family("pandas.DataFrame.", names, sig, run);
    t.family("pandas.Series.", names, sig, run);
}
