use super::*;
use kosumi_net::random;
use kosumi_net::scalar;

fn time() -> Duration {
    Duration::ZERO
}

fn options(changes: &Value) -> String {
    let mut options = json!({
        "name": "a card", "half": false, "isSoftware": true, "onlyIfFaster": false, "processors": 2,
        "bufferBytes": 1 << 28, "storageBuffers": 8,
    });
    for (name, value) in changes.as_object().unwrap() {
        options[name] = value.clone();
    }
    options.to_string()
}

fn network() -> Arc<Network> {
    Arc::new(random::network(&random::Options::default()).unwrap())
}

fn open(changes: &Value) -> Result<WebGpu, StartError> {
    WebGpu::open(network(), &options(changes), time, || ())
}

/// Returns the numbers at the beginning of a message.
fn header(message: &[u8]) -> Vec<usize> {
    message.chunks_exact(4).map(|bytes| u32::from_ne_bytes(bytes.try_into().unwrap()) as usize).collect()
}

/// Returns results that hold what the processor computes for `count` equal positions.
fn results(gpu: &WebGpu, input: &Input, count: usize) -> Vec<u8> {
    let output = scalar::evaluate(&gpu.network, input).unwrap();
    let area = input.width * input.height;
    let plan = gpu.program.plan();
    let mut results = vec![0; gpu.program.results_bytes() as usize];
    let rows = |numbers: &[f32], channels: usize| -> Vec<f32> {
        numbers.iter().flat_map(|&number| [vec![number], vec![0.0; channels - 1]].concat()).collect()
    };
    let scores = [output.score_mean, output.score_stdev, output.lead, output.variance_time, 0.0, 0.0];
    let pieces: [Vec<f32>; 6] = [
        rows(&output.policy, plan.planes[plan.results.policy.0].channels),
        rows(&output.ownership, plan.planes[plan.results.ownership.0].channels),
        vec![output.pass],
        output.value.to_vec(),
        scores.to_vec(),
        vec![0.0],
    ];
    for (piece, numbers) in gpu.program.outputs().iter().zip(&pieces) {
        let each = piece.bytes(1, area) as usize;
        for position in 0..count {
            for (at, number) in numbers.iter().enumerate().filter(|&(at, _)| 4 * at < each) {
                let start = piece.offset as usize + position * each + 4 * at;
                results[start..start + 4].copy_from_slice(&number.to_ne_bytes());
            }
        }
    }
    results
}

#[test]
fn description_names_every_buffer() {
    let mut gpu = open(&json!({})).unwrap();
    let description = gpu.description();
    let buffers = description["buffers"].as_array().unwrap();
    for (index, buffer) in buffers.iter().enumerate() {
        let contents = gpu.contents(index);
        assert_eq!(contents.is_some(), buffer["kind"] == "constant");
        if let Some(contents) = contents {
            assert!(contents.len() as u64 <= buffer["bytes"].as_u64().unwrap());
        }
    }
    assert_eq!(gpu.contents(buffers.len()), None);
    for step in description["steps"].as_array().unwrap() {
        for binding in step["bindings"].as_array().unwrap() {
            assert!((binding["buffer"].as_u64().unwrap() as usize) < buffers.len());
        }
    }
    gpu.forget_weights();
    assert!((0..buffers.len()).all(|index| gpu.contents(index).is_none()));
}

#[test]
fn impossible_cards_are_refused() {
    let refusal = |changes: Value| open(&changes).unwrap_err().to_string();
    assert!(refusal(json!({ "bufferBytes": 1000 })).contains("too little memory"));
    assert!(refusal(json!({ "storageBuffers": 3 })).contains("too many buffers"));
    assert!(refusal(json!({ "half": "yes" })).contains("invalid"));
}

#[test]
fn message_of_a_batch_can_be_read() {
    let mut gpu = open(&json!({})).unwrap();
    let message = gpu.check_batch(0).unwrap();
    let numbers = header(&message);
    let [number, writes, steps, copies] = numbers[..4].try_into().unwrap();
    assert_eq!((number, writes, copies), (0, 4, 6));
    assert_eq!(steps, gpu.program.steps().len());
    // The dimensions of two boards of 9×9.
    let [buffer, start, length] = numbers[4..7].try_into().unwrap();
    assert_eq!((buffer, length), (gpu.program.dimensions_buffer(), 16));
    assert_eq!(numbers[start / 4..][..4], [162, 81, 9, 9]);
    let [_, start, length] = numbers[4 + 3 * (writes - 1)..][..3].try_into().unwrap();
    assert_eq!(start + length, message.len(), "the contents end the message");
    assert_eq!(gpu.check_batch(1), None);
}

#[test]
fn check_compares_with_the_processor() {
    let mut gpu = open(&json!({})).unwrap();
    let input = WebGpu::position(9).unwrap();
    let right = results(&gpu, &input, 2);
    let found = gpu.check(0, &right, Duration::from_secs(1)).unwrap();
    assert!(found["probability"].as_f64().unwrap() < 1e-5, "{found}");
    let mut wrong = right.clone();
    wrong[..4].copy_from_slice(&20.0f32.to_ne_bytes());
    assert!(gpu.check(0, &wrong, Duration::ZERO).unwrap_err().contains("something else"));
    wrong[..4].copy_from_slice(&f32::NAN.to_ne_bytes());
    assert!(gpu.check(0, &wrong, Duration::ZERO).unwrap_err().contains("not finite"));
    assert!(gpu.check(1, &right, Duration::ZERO).is_err());
    // On small boards, the processor may be faster.
    let mut slow = open(&json!({ "onlyIfFaster": true })).unwrap();
    slow.check(0, &right, Duration::from_secs(1)).unwrap();
    assert_eq!(slow.least_area, 82);
}

#[test]
fn positions_are_answered() {
    let mut gpu = open(&json!({})).unwrap();
    gpu.attach();
    let input = WebGpu::position(9).unwrap();
    let expected = scalar::evaluate(&gpu.network, &input).unwrap();
    let results = results(&gpu, &input, 1);
    let (device, network) = (Arc::clone(gpu.device()), Arc::clone(&gpu.network));
    let asking = std::thread::spawn(move || {
        Forward::shared(&network, ArithmeticChoice::default()).evaluate(&input).unwrap()
    });
    let message = loop {
        if let Some(message) = gpu.take() {
            break message;
        }
        std::thread::yield_now();
    };
    assert!(gpu.answer(77, &results, Duration::ZERO).is_err());
    gpu.answer(header(&message)[0] as u64, &results, Duration::ZERO).unwrap();
    assert_eq!(asking.join().unwrap().policy, expected.policy);
    assert!(device.is_working());
}

#[test]
fn short_results_are_refused() {
    let mut gpu = open(&json!({})).unwrap();
    gpu.in_flight.insert(3, (1, 81));
    assert!(gpu.answer(3, &[0; 8], Duration::ZERO).unwrap_err().contains("too short"));
}
