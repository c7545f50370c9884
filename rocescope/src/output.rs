//! Where a report goes: standard output, or a file that is whole or not there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes to standard output.
///
/// # Errors
/// If it cannot be written; a broken pipe is no error, for then nobody wants the rest.
pub fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    buffered(io::stdout().lock(), write)
}

fn buffered(
    out: impl Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    let result = write(&mut out).and_then(|()| out.flush());
    // What is still in the buffer is not tried again.
    let _ = out.into_parts();
    quiet_pipe(result)
}

fn quiet_pipe(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes to a file. An ordinary file is replaced at the end, in one step; a device or a pipe is written
/// to as it is.
///
/// # Errors
/// If it cannot be written; an ordinary file is then as it was.
pub fn to_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => {
            buffered(OpenOptions::new().write(true).open(path)?, write)
        }
        // Through a symbolic link the file it names is replaced, not the link.
        Ok(there) => replace(&fs::canonicalize(path)?, write, Some(there.permissions())),
        Err(_) => replace(path, write, None),
    }
}

fn replace(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    permissions: Option<fs::Permissions>,
) -> io::Result<()> {
    let draft = Draft::beside(path)?;
    let mut file = BufWriter::new(&draft.file);
    write(&mut file)?;
    file.flush()?;
    drop(file);
    if let Some(permissions) = permissions {
        draft.file.set_permissions(permissions)?;
    }
    draft.file.sync_all()?;
    draft.take_the_place_of(path)
}

/// A file that disappears unless it takes the place of another.
struct Draft {
    file: File,
    path: PathBuf,
    placed: bool,
}

impl Draft {
    fn beside(path: &Path) -> io::Result<Self> {
        let name = path
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::IsADirectory, "is not a file name"))?;
        let mut draft = std::ffi::OsString::from(".");
        draft.push(name);
        draft.push(format!(".{}", std::process::id()));
        let draft = path.with_file_name(draft);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&draft)?;
        Ok(Self {
            file,
            path: draft,
            placed: false,
        })
    }

    fn take_the_place_of(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.placed = true;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.placed {
            // Nothing more can be done about a draft that will not go away.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, text: &str) -> io::Result<()> {
        to_file(path, |out| out.write_all(text.as_bytes()))
    }

    #[test]
    fn a_file_is_replaced_and_no_draft_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        put(&path, "one").unwrap();
        put(&path, "two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(put(folder.path(), "one").is_err());
        assert!(put(&folder.path().join("no/such/report"), "one").is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error() {
        let error = put(Path::new("/dev/full"), "one").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        put(&link, "new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }
}
