//! What a test may need that is not part of this project: other programs, recorded games, an instruction set.
//!
//! A test that lacks something is skipped, and says so where `cargo test` does not hide it. Each line tells how many
//! tests the whole run has skipped so far. Whoever has installed everything sets [`MUST_RUN`], and a missing thing
//! makes the test fail instead. If [`LOG`] names a file, a line about every skipped test is added to it.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// The environment variable that forbids skipping: `all`, or names of needs separated by commas
/// (`gnugo,node,chromium`).
pub const MUST_RUN: &str = "KOSUMI_TESTS_MUST_RUN";

/// The environment variable that names a file to which a line is added for every skipped test.
pub const LOG: &str = "KOSUMI_TESTS_SKIPPED_LOG";

/// Something that a test cannot do without.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// GNU Go 3.8, the program `gnugo`.
    GnuGo,
    /// The folder of networks, recorded answers and records that stands beside the project.
    Shared,
    /// A Python with PyTorch and numpy.
    PyTorch,
    /// Node, and what `npm ci` installs.
    Node,
    /// A Python with KaTrain.
    KaTrain,
    /// gtp2ogs 9, which connects programs with OGS.
    Gtp2ogs,
    /// The browser Chromium.
    Chromium,
    /// The program `zstd`.
    Zstd,
    /// A processor with Intel's matrix unit for bf16.
    Amx,
    /// Programs that `cargo test` builds, unless it is told to build one test alone.
    Examples,
    /// Open MPI's `mpirun`, and this program built with the feature `mpi`.
    Mpi,
    /// The program `strace`, and a system that lets it trace.
    Strace,
}

impl Need {
    /// All needs.
    pub const ALL: [Need; 12] = [
        Need::GnuGo,
        Need::Shared,
        Need::PyTorch,
        Need::Node,
        Need::KaTrain,
        Need::Gtp2ogs,
        Need::Chromium,
        Need::Zstd,
        Need::Amx,
        Need::Examples,
        Need::Mpi,
        Need::Strace,
    ];

    /// The name in [`MUST_RUN`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Need::GnuGo => "gnugo",
            Need::Shared => "shared",
            Need::PyTorch => "pytorch",
            Need::Node => "node",
            Need::KaTrain => "katrain",
            Need::Gtp2ogs => "gtp2ogs",
            Need::Chromium => "chromium",
            Need::Zstd => "zstd",
            Need::Amx => "amx",
            Need::Examples => "examples",
            Need::Mpi => "mpi",
            Need::Strace => "strace",
        }
    }

    /// Does the value of [`MUST_RUN`] name this need? `all` does not ask for a processor, which nobody can install.
    fn is_named_in(self, must_run: &str) -> bool {
        let mut names = must_run.split(',').map(str::trim).filter(|name| !name.is_empty()).peekable();
        let known = |name: &str| name == "all" || Need::ALL.iter().any(|need| need.name() == name);
        if let Some(unknown) = names.clone().find(|name| !known(name)) {
            let all = Need::ALL.map(Need::name).join(", ");
            panic!("{MUST_RUN} names {unknown}, which is neither all nor one of {all}");
        }
        names.any(|name| name == self.name() || (name == "all" && self != Need::Amx))
    }
}

/// What a test needs, or `None` if it is missing. Then the test is to return: it has been reported as skipped.
///
/// # Panics
///
/// If the thing is missing and [`MUST_RUN`] names it.
pub fn require<T>(need: Need, found: Result<T, String>) -> Option<T> {
    found.map_err(|missing| skip(need, &missing)).ok()
}

fn skip(need: Need, missing: &str) {
    let must_run = env::var(MUST_RUN).unwrap_or_default();
    assert!(!need.is_named_in(&must_run), "{missing} ({MUST_RUN}={must_run} forbids to skip this test)");
    // The harness names the thread of a test by the test.
    let thread = thread::current();
    let line = format!("{}: {missing} ({})\n", thread.name().unwrap_or("a test"), need.name());
    if let Some(log) = env::var_os(LOG) {
        append(Path::new(&log), &line).expect("a log of skipped tests that can be written");
    }
    let so_far = count(&line).map(|count| format!(" (no. {count} of this run)")).unwrap_or_default();
    // Written at once and not by `eprintln!`, which the harness hides while tests succeed.
    let _ = io::stderr().write_all(format!("skipped{so_far}: {line}").as_bytes());
}

fn append(path: &Path, line: &str) -> io::Result<File> {
    let mut file = OpenOptions::new().create(true).append(true).read(true).open(path)?;
    file.write_all(line.as_bytes())?;
    Ok(file)
}

/// Adds a test to those that were skipped since `cargo test` began, and says how many they are.
#[cfg(unix)]
fn count(line: &str) -> io::Result<usize> {
    // All programs of one run of `cargo test` have the same parent.
    let run = std::os::unix::process::parent_id();
    let path = env::temp_dir().join(format!("kosumi-skipped-tests-{run}"));
    append(&path, line)?;
    Ok(std::fs::read_to_string(&path)?.lines().count())
}

#[cfg(not(unix))]
fn count(_: &str) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// GNU Go: the program that `GNUGO` names, or `gnugo` where programs are, or in `/usr/games`.
pub fn gnugo() -> Option<PathBuf> {
    let named = env::var_os("GNUGO").map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let usual =
        env::split_paths(&path).chain([PathBuf::from("/usr/games")]).map(|folder| folder.join("gnugo"));
    let found = match named {
        Some(named) => Some(named),
        None => usual.into_iter().find(|file| file.is_file()),
    };
    require(Need::GnuGo, found.ok_or_else(|| "there is no gnugo in GNUGO, PATH or /usr/games".to_owned()))
}

/// The small built-in network, for the variable `KOSUMI_MODEL`: with the large one, pages and whole games are slow on processors
/// without 8-bit instructions.
pub fn small_network() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src/net/built_in/small.bin.gz")
}

/// A file or folder of the shared folder: the one that `KOSUMI_SHARED` names, or `shared` beside the project.
pub fn shared(path: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let found = env::var_os("KOSUMI_SHARED").map_or_else(beside, PathBuf::from).join(path);
    let missing =
        || format!("there is no {path} in the shared folder (KOSUMI_SHARED, or beside the project)");
    require(Need::Shared, if found.exists() { Ok(found) } else { Err(missing()) })
}

/// Node, with a package installed in a folder.
pub fn node(folder: &Path, package: &str) -> Option<()> {
    let has_node = Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success());
    let found = if !has_node {
        Err("there is no node".to_owned())
    } else if !folder.join("node_modules").join(package).is_dir() {
        Err(format!("npm ci has not been run in {}", folder.display()))
    } else {
        Ok(())
    };
    require(Need::Node, found)
}

/// A Python with KaTrain: the program that `KOSUMI_KATRAIN_PYTHON` names, or `python3`.
pub fn katrain() -> Option<String> {
    let python = env::var("KOSUMI_KATRAIN_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_all = Command::new(&python).args(["-c", "import katrain"]).output();
    let missing = || format!("{python} has no KaTrain (KOSUMI_KATRAIN_PYTHON names another Python)");
    let found = has_all.is_ok_and(|output| output.status.success());
    require(Need::KaTrain, if found { Ok(python.clone()) } else { Err(missing()) })
}

/// gtp2ogs: the program that `KOSUMI_GTP2OGS` names, or `gtp2ogs` where programs are.
pub fn gtp2ogs() -> Option<PathBuf> {
    let named = env::var_os("KOSUMI_GTP2OGS").map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let usual = env::split_paths(&path).map(|folder| folder.join("gtp2ogs"));
    let found = named.into_iter().chain(usual).find(|file| file.is_file());
    require(Need::Gtp2ogs, found.ok_or_else(|| "there is no gtp2ogs in KOSUMI_GTP2OGS or PATH".to_owned()))
}

/// Chromium: the program that `KOSUMI_CHROMIUM` names, or where it usually is.
pub fn chromium() -> Option<PathBuf> {
    let named = env::var_os("KOSUMI_CHROMIUM").map(PathBuf::from);
    let usual =
        ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].map(PathBuf::from);
    let found = named.into_iter().chain(usual).find(|path| path.is_file());
    require(Need::Chromium, found.ok_or_else(|| "there is no Chromium".to_owned()))
}

/// Open MPI's `mpirun`, for a program that `has_feature`: the command that starts so many processes on this machine.
pub fn mpirun(has_feature: bool, processes: usize) -> Option<Command> {
    let version = Command::new("mpirun").arg("--version").output();
    let is_open_mpi =
        version.is_ok_and(|version| String::from_utf8_lossy(&version.stdout).contains("Open MPI"));
    let found = match (has_feature, is_open_mpi) {
        (false, _) => Err("built without --features mpi".to_owned()),
        (true, false) => Err("there is no mpirun of Open MPI".to_owned()),
        (true, true) => Ok(()),
    };
    require(Need::Mpi, found)?;
    let mut command = Command::new("mpirun");
    // In containers programs are often run as root, and have fewer processors than processes.
    command.args(["--allow-run-as-root", "--oversubscribe", "--mca", "btl_base_warn_component_unused", "0"]);
    command.args(["-n", &processes.to_string()]);
    Some(command)
}

/// A Python with PyTorch and numpy: the program that `KOSUMI_PYTHON` names, or `python3`.
pub fn pytorch() -> Option<String> {
    let python = env::var("KOSUMI_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_all = Command::new(&python).args(["-c", "import torch, numpy"]).output();
    let missing = || format!("{python} has no PyTorch and numpy (KOSUMI_PYTHON names another Python)");
    let found = has_all.is_ok_and(|output| output.status.success());
    require(Need::PyTorch, if found { Ok(python.clone()) } else { Err(missing()) })
}

#[doc(hidden)]
#[must_use]
pub fn is_named_in(need: Need, must_run: &str) -> bool {
    need.is_named_in(must_run)
}
