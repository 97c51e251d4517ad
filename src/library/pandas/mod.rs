//! pandas: frames and Series, as far as tensors are made of them.
//!
//! A method that is in none of these tables may have changed the frame: nothing is known of it
//! after it was asked for (see [`attribute`]).

pub mod arithmetic;
mod column;
pub mod create;
pub mod encode;
pub mod export;
mod facts;
pub mod labels;
pub mod row;
pub mod rows;
pub mod select;
pub mod series;

pub use arithmetic::{augmented, binary, unary};
pub use column::elements_of as elements;
pub use create::table;
pub use encode::sorted;
pub use facts::{Sequence, as_array, as_sequence, forget, is_frame, is_pandas, is_wide};
pub use labels::set_attribute;
pub use rows::split_off;

use super::table::Table;

pub fn register(t: &mut Table) {
    let frame = t.class(facts::FRAME, &[], "data=None, index=None, columns=None, dtype=None, copy=None");
    frame.keeps_arguments = false;
    frame.make = Some(create::frame);
    frame.attribute = Some(labels::attribute);
    let series = t.class(facts::SERIES, &[], "data=None, index=None, dtype=None, name=None, copy=None");
    series.keeps_arguments = false;
    series.make = Some(create::series);
    series.attribute = Some(labels::attribute);
}

/// The same method of frames and Series.
fn both(t: &mut Table, names: &str, sig: &'static str, run: super::table::Run) {
    t.family("pandas.DataFrame.", names, sig, run);
    t.family("pandas.Series.", names, sig, run);
}
