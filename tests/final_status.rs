//! `final_score` and `final_status_list` over GTP: their responses must be consistent for all positions, rules and
//! evaluators.

use kosumi_engine::{Engine, EngineSettings};
use kosumi_go::rng::Rng;
use kosumi_gtp::{InputWatch, answer};
use kosumi_net::{Network, random};
use kosumi_tools::commands::Commands;
use std::collections::BTreeSet;
use std::sync::Arc;

struct Controller {
    commands: Commands,
    watch: InputWatch,
}

impl Controller {
    fn new(network: Option<Arc<Network>>) -> Controller {
        let settings = EngineSettings {
            threads: 1,
            memory_mebibytes: 4,
            playouts: Some(if network.is_some() { 4 } else { 30 }),
            resign: None,
            ..EngineSettings::default()
        };
        let commands = Commands::new(Engine::with_network(settings, network));
        Controller { commands, watch: InputWatch::default() }
    }

    fn ask(&mut self, line: &str) -> String {
        let answer = answer(line, &mut self.commands, &self.watch).expect("a command");
        answer.unwrap_or_else(|failure| panic!("{line}: {failure}"))
    }

    fn list(&mut self, line: &str) -> BTreeSet<String> {
        let answer = self.ask(line);
        let words: Vec<&str> = answer.split_whitespace().collect();
        let set: BTreeSet<String> = words.iter().map(|&word| word.to_owned()).collect();
        assert_eq!(set.len(), words.len(), "{line}: something twice in {answer}");
        set
    }

    /// Returns the score that follows from the lists under the current rules.
    fn score_of_lists(&mut self, komi: f32) -> f32 {
        let status = |name: &str| format!("final_status_list {name}");
        let [dead, alive, seki] = ["dead", "alive", "seki"].map(|name| self.list(&status(name)));
        let territory = ["black", "white"].map(|color| self.list(&status(&format!("{color}_territory"))));
        let stones = ["black", "white"].map(|color| self.list(&format!("list_stones {color}")));
        let together: BTreeSet<String> = dead.iter().chain(&alive).chain(&seki).cloned().collect();
        assert_eq!(together.len(), dead.len() + alive.len() + seki.len(), "no stone in two lists");
        assert_eq!(together, stones[0].union(&stones[1]).cloned().collect(), "every stone in one");
        assert!(territory[0].is_disjoint(&territory[1]));
        let is_area = self.ask("kata-get-rules").contains("AREA");
        let points = [0, 1].map(|color| {
            let (own, other) = (&stones[color], &stones[1 - color]);
            let dead_of = |stones: &BTreeSet<String>| stones.intersection(&dead).count();
            assert!(territory[color].is_disjoint(own), "a point of one's own stone is no territory");
            for point in territory[color].intersection(other) {
                assert!(dead.contains(point), "{point}: territory under a living stone");
            }
            match is_area {
                true => territory[color].len() + own.len() - dead_of(own),
                false => territory[color].len() + dead_of(other),
            }
        });
        points[0] as f32 - points[1] as f32 - komi
    }

    fn final_score(&mut self) -> f32 {
        let answer = self.ask("final_score");
        match answer.split_once('+') {
            Some(("B", points)) => points.parse().expect("a number"),
            Some(("W", points)) => -points.parse::<f32>().expect("a number"),
            _ => panic!("{answer}"),
        }
    }

    /// Returns the number of stones captured by a side, as the response of `showboard` states it.
    fn captured(&mut self, by: &str) -> f32 {
        let shown = self.ask("showboard");
        let (_, rest) = shown.split_once(&format!("{by} has captured ")).expect("captures");
        rest.split_whitespace().next().and_then(|count| count.parse().ok()).expect("a number")
    }

    /// Checks a random position in the middle or at the end of a game, under random rules.
    fn check(&mut self, seed: u64) {
        let mut rng = Rng::new(seed);
        let mut one_of = |choices: &[&str]| choices[rng.below(choices.len() as u32) as usize].to_owned();
        let size = one_of(&["5", "6 5", "7", "4 7"]);
        let rules = one_of(&["chinese-kgs", "japanese", "cgos", "aga", "new-zealand"]);
        let is_played_out = one_of(&["no", "yes"]) == "yes";
        for line in [format!("boardsize {size}"), format!("kata-set-rules {rules}"), "komi 6.5".to_owned()] {
            self.ask(&line);
        }
        for number in 0..rng.below(35) {
            let color = ["b", "w"][number as usize % 2];
            let legal = self.ask(&format!("all_legal {color}"));
            let legal: Vec<&str> = legal.split_whitespace().collect();
            if !legal.is_empty() {
                let point = legal[rng.below(legal.len() as u32) as usize];
                self.ask(&format!("play {color} {point}"));
            }
        }
        let mut passes = 0;
        for color in ["b", "w"].into_iter().cycle().take(if is_played_out { 100 } else { 0 }) {
            passes = if self.ask(&format!("genmove {color}")) == "PASS" { passes + 1 } else { 0 };
            if passes == 2 {
                break;
            }
        }
        let mut expected = self.score_of_lists(6.5);
        if rules == "japanese" {
            expected += self.captured("BLACK (X)") - self.captured("WHITE (O)");
        }
        let board = self.ask("showboard");
        assert_eq!(self.final_score(), expected, "seed {seed}, {rules}:{board}");
    }
}

#[test]
fn scores_and_status_lists_are_consistent_with_playouts() {
    let mut controller = Controller::new(None);
    (0..60).for_each(|seed| controller.check(seed));
}

#[test]
fn scores_and_status_lists_are_consistent_with_a_network() {
    // The ownership and the score of an untrained network are inconsistent with each other.
    let options = random::Options { channels: 6, ..random::Options::default() };
    let network = random::network(&options).expect("a network");
    let mut controller = Controller::new(Some(Arc::new(network)));
    (0..40).for_each(|seed| controller.check(seed));
}
