//! What decides, as data: clusters, domains, what is guaranteed in them.

use crate::configuration::{Configuration, Levels, Servers};
use crate::options::Options;
use crate::refusal::Refusal;
use vestal_analysis::Parameters;
use vestal_core::{CpuId, Duration, Enforcement, Exhaustion, Rank, TaskId};

/// A policy with everything that it has decided about a task set.
///
/// It owns what it has and can be compared; assembled again from its own [`System::parameters`], it is equal.
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    /// The policy's name.
    pub policy: String,
    /// The options that it was built with.
    pub options: Options,
    /// Every parameter that it was built with.
    pub parameters: Parameters,
    /// How many CPUs there are.
    pub cpus: u16,
    /// What is decided together and independently of all else. A task is in one of them, a CPU in one at most:
    /// in none if it has nothing to do.
    pub clusters: Vec<Cluster>,
    /// Where its order comes from, for people.
    pub origin: String,
}

/// Tasks and CPUs that are decided together.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Its CPUs; inside, a [`CpuId`] is an index in this list.
    pub cpus: Vec<CpuId>,
    /// Its tasks; inside, a [`TaskId`] is an index in this list.
    pub tasks: Vec<TaskId>,
    /// From what its schedulers are made.
    pub configuration: Configuration,
    /// What is locked together in it.
    pub domains: Vec<Domain>,
}

/// Tasks with a mode and a guarantee of their own. CPUs and tasks are numbered as in the cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Its CPUs.
    pub cpus: Vec<CpuId>,
    /// Its tasks.
    pub tasks: Vec<TaskId>,
    /// What is guaranteed.
    pub guarantee: Guarantee,
}

/// What is guaranteed about the jobs of a domain, and by which proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Guarantee {
    /// Of which jobs the policy speaks, if it is proved.
    pub terms: Terms,
    /// Whether it is.
    pub proof: Proof,
    /// If it is, and speaks of servers: by server and by mode, how long each may take, or the longest of a PIBS's bursts. Else empty.
    pub bounds: Vec<Vec<Option<Duration>>>,
}

impl Guarantee {
    /// Of these terms, without bounds.
    #[must_use]
    pub const fn new(terms: Terms, proof: Proof) -> Self {
        Self {
            terms,
            proof,
            bounds: Vec::new(),
        }
    }
}

/// The terms of a guarantee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terms {
    /// A job meets its deadline as long as no job exceeds what the limits allow at its level.
    Deadlines {
        /// The limits.
        enforcement: Enforcement,
        /// What happens at a job's own.
        exhaustion: Exhaustion,
    },
    /// A job whose task has a sporadic server of its own meets its deadline, if it neither blocks nor executes more than at its
    /// own level, in no mode above that, and nothing that its server did before bears on it (`vestal_sim::guarantee`).
    Servers,
    /// A job of each of these tasks of the cluster, by their numbers there, is no later than so, as long as no job of its level or above exceeds
    /// what it needs there at the most; nothing is said of the others.
    Tardiness(Vec<Option<Duration>>),
    /// Nothing is promised, whatever a test says.
    Nothing,
}

/// What a test says of a system. Without a proof nothing is guaranteed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The test accepts the set as it is about to run.
    Proved {
        /// Its name, with the variant.
        by: String,
    },
    /// It does not.
    Unproved {
        /// Its name, with the variant.
        by: String,
        /// What it does instead of proving, after its name.
        says: String,
        /// The reason, if it gives one.
        why: Option<String>,
    },
    /// It accepts the set, but what is about to run is not what it speaks of.
    NotCovered {
        /// Its name, with the variant.
        by: String,
        /// What it does not cover.
        what: String,
    },
    /// No test speaks of the policy.
    NoTest,
    /// A recording: whoever made it was notified.
    NotAsked,
}

impl Cluster {
    /// All tasks of a set on all of so many CPUs, in one domain.
    #[must_use]
    pub fn whole(configuration: Configuration, cpus: u16, guarantee: Guarantee) -> Self {
        let cpus: Vec<CpuId> = (0..cpus).map(CpuId).collect();
        let numbers = (0..=u16::MAX).map(TaskId);
        let tasks: Vec<TaskId> = numbers.take(configuration.tasks().len()).collect();
        let domain = Domain {
            cpus: cpus.clone(),
            tasks: tasks.clone(),
            guarantee,
        };
        Self {
            cpus,
            tasks,
            configuration,
            domains: vec![domain],
        }
    }

    /// Whether nothing is promised in any of its domains.
    #[must_use]
    pub fn promises_nothing(&self) -> bool {
        let mut domains = self.domains.iter();
        domains.all(|domain| domain.guarantee.terms == Terms::Nothing)
    }

    /// Whether jobs go by virtual deadlines while their limits are those of the mode: EDF-VD.
    #[must_use]
    pub fn has_virtual_deadlines(&self) -> bool {
        let by_deadline = |task| matches!(self.configuration.rank(task), Some(Rank::DueAfter(_)));
        let is_adaptive = matches!(self.limits(), Some((Enforcement::Adaptive, _)));
        is_adaptive && (0..self.tasks.len()).all(by_deadline)
    }

    /// The place among the domains of the one that has this task of the cluster.
    #[must_use]
    pub fn domain_of(&self, task: TaskId) -> Option<usize> {
        self.domains
            .iter()
            .position(|domain| domain.tasks.contains(&task))
    }

    /// The CPU whose own a domain is, as the system numbers it: its only one, which no domain before it has. Other
    /// domains are shared.
    #[must_use]
    pub fn own_cpu(&self, domain: usize) -> Option<CpuId> {
        let [cpu] = self.domains.get(domain)?.cpus.as_slice() else {
            return None;
        };
        let mut before = self.domains.iter().take(domain);
        let is_free = before.all(|other| !other.cpus.contains(cpu));
        let outside = self.cpus.get(cpu.index()).copied();
        outside.filter(|_| is_free)
    }

    /// The CPU of each task inside of it, where the tasks are divided up among several; else none is listed.
    #[must_use]
    pub fn homes(&self) -> Vec<CpuId> {
        let Configuration::Frames(frames) = &self.configuration else {
            return Vec::new();
        };
        let tasks = (0..).map(TaskId).take(self.tasks.len());
        tasks
            .map(|task| frames.home(task).unwrap_or(CpuId(0)))
            .collect()
    }

    /// The limits under which its only domain guarantees deadlines, if that is what it guarantees.
    #[must_use]
    pub fn limits(&self) -> Option<(Enforcement, Exhaustion)> {
        match self.domains.as_slice() {
            [domain] => match domain.guarantee.terms {
                Terms::Deadlines {
                    enforcement,
                    exhaustion,
                } => Some((enforcement, exhaustion)),
                Terms::Servers | Terms::Tardiness(_) | Terms::Nothing => None,
            },
            _ => None,
        }
    }

    /// Levels of MC² of which deadlines or tardiness are guaranteed, and how late jobs of the domain that all CPUs have in common are at
    /// most, by task of the cluster; if that is what it guarantees.
    #[must_use]
    pub fn guaranteed_levels(&self) -> Option<(&Levels, &[Option<Duration>])> {
        let levels = self.configuration.levels()?;
        let mut terms = self.domains.iter().map(|domain| &domain.guarantee.terms);
        terms.find_map(|terms| match terms {
            Terms::Tardiness(late) => Some((levels, late.as_slice())),
            Terms::Deadlines { .. } | Terms::Servers | Terms::Nothing => None,
        })
    }

    /// The servers whose jobs its only domain guarantees deadlines, if that is what it guarantees.
    #[must_use]
    pub fn guaranteed_servers(&self) -> Option<&Servers> {
        let servers = self.configuration.servers()?;
        self.of_servers().map(|_| servers)
    }

    /// By server and by mode, the bounds that prove what its only domain guarantees of servers; empty without a proof.
    #[must_use]
    pub fn server_bounds(&self) -> &[Vec<Option<Duration>>] {
        self.of_servers().map_or(&[], |of| of.bounds.as_slice())
    }

    fn of_servers(&self) -> Option<&Guarantee> {
        match self.domains.as_slice() {
            [domain] if domain.guarantee.terms == Terms::Servers => Some(&domain.guarantee),
            _ => None,
        }
    }
}

impl System {
    /// The test that proves every domain; `None` if one of them is not proved.
    #[must_use]
    pub fn proved_by(&self) -> Option<&str> {
        let mut by = None;
        for domain in self.domains() {
            match &domain.guarantee.proof {
                Proof::Proved { by: test } => by = Some(test.as_str()),
                Proof::Unproved { .. }
                | Proof::NotCovered { .. }
                | Proof::NoTest
                | Proof::NotAsked => {
                    return None;
                }
            }
        }
        by
    }

    /// Why only the simulator has a world for it, if so.
    #[must_use]
    pub fn only_simulated(&self) -> Option<Refusal> {
        let is_global =
            |cluster: &&Cluster| cluster.cpus.len() > 1 && cluster.configuration.frames().is_none();
        let cluster = self.clusters.iter().find(is_global)?;
        let why = match cluster.configuration.levels() {
            Some(_) => "levels C and D of several CPUs (mc2) are for simulations in this version",
            None => "several CPUs with one queue are for simulations in this version",
        };
        let help = "use `vestal simulate`, or a set for one CPU";
        Some(Refusal::input(why).with_help(help))
    }

    /// The cluster of a task and its number there; `None` if there is no such task.
    #[must_use]
    pub fn cluster_of(&self, task: TaskId) -> Option<(&Cluster, TaskId)> {
        self.clusters.iter().find_map(|cluster| {
            let place = cluster.tasks.iter().position(|&known| known == task)?;
            Some((cluster, TaskId(u16::try_from(place).ok()?)))
        })
    }

    /// The CPU of a task whose domain is a CPU's own ([`Cluster::own_cpu`]), and of one with a place in a frame table;
    /// `None` for one that all CPUs of its cluster serve, even if that is one.
    #[must_use]
    pub fn cpu_of(&self, task: TaskId) -> Option<CpuId> {
        let (cluster, task) = self.cluster_of(task)?;
        if let Configuration::Frames(frames) = &cluster.configuration {
            return cluster.cpus.get(frames.home(task)?.index()).copied();
        }
        cluster.own_cpu(cluster.domain_of(task)?)
    }

    /// The domains of all clusters.
    pub fn domains(&self) -> impl Iterator<Item = &Domain> + Clone {
        self.clusters.iter().flat_map(|cluster| &cluster.domains)
    }

    /// Where the order comes from and what is guaranteed, in a line.
    #[must_use]
    pub fn description(&self) -> String {
        let origin = &self.origin;
        match self.weakest() {
            Proof::Proved { by } => format!("{origin}; {by} proves the set schedulable"),
            Proof::Unproved { by, says, .. } => format!("{origin}; {by} {says}"),
            Proof::NotCovered { by, .. } => format!("{origin}; {by} proves the set schedulable"),
            Proof::NoTest => format!("{origin}; no run of {} relies on a test", self.policy),
            Proof::NotAsked => origin.clone(),
        }
    }

    /// What a person must know before trusting a run.
    #[must_use]
    pub fn doubt(&self) -> Option<String> {
        let unproved = |doubt: String, why: &Option<String>| {
            let why = why
                .as_ref()
                .map_or_else(String::new, |why| format!(": {why}"));
            format!(
                "{doubt}, so nothing is guaranteed{why}; the order used is: {}",
                self.origin
            )
        };
        match self.weakest() {
            Proof::Proved { .. } | Proof::NotAsked => None,
            Proof::Unproved { by, says, why } => Some(unproved(format!("{by} {says}"), why)),
            Proof::NotCovered { by, what } => Some(format!(
                "{what}: what {} guarantees is not covered by its test {by} any more",
                self.policy
            )),
            Proof::NoTest => Some(unproved(
                format!("no run of {} relies on a test", self.policy),
                &None,
            )),
        }
    }

    /// The first proof that is none.
    fn weakest(&self) -> &Proof {
        let mut proofs = self.domains().map(|domain| &domain.guarantee.proof);
        let first = proofs.clone().next().unwrap_or(&Proof::NoTest);
        proofs
            .find(|proof| !matches!(proof, Proof::Proved { .. }))
            .unwrap_or(first)
    }
}
