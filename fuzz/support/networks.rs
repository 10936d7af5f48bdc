//! Checks that hold for every network: shared by the fuzz targets of networks.

use kosumi_net::{Context, Encoding, Input, METADATA_FEATURES, Network, Prediction, scalar};

/// Reads a file. If it is a network, it must return finite values and survive a round trip through a file.
pub fn read(bytes: &[u8]) {
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
    let context = Context { legal: &[true; 12], no_result: true, optimism_share: 0.5, temperature: 1.0 };
    if let Ok(prediction) = Prediction::new(&network, &output, context) {
        let sum: f32 = prediction.policy.iter().sum::<f32>() + prediction.pass;
        assert!((sum - 1.0).abs() < 1e-3, "{sum}");
    }
}
