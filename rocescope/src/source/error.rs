//! Why a source cannot be opened.

use std::io;
use std::path::Path;
use thiserror::Error;

/// Why a source cannot be opened: one line that says what, where and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SourceError {
    /// Nothing is there.
    #[error("{path}: no such file: check the path")]
    NotFound {
        /// As given.
        path: String,
    },
    /// It is there but may not be read.
    #[error("{path}: permission denied: run as a user who may read it, or change its permissions")]
    PermissionDenied {
        /// As given.
        path: String,
    },
    /// A directory is no capture.
    #[error("{path}: is a directory: name the capture files in it")]
    Directory {
        /// As given.
        path: String,
    },
    /// There is not one octet in it.
    #[error(
        "{path}: is empty: the capture was never written (was the capture stopped before its first flush, or the disk full?)"
    )]
    Empty {
        /// As given.
        path: String,
    },
    /// The first octets are not those of a capture.
    #[error(
        "{path}: not a capture: it {looks}: give a pcap or pcapng file, plain or compressed with gzip or zstd"
    )]
    NotACapture {
        /// As given.
        path: String,
        /// What the first octets look like: "looks like text", ...
        looks: String,
    },
    /// A capture, of a kind that is not read here.
    #[error("{path}: {what} is not read here: convert it with `{convert}`")]
    Unsupported {
        /// As given.
        path: String,
        /// What it is.
        what: String,
        /// The command that makes a readable file of it.
        convert: &'static str,
    },
    /// More files than can be read at once.
    #[error(
        "{path}: is one file more than the {most} that can be merged: merge some of them first with `mergecap -w ALL FILES`"
    )]
    TooMany {
        /// As given.
        path: String,
        /// How many can be.
        most: usize,
    },
    /// Any other failure of the operating system.
    #[error("{path}: cannot be read: {error}")]
    Io {
        /// As given.
        path: String,
        /// What the operating system said.
        error: io::Error,
    },
}

impl SourceError {
    /// The error of an operation on `path`.
    pub(super) fn from_io(path: &Path, error: io::Error) -> Self {
        let path = path.display().to_string();
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::PermissionDenied => Self::PermissionDenied { path },
            io::ErrorKind::IsADirectory => Self::Directory { path },
            _ => Self::Io { path, error },
        }
    }
}
