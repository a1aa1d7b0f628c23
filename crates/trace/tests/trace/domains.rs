//! Several scheduling domains in one recording: three engines with virtual deadlines, interleaved by instant.

use crate::common::{header_of, random_record, written};
use std::cell::RefCell;
use std::collections::BTreeMap;
use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::short::CPU;
use vestal_testkit::systems::Setup;
use vestal_testkit::world::World;
use vestal_trace::replay::{Difference, Failure, Mismatch, Replayed};
use vestal_trace::write::Options;
use vestal_trace::{
    DomainId, DomainInfo, Domains, Edge, Format, Header, InDomain, Mechanism, Place, Record,
    Recorder, Scope, Sink, TaskInfo, Trace, What, replay, replay_domains,
};

/// How many domains.
pub(crate) const COUNT: u16 = 3;

/// A recording of three domains, and from what their engines are made.
pub(crate) struct Case {
    pub(crate) setups: Vec<Setup>,
    pub(crate) header: Header,
    pub(crate) records: Vec<Record>,
}

/// Adaptive limits, and earlier deadlines for what is above the lowest level.
fn edf_vd(random: &mut Random) -> Setup {
    let mut setup = loop {
        let setup = Setup::random(random);
        if setup.enforcement == Enforcement::Adaptive && setup.lists.is_none() {
            break setup;
        }
    };
    let due = setup.tasks.iter().map(|entry| {
        let deadline = entry.task.deadline.as_nanos();
        Duration::from_nanos(match entry.task.criticality {
            Level::LOWEST => deadline,
            _ => (deadline * 2 / 3).max(1),
        })
    });
    setup.virtual_deadlines = Some(due.collect());
    setup
}

/// The header of these systems, whose tasks and CPUs are dealt out to them.
fn header(setups: &[Setup], random: &mut Random, permits: bool) -> Header {
    let count: usize = setups.iter().map(|setup| setup.tasks.len()).sum();
    let mut places = random.permutation(count).into_iter();
    let cpus = random.permutation(setups.len());
    let mut tasks = vec![None; count];
    let mut domains = Vec::new();
    for (number, (setup, cpu)) in (0..).zip(setups.iter().zip(cpus)) {
        let own: Vec<usize> = places.by_ref().take(setup.tasks.len()).collect();
        for (place, info) in own.iter().zip(header_of(setup).tasks) {
            let name = format!("tau{place}");
            tasks[*place] = Some(TaskInfo { name, ..info });
        }
        domains.push(DomainInfo {
            name: format!("CPU {cpu}"),
            cluster: number,
            cpus: vec![CpuId(cpu as u16)],
            tasks: own.iter().map(|task| TaskId(*task as u16)).collect(),
        });
    }
    Header {
        cpus: COUNT,
        levels: ["LO", "ME", "HI", "TOP"].map(str::to_owned).to_vec(),
        tasks: tasks.into_iter().flatten().collect(),
        judges_misses: true,
        records_permits: permits,
        ..Header::new("pedf-vd")
    }
    .with_domains(domains)
}

pub(crate) fn scopes(header: &Header) -> Vec<Scope> {
    let scope = |domain| Scope::of(header, domain).unwrap();
    header.domain_ids().map(scope).collect()
}

type Shared = RefCell<Domains<Vec<Record>>>;

/// One domain in its world of ticks, with what the world says by itself.
struct Member<'a> {
    setup: &'a Setup,
    world: World<'a, Recorder<Uniprocessor, InDomain<'a, &'a Shared>>>,
    own: InDomain<'a, &'a Shared>,
    next: Vec<u64>,
    released: BTreeMap<JobId, u64>,
}

impl<'a> Member<'a> {
    fn new(setup: &'a Setup, shared: &'a Shared, scope: &'a Scope, permits: bool) -> Self {
        let engine = setup.engine();
        let recorder = match permits {
            true => Recorder::of_domain_with_permits(engine, shared, scope),
            false => Recorder::of_domain(engine, shared, scope),
        };
        let mut random = Random::new(u64::from(scope.domain().0) + 99);
        let program = move |job: JobId| {
            let task = &setup.tasks[job.task.index()].task;
            let level = Level(random.below(3) as u8).min(task.criticality);
            vec![(task.wcet.at(level).as_nanos() + random.below(2)).max(1)]
        };
        Self {
            setup,
            world: World::new(recorder, 1, setup.tasks.len(), program),
            own: InDomain::new(shared, scope),
            next: setup.offsets.clone(),
            released: BTreeMap::new(),
        }
    }

    fn tick(&mut self, random: &mut Random) {
        let now = self.world.now;
        let at = Instant::from_nanos(now);
        let mut facts = self.world.facts();
        for (number, next) in (0..).zip(&mut self.next).filter(|(_, next)| **next == now) {
            facts.push(self.world.release(number));
            let period = self.setup.tasks[usize::from(number)].task.period.as_nanos();
            *next = now + period + random.below(2) * random.below(5);
        }
        if random.below(9) == 0 {
            for edge in [Edge::Begin, Edge::End] {
                let (cpu, mechanism) = (CPU, Mechanism::Decide);
                let what = What::Overhead {
                    cpu,
                    mechanism,
                    edge,
                };
                self.world.engine.put(Record { at, what });
            }
        }
        self.world.tell(&facts);
        for fact in &facts {
            self.judge(now, *fact);
        }
        self.world.settle();
        while self.world.engine.take_notice().is_some() {}
        self.world.enact();
        self.world.run();
    }

    fn judge(&mut self, now: u64, fact: Fact) {
        if let Fact::Released { job } = fact {
            self.released.insert(job, now);
        }
        let Fact::Completed { job, .. } = fact else {
            return;
        };
        let deadline = self.setup.tasks[job.task.index()].task.deadline.as_nanos();
        let deadline = self.released[&job] + deadline;
        if now > deadline {
            let (at, guaranteed) = (Instant::from_nanos(now), false);
            let deadline = Instant::from_nanos(deadline);
            let what = What::Miss {
                job,
                deadline,
                guaranteed,
            };
            self.own.put(Record { at, what });
        }
    }
}

pub(crate) fn recording(seed: u64, ticks: u64, permits: bool) -> Case {
    let random = &mut Random::new(seed);
    let setups: Vec<Setup> = (0..COUNT).map(|_| edf_vd(random)).collect();
    let header = header(&setups, random, permits);
    let shared = RefCell::new(Domains::new(Vec::new()));
    let scopes = scopes(&header);
    {
        let members = setups.iter().zip(&scopes);
        let mut members: Vec<Member<'_>> = members
            .map(|(setup, scope)| Member::new(setup, &shared, scope, permits))
            .collect();
        for _ in 0..ticks {
            for member in random.permutation(members.len()) {
                members[member].tick(random);
            }
        }
        for member in members {
            member.world.engine.finish(Instant::from_nanos(ticks));
        }
    }
    Case {
        setups,
        header,
        records: shared.into_inner().into_inner(),
    }
}

pub(crate) fn again(case: &Case, records: &[Record]) -> Result<Replayed, Failure<()>> {
    let mut engines: Vec<Uniprocessor> = case.setups.iter().map(Setup::engine).collect();
    let sure = records.iter().map(|record| Ok(*record));
    let engines = scopes(&case.header).into_iter().zip(&mut engines);
    replay_domains(&case.header, sure, engines)
}

pub(crate) fn difference(case: &Case, records: &[Record]) -> Option<Difference> {
    match again(case, records) {
        Ok(_) => None,
        Err(Failure::Differs(difference)) => Some(*difference),
        Err(Failure::Unreadable(())) => unreachable!("records in memory"),
    }
}

/// The domain of each record; of a record that gives the word, the one that gets it.
pub(crate) fn homes(records: &[Record]) -> Vec<DomainId> {
    let mut present = DomainId::FIRST;
    let home = |record: &Record| {
        if let What::Domain { domain } = record.what {
            present = domain;
        }
        present
    };
    records.iter().map(home).collect()
}

/// The records of one domain, with the place of each in the stream.
pub(crate) fn of_domain(records: &[Record], domain: DomainId) -> Vec<(usize, Record)> {
    let homes = homes(records);
    let all = records.iter().copied().enumerate();
    all.filter(|(place, record)| {
        homes[*place] == domain && !matches!(record.what, What::Domain { .. })
    })
    .collect()
}

#[test]
fn each_domain_of_a_recording_decides_the_same_again() {
    let (mut raised, mut missed, mut words) = (0, 0, 0);
    for seed in 0..60 {
        let case = recording(seed, 120, seed % 2 == 0);
        let replayed = again(&case, &case.records).unwrap_or_else(|failure| {
            panic!("seed {seed}: {failure:?}");
        });
        assert_eq!(replayed.records, case.records.len() as u64);
        let is_word = |record: &&Record| matches!(record.what, What::Domain { .. });
        let given = case.records.iter().filter(is_word).count();
        let own: u64 = replayed.domains.iter().map(|domain| domain.records).sum();
        assert_eq!(own + given as u64, replayed.records);
        words += given;
        for (domain, summary) in case.header.domain_ids().zip(&replayed.domains) {
            assert_eq!(summary.decisions, 120, "seed {seed}");
            assert_eq!(summary.permits > 0, case.header.records_permits);
            raised += summary.counts.mode_changes;
            missed += summary.counts.missed;
            // The slow twin: the domain's records alone, with its own numbers, are a recording of one domain.
            let setup = &case.setups[domain.index()];
            let scope = Scope::of(&case.header, domain).unwrap();
            let alone = of_domain(&case.records, domain).into_iter();
            let alone = alone.map(|(_, record)| Ok::<_, ()>(scope.to_cluster(record)));
            let mut header = header_of(setup);
            header.judges_misses = true;
            header.records_permits = case.header.records_permits;
            let twin = replay(&header, alone, &mut setup.engine());
            assert_eq!(twin.as_ref(), Ok(summary), "seed {seed}");
        }
    }
    assert!(raised > 100 && missed > 100, "{raised} {missed}");
    assert!(words > 60 * 120);
}

/// Numbers of the file are those of the task set: each record of a domain names its tasks and its CPU.
#[test]
fn the_numbers_of_a_file_are_those_of_the_set() {
    let case = recording(4, 60, false);
    for domain in case.header.domain_ids() {
        let own = &case.header.domains[domain.index()];
        let mut seen = std::collections::BTreeSet::new();
        for (_, record) in of_domain(&case.records, domain) {
            record.visit_names(
                |task| {
                    assert!(own.tasks.contains(&task), "{record}");
                    seen.insert(task);
                },
                |cpu| assert_eq!(cpu, own.cpus[0], "{record}"),
            );
        }
        assert_eq!(seen.len(), own.tasks.len());
    }
}

#[test]
fn files_of_domains_come_back_as_they_were_written() {
    for seed in 0..20 {
        let mut case = recording(seed, 40, seed % 2 == 0);
        let random = &mut Random::new(seed);
        for _ in 0..300 {
            let place = random.below(case.records.len() as u64 + 1) as usize;
            let mut record = random_record(random);
            if random.below(3) == 0 {
                let domain = DomainId(random.below(u64::from(COUNT)) as u16);
                record.what = What::Domain { domain };
            }
            case.records.insert(place, record);
        }
        for format in [Format::Vtrace, Format::Csv] {
            let bytes = written(format, &case.header, Options::default(), &case.records);
            let trace = Trace::open(format, bytes.as_slice()).unwrap().unwrap();
            assert_eq!(trace.header(), &case.header);
            let records: Vec<Record> = trace.map(Result::unwrap).collect();
            assert_eq!(records, case.records);
        }
    }
}

#[test]
fn a_reader_refuses_a_domain_that_the_header_does_not_name() {
    let case = recording(1, 10, false);
    let whole = Header {
        domains: Vec::new(),
        ..case.header.clone()
    };
    for (header, number) in [(&case.header, COUNT), (&case.header, u16::MAX), (&whole, 0)] {
        let domain = DomainId(number);
        let what = What::Domain { domain };
        let at = Instant::EPOCH;
        let good = What::End { facts: 0 };
        let records = [Record { at, what: good }, Record { at, what }];
        for format in [Format::Vtrace, Format::Csv] {
            let bytes = written(format, header, Options::default(), &records);
            let mut trace = Trace::open(format, bytes.as_slice()).unwrap().unwrap();
            assert!(trace.next().unwrap().is_ok());
            let error = trace.next().unwrap().unwrap_err();
            let text = error.to_string();
            assert!(
                text.contains(&format!("it names domain {number}, and the header has")),
                "{text}"
            );
            // Exactly where the record is.
            match error.place {
                Place::Byte(byte) => {
                    let own = records[1].to_bytes();
                    let place = byte as usize;
                    assert_eq!(bytes[place..place + Record::BYTES], own);
                }
                Place::Line { line, column } => {
                    let text = std::str::from_utf8(&bytes).unwrap();
                    let line = text.lines().nth(line as usize - 1).unwrap();
                    let cell = line.split(',').nth(column as usize - 1).unwrap();
                    assert_eq!(cell, number.to_string());
                }
            }
            assert!(trace.next().is_none());
        }
    }
}

/// A scheduler too few is a difference and no silence.
#[test]
fn a_domain_without_a_scheduler_is_a_difference() {
    let case = recording(3, 20, false);
    let mut engines: Vec<Uniprocessor> = case.setups.iter().map(Setup::engine).collect();
    let sure = case.records.iter().map(|record| Ok::<_, ()>(*record));
    let engines = scopes(&case.header).into_iter().zip(&mut engines).take(2);
    let Err(Failure::Differs(found)) = replay_domains(&case.header, sure, engines) else {
        panic!("there is no scheduler for the third domain");
    };
    assert_eq!(found.why, Mismatch::UnknownDomain(DomainId(2)));
}

/// Facts about what a domain does not know are refused, and replayed as they were.
#[test]
fn what_a_scheduler_does_not_know_has_a_number_in_the_file_too() {
    let case = recording(5, 1, false);
    let scopes = scopes(&case.header);
    let shared = RefCell::new(Domains::new(Vec::new()));
    for (setup, scope) in case.setups.iter().zip(&scopes) {
        let mut recorder = Recorder::of_domain(setup.engine(), &shared, scope);
        let at = Instant::from_nanos(1);
        for number in [setup.tasks.len() as u16, 99, u16::MAX] {
            let (task, sequence) = (TaskId(number), 0);
            let job = JobId { task, sequence };
            recorder.apply(at, Fact::Released { job }).unwrap_err();
            let cpu = CpuId(number);
            recorder.apply(at, Fact::Idle { cpu }).unwrap_err();
        }
        recorder.decide(at).unwrap();
        recorder.finish(at);
    }
    let records = shared.into_inner().into_inner();
    let replayed = again(&case, &records).unwrap();
    assert!(replayed.domains.iter().all(|domain| domain.facts == 6));
}
