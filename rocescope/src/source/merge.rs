//! Several sources as one, merged by time.
