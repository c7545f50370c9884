//! Reports: what was found, for people, tickets and programs.

mod block;
mod clock;
mod explain;
mod json;
mod markdown;
mod schema;
mod text;
mod untrusted;
mod words;

pub use clock::Clock;
pub use explain::{explain, explain_all};
pub use json::json;
pub use markdown::markdown;
pub use schema::schema;
pub use text::{Paint, text};
pub use untrusted::Untrusted;
pub use words::severity_word;

#[cfg(test)]
#[path = "../../../tests/report/sample.rs"]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
