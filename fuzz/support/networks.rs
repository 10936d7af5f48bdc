//! Checks that hold for every network: shared by the fuzz targets of networks.

use flate2::Crc;
use kosumi_net::{Context, Encoding, Input, METADATA_FEATURES, Network, Prediction, scalar};

/// Reads a file. If it is a network, it must return finite values and survive a round trip through a file.
pub fn read(bytes: &[u8]) {
    let Ok(network) = Network::read(bytes) else { return };
    let mut again = Vec::new();
    let encoding = if network.is_int8() { Encoding::Int8 } else { Encoding::Binary };
    network.write(encoding, &mut again).expect("a vector takes everything");
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

/// Reads bytes as the structure and the sections of a file of 8 bits, behind a header that fits them.
#[allow(dead_code, reason = "not every target has such files")]
pub fn read_int8(structure: &[u8], sections: &[u8]) {
    let sum = |bytes: &[u8]| {
        let mut sum = Crc::new();
        sum.update(bytes);
        sum.sum().to_le_bytes()
    };
    let pad = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        bytes.resize(bytes.len().next_multiple_of(64), 0);
        bytes
    };
    let (padded, sections) = (pad(structure), pad(sections));
    let mut file = b"\x89KOSUMI8\x01\0\0\0\x01\0\0\0".to_vec();
    file.extend((structure.len() as u64).to_le_bytes());
    file.extend((sections.len() as u64).to_le_bytes());
    file.extend([sum(&padded), sum(&sections)].concat());
    file.resize(60, 0);
    file.extend(sum(&file));
    read(&[file, padded, sections].concat());
}
