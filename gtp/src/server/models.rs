//! Model checking (loom): small cases of the queue between the reader thread and the handling thread, in all
//! interleavings. Run by `scripts/models`. The queue holds one command here, so that either thread may have to wait.

use super::*;
use loom::thread;

/// Checks all interleavings with at most three preemptions.
fn check(run: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(run);
}

/// Starts a reader thread on this input.
fn reading(input: &'static str) -> (Arc<Queue>, InputWatch, thread::JoinHandle<()>) {
    let (queue, watch) = (Arc::new(Queue::default()), InputWatch::default());
    let reader = Reader { queue: Arc::clone(&queue), watch: watch.clone(), received: 0 };
    let thread = thread::spawn(move || reader.run(input.as_bytes()));
    (queue, watch, thread)
}

/// Takes the next command as `serve` does.
fn next(queue: &Queue, watch: &InputWatch) -> Option<String> {
    let entry = queue.pop()?;
    watch.0.running.fetch_add(1, Ordering::Relaxed);
    match entry {
        QueueEntry::Text(text) => Some(text),
        QueueEntry::TooLong { .. } => Some("too long".to_owned()),
    }
}

#[test]
fn commands_come_once_and_in_order() {
    check(|| {
        let (queue, watch, reader) = reading("a\nb\n\nc");
        let mut taken = Vec::new();
        while let Some(command) = next(&queue, &watch) {
            taken.push(command);
        }
        assert_eq!(taken, ["a", "b", "c"]);
        assert!(watch.ended() && watch.input_pending(), "the end of the input is something that has arrived");
        reader.join().expect("the reader");
    });
}

#[test]
fn closing_the_queue_releases_a_waiting_reader() {
    check(|| {
        let (queue, _, reader) = reading("a\nb\nc");
        drop(queue.pop());
        drop(CloseOnDrop(&queue));
        reader.join().expect("the reader");
    });
}

#[test]
fn an_interruption_applies_to_earlier_commands_only() {
    check(|| {
        let (queue, watch, reader) = reading("a\n# interrupt\nb");
        assert_eq!(next(&queue, &watch).as_deref(), Some("a"));
        // The running command ends when it sees the interruption.
        while !watch.interrupted() {
            thread::yield_now();
        }
        assert!(watch.input_pending(), "an interruption is something that has arrived");
        assert_eq!(next(&queue, &watch).as_deref(), Some("b"));
        assert!(!watch.interrupted(), "it was not meant for a later one");
        assert_eq!(next(&queue, &watch), None);
        reader.join().expect("the reader");
    });
}

#[test]
fn pondering_sees_the_next_command() {
    check(|| {
        let (queue, watch, reader) = reading("a\nb");
        assert_eq!(next(&queue, &watch).as_deref(), Some("a"));
        if queue.is_waiting() {
            while !watch.input_pending() {
                thread::yield_now();
            }
        }
        assert_eq!(next(&queue, &watch).as_deref(), Some("b"));
        reader.join().expect("the reader");
    });
}
