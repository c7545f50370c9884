//! What is fuzzed, one function a target. An ordinary test of the program runs the same functions over the seeds.

mod decode;
mod readers;

pub use decode::frame_decode;
pub use readers::file_readers;
