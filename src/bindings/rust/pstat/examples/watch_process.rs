// SPDX-License-Identifier: MIT
//! Counts what a process does, in intervals, as JSON; without a pid, this one.
//!
//!     watch_process [PID [INTERVALS [MILLISECONDS]]]
use std::time::Duration;

use pstat::{Counters, Events, Options, Target};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: i32| words.get(i).map_or(Ok(default), |word| word.parse());
    let pid = number(0, std::process::id() as i32)?;
    let interval = Duration::from_millis(number(2, 100)? as u64);
    let mut events = Events::new()?;
    events.add_set("software")?.add_group(&["cycles", "instructions"])?;
    let options = Options { target: Target::Processes(vec![pid]), enabled: true, ..Options::default() };
    let mut counters = Counters::open(&events, &options)?;
    for _ in 0..number(1, 3)? {
        let before = counters.read()?;
        std::thread::sleep(interval);
        let mut readings = counters.read()?;
        readings.subtract(&before)?;
        println!("{}", readings.json()?);
    }
    Ok(())
}
