//! The choice of a network, on the page of a table in a Web Worker.

use maud::{Markup, html};

/// Script of the dialog.
pub(super) const SCRIPT: &str = include_str!("networks.js");

/// Returns the dialog.
pub(super) fn dialog() -> Markup {
    html! {
        dialog #networks aria-labelledby="networks-title" {
            form method="dialog" {
                h2 #networks-title data-text="networks" {}
                p data-text="networks-about" {}
                div.networks role="radiogroup" aria-labelledby="networks-title" {
                    p { label { input #network-small type="radio" name="network" checked; " " span data-text="network-small" {} } }
                    p {
                        label { input #network-large type="radio" name="network"; " " span data-text="network-large" {} }
                        " " span.faint #network-size {}
                        " " button #network-delete type="button" data-text="delete" hidden {}
                    }
                    p #network-loading hidden {
                        progress #network-progress data-label="network-loading" {}
                        " " output #network-amount {}
                        " " button #network-stop type="button" data-text="cancel" {}
                    }
                    p #network-file-choice hidden { label { input #network-file type="radio" name="network"; " " span #network-name {} } }
                }
                p { label { input #network-card type="checkbox"; " " span data-text="use-card" {} } }
                p.faint #card-state role="status" {}
                div.actions {
                    button #network-open type="button" data-text="network-open" data-hint="network-open-hint" {}
                    input #network-chosen type="file" accept=".gz,.bin" hidden;
                    button.main data-text="close" {}
                }
            }
        }
    }
}
