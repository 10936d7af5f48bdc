//! speed
use kosumi::board::*;
use kosumi::playout::*;
use kosumi::rng::Rng;
use std::time::Instant;
fn go<P: PlayoutPolicy>(mut pol: P, s: usize, n: u32) {
    let root = Board::new(BoardSize::square(s).unwrap());
    let mut b = root;
    let mut rng = Rng::new(1);
    let t = Instant::now();
    let mut m = 0u64;
    let mut w = 0;
    let mut unf = 0;
    for _ in 0..n {
        b.copy_from(&root);
        let e = run(&mut pol, &mut b, Color::Black, [Move::Pass; 2], &mut rng, &mut ());
        m += e.moves as u64;
        if !e.finished {
            unf += 1
        }
        if final_area(&b) > 7 {
            w += 1
        }
    }
    let d = t.elapsed().as_secs_f64();
    println!(
        "{s}: {:.1} k/s mean {:.2} win {:.3} {:.1} ns/move unfinished {unf}",
        n as f64 / d / 1e3,
        m as f64 / n as f64,
        w as f64 / n as f64,
        d * 1e9 / m as f64
    );
}
fn main() {
    for (s, n) in [(9, 200000), (13, 80000), (19, 30000)] {
        go(UniformPolicy, s, n);
        go(HeuristicPolicy::default(), s, n / 8);
    }
}
