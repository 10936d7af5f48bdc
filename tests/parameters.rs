//! The tables of parameters in the manual are those of the registry.

use kosumi_engine::EngineSettings;
use kosumi_engine::parameters::{self, Accepted, Section};
use kosumi_tools::analysis::Settings;
use std::fmt::Write as _;
use std::path::Path;

const BEGIN: &str = "<!-- parameters -->\n";
const END: &str = "<!-- end of parameters -->\n";

/// Returns the tables, section by section.
fn tables() -> String {
    let (gtp, analysis) = (EngineSettings::default(), Settings::default().engine);
    let mut text = String::new();
    for section in Section::ALL {
        let title = section.label();
        let _ = writeln!(
            text,
            "\n### {title}\n\n| name | usual | values | protocols | meaning |\n|---|---|---|---|---|"
        );
        for parameter in parameters::of_section(section) {
            let spec = parameter.spec();
            let [mut usual, in_analysis] = [&gtp, &analysis].map(|settings| parameter.usual(settings));
            if spec.accepted == Accepted::Everywhere && in_analysis != usual {
                let _ = write!(usual, "; analysis: {in_analysis}");
            }
            let name = match spec.alias {
                Some(alias) => format!("`{}`, `{alias}`", spec.name),
                None => format!("`{}`", spec.name),
            };
            let (values, meaning) = (spec.values(), spec.doc.trim());
            let _ = writeln!(text, "| {name} | {usual} | {values} | {} | {meaning} |", spec.accepted);
        }
    }
    let names: Vec<String> =
        parameters::ignored().map(|parameter| format!("`{}`", parameter.spec().name)).collect();
    let _ = writeln!(
        text,
        "\n### Parameters of KataGo without effect\n\nConfiguration files and `overrideSettings` check their values and \
         ignore them; commands of GTP refuse them. Only `allowResignation` has an effect in configuration files for GTP.\n\n{}.\n",
        names.join(", ")
    );
    text
}

#[test]
fn the_manual_has_the_tables_of_the_registry() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/search.md");
    let manual = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = manual.split_once(BEGIN).expect("the beginning of the tables");
    let (found, after) = rest.split_once(END).expect("the end of the tables");
    let wanted = tables();
    if found == wanted {
        return;
    }
    if std::env::var_os("KOSUMI_WRITE_MANUAL").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{wanted}{END}{after}")).unwrap();
        return;
    }
    panic!(
        "docs/search.md does not have the tables of the registry. This command writes them: \
         KOSUMI_WRITE_MANUAL=1 cargo test --profile checked --test program parameters::\n{wanted}"
    );
}
