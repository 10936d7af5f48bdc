//! Writes the page of a table in a Web Worker. `page FOLDER` writes `index.html`, `play.js`, `play.css`, and one file
//! for each language that the page loads. `scripts/web` adds the other files.

use kosumi_board::pages::texts_files;
use kosumi_board::play::{PageKind, page, script, style};
use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs, io};

fn write(folder: &str) -> io::Result<()> {
    let folder = PathBuf::from(folder);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("index.html"), page(PageKind::Worker))?;
    fs::write(folder.join("play.js"), script(PageKind::Worker))?;
    for (name, texts) in texts_files() {
        fs::write(folder.join(name), texts)?;
    }
    fs::write(folder.join("play.css"), style())
}

fn main() -> ExitCode {
    let [folder] = &env::args().skip(1).collect::<Vec<_>>()[..] else {
        eprintln!("usage: page FOLDER");
        return ExitCode::from(2);
    };
    match write(folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{folder}: {error}");
            ExitCode::FAILURE
        }
    }
}
