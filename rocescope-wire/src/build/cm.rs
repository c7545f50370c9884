//! Writers of CM messages.
