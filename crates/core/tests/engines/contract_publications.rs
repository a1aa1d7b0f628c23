//! What the shared domain of MC² makes of publications that are late, several at once or overtaken: what
//! passed before their instants was under the old ones. Its ghosts are compared with a count of ticks.

use crate::containers::{configuration, task};
use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::short::{CPU, at, job};

const CPUS: usize = 3;
const BUDGET: u64 = 40;
const TICKS: u64 = 120;

/// A shared domain of so many CPUs, all open, on each of which the ghost of a task has a whole budget
/// left at instant 0.
fn with_ghosts(cpus: usize) -> SharedDomain {
    let tasks: Vec<_> = (0..cpus as u64)
        .map(|number| task(Container::Global, 1000 + number, BUDGET))
        .collect();
    let table = CpuTable {
        cycle: Duration::ZERO,
        slots: &[],
    };
    let mut domain =
        SharedDomain::with_store(&configuration(&tasks, &vec![table; cpus], 4)).unwrap();
    for number in 0..cpus as u16 {
        let (cpu, open) = (CpuId(number), true);
        domain.apply(at(0), Fact::CpuOpen { cpu, open }).unwrap();
        let job = job(number, 0);
        domain.apply(at(0), Fact::Released { job }).unwrap();
    }
    let claims = domain.decide(at(0)).unwrap().slots.to_vec();
    for (cpu, claim) in (0..).map(CpuId).zip(claims) {
        let job = claim.unwrap().job;
        domain.apply(at(0), Fact::Started { cpu, job }).unwrap();
        domain.apply(at(0), Fact::Completed { cpu, job }).unwrap();
    }
    domain.decide(at(0)).unwrap();
    domain
}

/// What is left of a task's budget, none of whose jobs is pending.
fn left(domain: &SharedDomain, task: usize) -> u64 {
    let permit = domain.permit(TaskId(task as u16));
    permit.limit().map_or(0, Service::as_nanos)
}

fn publish(domain: &mut SharedDomain, instant: u64, cpu: u16, open: bool) {
    let cpu = CpuId(cpu);
    domain
        .apply(at(instant), Fact::CpuOpen { cpu, open })
        .unwrap();
}

#[test]
fn a_ghost_uses_up_what_its_open_cpu_had_however_late_that_is_told() {
    let mut late = with_ghosts(1);
    let mut in_time = late.clone();
    for (instant, open) in [(2, false), (5, true)] {
        publish(&mut in_time, instant, 0, open);
        in_time.decide(at(instant)).unwrap();
        publish(&mut late, instant, 0, open);
    }
    // Open from 0 to 2 and from 5 to 7.
    for domain in [&mut in_time, &mut late] {
        let wake = domain.decide(at(7)).unwrap().next.unwrap();
        assert_eq!(
            (wake.at, wake.why),
            (at(7 + BUDGET - 4), WakeReason::Consumption)
        );
    }
    assert_eq!(late, in_time);
}

#[test]
fn what_was_decided_upon_stays_as_it_was_and_the_later_word_of_a_cpu_holds() {
    let mut domain = with_ghosts(1);
    domain.decide(at(5)).unwrap();
    // It closed at 3: the ghost has used up 5 all the same, and no more.
    publish(&mut domain, 3, 0, false);
    domain.decide(at(8)).unwrap();
    assert_eq!((left(&domain, 0), domain.ghost(CPU)), (BUDGET - 5, None));
    // That it was open at 2 says nothing of now, nor that it was so at 3 before it closed again.
    publish(&mut domain, 2, 0, true);
    domain.decide(at(9)).unwrap();
    assert_eq!(domain.ghost(CPU), None);
    // Open at 9, which is decided upon; then closed at 9: the word that came after the decision.
    for (open, ghost) in [(true, Some(TaskId(0))), (false, None)] {
        publish(&mut domain, 9, 0, open);
        domain.decide(at(9)).unwrap();
        assert_eq!(domain.ghost(CPU), ghost);
    }
    // In one breath, whichever comes first: closed.
    for first in [true, false] {
        let mut domain = domain.clone();
        publish(&mut domain, 10, 0, first);
        publish(&mut domain, 10, 0, !first);
        domain.decide(at(10)).unwrap();
        assert_eq!(domain.ghost(CPU), None);
    }
    // What it says behind all that holds.
    publish(&mut domain, 11, 0, true);
    domain.decide(at(11)).unwrap();
    assert_eq!(domain.ghost(CPU), Some(TaskId(0)));
    assert_eq!(left(&domain, 0), BUDGET - 5);
}

/// A publication is not taken for a decision, and one that is refused is not heard.
#[test]
fn a_publication_waits_for_the_decision() {
    let mut domain = with_ghosts(2);
    publish(&mut domain, 4, 1, false);
    // The ghosts are those of the last decision still.
    assert!(domain.ghost(CpuId(1)).is_some() && domain.check_invariants());
    let staged = domain.clone();
    assert!(domain.decide(Instant::HORIZON).is_ok());
    let mut domain = staged.clone();
    for (instant, cpu) in [(at(4), 2), (Instant::from_nanos(u64::MAX), 0)] {
        let (cpu, open) = (CpuId(cpu), false);
        assert!(domain.apply(instant, Fact::CpuOpen { cpu, open }).is_err());
        assert_eq!(domain, staged);
    }
    domain.decide(at(4)).unwrap();
    assert_eq!(domain.ghost(CpuId(1)), None);
    // A decision that is refused loses nothing of what was told before.
    publish(&mut domain, 4, 1, true);
    assert!(domain.decide(at(3)).is_err());
    domain.decide(at(4)).unwrap();
    assert!(domain.ghost(CpuId(1)).is_some());
    let used = 4;
    assert_eq!([left(&domain, 0), left(&domain, 1)], [BUDGET - used; 2]);
}

/// A publication, and before which decision it is told.
#[derive(Clone, Copy, Debug)]
struct Said {
    instant: u64,
    cpu: usize,
    open: bool,
    told: usize,
}

/// Publications of all CPUs at random instants, in the order in which they are told, and the instants of
/// decisions. Of one instant there may be several of a CPU; some are told late, some after later ones.
fn history(random: &mut Random) -> (Vec<Said>, Vec<u64>) {
    let decisions: Vec<u64> = (1..=TICKS)
        .filter(|now| random.below(5) == 0 || *now == TICKS)
        .collect();
    let mut said = Vec::new();
    for cpu in 0..CPUS {
        for instant in 1..TICKS {
            for _ in 0..[0, 0, 0, 0, 1, 2][random.index(6)] {
                let soonest = decisions.iter().position(|now| *now >= instant).unwrap();
                let delay = [0, 0, 0, 1, 2][random.index(5)];
                said.push(Said {
                    instant,
                    cpu,
                    open: random.below(2) == 0,
                    told: (soonest + delay).min(decisions.len() - 1),
                });
            }
        }
    }
    random.shuffle(&mut said);
    said.sort_by_key(|said| (said.told, said.instant));
    (said, decisions)
}

/// The slow twin: remembers everything, and looks at each tick.
#[derive(Default)]
struct Twin {
    heard: Vec<Said>,
    left: [u64; CPUS],
}

impl Twin {
    fn hear(&mut self, said: Said) {
        let overtaken = |other: &Said| {
            other.cpu == said.cpu && other.told < said.told && other.instant > said.instant
        };
        if !self.heard.iter().any(overtaken) {
            self.heard.push(said);
        }
    }

    fn is_open(&self, cpu: usize, tick: u64) -> bool {
        let known = self.heard.iter().filter(|said| said.cpu == cpu);
        let holds = known
            .filter(|said| said.instant <= tick)
            .max_by_key(|said| (said.instant, said.told, !said.open));
        holds.is_none_or(|said| said.open)
    }

    fn pass(&mut self, ticks: std::ops::Range<u64>, ghosts: &[Option<TaskId>]) {
        for (cpu, ghost) in ghosts.iter().enumerate() {
            let Some(task) = ghost else { continue };
            for tick in ticks.clone() {
                if self.is_open(cpu, tick) {
                    self.left[task.index()] = self.left[task.index()].saturating_sub(1);
                }
            }
        }
    }
}

/// How the domain is told what was said.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Telling {
    True,
    OneLost,
    Earlier,
    Later,
}

/// Whether domain and twin agree after every decision.
fn agree(seed: u64, telling: Telling) -> bool {
    let mut random = Random::new(seed);
    let (said, decisions) = history(&mut random);
    let lost = random.index(said.len());
    let mut domain = with_ghosts(CPUS);
    let mut twin = Twin {
        left: [BUDGET; CPUS],
        ..Twin::default()
    };
    let mut last = 0;
    let mut before: Vec<Option<TaskId>>;
    for (number, &now) in decisions.iter().enumerate() {
        before = (0..CPUS as u16)
            .map(|cpu| domain.ghost(CpuId(cpu)))
            .collect();
        for (position, said) in said.iter().enumerate() {
            if said.told != number {
                continue;
            }
            twin.hear(*said);
            let instant = match telling {
                Telling::OneLost if position == lost => continue,
                Telling::True | Telling::OneLost => said.instant,
                Telling::Earlier => said.instant - 1,
                Telling::Later => said.instant + 1,
            };
            publish(&mut domain, instant, said.cpu as u16, said.open);
        }
        let wants = domain.decide(at(now)).unwrap().next.is_some();
        twin.pass(last..now, &before);
        last = now;
        let open: Vec<usize> = (0..CPUS).filter(|&cpu| twin.is_open(cpu, now)).collect();
        let having = twin.left.iter().filter(|left| **left > 0).count();
        let ghosts: Vec<usize> = (0..CPUS)
            .filter(|&cpu| domain.ghost(CpuId(cpu as u16)).is_some())
            .collect();
        let same = (0..CPUS).all(|task| left(&domain, task) == twin.left[task])
            && ghosts.iter().all(|cpu| open.contains(cpu))
            && ghosts.len() == open.len().min(having)
            && wants != ghosts.is_empty()
            && domain.check_invariants();
        if !same {
            return false;
        }
    }
    true
}

#[test]
fn ghosts_use_up_what_a_count_of_ticks_says_and_a_publication_told_wrongly_is_found() {
    const SEEDS: u64 = 400;
    let count = |telling| (0..SEEDS).filter(|seed| !agree(*seed, telling)).count() as u64;
    assert_eq!(count(Telling::True), 0);
    let wrong = [Telling::OneLost, Telling::Earlier, Telling::Later].map(count);
    // A single one may have said nothing new, or be followed by another before anything passed.
    assert!(
        wrong[0] * 5 > SEEDS && wrong[1..].iter().all(|found| found * 10 > SEEDS * 9),
        "{wrong:?}"
    );
}

#[test]
fn a_budget_that_was_published_away_is_used_up_later_and_wakes_the_world_then() {
    let mut domain = with_ghosts(1);
    publish(&mut domain, 10, 0, false);
    assert_eq!(domain.decide(at(10)).unwrap().next, None);
    publish(&mut domain, 500, 0, true);
    let wake = domain.decide(at(500)).unwrap().next.unwrap();
    assert_eq!(wake.at, at(500 + BUDGET - 10));
    assert_eq!(left(&domain, 0), BUDGET - 10);
    let plan = domain.decide(wake.at).unwrap();
    assert_eq!((plan.slots, plan.next), (&[None][..], None));
    assert_eq!(left(&domain, 0), 0);
    let used_up = Permit::Suspended {
        until: Until::Event,
    };
    assert_eq!(domain.permit(TaskId(0)), used_up);
}
