//! Hugging Face transformers: configurations, models by task, tokenizers.
//!
//! The facts of a checkpoint come from its name. An internal linear layer represents most of a
//! model: it checks the device of the inputs, and determines the dtype and device of the output.

mod checkpoints;
pub(super) mod config;
pub(super) mod models;
pub(super) mod tokenizers;

use super::common::unknown;
use super::table::Table;

pub(super) fn register(t: &mut Table) {
    t.family("transformers.", "Trainer Seq2SeqTrainer pipeline", "*args, **kwargs", unknown);
    t.def("transformers.set_seed", "seed, *args", super::common::none);
    t.family(
        "transformers.",
        "get_linear_schedule_with_warmup get_cosine_schedule_with_warmup get_constant_schedule_with_warmup get_scheduler",
        "*args, **kwargs",
        unknown,
    );
}
