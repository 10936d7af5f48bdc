//! Any bytes, as a network file: an error, or a network that gives finite answers and survives being written and
//! read again.
//!
//! ```text
//! for v in 8 9 11 13 15 16; do
//!   cargo run --release -- net random --version $v --blocks nested-gpool,gpool --channels 2 \
//!     -o fuzz/corpus/network/$v.txt
//! done
//! for b in nested-mixed attention,ffn nested-transformer; do
//!   for p in 2 4; do
//!     cargo run --release -- net random --version 17 --blocks $b --channels 8 --key-heads 1 --policy-channels $p \
//!       --trunk-norm spatial-rms --metadata -o fuzz/corpus/network/$b-$p.txt
//!   done
//! done
//! RUSTC_BOOTSTRAP=1 cargo fuzz run network -- -max_total_time=60 -max_len=65536 -rss_limit_mb=2048
//! ```
#![no_main]

use kosumi::net::{Context, Encoding, Input, METADATA_FEATURES, Network, Prediction, scalar};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(network) = Network::read(bytes) else { return };
    let mut again = Vec::new();
    network.write(Encoding::Binary, &mut again).expect("a vector takes everything");
    assert_eq!(Network::read(&again[..]).expect("what was written can be read"), network);
    let mut input = Input::zero(4, 3);
    input.spatial.iter_mut().step_by(7).for_each(|feature| *feature = 1.0);
    input.metadata = Some(Box::new([0.5; METADATA_FEATURES]));
    let Ok(output) = scalar::evaluate(&network, &input) else { return };
    let fewer = network.without_dead_units();
    assert!(
        fewer.cost().parameters <= network.cost().parameters && fewer.dead_units() <= network.dead_units()
    );
    let context = Context { legal: &[true; 12], no_result: true, optimism: 0.5, temperature: 1.0 };
    if let Ok(prediction) = Prediction::new(&network, &output, context) {
        let sum: f32 = prediction.policy.iter().sum::<f32>() + prediction.pass;
        assert!((sum - 1.0).abs() < 1e-3, "{sum}");
    }
});
