//! `kosumi net devices`: list of the devices that can evaluate networks.

use crate::device::Card;
use crate::model::ModelArguments;
use crate::terminal;
use anyhow::Context as _;
use clap::Args;
use kosumi_net::{Forward, device};
use std::io::Write;

/// List the devices that can evaluate networks, and the one that would be used
#[derive(Debug, Args)]
#[command(after_help = "\
The number of a card is for --device gpu:N. A card of the kind \"software\" is imitated by the
processor; it is used only if it is named. At last the device is printed that would evaluate the network
of the options: with --device auto, a card is used if it computes what the processor computes, in
less time.

Examples:
  kosumi net devices
  kosumi net devices --model b18c384.bin.gz --device gpu:0")]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let out = &mut terminal::stdout();
    let network = arguments.model.load()?.context("no network: leave out --no-model")?;
    let settings = arguments.model.settings_or(kosumi_eval::NetworkSettings::default());
    let processor = Forward::shared(&network, settings.arithmetic).prepared().arithmetic().name();
    writeln!(out, "cpu     {processor}")?;
    list(out)?;
    match device::attached(&network) {
        Some(attached) => {
            let small = match attached.least_area() {
                0 => String::new(),
                area => format!(", and the processor boards of less than {area} points"),
            };
            let processor_share = match attached.processor_share().at_once {
                0 => String::new(),
                threads => format!(", with {threads} threads of the processor beside it"),
            };
            writeln!(
                out,
                "{} would evaluate {}{processor_share}{small}.",
                attached.device().name(),
                network.name()
            )?;
        }
        None => writeln!(out, "The processor would evaluate {}.", network.name())?,
    }
    Ok(())
}

/// Prints a line per card.
fn list(out: &mut dyn Write) -> anyhow::Result<()> {
    if !Card::IS_SUPPORTED {
        writeln!(out, "This program is built without support for graphics cards (the cargo feature gpu).")?;
    }
    for card in Card::all() {
        let f16 = if card.has_f16 { "f16" } else { "no f16" };
        let matrices = if card.matrices.is_empty() {
            String::new()
        } else {
            format!(", matrix units: {}", card.matrices.join(" "))
        };
        let (number, name, kind) = (card.number, &card.name, card.kind);
        writeln!(out, "gpu:{number:<3} {name}, {kind}, {} {}, {f16}{matrices}", card.interface, card.driver)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_have_numbers() {
        let mut text = Vec::new();
        list(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.contains("the cargo feature gpu"), !Card::IS_SUPPORTED, "{text}");
        for (index, card) in Card::all().iter().enumerate() {
            assert_eq!(card.number, index);
            assert!(text.contains(&format!("gpu:{index}")) && text.contains(&card.name), "{text}");
        }
    }
}
