//! Which network the engine plays with.

use super::options;
use crate::eval::NetworkSettings;
use crate::net::{Forward, Input, Kernel, Network};
use anyhow::Context;
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name under which a network is found beside the program.
const BESIDE: &str = "kosumi.bin.gz";

/// The network
#[derive(Debug, Args)]
pub(super) struct ModelArguments {
    /// Network in KataGo's format (.bin.gz, .txt.gz, versions 8 to 17) [default: kosumi.bin.gz beside the program,
    /// if it is there, otherwise the built-in network]
    #[arg(long, value_name = "FILE", env = "KOSUMI_MODEL")]
    model: Option<PathBuf>,
    /// Play without a network, by playouts alone
    #[arg(long)]
    no_model: bool,
    /// Instructions that a network is computed with: portable, avx2, avx512, amx-bf16 [default: the fastest that the
    /// processor has]
    #[arg(long, value_name = "NAME", env = "KOSUMI_KERNEL", value_parser = options::kernel)]
    kernel: Option<Kernel>,
}

impl ModelArguments {
    /// How a network is asked; what no option says as in `defaults`.
    pub(super) fn settings_or(&self, defaults: NetworkSettings) -> NetworkSettings {
        NetworkSettings { kernel: self.kernel.or(defaults.kernel), ..defaults }
    }

    /// The network, if there is one.
    ///
    /// # Errors
    /// If the file that was named cannot be used.
    pub(super) fn load(&self) -> anyhow::Result<Option<Arc<Network>>> {
        if self.no_model {
            return Ok(None);
        }
        match self.model.clone().or_else(beside_the_program) {
            Some(path) => load(&path).map(Some),
            None => Ok(Some(Arc::new(Network::built_in().context("the built-in network")?))),
        }
    }
}

fn beside_the_program() -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.parent()?.join(BESIDE);
    path.is_file().then_some(path)
}

/// Reads a network and tries it once, so that one whose weights are broken is refused here and not in a game.
pub(super) fn load(path: &Path) -> anyhow::Result<Arc<Network>> {
    let network = Network::open(path).with_context(|| format!("{}", path.display()))?;
    let mut input = Input::zero(5, 5);
    input.spatial.iter_mut().step_by(crate::net::SPATIAL_FEATURES).for_each(|on_board| *on_board = 1.0);
    Forward::new(&network).evaluate(&input).with_context(|| format!("{}", path.display()))?;
    Ok(Arc::new(network))
}
