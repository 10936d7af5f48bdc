use kosumi::board::*;
use kosumi::playout::*;
use kosumi::rng::Rng;
use std::time::Instant;
fn main() {
    for (s, n) in [(9, 400000), (13, 150000), (19, 60000)] {
        let root = Board::new(BoardSize::square(s).unwrap());
        let mut b = root;
        let mut rng = Rng::new(1);
        for c in [true, false] {
            let t = Instant::now();
            let mut m = 0u64;
            let mut w = 0;
            let nn = if c { n / 10 } else { n };
            for _ in 0..nn {
                b.copy_from(&root);
                let e = run(&mut UniformPolicy, &mut b, Color::Black, [Move::Pass; 2], &mut rng, &mut ());
                m += e.moves as u64;
                if final_area(&b) > 7 {
                    w += 1
                }
            }
            let d = t.elapsed().as_secs_f64();
            println!(
                "{s}: {:.1} k/s mean {:.2} win {:.3} {:.1} ns/move",
                nn as f64 / d / 1e3,
                m as f64 / nn as f64,
                w as f64 / nn as f64,
                d * 1e9 / m as f64
            );
        }
    }
}
