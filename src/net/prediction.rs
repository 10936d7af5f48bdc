//! Interpretation of a network's outputs: probabilities, points, ownership.
//!
//! The functions are those of `libm`, because their results are identical on every machine. Those of the standard
//! library are not.

use super::model::Network;
use super::output::{NotFinite, Output};
use kosumi_go::board::Color;

/// Prediction of a network for a position.
///
/// [`Prediction::new`] gives the perspective of the side to move; [`for_black`](Prediction::for_black) converts it to
/// Black's perspective.
#[derive(Clone, PartialEq, Debug)]
pub struct Prediction {
    /// Probability that the next move is at each point, of length `height * width`, row by row from the top. It is 0
    /// where a move is illegal. All entries and `pass` sum to 1. It does not depend on the perspective.
    pub policy: Vec<f32>,
    /// Probability that the next move is a pass.
    pub pass: f32,
    /// Probability of a win.
    pub win: f32,
    /// Probability of a loss.
    pub loss: f32,
    /// Probability of no result. `win`, `loss` and `no_result` sum to 1.
    pub no_result: f32,
    /// Expected final score in points, komi included. No result counts as 0.
    pub score_mean: f32,
    /// Expected square of that score.
    pub score_mean_square: f32,
    /// Lead in points: the change of komi that would make the game even.
    pub lead: f32,
    /// Expected number of moves during which the result still changes. Present from version 9 on.
    pub variance_time: Option<f32>,
    /// Expected change of the value, in [−1, 1], within the next few moves. It is never negative. Present from version
    /// 9 on.
    pub shortterm_value_error: Option<f32>,
    /// Expected change of the score within the next few moves, in points. Present from version 9 on.
    pub shortterm_score_error: Option<f32>,
    /// Expected owner of each point in [−1, 1], of length `height * width`, row by row from the top: 1 for the side
    /// whose perspective the prediction has, −1 for the other side.
    pub ownership: Vec<f32>,
}

/// Probabilities of the next move.
#[derive(Clone, PartialEq, Debug)]
pub struct Policy {
    /// Probability of each point, of length `height * width`, row by row from the top. It is 0 where a move is illegal.
    pub points: Vec<f32>,
    /// Probability of a pass. All points and the pass sum to 1.
    pub pass: f32,
}

/// Facts about a position and settings that the interpretation of a network's outputs needs.
#[derive(Clone, Copy, Debug)]
pub struct Context<'c> {
    /// Whether the side to move may play at each point, of length `height * width`, row by row from the top. A pass is
    /// always legal.
    pub legal: &'c [bool],
    /// Whether the game can end without a result, which is possible under the simple ko rule and under territory
    /// scoring.
    pub no_result: bool,
    /// Share of the optimistic policy, in [0, 1]. With 0 the policy is the network's expectation of play.
    pub optimism_share: f32,
    /// Divisor of the policy's logits. Above 1 the policy becomes more even, below 1 more peaked.
    pub temperature: f32,
}

impl Prediction {
    /// Interprets `output` of `network`, from the perspective of the side to move.
    ///
    /// # Errors
    ///
    /// Returns [`NotFinite`] if a number of the result is infinite or NaN.
    ///
    /// # Panics
    ///
    /// Panics if `context.legal` does not have one entry per point of `output`.
    pub fn new(network: &Network, output: &Output, context: Context<'_>) -> Result<Prediction, NotFinite> {
        let Policy { points: policy, pass } = Policy::new(output, context);
        let [win, loss, no_result] = result(output.value, context.no_result);
        let multipliers = &network.multipliers;
        // The network predicts scores of games with a result.
        let has_result = 1.0 - no_result;
        let score_mean = f64::from(output.score_mean) * multipliers.score_mean;
        let score_stdev = softplus(f64::from(output.score_stdev)) * multipliers.score_stdev;
        let variance_time = softplus(f64::from(output.variance_time)) * multipliers.variance_time;
        let errors = output.shortterm_errors.map(|errors| shortterm_errors(network, errors.map(f64::from)));
        let prediction = Prediction {
            policy,
            pass,
            win: win as f32,
            loss: loss as f32,
            no_result: no_result as f32,
            score_mean: (score_mean * has_result) as f32,
            score_mean_square: ((score_mean * score_mean + score_stdev * score_stdev) * has_result) as f32,
            lead: (f64::from(output.lead) * multipliers.lead * has_result) as f32,
            variance_time: errors.is_some().then_some(variance_time as f32),
            shortterm_value_error: errors.map(|[value, _]| value as f32),
            shortterm_score_error: errors.map(|[_, score]| score as f32),
            ownership: output.ownership.iter().map(|&x| libm::tanhf(x)).collect(),
        };
        if prediction.is_finite() { Ok(prediction) } else { Err(NotFinite) }
    }

    fn is_finite(&self) -> bool {
        let errors = [self.variance_time, self.shortterm_value_error, self.shortterm_score_error];
        let single = [self.pass, self.win, self.loss, self.score_mean, self.score_mean_square, self.lead];
        let vectors = self.policy.iter().chain(&self.ownership);
        errors.iter().flatten().chain(&single).chain(vectors).all(|x| x.is_finite())
    }

    /// Returns the mean of several predictions of one network for one position, or `None` if `predictions` is empty.
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

    /// Returns all numbers of the prediction.
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

    /// Converts the prediction from the perspective of `to_play` to Black's perspective.
    pub fn for_black(mut self, to_play: Color) -> Prediction {
        if to_play == Color::White {
            (self.win, self.loss) = (self.loss, self.win);
            self.score_mean = -self.score_mean;
            self.lead = -self.lead;
            self.ownership.iter_mut().for_each(|owner| *owner = -*owner);
        }
        self
    }

    /// Returns the expected result, in [−1, 1].
    pub fn value(&self) -> f32 {
        self.win - self.loss
    }

    /// Returns the standard deviation of the score, in points.
    pub fn score_stdev(&self) -> f32 {
        (self.score_mean_square - self.score_mean * self.score_mean).max(0.0).sqrt()
    }
}

impl Policy {
    /// Computes the probabilities of moves with a softmax over the legal ones.
    ///
    /// # Panics
    ///
    /// Panics if `context.legal` does not have one entry per point of `output`.
    pub fn new(output: &Output, context: Context<'_>) -> Policy {
        assert_eq!(output.policy.len(), context.legal.len(), "the context must cover every point");
        let mixed = |plain: f32, optimistic: Option<f32>| {
            let logit = match optimistic {
                Some(optimistic) => plain + (optimistic - plain) * context.optimism_share,
                None => plain,
            };
            logit / context.temperature
        };
        let optimistic = |point: usize| output.optimistic_policy.as_ref().map(|policy| policy[point]);
        let pass = mixed(output.pass, output.optimistic_pass);
        let logits = output.policy.iter().zip(context.legal).enumerate().map(|(point, (&plain, &legal))| {
            if legal { mixed(plain, optimistic(point)) } else { f32::NEG_INFINITY }
        });
        let mut points: Vec<f32> = logits.collect();
        let most = points.iter().copied().fold(pass, f32::max);
        // The sum is at least 1, because of the largest logit.
        let mut sum = 0.0;
        let pass = libm::expf(pass - most);
        for probability in &mut points {
            *probability = libm::expf(*probability - most);
            sum += *probability;
        }
        sum += pass;
        points.iter_mut().for_each(|probability| *probability /= sum);
        Policy { points, pass: pass / sum }
    }
}

/// Returns the probabilities of a win, a loss and no result, by a softmax. No result gets probability 0 unless
/// `has_no_result`.
fn result(logits: [f32; 3], has_no_result: bool) -> [f64; 3] {
    let mut logits = logits.map(f64::from);
    if !has_no_result {
        logits[2] = f64::NEG_INFINITY;
    }
    let most = logits.into_iter().fold(f64::NEG_INFINITY, f64::max);
    let powers = logits.map(|logit| libm::exp(logit - most));
    let sum: f64 = powers.iter().sum();
    powers.map(|power| power / sum)
}

/// Returns the short-term errors of value and score, which three generations of networks encode differently.
fn shortterm_errors(network: &Network, [value, score]: [f64; 2]) -> [f64; 2] {
    let (of_value, of_score) =
        (network.multipliers.shortterm_value_error, network.multipliers.shortterm_score_error);
    match network.version {
        // The square of a softplus of half the number, so that the slope is the same.
        14.. => [softplus(value * 0.5) * of_value.sqrt(), softplus(score * 0.5) * of_score.sqrt()],
        10.. => [(softplus(value) * of_value).sqrt(), (softplus(score) * of_score).sqrt()],
        _ => [softplus(value), softplus(score) * 10.0],
    }
}

/// Computes `ln(1 + eˣ)` without overflow.
fn softplus(x: f64) -> f64 {
    if x > 40.0 { x } else { libm::log1p(libm::exp(x)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    fn network(version: u32) -> Network {
        random::network(&random::Options { version, ..random::Options::default() }).unwrap()
    }

    fn output() -> Output {
        Output {
            policy: vec![1.0, 2.0, 3.0, 4.0],
            optimistic_policy: Some(vec![3.0, 2.0, 3.0, 4.0]),
            pass: 0.0,
            optimistic_pass: Some(1.0),
            value: [0.5, -0.5, 0.25],
            score_mean: 0.5,
            score_stdev: -1.0,
            lead: 0.25,
            variance_time: 1.5,
            shortterm_errors: Some([1.0, 2.0]),
            ownership: vec![0.0, 1.0, -1.0, 100.0],
        }
    }

    const CONTEXT: Context<'static> =
        Context { legal: &[true, false, true, true], no_result: true, optimism_share: 0.0, temperature: 1.0 };

    fn near(found: f32, expected: f64) {
        assert!((f64::from(found) - expected).abs() < 1e-5 * expected.abs().max(1.0), "{found} {expected}");
    }

    #[test]
    fn policy_sums_to_one_over_legal_moves() {
        let prediction = Prediction::new(&network(12), &output(), CONTEXT).unwrap();
        let sum = [1.0f64, 3.0, 4.0, 0.0].map(f64::exp).iter().sum::<f64>();
        for (point, logit) in [(0, 1.0f64), (2, 3.0), (3, 4.0)] {
            near(prediction.policy[point], logit.exp() / sum);
        }
        assert_eq!(prediction.policy[1], 0.0);
        near(prediction.pass, 1.0 / sum);
        let mixed =
            Prediction::new(&network(12), &output(), Context { optimism_share: 0.5, ..CONTEXT }).unwrap();
        let sum = [2.0f64, 3.0, 4.0, 0.5].map(f64::exp).iter().sum::<f64>();
        near(mixed.policy[0], 2.0f64.exp() / sum);
        near(mixed.pass, 0.5f64.exp() / sum);
    }

    #[test]
    fn temperature_scales_policy() {
        let odds = |temperature| {
            let policy = Policy::new(&output(), Context { temperature, ..CONTEXT });
            policy.points[3] / policy.points[2]
        };
        for (temperature, expected) in [(1.0, 1.0f64), (0.5, 2.0), (2.0, 0.5)] {
            near(odds(temperature), expected.exp());
        }
    }

    #[test]
    fn only_a_pass_is_legal() {
        let context = Context { legal: &[false; 4], ..CONTEXT };
        let prediction = Prediction::new(&network(12), &output(), context).unwrap();
        assert_eq!((prediction.policy, prediction.pass), (vec![0.0; 4], 1.0));
    }

    #[test]
    fn results_and_scores() {
        let prediction = Prediction::new(&network(12), &output(), CONTEXT).unwrap();
        let sum = [0.5f64, -0.5, 0.25].map(f64::exp).iter().sum::<f64>();
        let no_result = 0.25f64.exp() / sum;
        near(prediction.win, 0.5f64.exp() / sum);
        near(prediction.loss, (-0.5f64).exp() / sum);
        near(prediction.no_result, no_result);
        near(prediction.score_mean, 10.0 * (1.0 - no_result));
        near(prediction.lead, 5.0 * (1.0 - no_result));
        let stdev = 20.0 * (-1.0f64).exp().ln_1p();
        near(prediction.score_mean_square, (100.0 + stdev * stdev) * (1.0 - no_result));
        near(prediction.variance_time.unwrap(), 40.0 * 1.5f64.exp().ln_1p());
        near(prediction.ownership[2], (-1.0f64).tanh());
        let certain =
            Prediction::new(&network(12), &output(), Context { no_result: false, ..CONTEXT }).unwrap();
        assert_eq!(certain.no_result, 0.0);
        near(certain.win, 1.0 / (1.0 + (-1.0f64).exp()));
        near(certain.score_mean, 10.0);
        near(certain.score_stdev(), stdev);
    }

    #[test]
    fn short_term_errors_of_three_generations() {
        let errors = |version| {
            let prediction = Prediction::new(&network(version), &output(), CONTEXT).unwrap();
            (prediction.shortterm_value_error.unwrap(), prediction.shortterm_score_error.unwrap())
        };
        let softplus = |x: f64| x.exp().ln_1p();
        for version in [9, 10, 13, 14, 16] {
            let (value, score) = errors(version);
            let (wanted_value, wanted_score) = match version {
                9 => (softplus(1.0), softplus(2.0) * 10.0),
                10 | 13 => ((softplus(1.0) * 0.25).sqrt(), (softplus(2.0) * 30.0).sqrt()),
                _ => ((softplus(0.5).powi(2) * 0.25).sqrt(), (softplus(1.0).powi(2) * 30.0).sqrt()),
            };
            near(value, wanted_value);
            near(score, wanted_score);
        }
        let old =
            Prediction::new(&network(8), &Output { shortterm_errors: None, ..output() }, CONTEXT).unwrap();
        assert_eq!((old.variance_time, old.shortterm_value_error), (None, None));
    }

    #[test]
    fn for_black_negates_white() {
        let own = Prediction::new(&network(12), &output(), CONTEXT).unwrap();
        assert_eq!(own.clone().for_black(Color::Black), own);
        let black = own.clone().for_black(Color::White);
        assert_eq!((black.win, black.loss, black.no_result), (own.loss, own.win, own.no_result));
        assert_eq!((black.lead, black.score_mean, black.value()), (-own.lead, -own.score_mean, -own.value()));
        assert_eq!(black.ownership[1], -own.ownership[1]);
        assert_eq!(black.policy, own.policy);
    }

    #[test]
    fn means() {
        let one = Prediction::new(&network(12), &output(), CONTEXT).unwrap();
        let other_output = Output { value: [-1.0, 1.0, 0.0], lead: 1.0, pass: 3.0, ..output() };
        let other = Prediction::new(&network(12), &other_output, CONTEXT).unwrap();
        let mean = Prediction::mean(&[one.clone(), other.clone()]).unwrap();
        let half = |a: f32, b: f32| f64::from(a + b) / 2.0;
        near(mean.win, half(one.win, other.win));
        near(mean.lead, half(one.lead, other.lead));
        near(mean.pass, half(one.pass, other.pass));
        near(mean.policy[2], half(one.policy[2], other.policy[2]));
        near(mean.policy.iter().sum::<f32>() + mean.pass, 1.0);
        assert_eq!((mean.ownership.clone(), mean.variance_time), (one.ownership.clone(), one.variance_time));
        assert_eq!(Prediction::mean(std::slice::from_ref(&one)), Some(one));
        assert_eq!(Prediction::mean(&[]), None);
    }

    #[test]
    fn large_outputs_are_finite_or_rejected() {
        let network = network(12);
        let large = Output { value: [1e30, -1e30, 0.0], pass: 1e30, score_stdev: -1e30, ..output() };
        let prediction = Prediction::new(&network, &large, CONTEXT).unwrap();
        assert_eq!((prediction.win, prediction.pass), (1.0, 1.0));
        let too_large = Output { score_mean: 1e38, ..output() };
        assert_eq!(Prediction::new(&network, &too_large, CONTEXT), Err(NotFinite));
    }
}
