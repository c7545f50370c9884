//! The JSON Schema of the report, made from its types.

use rocescope_core::report::Report;
use schemars::Schema;

/// The JSON Schema (draft 2020-12) of `rocescope.report/1`.
#[must_use]
pub fn schema() -> Schema {
    let mut schema = schemars::schema_for!(Report);
    schema.insert("title".to_owned(), rocescope_core::report::SCHEMA.into());
    schema
}
