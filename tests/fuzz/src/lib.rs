//! What is fuzzed, one function a target. An ordinary test of the program runs the same functions over the seeds.

mod decode;
mod engine;
mod readers;
mod script;

pub use decode::frame_decode;
pub use engine::{differential, engine};
pub use readers::file_readers;
