//! Requirements of tests that are not part of this project, such as other programs, recorded games or an instruction
//! set.
//!
//! A test whose requirement is missing is skipped. It reports this on a channel that `cargo test` does not hide. Each
//! report has the number of tests skipped so far in the whole run. If [`MUST_RUN`] is set, missing requirements make
//! tests fail instead. If [`LOG`] names a file, a line for each skipped test is appended to that file.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// Environment variable that forbids skipping: `all`, or names of requirements separated by commas
/// (`gnugo,node,chromium`).
pub const MUST_RUN: &str = "KOSUMI_TESTS_MUST_RUN";

/// Environment variable with the path of a file to which a line for each skipped test is appended.
pub const LOG: &str = "KOSUMI_TESTS_SKIPPED_LOG";

/// Requirement of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Requirement {
    /// GNU Go 3.8, the program `gnugo`.
    GnuGo,
    /// The shared folder beside the project, with networks, recorded outputs and game records.
    Shared,
    /// Python 3.11 or newer.
    Python,
    /// Python with PyTorch and numpy.
    PyTorch,
    /// Node, with the packages that `npm ci` installs.
    Node,
    /// Python with KaTrain.
    KaTrain,
    /// gtp2ogs 9, which connects engines with OGS.
    Gtp2ogs,
    /// Browser Chromium.
    Chromium,
    /// Program `zstd`.
    Zstd,
    /// Processor with Intel's matrix unit for bf16.
    Amx,
    /// Example programs, which `cargo test` builds unless it builds only a single test.
    Examples,
    /// Open MPI's `mpirun`, and this program built with the feature `mpi`.
    Mpi,
    /// Program `strace`, and a system that permits tracing.
    Strace,
    /// Folder that `scripts/web` has built.
    Web,
    /// Graphics card, or a software driver such as Mesa's for Vulkan.
    Gpu,
}

impl Requirement {
    /// All requirements.
    pub const ALL: [Requirement; 15] = [
        Requirement::GnuGo,
        Requirement::Shared,
        Requirement::Python,
        Requirement::PyTorch,
        Requirement::Node,
        Requirement::KaTrain,
        Requirement::Gtp2ogs,
        Requirement::Chromium,
        Requirement::Zstd,
        Requirement::Amx,
        Requirement::Examples,
        Requirement::Mpi,
        Requirement::Strace,
        Requirement::Web,
        Requirement::Gpu,
    ];

    /// Returns the name in [`MUST_RUN`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Requirement::GnuGo => "gnugo",
            Requirement::Shared => "shared",
            Requirement::Python => "python",
            Requirement::PyTorch => "pytorch",
            Requirement::Node => "node",
            Requirement::KaTrain => "katrain",
            Requirement::Gtp2ogs => "gtp2ogs",
            Requirement::Chromium => "chromium",
            Requirement::Zstd => "zstd",
            Requirement::Amx => "amx",
            Requirement::Examples => "examples",
            Requirement::Mpi => "mpi",
            Requirement::Strace => "strace",
            Requirement::Web => "web",
            Requirement::Gpu => "gpu",
        }
    }

    /// Returns whether the value of [`MUST_RUN`] names this requirement. `all` does not include features of processors,
    /// which cannot be installed.
    fn is_named_in(self, must_run: &str) -> bool {
        let mut names = must_run.split(',').map(str::trim).filter(|name| !name.is_empty()).peekable();
        let known = |name: &str| name == "all" || Requirement::ALL.iter().any(|need| need.name() == name);
        if let Some(unknown) = names.clone().find(|name| !known(name)) {
            let all = Requirement::ALL.map(Requirement::name).join(", ");
            panic!("{MUST_RUN} names {unknown}, which is neither all nor one of {all}");
        }
        names.any(|name| name == self.name() || (name == "all" && self != Requirement::Amx))
    }
}

/// Returns the requirement that was found, or `None` if it is missing. In that case, the test must return, because it
/// has been reported as skipped.
///
/// # Panics
///
/// Panics if the requirement is missing and [`MUST_RUN`] names it.
pub fn require<T>(need: Requirement, found: Result<T, String>) -> Option<T> {
    found.map_err(|missing| skip(need, &missing)).ok()
}

fn skip(need: Requirement, missing: &str) {
    let must_run = env::var(MUST_RUN).unwrap_or_default();
    assert!(!need.is_named_in(&must_run), "{missing} ({MUST_RUN}={must_run} forbids skipping this test)");
    // The test harness names a thread after its test.
    let thread = thread::current();
    let line = format!("{}: {missing} ({})\n", thread.name().unwrap_or("a test"), need.name());
    if let Some(log) = env::var_os(LOG) {
        append(Path::new(&log), &line).expect("a log of skipped tests that can be written");
    }
    let so_far = count(&line).map(|count| format!(" (no. {count} of this run)")).unwrap_or_default();
    // The message is written directly, because the harness hides the output of `eprintln!` in successful tests.
    let _ = io::stderr().write_all(format!("skipped{so_far}: {line}").as_bytes());
}

fn append(path: &Path, line: &str) -> io::Result<File> {
    let mut file = OpenOptions::new().create(true).append(true).read(true).open(path)?;
    file.write_all(line.as_bytes())?;
    Ok(file)
}

/// Records a skipped test, and returns the number of tests skipped since `cargo test` began.
#[cfg(unix)]
fn count(line: &str) -> io::Result<usize> {
    // All test programs of one run of `cargo test` have the same parent.
    let run = std::os::unix::process::parent_id();
    let path = env::temp_dir().join(format!("kosumi-skipped-tests-{run}"));
    append(&path, line)?;
    Ok(std::fs::read_to_string(&path)?.lines().count())
}

#[cfg(not(unix))]
fn count(_: &str) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns the path of GNU Go: the program that `GNUGO` names, or `gnugo` in `PATH` or `/usr/games`.
pub fn gnugo() -> Option<PathBuf> {
    let named = env::var_os("GNUGO").map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let usual =
        env::split_paths(&path).chain([PathBuf::from("/usr/games")]).map(|folder| folder.join("gnugo"));
    let found = match named {
        Some(named) => Some(named),
        None => usual.into_iter().find(|file| file.is_file()),
    };
    require(Requirement::GnuGo, found.ok_or_else(|| "no gnugo in GNUGO, PATH or /usr/games".to_owned()))
}

/// Returns the path of the small built-in network, for the environment variable `KOSUMI_MODEL`. With the large network,
/// pages and whole games are slow on processors without 8-bit instructions.
pub fn small_network() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src/net/built_in/small.bin.gz")
}

/// Returns the path of a file or folder in the shared folder: the one that `KOSUMI_SHARED` names, or `shared` beside
/// the project.
pub fn shared(path: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let found = env::var_os("KOSUMI_SHARED").map_or_else(beside, PathBuf::from).join(path);
    let missing =
        || format!("there is no {path} in the shared folder (KOSUMI_SHARED, or beside the project)");
    require(Requirement::Shared, if found.exists() { Ok(found) } else { Err(missing()) })
}

/// Returns `None` unless Node is available and a package is installed in a folder.
pub fn node(folder: &Path, package: &str) -> Option<()> {
    let has_node = Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success());
    let found = if !has_node {
        Err("there is no node".to_owned())
    } else if !folder.join("node_modules").join(package).is_dir() {
        Err(format!("npm ci has not been run in {}", folder.display()))
    } else {
        Ok(())
    };
    require(Requirement::Node, found)
}

/// Returns a Python interpreter with KaTrain: the program that `KOSUMI_KATRAIN_PYTHON` names, or `python3`.
pub fn katrain() -> Option<String> {
    let python = env::var("KOSUMI_KATRAIN_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_all = Command::new(&python).args(["-c", "import katrain"]).output();
    let missing = || format!("{python} has no KaTrain (KOSUMI_KATRAIN_PYTHON names another Python)");
    let found = has_all.is_ok_and(|output| output.status.success());
    require(Requirement::KaTrain, if found { Ok(python.clone()) } else { Err(missing()) })
}

/// Returns the path of gtp2ogs: the program that `KOSUMI_GTP2OGS` names, or `gtp2ogs` in `PATH`.
pub fn gtp2ogs() -> Option<PathBuf> {
    let named = env::var_os("KOSUMI_GTP2OGS").map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let usual = env::split_paths(&path).map(|folder| folder.join("gtp2ogs"));
    let found = named.into_iter().chain(usual).find(|file| file.is_file());
    require(
        Requirement::Gtp2ogs,
        found.ok_or_else(|| "there is no gtp2ogs in KOSUMI_GTP2OGS or PATH".to_owned()),
    )
}

/// Returns the path of Chromium: the program that `KOSUMI_CHROMIUM` names, or the usual one.
pub fn chromium() -> Option<PathBuf> {
    let named = env::var_os("KOSUMI_CHROMIUM").map(PathBuf::from);
    let usual =
        ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].map(PathBuf::from);
    let found = named.into_iter().chain(usual).find(|path| path.is_file());
    require(Requirement::Chromium, found.ok_or_else(|| "there is no Chromium".to_owned()))
}

/// Returns the command of Open MPI's `mpirun` that starts this number of processes on this machine. `has_feature`
/// states whether the program was built with support for MPI.
pub fn mpirun(has_feature: bool, processes: usize) -> Option<Command> {
    let version = Command::new("mpirun").arg("--version").output();
    let is_open_mpi =
        version.is_ok_and(|version| String::from_utf8_lossy(&version.stdout).contains("Open MPI"));
    let found = match (has_feature, is_open_mpi) {
        (false, _) => Err("built without --features mpi".to_owned()),
        (true, false) => Err("there is no mpirun of Open MPI".to_owned()),
        (true, true) => Ok(()),
    };
    require(Requirement::Mpi, found)?;
    let mut command = Command::new("mpirun");
    // Programs in containers often run as root, with fewer processors than processes.
    command.args(["--allow-run-as-root", "--oversubscribe", "--mca", "btl_base_warn_component_unused", "0"]);
    command.args(["-n", &processes.to_string()]);
    Some(command)
}

/// Returns the folder if `scripts/web` has built it.
pub fn web(folder: PathBuf) -> Option<PathBuf> {
    let found = folder.join("kosumi.wasm").is_file() && folder.join("index.html").is_file();
    let missing = || format!("scripts/web {} has not been run", folder.display());
    require(Requirement::Web, if found { Ok(folder.clone()) } else { Err(missing()) })
}

/// Returns a Python interpreter for the scripts of the project: the program that `KOSUMI_PYTHON` names, or `python3`.
pub fn python() -> Option<String> {
    let python = env::var("KOSUMI_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let is_new = Command::new(&python).args(["-c", "import tomllib"]).output();
    let found = is_new.is_ok_and(|output| output.status.success());
    require(
        Requirement::Python,
        if found { Ok(python.clone()) } else { Err(format!("{python} is not Python 3.11 or newer")) },
    )
}

/// Returns a Python interpreter with PyTorch and numpy: the program that `KOSUMI_PYTHON` names, or `python3`.
pub fn pytorch() -> Option<String> {
    let python = env::var("KOSUMI_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_all = Command::new(&python).args(["-c", "import torch, numpy"]).output();
    let missing = || format!("{python} has no PyTorch and numpy (KOSUMI_PYTHON names another Python)");
    let found = has_all.is_ok_and(|output| output.status.success());
    require(Requirement::PyTorch, if found { Ok(python.clone()) } else { Err(missing()) })
}

#[doc(hidden)]
#[must_use]
pub fn is_named_in(need: Requirement, must_run: &str) -> bool {
    need.is_named_in(must_run)
}
