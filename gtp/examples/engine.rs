//! An engine for any controller. It plays on the first free point, from A1 on.
//!
//! Run `cargo run --example engine` and type commands, or configure the program `engine` in a controller. The engine
//! stores stones but knows neither captures nor ko: the example is about the protocol.
//!
//! - Arguments are read with their types. A command that fails changes nothing.
//! - `genmove` checks [`Session::interrupted`]: GoGui's `# interrupt` ends its (simulated) thinking.
//! - `count` streams lines until the next line of input arrives, like the analysis of Leela Zero and KataGo.
#![allow(clippy::disallowed_methods, reason = "reads clocks")]

use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

use kosumi_gtp::{Color, Command, Failure, Handler, Response, Session, Vertex, serve};

/// All commands, for `list_commands` and `known_command`.
const COMMANDS: [&str; 11] = [
    "protocol_version",
    "name",
    "version",
    "known_command",
    "list_commands",
    "quit",
    "boardsize",
    "clear_board",
    "play",
    "genmove",
    "count",
];

struct FirstPoint {
    side: u8,
    stones: HashMap<Vertex, Color>,
    /// Duration of a move.
    thinking: Duration,
}

impl FirstPoint {
    /// Returns whether the point is on the board and free. A pass is always free.
    fn is_free(&self, vertex: Vertex) -> bool {
        match vertex {
            Vertex::Pass => true,
            Vertex::Point { column, row } => {
                column < self.side && row < self.side && !self.stones.contains_key(&vertex)
            }
        }
    }

    fn put(&mut self, color: Color, vertex: Vertex) {
        if vertex != Vertex::Pass {
            self.stones.insert(vertex, color);
        }
    }
}

impl Handler for FirstPoint {
    fn handle(&mut self, command: &Command, session: &mut Session<'_>) -> Result<Response, Failure> {
        let mut arguments = command.arguments();
        match command.name.as_str() {
            "protocol_version" => Ok("2".into()),
            "name" => Ok("First Point".into()),
            "version" => Ok(env!("CARGO_PKG_VERSION").into()),
            "known_command" => Ok(COMMANDS.contains(&arguments.word()?).into()),
            "list_commands" => Ok(Response::lines(COMMANDS)),
            "quit" => {
                session.quit();
                Ok(Response::empty())
            }
            "boardsize" => {
                let side = arguments.integer::<u8>()?;
                if !(1..=25).contains(&side) {
                    return Err(Failure::unacceptable_size());
                }
                self.side = side;
                self.stones.clear();
                Ok(Response::empty())
            }
            "clear_board" => {
                self.stones.clear();
                Ok(Response::empty())
            }
            "play" => {
                let (color, vertex) = (arguments.color()?, arguments.vertex()?);
                if !self.is_free(vertex) {
                    return Err(Failure::illegal_move());
                }
                self.put(color, vertex);
                Ok(Response::empty())
            }
            "genmove" => {
                let color = arguments.color()?;
                let start = Instant::now();
                while start.elapsed() < self.thinking && !session.interrupted() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                let points = (0..self.side)
                    .flat_map(|row| (0..self.side).map(move |column| Vertex::Point { column, row }));
                let vertex = points.into_iter().find(|&point| self.is_free(point)).unwrap_or(Vertex::Pass);
                self.put(color, vertex);
                Ok(vertex.into())
            }
            "count" => {
                session.begin_stream()?;
                let mut number = 0;
                while !session.input_pending() {
                    session.stream(&number.to_string())?;
                    number += 1;
                    std::thread::sleep(Duration::from_millis(10));
                }
                Ok(Response::empty())
            }
            _ => Err(Failure::unknown_command()),
        }
    }
}

fn main() -> io::Result<()> {
    let mut engine = FirstPoint { side: 19, stones: HashMap::new(), thinking: Duration::from_millis(200) };
    serve(io::stdin(), io::stdout(), &mut engine)
}
