//! Which network the engine plays with.

use super::options::{self, PrecisionChoice};
use anyhow::{Context, ensure};
use clap::Args;
use kosumi_eval::NetworkSettings;
use kosumi_net::{ArithmeticChoice, BuiltIn, Forward, Input, Kernel, Network};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

/// The name under which a network is found beside the program.
const BESIDE: &str = "kosumi.bin.gz";

/// The variable that names a network.
const VARIABLE: &str = "KOSUMI_MODEL";

/// The network
#[derive(Clone, Debug, Args)]
pub(super) struct ModelArguments {
    /// Network in KataGo's format (.bin.gz, .txt.gz, versions 8 to 17) [default: what the variable KOSUMI_MODEL names, or
    /// kosumi.bin.gz beside the program, if it is there, otherwise the large built-in network]
    // The variable is none of clap's: for clap it would override `--network`.
    #[arg(long, value_name = "FILE", overrides_with = "network")]
    model: Option<PathBuf>,
    /// The built-in network of this name: large, or small, which is asked many times as often: for slow machines [default: large]
    #[arg(long, value_name = "NAME", value_parser = options::built_in, overrides_with = "model")]
    network: Option<BuiltIn>,
    /// Play without a network, by playouts alone
    #[arg(long)]
    no_model: bool,
    /// Instructions that a network is computed with: portable, avx2, avx-vnni, avx512, avx512-vnni,
    /// avx512-bf16, amx-bf16, amx-int8, on ARM neon, neon-dot, neon-i8mm [default: the fastest that the processor has]
    #[arg(long, value_name = "NAME", env = "KOSUMI_KERNEL", value_parser = options::kernel)]
    kernel: Option<Kernel>,
    /// Precision that a network is computed with: f32, bf16, int8, or auto, the fastest whose answers hardly differ
    /// [default: auto]
    #[arg(long, value_name = "NAME", env = "KOSUMI_PRECISION", value_parser = options::precision)]
    precision: Option<PrecisionChoice>,
}

impl ModelArguments {
    /// How a network is asked; what no option says as in `defaults`.
    pub(super) fn settings_or(&self, defaults: NetworkSettings) -> NetworkSettings {
        let ArithmeticChoice { kernel, precision } = defaults.arithmetic;
        let precision = self.precision.map_or(precision, |precision| precision.0);
        let arithmetic = ArithmeticChoice { kernel: self.kernel.or(kernel), precision };
        NetworkSettings { arithmetic, ..defaults }
    }

    /// The file of the network, unless it is built in.
    fn file(&self) -> Option<PathBuf> {
        match self.network {
            Some(_) => None,
            None => self.model.clone().or_else(of_the_environment).or_else(beside_the_program),
        }
    }

    /// The path of the network's file, or which of the built-in ones it is.
    pub(super) fn name(&self) -> String {
        let built_in = || format!("built-in {}", self.network.unwrap_or_default().name());
        self.file().map_or_else(built_in, |path| path.display().to_string())
    }

    /// The network, if there is one.
    ///
    /// # Errors
    /// If the file that was named cannot be used, or if the kernel cannot compute in the precision.
    pub(super) fn load(&self) -> anyhow::Result<Option<Arc<Network>>> {
        self.load_or(BuiltIn::default())
    }

    /// The same, or this built-in network if none is named.
    ///
    /// # Errors
    /// The same.
    pub(super) fn load_or(&self, unnamed: BuiltIn) -> anyhow::Result<Option<Arc<Network>>> {
        if self.no_model {
            return Ok(None);
        }
        let arithmetic = options::arithmetic(self.kernel, self.precision)?;
        match self.file() {
            Some(path) => load(&path, arithmetic).map(Some),
            None => built_in(self.network.unwrap_or(unnamed)).map(Some),
        }
    }

    /// The small built-in network.
    ///
    /// # Errors
    /// If it is broken.
    pub(super) fn load_small(&self) -> anyhow::Result<Arc<Network>> {
        built_in(BuiltIn::Small)
    }

    /// The network of human play in a file, computed as the other network is.
    ///
    /// # Errors
    /// If the file cannot be used, or is another network.
    pub(super) fn load_human(&self, path: &Path) -> anyhow::Result<Arc<Network>> {
        let network = load(path, options::arithmetic(self.kernel, self.precision)?)?;
        ensure!(
            network.takes_metadata(),
            "{}: not a network of human play, which is told who plays",
            path.display()
        );
        Ok(network)
    }
}

fn built_in(which: BuiltIn) -> anyhow::Result<Arc<Network>> {
    // No file has such a name.
    let name = PathBuf::from(format!("\0{}", which.name()));
    shared(&name, || Network::built_in(which).context("the built-in network"))
}

fn of_the_environment() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from)
}

fn beside_the_program() -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.parent()?.join(BESIDE);
    path.is_file().then_some(path)
}

/// Reads a network and tries it once, so that one whose weights are broken is refused here and not in a game. What is
/// prepared for that is what plays.
pub(super) fn load(path: &Path, arithmetic: ArithmeticChoice) -> anyhow::Result<Arc<Network>> {
    let network = shared(path, || Network::open(path).with_context(|| format!("{}", path.display())))?;
    let mut input = Input::zero(5, 5);
    input.spatial.iter_mut().step_by(kosumi_net::SPATIAL_FEATURES).for_each(|on_board| *on_board = 1.0);
    let mut forward = Forward::shared(&network, arithmetic);
    forward.evaluate(&input).with_context(|| format!("{}", path.display()))?;
    Ok(network)
}

/// The network of a file; the engines of a match that play with the same one share it.
fn shared(path: &Path, read: impl FnOnce() -> anyhow::Result<Network>) -> anyhow::Result<Arc<Network>> {
    /// A file, when it was written, and what was read.
    type Open = (PathBuf, Option<SystemTime>, Weak<Network>);
    static OPEN: Mutex<Vec<Open>> = Mutex::new(Vec::new());
    // A file that has been written anew is another network.
    let changed = path.metadata().and_then(|it| it.modified()).ok();
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = open.iter().find(|(it, when, _)| *it == path && *when == changed);
    if let Some(network) = known.and_then(|(_, _, network)| network.upgrade()) {
        return Ok(network);
    }
    let network = Arc::new(read()?);
    open.retain(|(_, _, network)| network.strong_count() > 0);
    open.push((path, changed, Arc::downgrade(&network)));
    Ok(network)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_net::Encoding;
    use kosumi_net::random;

    #[test]
    fn a_reason_is_told_once() {
        let error = load(Path::new("/no/such/file.bin.gz"), ArithmeticChoice::default()).unwrap_err();
        let text = format!("{error:#}");
        let why = std::fs::File::open("/no/such/file.bin.gz").unwrap_err().to_string();
        assert_eq!(text.matches(&why).count(), 1, "{text}");
    }

    #[test]
    fn a_file_is_read_once_as_long_as_it_stays_the_same() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("network.bin");
        let write = |seed| {
            let options = random::Options { seed, ..random::Options::default() };
            let network = random::network(&options).unwrap();
            network.write(Encoding::Binary, std::fs::File::create(&path).unwrap()).unwrap();
        };
        write(1);
        let choice = ArithmeticChoice::default();
        let first = load(&path, choice).unwrap();
        assert!(Arc::ptr_eq(&first, &load(&path, choice).unwrap()));
        let prepared = Forward::shared(&first, choice);
        assert!(Arc::ptr_eq(prepared.prepared(), Forward::shared(&first, choice).prepared()));
        write(2);
        let later = SystemTime::now() + std::time::Duration::from_secs(5);
        std::fs::File::options().append(true).open(&path).unwrap().set_modified(later).unwrap();
        assert!(!Arc::ptr_eq(&first, &load(&path, choice).unwrap()));
    }
}
