//! Choice and loading of the network.

use super::device::{self, DeviceChoice};
use super::options::{self, PrecisionChoice};
use anyhow::{Context, ensure};
use clap::Args;
use kosumi_eval::NetworkSettings;
use kosumi_net::{ArithmeticChoice, BuiltIn, Forward, Input, Kernel, Network};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

/// Name of a network file that is loaded by default if it is in the program's folder.
const DEFAULT_FILE_NAME: &str = "kosumi.bin.gz";

/// Environment variable with the path of a network.
const MODEL_VARIABLE: &str = "KOSUMI_MODEL";

/// Options of the network
#[derive(Clone, Debug, Args)]
pub(super) struct ModelArguments {
    /// Network in KataGo's format (.bin.gz, .txt.gz, versions 8 to 17) or of 8 bits (.kosumi8) [default: the file named
    /// by the variable KOSUMI_MODEL, or kosumi.bin.gz beside the program if it exists, otherwise the large built-in network]
    // clap does not read the variable: it would then override `--network`.
    #[arg(long, value_name = "FILE", overrides_with = "network")]
    model: Option<PathBuf>,
    /// Built-in network: large, or small, which gets many times the visits per second and suits slow machines [default:
    /// large]
    #[arg(long, value_name = "NAME", value_parser = options::built_in, overrides_with = "model")]
    network: Option<BuiltIn>,
    /// Play without a network, by playouts alone
    #[arg(long)]
    no_model: bool,
    /// Instruction set for networks: portable, avx2, avx-vnni, avx512, avx512-vnni, avx512-bf16, amx-bf16, amx-int8, on
    /// ARM neon, neon-dot, neon-i8mm [default: the fastest one that the processor supports]
    #[arg(long, value_name = "NAME", env = "KOSUMI_KERNEL", value_parser = options::kernel)]
    kernel: Option<Kernel>,
    /// Precision of network evaluations: f32, bf16, int8, or auto, the fastest one whose results hardly differ
    /// [default: auto]
    #[arg(long, value_name = "NAME", env = "KOSUMI_PRECISION", value_parser = options::precision)]
    precision: Option<PrecisionChoice>,
    /// Device for network evaluations: cpu, gpu, gpu:N for the card N of `kosumi net devices` (gpu:N+N for several, gpu+cpu for the processor beside it), or auto, a graphics card
    /// if it is faster than the processor [default: auto]
    #[arg(long, value_name = "DEVICE", env = "KOSUMI_DEVICE", value_parser = device::parse)]
    device: Option<DeviceChoice>,
}

impl ModelArguments {
    /// Returns the network settings of the options, with `defaults` for options that are not given.
    pub(super) fn settings_or(&self, defaults: NetworkSettings) -> NetworkSettings {
        let ArithmeticChoice { kernel, precision } = defaults.arithmetic;
        let precision = self.precision.map_or(precision, |precision| precision.0);
        let arithmetic = ArithmeticChoice { kernel: self.kernel.or(kernel), precision };
        NetworkSettings { arithmetic, ..defaults }
    }

    /// Returns the device of the options.
    pub(super) fn device(&self) -> DeviceChoice {
        self.device.unwrap_or_default()
    }

    /// Makes the processor the device if the options name none, for results that others must be able to reproduce.
    pub(super) fn prefer_processor(&mut self) {
        self.device.get_or_insert(DeviceChoice::Cpu);
    }

    /// Returns these options with the processor as the device.
    pub(super) fn on_processor(&self) -> ModelArguments {
        ModelArguments { device: Some(DeviceChoice::Cpu), ..self.clone() }
    }

    /// Returns the path of the network, or `None` for a built-in network.
    fn file(&self) -> Option<PathBuf> {
        match self.network {
            Some(_) => None,
            None => self.model.clone().or_else(model_from_environment).or_else(model_beside_program),
        }
    }

    /// Returns the path of the network, or a description of the built-in network.
    pub(super) fn name(&self) -> String {
        let built_in = || format!("built-in {}", self.network.unwrap_or_default().name());
        self.file().map_or_else(built_in, |path| path.display().to_string())
    }

    /// Loads the network, or returns `None` with `--no-model`.
    ///
    /// # Errors
    ///
    /// Returns an error if the named file cannot be used, or if the kernel does not support the precision.
    pub(super) fn load(&self) -> anyhow::Result<Option<Arc<Network>>> {
        self.load_or(BuiltIn::default())
    }

    /// Loads the network, or the built-in network `unnamed` if none is named. Returns `None` with `--no-model`.
    ///
    /// # Errors
    ///
    /// Returns an error if the named file cannot be used, or if the kernel does not support the precision.
    pub(super) fn load_or(&self, unnamed: BuiltIn) -> anyhow::Result<Option<Arc<Network>>> {
        if self.no_model {
            return Ok(None);
        }
        let arithmetic = options::arithmetic(self.kernel, self.precision)?;
        let network = match self.file() {
            Some(path) => load(&path, arithmetic)?,
            None => built_in(self.network.unwrap_or(unnamed))?,
        };
        device::attach(&network, self.device(), arithmetic)?;
        Ok(Some(network))
    }

    /// Loads the small built-in network.
    ///
    /// # Errors
    ///
    /// Returns an error if its data is corrupt.
    pub(super) fn load_small(&self) -> anyhow::Result<Arc<Network>> {
        built_in(BuiltIn::Small)
    }

    /// Loads the human-play network in a file, with the kernel and the precision of the other network.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be used, or if it is not a human-play network.
    pub(super) fn load_human(&self, path: &Path) -> anyhow::Result<Arc<Network>> {
        let arithmetic = options::arithmetic(self.kernel, self.precision)?;
        let network = load(path, arithmetic)?;
        ensure!(
            network.takes_metadata(),
            "{}: not a human-play network (it has no metadata input)",
            path.display()
        );
        device::attach(&network, self.device(), arithmetic)?;
        Ok(network)
    }
}

fn built_in(which: BuiltIn) -> anyhow::Result<Arc<Network>> {
    // No path contains a NUL, so this name cannot collide with that of a file.
    let name = PathBuf::from(format!("\0{}", which.name()));
    load_shared(&name, || Network::built_in(which).context("the built-in network"))
}

fn model_from_environment() -> Option<PathBuf> {
    std::env::var_os(MODEL_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from)
}

fn model_beside_program() -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.parent()?.join(DEFAULT_FILE_NAME);
    path.is_file().then_some(path)
}

/// Reads a network and evaluates one position, so that a network with broken weights is refused here instead of during
/// a game. The weights prepared for this evaluation are reused later.
pub(super) fn load(path: &Path, arithmetic: ArithmeticChoice) -> anyhow::Result<Arc<Network>> {
    let network = load_shared(path, || Network::open(path).with_context(|| format!("{}", path.display())))?;
    // On a board with long rows, convolutions use the same tiles as on 19×19, so the weights for these tiles are
    // computed only once.
    let mut input = Input::zero(16, 4);
    input.spatial.iter_mut().step_by(kosumi_net::SPATIAL_FEATURES).for_each(|on_board| *on_board = 1.0);
    let mut forward = Forward::shared(&network, arithmetic);
    forward.evaluate(&input).with_context(|| format!("{}", path.display()))?;
    Ok(network)
}

/// Returns the network of a file. Engines of a match that use the same file share the network.
fn load_shared(path: &Path, read: impl FnOnce() -> anyhow::Result<Network>) -> anyhow::Result<Arc<Network>> {
    /// Path of a file, its modification time, and its network.
    type Open = (PathBuf, Option<SystemTime>, Weak<Network>);
    static OPEN: Mutex<Vec<Open>> = Mutex::new(Vec::new());
    // Another modification time means another network.
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
    fn an_error_message_contains_its_cause_once() {
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
