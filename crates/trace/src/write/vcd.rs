//! `.vcd`: a value change dump (IEEE 1364-2005, section 18), for waveform viewers.
//!
//! The unit is one nanosecond. Signals: `mode`, for each CPU the number of the task that runs (`x` when
//! idle), and for each task `run`, and the events `release`, `deadline`, `overrun`, `miss`, `drop`. Several
//! domains have a `mode_NAME` each; with several CPUs a task has `cpu` besides, the number of the one it runs on.

use super::TraceWriter;
use crate::header::Header;
use crate::record::Record;
use crate::timeline::{Item, Timeline};
use std::collections::BTreeMap;
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
/// The signal of each task behind these, where there are several CPUs.
const CPU: usize = OF_TASK.len();

pub(super) struct Writer<W: Write> {
    timeline: Timeline,
    out: W,
    tasks: usize,
    cpus: u16,
    /// How many modes there are: their signals are the first ones, before those of the CPUs.
    modes: usize,
    at: Option<Instant>,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(header: &Header, out: W) -> io::Result<Self> {
        let mut writer = Self {
            timeline: Timeline::new(header),
            out,
            tasks: header.tasks.len(),
            cpus: header.cpus,
            modes: header.domain_count(),
            at: None,
        };
        writer.declare(header)?;
        Ok(writer)
    }

    fn declare(&mut self, header: &Header) -> io::Result<()> {
        let (first, signals) = (self.first_of_tasks(), self.signals());
        let out = &mut self.out;
        writeln!(out, "$version vestal $end\n$timescale 1 ns $end")?;
        writeln!(out, "$scope module {} $end", word(&header.policy))?;
        for domain in header.domain_ids() {
            let signal = match self.modes {
                1 => "mode".to_owned(),
                _ => format!("mode_{}", word(&header.domain_name(domain))),
            };
            writeln!(out, "$var reg 8 {} {signal} $end", name(domain.index()))?;
        }
        for cpu in 0..header.cpus {
            let id = name(self.modes + usize::from(cpu));
            writeln!(out, "$var reg 16 {id} cpu{cpu} $end")?;
        }
        for (number, scope) in scopes(header).iter().enumerate() {
            writeln!(out, "$scope module {scope} $end")?;
            for (signal, (kind, what)) in OF_TASK.iter().enumerate() {
                let id = name(first + number * signals + signal);
                writeln!(out, "$var {kind} 1 {id} {what} $end")?;
            }
            if signals > CPU {
                let id = name(first + number * signals + CPU);
                writeln!(out, "$var reg 16 {id} cpu $end")?;
            }
            writeln!(out, "$upscope $end")?;
        }
        writeln!(out, "$upscope $end\n$enddefinitions $end")?;
        self.time(Instant::EPOCH)?;
        writeln!(self.out, "$dumpvars")?;
        for domain in header.domain_ids() {
            writeln!(self.out, "b0 {}", name(domain.index()))?;
        }
        for cpu in 0..header.cpus {
            writeln!(self.out, "bx {}", name(self.modes + usize::from(cpu)))?;
        }
        for number in 0..header.tasks.len() {
            writeln!(self.out, "0{}", name(first + number * signals))?;
            if signals > CPU {
                writeln!(self.out, "bx {}", name(first + number * signals + CPU))?;
            }
        }
        writeln!(self.out, "$end")
    }

    /// How many signals a task has.
    const fn signals(&self) -> usize {
        OF_TASK.len() + (self.cpus > 1) as usize
    }

    /// The number of the first signal of the first task.
    fn first_of_tasks(&self) -> usize {
        self.modes + usize::from(self.cpus)
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
        let first = self.first_of_tasks() + task.index() * self.signals();
        (task.index() < self.tasks).then(|| name(first + signal))
    }

    /// A task runs on this CPU, or nowhere.
    fn level(&mut self, at: Instant, task: TaskId, on: Option<CpuId>) -> io::Result<()> {
        let Some(id) = self.of_task(task, RUN) else {
            return Ok(());
        };
        self.time(at)?;
        writeln!(self.out, "{}{id}", u8::from(on.is_some()))?;
        match self.of_task(task, CPU).filter(|_| self.cpus > 1) {
            Some(id) => self.number(&id, on.map(|cpu| cpu.0)),
            None => Ok(()),
        }
    }

    /// A signal that is a number, or nothing.
    fn number(&mut self, id: &str, number: Option<u16>) -> io::Result<()> {
        match number {
            Some(number) => writeln!(self.out, "b{number:b} {id}"),
            None => writeln!(self.out, "bx {id}"),
        }
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
        let id = name(self.modes + cpu.index());
        self.number(&id, task.map(|task| task.0))
    }

    fn item(&mut self, at: Instant, item: Item) -> io::Result<()> {
        match item {
            Item::Begin { cpu, job, .. } => {
                self.cpu(at, cpu, Some(job.task))?;
                self.level(at, job.task, Some(cpu))
            }
            Item::Finish { cpu, job, .. } => {
                self.cpu(at, cpu, None)?;
                self.level(at, job.task, None)
            }
            Item::Mode {
                domain,
                to: Level(to),
                ..
            } => {
                self.time(at)?;
                self.number(&name(domain.index()), Some(u16::from(to)))
            }
            Item::Release { job, .. } => self.event(at, job.task, RELEASE),
            Item::Deadline { job } => self.event(at, job.task, DEADLINE),
            Item::Overrun { job, .. } => self.event(at, job.task, OVERRUN),
            Item::Miss { job, .. } => self.event(at, job.task, MISS),
            Item::Drop { job, .. } => self.event(at, job.task, DROP),
            Item::Budget { .. }
            | Item::Overhead { .. }
            | Item::Gap { .. }
            | Item::Ghost { .. }
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

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
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

/// What the scope of each task is called: its name and level, and its number where that would be the name of another one, too.
fn scopes(header: &Header) -> Vec<String> {
    let plain = header.tasks.iter().map(|task| {
        let level = header.level_name(task.criticality);
        format!("{}_{}", word(&task.name), word(&level))
    });
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let mut scopes: Vec<String> = plain.collect();
    for scope in &scopes {
        *taken.entry(scope.clone()).or_default() += 1;
    }
    for (number, scope) in scopes.iter_mut().enumerate() {
        if taken.get(scope.as_str()).is_none_or(|tasks| *tasks == 1) {
            continue;
        }
        // The number alone may make it the name of a task that is called so.
        let mut longer = format!("{scope}_{number}");
        while taken.contains_key(&longer) {
            longer.push('_');
        }
        taken.insert(longer.clone(), 1);
        *scope = longer;
    }
    scopes
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
