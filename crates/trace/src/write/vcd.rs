//! `.vcd`: a value change dump (IEEE 1364-2005, section 18), for waveform viewers.
//!
//! The unit is one nanosecond. Signals: `mode`, for each CPU the number of the task that runs (`x` when
//! idle), and for each task `run`, and the events `release`, `deadline`, `overrun`, `miss`, `drop`.

use super::TraceWriter;
use crate::header::Header;
use crate::record::Record;
use crate::timeline::{Item, Timeline};
use std::io::{self, Write};
use vestal_core::{CpuId, Instant, Level, TaskId};

/// The signals of each task, in their order.
const OF_TASK: [(&str, &str); 6] = [
    ("wire", "run"),
    ("event", "release"),
    ("event", "deadline"),
    ("event", "overrun"),
    ("event", "miss"),
    ("event", "drop"),
];
const RUN: usize = 0;
const RELEASE: usize = 1;
const DEADLINE: usize = 2;
const OVERRUN: usize = 3;
const MISS: usize = 4;
const DROP: usize = 5;

pub(super) struct Writer<W: Write> {
    timeline: Timeline,
    out: W,
    tasks: usize,
    cpus: u16,
    at: Option<Instant>,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(header: &Header, out: W) -> io::Result<Self> {
        let mut writer = Self {
            timeline: Timeline::new(header),
            out,
            tasks: header.tasks.len(),
            cpus: header.cpus,
            at: None,
        };
        writer.declare(header)?;
        Ok(writer)
    }

    fn declare(&mut self, header: &Header) -> io::Result<()> {
        let out = &mut self.out;
        writeln!(out, "$version vestal $end\n$timescale 1 ns $end")?;
        writeln!(out, "$scope module {} $end", word(&header.policy))?;
        writeln!(out, "$var reg 8 {} mode $end", name(0))?;
        for cpu in 0..header.cpus {
            writeln!(
                out,
                "$var reg 16 {} cpu{cpu} $end",
                name(1 + usize::from(cpu))
            )?;
        }
        let first = 1 + usize::from(header.cpus);
        for (number, task) in header.tasks.iter().enumerate() {
            let level = header.level_name(task.criticality);
            writeln!(
                out,
                "$scope module {}_{} $end",
                word(&task.name),
                word(&level)
            )?;
            for (signal, (kind, what)) in OF_TASK.iter().enumerate() {
                let id = name(first + number * OF_TASK.len() + signal);
                writeln!(out, "$var {kind} 1 {id} {what} $end")?;
            }
            writeln!(out, "$upscope $end")?;
        }
        writeln!(out, "$upscope $end\n$enddefinitions $end")?;
        self.time(Instant::EPOCH)?;
        writeln!(self.out, "$dumpvars\nb0 {}", name(0))?;
        for cpu in 0..header.cpus {
            writeln!(self.out, "bx {}", name(1 + usize::from(cpu)))?;
        }
        for number in 0..header.tasks.len() {
            writeln!(self.out, "0{}", name(first + number * OF_TASK.len()))?;
        }
        writeln!(self.out, "$end")
    }

    fn time(&mut self, at: Instant) -> io::Result<()> {
        if self.at == Some(at) {
            return Ok(());
        }
        self.at = Some(at);
        writeln!(self.out, "#{}", at.as_nanos())
    }

    /// The identifier of a task's signal; `None` for a task that the header does not know.
    fn of_task(&self, task: TaskId, signal: usize) -> Option<String> {
        let first = 1 + usize::from(self.cpus);
        (task.index() < self.tasks).then(|| name(first + task.index() * OF_TASK.len() + signal))
    }

    fn level(&mut self, at: Instant, task: TaskId, on: bool) -> io::Result<()> {
        let Some(id) = self.of_task(task, RUN) else {
            return Ok(());
        };
        self.time(at)?;
        writeln!(self.out, "{}{id}", u8::from(on))
    }

    fn event(&mut self, at: Instant, task: TaskId, signal: usize) -> io::Result<()> {
        let Some(id) = self.of_task(task, signal) else {
            return Ok(());
        };
        self.time(at)?;
        writeln!(self.out, "1{id}")
    }

    fn cpu(&mut self, at: Instant, cpu: CpuId, task: Option<TaskId>) -> io::Result<()> {
        if cpu.0 >= self.cpus {
            return Ok(());
        }
        self.time(at)?;
        let id = name(1 + cpu.index());
        match task {
            Some(task) => writeln!(self.out, "b{:b} {id}", task.0),
            None => writeln!(self.out, "bx {id}"),
        }
    }

    fn item(&mut self, at: Instant, item: Item) -> io::Result<()> {
        match item {
            Item::Begin { cpu, job, .. } => {
                self.cpu(at, cpu, Some(job.task))?;
                self.level(at, job.task, true)
            }
            Item::Finish { cpu, job, .. } => {
                self.cpu(at, cpu, None)?;
                self.level(at, job.task, false)
            }
            Item::Mode { to: Level(to), .. } => {
                self.time(at)?;
                writeln!(self.out, "b{to:b} {}", name(0))
            }
            Item::Release { job, .. } => self.event(at, job.task, RELEASE),
            Item::Deadline { job } => self.event(at, job.task, DEADLINE),
            Item::Overrun { job, .. } => self.event(at, job.task, OVERRUN),
            Item::Miss { job, .. } => self.event(at, job.task, MISS),
            Item::Drop { job, .. } => self.event(at, job.task, DROP),
            Item::Budget { .. }
            | Item::Overhead { .. }
            | Item::Gap { .. }
            | Item::Lost { .. }
            | Item::End => Ok(()),
        }
    }
}

impl<W: Write + Send> TraceWriter for Writer<W> {
    fn record(&mut self, record: &Record) -> io::Result<()> {
        let mut items = self.timeline.feed(record).into_iter();
        items.try_for_each(|(at, item)| self.item(at, item))
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let mut items = self.timeline.end().into_iter();
        items.try_for_each(|(at, item)| self.item(at, item))?;
        // The last instant, so that the viewer shows the whole run.
        self.time(self.timeline.clock())?;
        self.out.flush()
    }
}

/// The n-th identifier: printable letters from `!` to `~`, shortest first.
fn name(mut number: usize) -> String {
    let mut id = String::new();
    loop {
        let letter = u8::try_from(number % 94).unwrap_or(0) + b'!';
        id.push(char::from(letter));
        number /= 94;
        if number == 0 {
            return id;
        }
        number -= 1;
    }
}

/// A name without white space and what viewers take for structure.
fn word(text: &str) -> String {
    let word: String = text
        .chars()
        .map(|letter| match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => letter,
            _ => '_',
        })
        .collect();
    if word.is_empty() {
        "_".to_owned()
    } else {
        word
    }
}
