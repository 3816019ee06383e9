// SPDX-License-Identifier: MIT
//! Counts one function: what it took, or why that cannot be said here.
//!
//!     measure_function [EVENTS]

fn work() -> u64 {
    let numbers: Vec<u64> = (0..1_000_000).collect();
    numbers.iter().sum()
}

fn value(readings: &pstat::Readings, name: &str) -> Option<f64> {
    readings.of(name)?.value()
}

fn main() -> Result<(), pstat::Error> {
    let events = std::env::args().nth(1);
    let events = events.as_deref().unwrap_or("{cycles,instructions},page-faults,task-clock");
    let (sum, readings) = pstat::measure(events, work)?;
    for reading in readings.iter() {
        match reading.value() {
            Some(value) => println!("{:16} {} {}", reading.name(), value, reading.unit()),
            None => println!("{:16} {}: {}", reading.name(), reading.state(), reading.reason().unwrap_or_default()),
        }
    }
    if let (Some(instructions), Some(cycles)) = (value(&readings, "instructions"), value(&readings, "cycles")) {
        println!("{:.2} instructions in a cycle", instructions / cycles);
    }
    println!("sum {}", sum);
    Ok(())
}
