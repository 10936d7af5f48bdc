//! KataGo's command lines and configuration files for GTP. A program that starts `katago gtp -config FILE -model FILE`
//! can start Kosumi after a change of the path alone.

use super::options;
use anyhow::anyhow;
use clap::Args;
use kosumi_engine::{EngineSettings, parameters, processors};
use kosumi_go::board::BoardSize;
use kosumi_tools::analysis::{Entries, is_irrelevant};
use kosumi_tools::commands::{Setting, with_rule};
use std::ffi::OsString;
use std::path::PathBuf;

/// Options of KataGo
#[derive(Debug, Args)]
pub(super) struct KataGoArguments {
    /// KataGo configuration file for GTP: rules, maxVisits, maxTime, numSearchThreads, resignThreshold, ...; other
    /// options override it; may be repeated
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Settings that override those of the files: KEY=VALUE,KEY=VALUE; may be repeated
    #[arg(long, value_name = "SETTINGS")]
    override_config: Vec<String>,
}

/// Result of reading KataGo configuration files.
pub(super) struct Configured {
    /// Settings of the engine with the configuration applied.
    pub(super) settings: EngineSettings,
    /// Size of the board at the start, if the configuration sets it.
    pub(super) size: Option<BoardSize>,
    /// Notes about keys that have no effect, with the reason.
    pub(super) notes: Vec<String>,
}

impl KataGoArguments {
    /// Applies the configuration files and overrides to `defaults`.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read or a value is invalid.
    pub(super) fn settings_or(&self, defaults: EngineSettings) -> anyhow::Result<Configured> {
        let mut entries = Entries::default();
        for file in &self.config {
            entries.read_file(file)?;
        }
        for text in &self.override_config {
            entries.override_with(text)?;
        }
        configured(&entries, defaults)
    }
}

/// Keys for logging and chat that are ignored without a note, in addition to those that the analysis engine ignores.
const IGNORED_KEYS: &[&str] = &[
    "logAllGTPCommunication",
    "logSearchInfoForChosenMove",
    "startupPrintMessageToStderr",
    "ogsChatToStderr",
    "ogsChatMaxVariations",
    "analysisPVLen",
];

/// Keys of rules with their names in the command `kata-set-rule`.
const RULES: &[(&str, &str)] = &[
    ("koRule", "ko"),
    ("scoringRule", "scoring"),
    ("taxRule", "tax"),
    ("multiStoneSuicideLegal", "suicide"),
    ("hasButton", "hasButton"),
    ("whiteHandicapBonus", "whiteHandicapBonus"),
    ("friendlyPassOk", "friendlyPassOk"),
];

fn configured(entries: &Entries, defaults: EngineSettings) -> anyhow::Result<Configured> {
    let max_threads = defaults.threads.max(processors());
    let mut found = Configured { settings: defaults, size: None, notes: Vec::new() };
    // `allowResignation` takes effect whether it comes before or after `resignThreshold`.
    let mut resigns = true;
    for (key, value) in entries.iter() {
        // An empty value keeps the default.
        if value.is_empty() {
            continue;
        }
        let wrong = |reason: String| anyhow!("key '{key}' of the configuration: {reason}");
        let flag = || {
            value
                .to_ascii_lowercase()
                .parse::<bool>()
                .map_err(|_| wrong(format!("{value} is not true or false")))
        };
        let rule = RULES.iter().find(|(name, _)| *name == key);
        match key {
            "rules" => found.settings.rules = options::rules(value).map_err(wrong)?,
            "defaultBoardSize" => found.size = Some(options::board_size(value).map_err(wrong)?),
            "allowResignation" => resigns = flag()?,
            "reportAnalysisWinratesAs" if value.eq_ignore_ascii_case("SIDETOMOVE") => {}
            _ if rule.is_some() => {
                let name = rule.map_or(key, |(_, name)| name);
                let changed = with_rule(found.settings.rules, name, value);
                found.settings.rules = changed.map_err(|failure| wrong(failure.message().to_owned()))?;
            }
            _ if Setting::is_known(key) => {
                Setting::parse(&format!("{key}={value}")).map_err(wrong)?.apply(&mut found.settings);
            }
            _ if IGNORED_KEYS.contains(&key) || is_irrelevant(key) => {}
            _ => {
                let known = match parameters::find(key) {
                    Some(parameter) => {
                        let is_right = parameter.configure(&mut EngineSettings::default(), value);
                        is_right.map_err(|error| wrong(error.to_string()))?;
                        "known, but changes nothing here"
                    }
                    None if key == "reportAnalysisWinratesAs" => "known, but changes nothing here",
                    None => "unknown, and not used",
                };
                let note = format!("key '{key}' of the configuration is {known}");
                if !found.notes.contains(&note) {
                    found.notes.push(note);
                }
            }
        }
    }
    if !resigns {
        found.settings.resign = None;
    }
    // KataGo's example files set more threads than most machines have processors, because KataGo's threads wait for a
    // GPU. Here each thread computes by itself unless there is a graphics card, and threads without a processor make
    // the search broader and slower (`PERF.md`). The default number of threads exceeds the number of processors only
    // with a card.
    found.settings.threads = found.settings.threads.min(max_threads);
    Ok(found)
}

/// Options that KataGo accepts with one dash, for each command.
const ONE_DASH_OPTIONS: &[(&str, &[&str])] = &[
    (
        "analysis",
        &[
            "config",
            "model",
            "human-model",
            "override-config",
            "analysis-threads",
            "quit-without-waiting",
            "help",
        ],
    ),
    ("gtp", &["config", "model", "human-model", "override-config", "override-version", "help"]),
];

/// Adds a second dash to KataGo's options on a command line.
pub(super) fn with_two_dashes(words: Vec<OsString>) -> Vec<OsString> {
    let known = ONE_DASH_OPTIONS.iter().find(|(command, _)| words.get(1).is_some_and(|word| word == command));
    let Some((_, names)) = known else { return words };
    let second = |word: OsString| {
        let is_known = word
            .to_str()
            .and_then(|text| text.strip_prefix('-'))
            .is_some_and(|rest| names.contains(&rest.split('=').next().unwrap_or_default()));
        if is_known {
            let mut longer = OsString::from("-");
            longer.push(word);
            longer
        } else {
            word
        }
    };
    words.into_iter().map(second).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosumi_go::rules::Rules;
    use std::time::Duration;

    fn read(text: &str) -> anyhow::Result<Configured> {
        let folder = tempfile::TempDir::new()?;
        let file = folder.path().join("gtp.cfg");
        std::fs::write(&file, text)?;
        let arguments =
            KataGoArguments { config: vec![file], override_config: vec!["maxVisits=7".to_owned()] };
        arguments.settings_or(EngineSettings::default())
    }

    #[test]
    fn threads_follow_the_device_or_the_processors() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("gtp.cfg");
        std::fs::write(&file, "numSearchThreads = 4096").unwrap();
        let arguments = KataGoArguments { config: vec![file], override_config: Vec::new() };
        for threads in [1, 2 * processors()] {
            let defaults = EngineSettings { threads, ..EngineSettings::default() };
            let found = arguments.settings_or(defaults).unwrap().settings.threads;
            assert_eq!(found, threads.max(processors()));
        }
    }

    #[test]
    fn a_configuration_for_gtp_is_understood() {
        let found = read(
            "logDir = gtp_logs\nlogAllGTPCommunication = true\nrules = japanese # or others\nmaxVisits = 500\n\
             ponderingEnabled = true\nresignThreshold = -0.8\nresignConsecTurns = 5\nlagBuffer = 1.5\nmaxTime = 10\n\
             numSearchThreads = 6\nnnMaxBatchSize = 32\ncpuctExploration = 1.1\nreportAnalysisWinratesAs = SIDETOMOVE\n\
             antiMirror = true\nchosenMovePrune = 1\nchosenMovePrune = 1\nfooBar = 3\ndefaultBoardSize = 13\nconservativePass =\n",
        )
        .unwrap();
        let settings = found.settings;
        assert_eq!(settings.rules, Rules::preset("japanese").unwrap().rules);
        assert_eq!((settings.visits, settings.resign_after), (Some(7), 5));
        assert_eq!(settings.threads, processors().min(6));
        assert_eq!((settings.resign, settings.ponder), (Some(-0.8), true));
        assert_eq!(settings.move_time, Some(Duration::from_secs(10)));
        assert_eq!(settings.lag_reserve, Duration::from_millis(1500));
        assert_eq!(settings.search.cpuct_exploration, Some(1.1));
        assert_eq!(found.size, BoardSize::square(13));
        assert!(settings.anti_mirror && !settings.genmove_anti_mirror);
        let wanted = [
            "'chosenMovePrune' of the configuration is known, but",
            "'fooBar' of the configuration is unknown",
        ];
        assert_eq!(found.notes.len(), 2, "{:?}", found.notes);
        assert!(
            found.notes.iter().zip(wanted).all(|(found, wanted)| found.contains(wanted)),
            "{:?}",
            found.notes
        );
    }

    #[test]
    fn rules_one_by_one_and_no_resignation() {
        let found = read(
            "allowResignation = false\nresignThreshold = -0.9\nkoRule = SIMPLE\nscoringRule = TERRITORY\ntaxRule = SEKI\n\
             multiStoneSuicideLegal = true\nhasButton = false\nwhiteHandicapBonus = N-1\n",
        )
        .unwrap();
        assert_eq!(found.settings.resign, None);
        let rules = found.settings.rules;
        let words = [rules.ko.name(), rules.scoring.name(), rules.tax.name(), rules.handicap_bonus.name()];
        assert_eq!(words, ["SIMPLE", "TERRITORY", "SEKI", "N-1"]);
        assert!(rules.suicide && !rules.has_button);
    }

    #[test]
    fn values_that_make_no_sense_are_named() {
        for text in [
            "rules = mahjong",
            "maxTime = soon",
            "allowResignation = 2",
            "koRule = EVIL",
            "numSearchThreads = 0",
            "fpuParentWeightByVisitedPolicyPow = 6",
            "chosenMovePrune = -1",
        ] {
            let error = read(text).err().expect(text).to_string();
            assert!(error.contains(text.split(' ').next().unwrap()), "{error}");
        }
        assert!(read("no line").is_err());
    }

    #[test]
    fn katagos_options_get_their_second_dash() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        for (line, wanted) in [
            (
                "kosumi analysis -model m.gz -config c -override-config maxVisits=3 -quit-without-waiting --memory 16",
                "kosumi analysis --model m.gz --config c --override-config maxVisits=3 --quit-without-waiting --memory 16",
            ),
            (
                "kosumi gtp -model m.gz -config=c -override-version 1",
                "kosumi gtp --model m.gz --config=c --override-version 1",
            ),
            ("kosumi gtp -analysis-threads 3", "kosumi gtp -analysis-threads 3"),
            ("kosumi analysis -x -1", "kosumi analysis -x -1"),
            ("kosumi -model", "kosumi -model"),
        ] {
            assert_eq!(with_two_dashes(words(line)), words(wanted));
        }
    }
}
