//! Paths: checks of output files, relative paths, files below a folder.

use anyhow::{Context, bail};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Checks that a file can be written. Commands call this before hours of work.
///
/// # Errors
///
/// Returns an error if the path is a folder, or if its folder does not exist.
pub fn check_target(path: &Path) -> anyhow::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if path.is_dir() || path.file_name().is_none() || folder.is_some_and(|folder| !folder.is_dir()) {
        bail!("{} cannot be written", path.display());
    }
    Ok(())
}

/// Returns the path of `folder` relative to the folder of `file`, for links. Both folders must exist.
///
/// # Errors
///
/// Returns an error if one of the folders does not exist.
pub fn relative(file: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let absolute =
        |path: &Path| path.canonicalize().with_context(|| format!("cannot find {}", path.display()));
    let (from, to) = (absolute(parent)?, absolute(folder)?);
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| "..");
    Ok(up
        .map(PathBuf::from)
        .chain(to.components().skip(common).map(|part| part.as_os_str().into()))
        .collect())
}

/// Returns all files in a folder and its subfolders, in the order of names. If the path is a file, returns that path
/// alone.
///
/// # Errors
///
/// Returns an error if a folder or a link cannot be read, or if there are more than `most` files.
pub fn files_below(path: &Path, most: usize) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    // Links to folders are not followed, because they may form cycles.
    for entry in WalkDir::new(path).sort_by_file_name() {
        let entry = entry?;
        match fs::metadata(entry.path()) {
            Ok(metadata) if metadata.is_file() => {}
            Ok(_) => continue,
            // A link to nothing, or a file that was removed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).context(format!("cannot read {}", entry.path().display())),
        }
        if files.len() >= most {
            bail!("more than {most} files");
        }
        files.push(entry.into_path());
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_checks_and_relative_paths() {
        let scratch = tempfile::TempDir::new().unwrap();
        let folder = scratch.path();
        fs::create_dir_all(folder.join("a/b")).unwrap();
        let way = |file: &str, to: &str| relative(&folder.join(file), &folder.join(to)).unwrap();
        assert_eq!(way("page.html", "a/b"), Path::new("a/b"));
        assert_eq!(way("a/page.html", ""), Path::new(".."));
        assert_eq!(way("a/b/page.html", "a"), Path::new(".."));
        assert_eq!(way("a/b/page.html", "a/b"), Path::new(""));
        assert!(check_target(folder).is_err());
        assert!(check_target(&folder.join("no/such/file")).is_err());
        assert!(check_target(&folder.join("new")).is_ok());
    }

    #[test]
    fn folders_are_walked_and_counted() {
        let scratch = tempfile::TempDir::new().unwrap();
        let folder = scratch.path();
        fs::create_dir_all(folder.join("sub")).unwrap();
        for name in ["b", "a", "sub/c"] {
            fs::write(folder.join(name), "").unwrap();
        }
        let names = |path: &Path| {
            let found = files_below(path, 3).unwrap();
            found
                .iter()
                .map(|file| file.strip_prefix(folder).unwrap().display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(folder), ["a", "b", "sub/c"]);
        assert_eq!(names(&folder.join("a")), ["a"]);
        assert!(files_below(folder, 2).unwrap_err().to_string().contains("more than 2 files"));
        assert!(files_below(&folder.join("none"), 2).is_err());
        #[cfg(unix)]
        {
            let link = folder.join("link");
            std::os::unix::fs::symlink("nothing", &link).unwrap();
            assert_eq!(names(folder), ["a", "b", "sub/c"], "a link to nothing is no file");
            // A link that leads to itself.
            fs::remove_file(&link).unwrap();
            std::os::unix::fs::symlink("link", &link).unwrap();
            assert!(files_below(folder, 9).unwrap_err().to_string().contains("link"));
        }
    }
}
