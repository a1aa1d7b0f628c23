//! The domains of MC² in runs of the whole, recorded and called again.

use crate::containers::configuration;
use crate::levelled_random::{CYCLE, needs, random_set, translate};
use vestal_core::*;
use vestal_testkit::Random;
use vestal_testkit::world::{Calls, World};

pub(crate) const RUNS: u64 = 300;
pub(crate) const TICKS: u64 = 96;
pub(crate) const BACKLOG: usize = 3;

/// A domain of either kind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Domain {
    Local(LocalDomain),
    Shared(SharedDomain),
}

impl Domain {
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Self::Shared(_))
    }
    /// Whether one uses up budget since the last decision.
    pub(crate) fn has_ghost(&self) -> bool {
        match self {
            Self::Local(domain) => domain.ghost().is_some(),
            Self::Shared(domain) => (0..3).any(|cpu| domain.ghost(CpuId(cpu)).is_some()),
        }
    }
    pub(crate) fn is_sound(&self) -> bool {
        match self {
            Self::Local(domain) => domain.check_invariants(),
            Self::Shared(domain) => domain.check_invariants(),
        }
    }
    fn get(&self) -> &dyn Scheduler {
        match self {
            Self::Local(domain) => domain,
            Self::Shared(domain) => domain,
        }
    }
    fn get_mut(&mut self) -> &mut dyn Scheduler {
        match self {
            Self::Local(domain) => domain,
            Self::Shared(domain) => domain,
        }
    }
}

impl Scheduler for Domain {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        self.get_mut().apply(at, fact)
    }
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        self.get_mut().decide(now)
    }
    fn permit(&self, task: TaskId) -> Permit {
        self.get().permit(task)
    }
    fn take_notice(&mut self) -> Option<Notice> {
        self.get_mut().take_notice()
    }
    fn lost_notices(&self) -> u64 {
        self.get().lost_notices()
    }
    fn backlog(&self) -> usize {
        self.get().backlog()
    }
}

/// What a decision was.
pub(crate) type Answer = (Vec<Option<Slot>>, Option<Wake>);

/// What was told before a decision, and the decision; no answer where none was recorded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) facts: Vec<(Instant, Fact)>,
    pub(crate) now: Instant,
    pub(crate) answer: Option<Answer>,
}

/// A domain with all that it was told and answered.
pub(crate) struct Recorded {
    pub(crate) domain: Domain,
    pub(crate) facts: Vec<(Instant, Fact)>,
    pub(crate) steps: Vec<Step>,
}

impl Recorded {
    pub(crate) fn new(domain: Domain) -> Self {
        Self {
            domain,
            facts: Vec::new(),
            steps: Vec::new(),
        }
    }
}

impl Scheduler for Recorded {
    fn apply(&mut self, at: Instant, fact: Fact) -> Result<(), ContractViolation> {
        self.facts.push((at, fact));
        self.domain.apply(at, fact)
    }
    fn decide(&mut self, now: Instant) -> Result<Plan<'_>, ContractViolation> {
        let plan = self.domain.decide(now)?;
        self.steps.push(Step {
            facts: std::mem::take(&mut self.facts),
            now,
            answer: Some((plan.slots.to_vec(), plan.next)),
        });
        Ok(plan)
    }
    fn permit(&self, task: TaskId) -> Permit {
        self.domain.permit(task)
    }
    fn take_notice(&mut self) -> Option<Notice> {
        self.domain.take_notice()
    }
    fn lost_notices(&self) -> u64 {
        self.domain.lost_notices()
    }
}

/// A random set, and what its jobs need.
pub(crate) struct Run {
    pub(crate) tasks: Vec<LevelledTask>,
    pub(crate) slots: Vec<Vec<TableSlot>>,
    needs: Vec<Vec<u64>>,
}

impl Run {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let set = random_set(&mut random);
        let need = needs(&set, random.below(1 << 20));
        let (tasks, slots) = translate(&set);
        let jobs = |task| (0..=TICKS).map(|job| need(task, job)).collect();
        let needs = (0..tasks.len()).map(jobs).collect();
        Self {
            tasks,
            slots,
            needs,
        }
    }

    pub(crate) fn with<T>(&self, work: impl FnOnce(&LevelledConfiguration<'_>) -> T) -> T {
        let cycle = Duration::from_nanos(CYCLE);
        let table = |slots| CpuTable { cycle, slots };
        let tables: Vec<_> = self.slots.iter().map(|slots| table(&slots[..])).collect();
        work(&configuration(&self.tasks, &tables, BACKLOG))
    }

    pub(crate) fn whole(&self) -> Levelled {
        self.with(Levelled::new).unwrap()
    }

    /// The domains of all CPUs, and behind them the shared one.
    pub(crate) fn fresh(&self) -> Vec<Domain> {
        let (locals, shared) = self.whole().into_domains();
        let locals = locals.into_vec().into_iter().map(Domain::Local);
        locals.chain([Domain::Shared(shared)]).collect()
    }

    /// The whole of what stands for these domains.
    pub(crate) fn around<D: Scheduler>(&self, make: impl FnMut(Domain) -> D) -> Levelled<D, D> {
        let mut domains: Vec<D> = self.fresh().into_iter().map(make).collect();
        let shared = domains.pop().unwrap();
        self.with(|configuration| Levelled::with_domains(configuration, domains, shared))
            .unwrap()
    }

    /// Who runs on each CPU in a world of whole ticks, and the engine afterwards.
    pub(crate) fn drawn<E: Scheduler>(&self, engine: E) -> (Vec<String>, E) {
        let need = |job: JobId| vec![self.needs[job.task.index()][job.sequence as usize]];
        let mut world = World::new(engine, self.slots.len(), self.tasks.len(), need);
        world.calls = Calls::WhenDue;
        for _ in 0..TICKS {
            let arrivals = world.periodic(self.tasks.iter().map(|entry| &entry.task));
            world.step(&arrivals);
        }
        // What the last tick brought is decided too.
        world.decide(&[]);
        (world.rows, world.engine)
    }

    pub(crate) fn recorded(&self) -> Vec<Recorded> {
        let (_, engine) = self.drawn(self.around(Recorded::new));
        let (locals, shared) = engine.into_domains();
        locals.into_vec().into_iter().chain([shared]).collect()
    }
}

/// Sees each domain of each run as it was recorded, and fresh.
pub(crate) fn for_each_domain(mut check: impl FnMut(&Recorded, &Domain, u64)) {
    for seed in 0..RUNS {
        let run = Run::new(seed);
        for (recorded, fresh) in run.recorded().iter().zip(run.fresh()) {
            check(recorded, &fresh, seed);
        }
    }
}

/// Makes the calls: the first step that is refused or answered otherwise, and the domain afterwards.
pub(crate) fn replayed(fresh: &Domain, steps: &[Step]) -> (Option<usize>, Domain) {
    let mut domain = fresh.clone();
    let different = steps.iter().position(|step| {
        let told = step
            .facts
            .iter()
            .all(|(at, fact)| domain.apply(*at, *fact).is_ok());
        let Ok(plan) = domain.decide(step.now) else {
            return true;
        };
        let answer = (plan.slots.to_vec(), plan.next);
        let same = step.answer.as_ref().is_none_or(|known| *known == answer);
        assert!(domain.is_sound(), "{step:?}");
        !told || !same
    });
    (different, domain)
}

/// The steps in which a CPU is published to be what it was not before, and where among the facts.
pub(crate) fn turns(steps: &[Step]) -> Vec<(usize, usize)> {
    let mut known = std::collections::BTreeMap::new();
    let mut turns = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        for (place, (_, fact)) in step.facts.iter().enumerate() {
            if let Fact::CpuOpen { cpu, open } = *fact
                && known.insert(cpu, open).unwrap_or(false) != open
            {
                turns.push((number, place));
            }
        }
    }
    turns
}
