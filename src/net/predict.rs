//! From a position to a prediction, one at a time and without haste: for commands and tests.

use super::features::{self, Features};
use super::input::Input;
use super::model::Network;
use super::output::NotFinite;
use super::prediction::{Context, Prediction};
use super::{scalar, symmetry};
use crate::board::Symmetry;
use crate::game::Line;
use crate::rules::{KoRule, Rules, Scoring};

/// Can a game under these rules end without a result, as networks know it?
pub fn can_have_no_result(rules: Rules) -> bool {
    rules.ko == KoRule::Simple || rules.scoring == Scoring::Territory
}

/// What a network says of the position at the end of `line`, as the player to move sees it, if it is shown the
/// position's image under `symmetry`. Computed by the plain forward pass.
///
/// # Errors
/// If the network's outputs are not finite.
pub fn predict(network: &Network, line: &Line<'_>, symmetry: Symmetry) -> Result<Prediction, NotFinite> {
    let (mut input, mut shown, mut legal) = (Input::zero(1, 1), Input::zero(1, 1), Vec::new());
    Features::default().fill(line, &mut input);
    symmetry::image(&input, symmetry, &mut shown);
    features::legal_points(line, &mut legal);
    let output = symmetry::restore_output(line.board().size(), symmetry, scalar::evaluate(network, &shown)?);
    let no_result = can_have_no_result(line.game().rules());
    Prediction::new(network, &output, Context { legal: &legal, no_result, optimism: 0.0 })
}

impl Prediction {
    /// The mean of what one network predicts of one position; `None` if there are no predictions.
    pub fn mean(predictions: &[Prediction]) -> Option<Prediction> {
        let (first, others) = predictions.split_first()?;
        let mut mean = first.clone();
        for other in others {
            let mut other = other.clone();
            mean.numbers().zip(other.numbers()).for_each(|(sum, number)| *sum += *number);
        }
        mean.numbers().for_each(|number| *number /= predictions.len() as f32);
        Some(mean)
    }

    /// Everything that it says.
    fn numbers(&mut self) -> impl Iterator<Item = &mut f32> {
        let always = [
            &mut self.pass,
            &mut self.win,
            &mut self.loss,
            &mut self.no_result,
            &mut self.score_mean,
            &mut self.score_mean_square,
            &mut self.lead,
        ];
        let newer =
            [&mut self.variance_time, &mut self.shortterm_value_error, &mut self.shortterm_score_error];
        let points = self.policy.iter_mut().chain(&mut self.ownership);
        always.into_iter().chain(newer.into_iter().flatten()).chain(points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::BoardSize;
    use crate::game::Game;
    use crate::net::random::{self, Options};

    #[test]
    fn images_of_a_symmetric_position_are_one() {
        let network = random::network(&Options::default()).unwrap();
        for (columns, rows) in [(5, 5), (3, 6)] {
            let game = Game::new(BoardSize::new(columns, rows).unwrap(), Rules::default(), 7.5);
            let line = Line::new(&game);
            let plain = predict(&network, &line, Symmetry::ALL[0]).unwrap();
            // The network looks at the empty board; what it says is turned back.
            let turned = predict(&network, &line, Symmetry::ALL[3]).unwrap();
            let reversed: Vec<f32> = plain.policy.iter().rev().copied().collect();
            assert_eq!(turned.policy, reversed);
            assert_eq!((turned.win, turned.lead, turned.pass), (plain.win, plain.lead, plain.pass));
        }
    }

    #[test]
    fn means() {
        let network = random::network(&Options { version: 12, ..Options::default() }).unwrap();
        let game = Game::new(BoardSize::new(4, 3).unwrap(), Rules::default(), 7.5);
        let line = Line::new(&game);
        let all: Vec<Prediction> =
            Symmetry::ALL.iter().map(|&symmetry| predict(&network, &line, symmetry).unwrap()).collect();
        let mean = Prediction::mean(&all).unwrap();
        let near = |found: f32, wanted: f32| assert!((found - wanted).abs() < 1e-5 * wanted.abs().max(1.0));
        near(mean.policy.iter().sum::<f32>() + mean.pass, 1.0);
        near(mean.win + mean.loss + mean.no_result, 1.0);
        near(mean.lead, all.iter().map(|it| it.lead).sum::<f32>() / 8.0);
        near(mean.ownership[5], all.iter().map(|it| it.ownership[5]).sum::<f32>() / 8.0);
        let times = all.iter().map(|it| it.variance_time.unwrap());
        near(mean.variance_time.unwrap(), times.sum::<f32>() / 8.0);
        // The empty board is its own image, so the mean of what is said about its images is symmetric.
        near(mean.policy[0], mean.policy[11]);
        near(mean.policy[1], mean.policy[2]);
        assert_eq!(Prediction::mean(&[]), None);
    }
}
