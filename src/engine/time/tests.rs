//! Tests of clocks and budgets.

use super::*;
use proptest::prelude::*;

fn ms(value: u64) -> Duration {
    Duration::from_millis(value)
}

fn s(value: u64) -> Duration {
    Duration::from_secs(value)
}

const START: GameProgress = GameProgress { area: 361, moves: 0 };

#[test]
fn the_reserve_leaves_time_in_short_games() {
    // Ten seconds for a game on 19×19: the usual reserve would use up all of it.
    let clock = Clock::new(TimeControl::Absolute { main: s(10) });
    let reserve = clock.fitting_reserve(361, DEFAULT_RESERVE);
    let budget = clock.budget(GameProgress { area: 361, moves: 0 }, reserve).unwrap();
    assert!(budget.soft > ms(20), "{budget:?}");
}

#[test]
fn settings_of_gtp() {
    assert_eq!(TimeControl::gtp(0.0, 1.0, 0), TimeControl::None);
    assert_eq!(TimeControl::gtp(0.0, 0.0, 0), TimeControl::None);
    assert_eq!(TimeControl::gtp(600.0, 0.0, 0), TimeControl::Absolute { main: s(600) });
    assert_eq!(TimeControl::gtp(600.0, 0.0, 5), TimeControl::Absolute { main: s(600) });
    let canadian = TimeControl::Canadian { main: s(600), period: s(300), stones: 25 };
    assert_eq!(TimeControl::gtp(600.0, 300.0, 25), canadian);
    assert_eq!(TimeControl::gtp(0.0, 10.0, 1), TimeControl::PerMove { time: s(10) });
    assert_eq!(TimeControl::gtp(f64::NAN, -5.0, 1), TimeControl::None);
}

#[test]
fn settings_of_kgs_and_others() {
    let parse = |text: &str| TimeControl::parse(&text.split(' ').collect::<Vec<_>>());
    assert_eq!(parse("none"), Some(TimeControl::None));
    assert_eq!(parse("absolute 300"), Some(TimeControl::Absolute { main: s(300) }));
    let byo_yomi = TimeControl::ByoYomi { main: s(60), period: s(30), periods: 5 };
    assert_eq!(parse("byoyomi 60 30 5"), Some(byo_yomi));
    let canadian = TimeControl::Canadian { main: s(60), period: s(300), stones: 25 };
    assert_eq!(parse("canadian 60 300 25"), Some(canadian));
    let fischer = |cap, max_move| TimeControl::Fischer { main: s(60), increment: ms(2500), cap, max_move };
    assert_eq!(parse("fischer 60 2.5"), Some(fischer(None, None)));
    assert_eq!(parse("fischer-capped 60 2.5 90 -1"), Some(fischer(Some(s(90)), None)));
    for bad in ["", "absolute", "absolute x", "byoyomi 1 2", "absolute -1", "fischer 1 NaN", "sundial 1"] {
        assert_eq!(parse(bad), None, "{bad}");
    }
}

/// A report of zero seconds means a whole period in some cases and no time in others.
#[test]
fn zero_seconds_may_mean_a_whole_period() {
    let canadian = |main| TimeControl::Canadian { main: s(main), period: s(300), stones: 25 };
    let byo_yomi = |main| TimeControl::ByoYomi { main: s(main), period: s(30), periods: 5 };
    // Control, reported count, expected time left, expected number of stones or periods.
    for (control, reported, left, count) in [
        (byo_yomi(600), 5, s(30), 5),
        (byo_yomi(600), 1, s(30), 1),
        (byo_yomi(0), 3, s(30), 3),
        (byo_yomi(0), 0, s(30), 5),
        (canadian(600), 25, s(300), 25),
        (canadian(0), 0, s(300), 25),
        // Stones of the period have been played: the remaining time was rounded down to zero.
        (canadian(600), 5, ZERO, 5),
        (canadian(0), 24, ZERO, 24),
        // The main time is over.
        (byo_yomi(600), 0, ZERO, 0),
        (canadian(600), 0, ZERO, 0),
        (TimeControl::PerMove { time: s(10) }, 1, s(10), 0),
        (TimeControl::Absolute { main: s(600) }, 5, ZERO, 0),
    ] {
        let mut clock = Clock::new(control);
        clock.set_reported_time_left(ZERO, reported);
        assert_eq!((clock.left(), clock.stones_or_periods()), (left, count), "{control:?} {reported}");
        // A report of more than zero seconds is taken literally.
        clock.set_reported_time_left(s(7), reported);
        assert_eq!(clock.left(), s(7));
    }
    let mut clock = Clock::new(byo_yomi(600));
    clock.set_reported_time_left(ZERO, 5);
    let budget = clock.budget(START, DEFAULT_RESERVE).unwrap();
    assert!(budget.soft > s(29), "{budget:?}");
}

#[test]
fn overtime_is_counted() {
    let mut clock = Clock::new(TimeControl::Canadian { main: s(10), period: s(20), stones: 2 });
    assert!(clock.spend(s(4)));
    assert_eq!((clock.left(), clock.stones_or_periods()), (s(6), 0));
    assert!(clock.spend(s(10)));
    assert_eq!((clock.left(), clock.stones_or_periods()), (s(16), 1));
    assert!(clock.spend(s(16)));
    assert_eq!((clock.left(), clock.stones_or_periods()), (s(20), 2));
    assert!(!clock.spend(ms(20_001)));

    let mut clock = Clock::new(TimeControl::ByoYomi { main: s(10), period: s(20), periods: 3 });
    assert!(clock.spend(s(25)));
    assert_eq!((clock.left(), clock.stones_or_periods()), (s(20), 3));
    assert!(clock.spend(s(25)));
    assert_eq!((clock.left(), clock.stones_or_periods()), (s(20), 2));
    assert!(!clock.spend(s(41)));

    let fischer = TimeControl::Fischer { main: s(10), increment: s(5), cap: Some(s(12)), max_move: None };
    let mut clock = Clock::new(fischer);
    assert!(clock.spend(s(8)));
    assert_eq!(clock.left(), s(7));
    assert!(clock.spend(ZERO) && clock.left() == s(12), "the cap");
    assert!(!clock.spend(s(13)));
}

const ZERO: Duration = Duration::ZERO;

#[test]
fn time_left_from_controllers() {
    let mut clock = Clock::new(TimeControl::Canadian { main: s(10), period: s(20), stones: 2 });
    clock.set_time_left(s(15), 1);
    assert_eq!((clock.left(), clock.is_overtime(), clock.stones_or_periods()), (s(15), true, 1));
    clock.set_time_left(s(3), 0);
    assert_eq!((clock.left(), clock.is_overtime(), clock.stones_or_periods()), (s(3), false, 0));

    let mut clock = Clock::new(TimeControl::ByoYomi { main: s(10), period: s(20), periods: 5 });
    clock.set_time_left(s(20), 4);
    assert_eq!((clock.left(), clock.is_overtime(), clock.stones_or_periods()), (s(20), true, 4));

    let mut clock = Clock::new(TimeControl::ByoYomi { main: ZERO, period: s(20), periods: 5 });
    clock.set_time_left(s(20), 0);
    assert!(clock.is_overtime(), "there is no main time");
    assert!(clock.budget(START, DEFAULT_RESERVE).unwrap().hard < s(20));

    let mut clock = Clock::new(TimeControl::None);
    clock.set_time_left(ZERO, 0);
    assert_eq!(clock.budget(START, DEFAULT_RESERVE), None);
    clock.set_time_left(s(60), 0);
    assert_eq!(clock.control(), TimeControl::Absolute { main: s(60) });
}

#[test]
fn budgets() {
    let budget = |control| Clock::new(control).budget(START, DEFAULT_RESERVE).unwrap();
    // Sudden death with 15 minutes on 19×19: 0.255 s are reserved for each of 217 moves, and the rest is divided by 27
    // plus half of 108.
    let sudden = budget(TimeControl::Absolute { main: s(900) });
    assert!(sudden.soft > ms(10_350) && sudden.soft < ms(10_450), "{sudden:?}");
    assert_eq!(sudden.hard, sudden.soft * 2);
    let byo_yomi = budget(TimeControl::ByoYomi { main: ZERO, period: s(30), periods: 5 });
    assert_eq!(byo_yomi, Budget { soft: ms(29_745), hard: ms(29_745), free: ms(29_745) });
    assert_eq!(budget(TimeControl::PerMove { time: s(10) }).hard, ms(9745));
    let canadian = budget(TimeControl::Canadian { main: ZERO, period: s(300), stones: 25 });
    assert_eq!(canadian, Budget { soft: ms(11_745), hard: ms(23_490), free: ms(0) });
    let main = budget(TimeControl::ByoYomi { main: s(240), period: s(30), periods: 5 });
    assert!(main.soft > ms(32_690) && main.soft < ms(32_710), "{main:?}");
    // Hardly any time is left, so the budget is a few milliseconds.
    for left in [0, 1, 50, 99] {
        let hard = budget(TimeControl::Absolute { main: ms(left) }).hard;
        assert!(hard <= MIN_BUDGET && hard <= ms(left), "{left} {hard:?}");
    }
}

/// Returns the share of the total time that each move of a game may take, if every move uses `used` times its soft
/// budget.
fn shares(area: usize, used: f64) -> Vec<f64> {
    let main = s(3600);
    let mut clock = Clock::new(TimeControl::Absolute { main });
    let share = |moves| {
        let soft = clock.budget(GameProgress { area, moves }, ZERO).unwrap().soft.mul_f64(used);
        assert!(clock.spend(soft), "move {moves}");
        soft.as_secs_f64() / main.as_secs_f64()
    };
    (0..area).step_by(2).map(share).collect()
}

#[test]
fn time_is_spent_where_games_are_decided() {
    // As long as a game is undecided, every move gets the same time. Later moves get less and less.
    for (area, fights) in [(81, 12), (169, 25), (361, 54)] {
        let usual = shares(area, 1.0);
        assert!(usual[..fights].iter().all(|share| (share / usual[0] - 1.0).abs() < 1e-3), "{usual:?}");
        assert!(usual[fights + 1..].is_sorted_by(|a, b| a > b), "{usual:?}");
        // By 60 plies on 9×9 or 266 on 19×19, nearly all time is spent, even if every third choice is clear.
        let sum = |used: f64| shares(area, used)[..area * 37 / 100].iter().sum::<f64>();
        assert!(sum(1.0) > 0.9 && sum(0.67) > 0.8, "{} {}", sum(1.0), sum(0.67));
    }
}

#[test]
fn time_that_would_be_lost_is_used() {
    let clock = |control, left, stones_or_periods| {
        let mut clock = Clock::new(control);
        clock.set_time_left(left, stones_or_periods);
        clock.budget(START, ms(245)).unwrap()
    };
    let byo_yomi = TimeControl::ByoYomi { main: s(240), period: s(30), periods: 5 };
    assert_eq!(clock(byo_yomi, s(200), 0).free, ms(29_750), "a period, in the main time, too");
    assert_eq!(clock(byo_yomi, s(30), 5).free, ms(29_750));
    let canadian = TimeControl::Canadian { main: s(240), period: s(100), stones: 10 };
    assert_eq!(clock(canadian, s(200), 0).free, ms(9750), "a stone's part of the period");
    assert_eq!(clock(canadian, s(50), 2).free, ZERO, "what is left is for the other stone");
    assert_eq!(clock(canadian, s(50), 1).free, ms(49_750), "the last stone of the period");
    assert_eq!(clock(TimeControl::Absolute { main: s(900) }, s(900), 0).free, ZERO);
    let fischer = |cap| TimeControl::Fischer { main: s(60), increment: s(5), cap, max_move: None };
    assert_eq!(clock(fischer(None), s(60), 0).free, ZERO);
    assert_eq!(clock(fischer(Some(s(60))), s(58), 0).free, s(3), "what is above the cap");
    assert_eq!(clock(fischer(Some(s(60))), s(50), 0).free, ZERO);
}

fn control() -> impl Strategy<Value = TimeControl> {
    let time = || prop_oneof![Just(0u64), 0u64..2_000, 0u64..3_600_000].prop_map(ms);
    prop_oneof![
        time().prop_map(|main| TimeControl::Absolute { main }),
        time().prop_map(|time| TimeControl::PerMove { time }),
        (time(), time(), 0u32..40).prop_map(|(main, period, stones)| TimeControl::Canadian {
            main,
            period,
            stones
        }),
        (time(), time(), 0u32..8).prop_map(|(main, period, periods)| TimeControl::ByoYomi {
            main,
            period,
            periods
        }),
        (time(), time(), prop::option::of(time()), prop::option::of(time())).prop_map(
            |(main, increment, cap, max_move)| {
                let cap = cap.map(|cap| cap.max(main));
                TimeControl::Fischer { main, increment, cap, max_move }
            }
        ),
    ]
}

/// Returns whether the control leaves `cost` for each of `moves` moves.
fn allows(control: TimeControl, cost: Duration, moves: u32) -> bool {
    match control {
        TimeControl::None => true,
        TimeControl::Absolute { main } => main >= cost * moves,
        TimeControl::PerMove { time } => time >= cost,
        TimeControl::Fischer { main, increment, max_move, .. } => {
            main >= cost + cost.saturating_sub(increment) * (moves - 1)
                && max_move.is_none_or(|max| max >= cost)
        }
        TimeControl::Canadian { period, stones, .. } => stones > 0 && period >= cost * stones,
        TimeControl::ByoYomi { period, periods, .. } => periods > 0 && period >= cost,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..Default::default() })]

    #[test]
    fn no_game_is_lost_on_time(
        control in control(),
        side in 2usize..20,
        reserve in (0u64..1000).prop_map(ms),
        spent in prop::collection::vec((0.0f64..=1.0, 0.0f64..=1.0), 8),
    ) {
        let area = side * side;
        let length = area * 6 / 5;
        prop_assume!(allows(control, reserve + MIN_BUDGET, GameProgress { area, moves: 0 }.own_moves_left()));
        let mut clock = Clock::new(control);
        for (index, moves) in (0..length).step_by(2).enumerate() {
            let budget = clock.budget(GameProgress { area, moves }, reserve).unwrap();
            prop_assert!(budget.free <= budget.soft && budget.soft <= budget.hard);
            // Half of the games spend all time that the budget and the reserve allow.
            let (think, lag) = if spent[0].0 < 0.5 { (1.0, 1.0) } else { spent[index % 8] };
            let elapsed = budget.hard.mul_f64(think).min(budget.hard) + reserve.mul_f64(lag).min(reserve);
            prop_assert!(clock.spend(elapsed), "move {moves}: {budget:?} {clock:?}");
        }
        if let TimeControl::ByoYomi { periods, .. } = control {
            prop_assert_eq!(clock.count, periods, "no period is given up");
        }
    }

    #[test]
    fn no_short_game_is_lost_on_time_either(
        main in 500u64..20_000,
        side in 2usize..20,
        spent in prop::collection::vec((0.0f64..=1.0, 0.0f64..=1.0), 8),
    ) {
        let area = side * side;
        let control = TimeControl::Absolute { main: ms(main) };
        let mut clock = Clock::new(control);
        let reserve = clock.fitting_reserve(area, DEFAULT_RESERVE);
        let own_moves = GameProgress { area, moves: 0 }.own_moves_left();
        prop_assume!(allows(control, reserve + MIN_BUDGET, own_moves));
        for (index, moves) in (0..area * 6 / 5).step_by(2).enumerate() {
            let budget = clock.budget(GameProgress { area, moves }, reserve).unwrap();
            let (think, lag) = spent[index % 8];
            prop_assert!(clock.spend(budget.hard.mul_f64(think) + reserve.mul_f64(lag)), "move {moves}");
        }
    }

    #[test]
    fn a_written_control_is_read_back(control in control()) {
        let control = Clock::new(control).control();
        let main = control.main_time().map(|time| time.as_secs_f64());
        prop_assert_eq!(TimeControl::of_record(main, control.overtime_text().as_deref()), control);
    }

    #[test]
    fn budgets_are_monotone_in_time(
        control in control(),
        (a, b) in (0u64..4_000_000, 0u64..4_000_000),
        small in any::<bool>(),
        stones in 0u32..30,
        progress in (0usize..700, 0usize..900).prop_map(|(area, moves)| GameProgress { area, moves }),
        reserve in (0u64..2000).prop_map(ms),
    ) {
        let scale = if small { 2000 } else { 1 };
        let budget = |time: u64| {
            let mut clock = Clock::new(control);
            clock.set_time_left(ms(time / scale), stones);
            clock.budget(progress, reserve).unwrap()
        };
        let (less, more) = (budget(a.min(b)), budget(a.max(b)));
        prop_assert!(less.soft <= more.soft && less.hard <= more.hard, "{less:?} {more:?}");
    }

    #[test]
    fn nothing_overflows(
        numbers in prop::array::uniform4(any::<f64>()),
        counts in prop::array::uniform2(any::<u32>()),
        kind in 0usize..6,
        (area, moves) in any::<(usize, usize)>(),
        (elapsed, left, reserve) in any::<(Duration, Duration, Duration)>(),
    ) {
        let kinds = ["none", "absolute", "byoyomi", "canadian", "fischer", "fischer-capped"];
        let text: Vec<String> = numbers.iter().map(f64::to_string).collect();
        let mut arguments = vec![kinds[kind]];
        arguments.extend(text.iter().map(String::as_str));
        let time = |number: f64| seconds(number).max(reserve.min(elapsed));
        let controls = [
            TimeControl::gtp(numbers[0], numbers[1], counts[0]),
            TimeControl::parse(&arguments).unwrap_or_default(),
            TimeControl::Canadian { main: left, period: time(numbers[0]), stones: counts[0] },
            TimeControl::ByoYomi { main: elapsed, period: time(numbers[1]), periods: counts[1] },
            TimeControl::Fischer { main: left, increment: elapsed, cap: Some(reserve), max_move: Some(left) },
        ];
        for control in controls {
            let mut clock = Clock::new(control);
            for _ in 0..3 {
                let _ = clock.budget(GameProgress { area, moves }, reserve);
                let _ = clock.spend(elapsed);
                clock.set_time_left(left, counts[1]);
            }
        }
    }
}

#[test]
fn overtime_of_records() {
    let read = TimeControl::of_record;
    assert_eq!(read(None, None), TimeControl::None);
    assert_eq!(read(Some(600.0), None), TimeControl::Absolute { main: s(600) });
    assert_eq!(read(Some(600.0), Some("a sundial")), TimeControl::Absolute { main: s(600) });
    // As KGS and OGS write it.
    let byo_yomi = TimeControl::ByoYomi { main: s(1500), period: s(30), periods: 5 };
    assert_eq!(read(Some(1500.0), Some("5x30 byo-yomi")), byo_yomi);
    let canadian = TimeControl::Canadian { main: s(600), period: s(300), stones: 25 };
    assert_eq!(read(Some(600.0), Some("25/300 Canadian")), canadian);
    let fischer = TimeControl::Fischer { main: s(60), increment: s(10), cap: None, max_move: None };
    assert_eq!(read(Some(60.0), Some("10 fischer")), fischer);
    assert_eq!(read(None, Some("30 simple")), TimeControl::PerMove { time: s(30) });
    for bad in ["x", "5x byo-yomi", "-5x30 byo-yomi", "5/NaN canadian", "inf fischer"] {
        assert_eq!(read(Some(1.0), Some(bad)), TimeControl::Absolute { main: s(1) }, "{bad}");
    }
}
