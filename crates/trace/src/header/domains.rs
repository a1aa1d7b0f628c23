//! The scheduling domains of a recording, as the header names them.
//!
//! A line for each: `domain TAB name TAB cluster TAB CPUs TAB tasks`, the lists with commas. Files of one domain have
//! none, so they look as they did before there were several.

use super::{Header, HeaderError, number};
use crate::record::DomainId;
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use vestal_core::{CpuId, TaskId};

/// A scheduling domain of a recording. CPUs and tasks have the numbers of the task set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DomainInfo {
    /// Its name, for people.
    pub name: String,
    /// The cluster it is in: domains of one cluster are decided together. Counted from 0, in the order of the domains.
    pub cluster: u16,
    /// Its CPUs; if it is a cluster by itself, in the order in which its scheduler counts them. Domains of one cluster may
    /// have CPUs in common.
    pub cpus: Vec<CpuId>,
    /// Its tasks, in that order too. Each task is in one domain.
    pub tasks: Vec<TaskId>,
}

impl Header {
    /// Names the domains, or none if it is only one that has every CPU and every task in their order: such files need
    /// no translation.
    #[must_use]
    pub fn with_domains(mut self, domains: Vec<DomainInfo>) -> Self {
        let is_whole = |domain: &DomainInfo| {
            domain.cpus.iter().copied().eq((0..self.cpus).map(CpuId))
                && domain.tasks.iter().copied().eq(self.task_ids())
        };
        self.domains = match domains.as_slice() {
            [only] if is_whole(only) => Vec::new(),
            _ => domains,
        };
        self
    }

    /// How many domains are recorded: at least one.
    #[must_use]
    pub fn domain_count(&self) -> usize {
        self.domains.len().max(1)
    }

    /// The domains by their numbers: one if the header names none.
    pub fn domain_ids(&self) -> impl Iterator<Item = DomainId> + use<> {
        (0..=u16::MAX).map(DomainId).take(self.domain_count())
    }

    /// Whether the recording has a domain of this number.
    #[must_use]
    pub fn has_domain(&self, domain: DomainId) -> bool {
        domain.index() < self.domain_count()
    }

    /// What a domain is called; its number where it has no name.
    #[must_use]
    pub fn domain_name(&self, domain: DomainId) -> String {
        match self.domains.get(domain.index()) {
            Some(known) => known.name.clone(),
            None => domain.0.to_string(),
        }
    }

    /// The domain of a task; the first where the header names none.
    #[must_use]
    pub fn domain_of(&self, task: TaskId) -> DomainId {
        let mut numbered = self.domain_ids().zip(&self.domains);
        let own = numbered.find(|(_, domain)| domain.tasks.contains(&task));
        own.map_or(DomainId::FIRST, |(domain, _)| domain)
    }

    /// The only CPU of a domain; `None` if it has several.
    #[must_use]
    pub fn cpu_of(&self, domain: DomainId) -> Option<CpuId> {
        match self.domains.get(domain.index()) {
            Some(known) => match known.cpus.as_slice() {
                [cpu] => Some(*cpu),
                _ => None,
            },
            None => (self.domains.is_empty() && self.cpus == 1).then_some(CpuId(0)),
        }
    }

    /// Every task of the header.
    fn task_ids(&self) -> impl Iterator<Item = TaskId> + use<> {
        (0..=u16::MAX).map(TaskId).take(self.tasks.len())
    }

    /// Whether the domains fit together with each other, with the CPUs and with the tasks. `lines` says where each
    /// stands.
    pub(super) fn check_domains(&self, lines: &[usize]) -> Result<(), HeaderError> {
        let mut seen = Seen::default();
        for (domain, &line) in self.domains.iter().zip(lines) {
            let checked = seen.check(self, domain);
            checked.map_err(|what| HeaderError { line, what })?;
        }
        let missing = self.task_ids().find(|task| !seen.tasks.contains(task));
        match missing.filter(|_| !self.domains.is_empty()) {
            Some(task) => Err(HeaderError {
                line: lines.last().copied().unwrap_or(0),
                what: format!("task {} is in no domain", task.0),
            }),
            None => Ok(()),
        }
    }
}

/// What domains before have.
#[derive(Default)]
struct Seen {
    names: BTreeSet<String>,
    tasks: BTreeSet<TaskId>,
    /// Each CPU with its cluster.
    cpus: BTreeMap<CpuId, u16>,
    /// The number that the next new cluster has.
    clusters: u16,
}

impl Seen {
    fn check(&mut self, header: &Header, domain: &DomainInfo) -> Result<(), String> {
        if domain.name.is_empty() {
            return Err("the domain has no name".to_owned());
        }
        if !self.names.insert(domain.name.clone()) {
            let name = domain.name.escape_debug();
            return Err(format!("another domain is called `{name}`"));
        }
        let cluster = domain.cluster;
        if cluster == self.clusters {
            self.clusters = self.clusters.saturating_add(1);
        } else if cluster.checked_add(1) != Some(self.clusters) {
            return Err(format!(
                "cluster {cluster} stands where {} is next: clusters are counted from 0, in the order of the domains",
                self.clusters
            ));
        }
        if domain.cpus.is_empty() {
            return Err("the domain has no CPU".to_owned());
        }
        let mut own = BTreeSet::new();
        for &cpu in &domain.cpus {
            let number = cpu.0;
            if number >= header.cpus {
                return Err(format!("CPU {number} is none of {}", header.cpus));
            }
            if !own.insert(cpu) {
                return Err(format!("CPU {number} stands there twice"));
            }
            if *self.cpus.entry(cpu).or_insert(cluster) != cluster {
                return Err(format!("CPU {number} is in another cluster too"));
            }
        }
        for &task in &domain.tasks {
            let number = task.0;
            if task.index() >= header.tasks.len() {
                return Err(format!("task {number} is none of {}", header.tasks.len()));
            }
            if !self.tasks.insert(task) {
                return Err(format!("task {number} is in a domain already"));
            }
        }
        Ok(())
    }
}

/// A domain's values in the header's line.
pub(super) fn fields(domain: &DomainInfo) -> [String; 3] {
    let joined = |numbers: &mut dyn Iterator<Item = u16>| {
        let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
        numbers.join(",")
    };
    [
        domain.cluster.to_string(),
        joined(&mut domain.cpus.iter().map(|cpu| cpu.0)),
        joined(&mut domain.tasks.iter().map(|task| task.0)),
    ]
}

/// The domain of a line.
pub(super) fn of_fields([name, cluster, cpus, tasks]: [&str; 4]) -> Result<DomainInfo, String> {
    let list = |text: &str| -> Result<Vec<u16>, String> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        text.split(',').map(number).collect()
    };
    Ok(DomainInfo {
        name: name.to_owned(),
        cluster: number(cluster)?,
        cpus: list(cpus)?.into_iter().map(CpuId).collect(),
        tasks: list(tasks)?.into_iter().map(TaskId).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::TaskInfo;
    use alloc::vec;
    use vestal_core::{Duration, Level};

    fn domain(name: &str, cluster: u16, cpus: &[u16], tasks: &[u16]) -> DomainInfo {
        DomainInfo {
            name: name.to_owned(),
            cluster,
            cpus: cpus.iter().copied().map(CpuId).collect(),
            tasks: tasks.iter().copied().map(TaskId).collect(),
        }
    }

    /// Three CPUs and four tasks.
    fn header(domains: Vec<DomainInfo>) -> Header {
        let task = TaskInfo {
            name: "t".to_owned(),
            criticality: Level(0),
            period: Duration::ZERO,
            deadline: Duration::ZERO,
        };
        Header {
            cpus: 3,
            tasks: vec![task; 4],
            domains,
            ..Header::new("x")
        }
    }

    fn good() -> Vec<DomainInfo> {
        vec![
            domain("first\tCPU", 0, &[2], &[3, 0]),
            domain("local", 1, &[0], &[]),
            domain("shared", 1, &[0, 1], &[1, 2]),
        ]
    }

    #[test]
    fn domains_come_back_as_they_were_written_and_are_found_by_their_numbers() {
        let header = header(good());
        let text = header.to_text();
        assert!(
            text.contains("\ndomain\tfirst\\tCPU\t0\t2\t3,0\n"),
            "{text}"
        );
        assert_eq!(Header::from_text(&text), Ok(header.clone()));
        assert_eq!(header.domain_ids().count(), 3);
        assert_eq!(header.domain_name(DomainId(2)), "shared");
        let homes: Vec<u16> = (0..4)
            .map(|task| header.domain_of(TaskId(task)).0)
            .collect();
        assert_eq!(homes, [0, 2, 2, 0]);
        let cpus = [0, 1, 2, 3].map(|domain| header.cpu_of(DomainId(domain)));
        assert_eq!(cpus, [Some(CpuId(2)), Some(CpuId(0)), None, None]);
    }

    #[test]
    fn a_file_of_one_domain_says_nothing_of_domains() {
        let plain = header(Vec::new());
        assert!(!plain.to_text().contains("domain"));
        assert_eq!(plain.domain_count(), 1);
        assert!(plain.has_domain(DomainId(0)) && !plain.has_domain(DomainId(1)));
        let whole = domain("all", 0, &[0, 1, 2], &[0, 1, 2, 3]);
        assert_eq!(plain.clone().with_domains(vec![whole]), plain);
        // One domain in another order needs its translation.
        let turned = domain("all", 0, &[0, 2, 1], &[0, 1, 2, 3]);
        assert_eq!(plain.with_domains(vec![turned]).domains.len(), 1);
    }

    #[test]
    fn domains_that_do_not_fit_together_are_refused_with_their_line() {
        type Change = fn(&mut Vec<DomainInfo>);
        let cases: [(Change, usize, &str); 11] = [
            (|d| d[1].name.clear(), 1, "has no name"),
            (|d| d[2].name = "local".to_owned(), 2, "is called `local`"),
            (|d| d[0].cluster = 1, 0, "cluster 1 stands where 0"),
            (|d| d[2].cluster = 3, 2, "cluster 3 stands where 2"),
            (|d| d[1].cpus.clear(), 1, "has no CPU"),
            (|d| d[2].cpus[1] = CpuId(3), 2, "CPU 3 is none of 3"),
            (|d| d[2].cpus[1] = CpuId(0), 2, "CPU 0 stands there twice"),
            (
                |d| d[1].cpus[0] = CpuId(2),
                1,
                "CPU 2 is in another cluster",
            ),
            (|d| d[0].tasks[1] = TaskId(4), 0, "task 4 is none of 4"),
            (|d| d[2].tasks[0] = TaskId(3), 2, "task 3 is in a domain"),
            (|d| d[2].tasks.truncate(1), 2, "task 2 is in no domain"),
        ];
        let first = header(good());
        let first = first.to_text();
        let first = first.lines().position(|line| line.starts_with("domain"));
        for (change, place, expected) in cases {
            let mut domains = good();
            change(&mut domains);
            let error = Header::from_text(&header(domains).to_text()).unwrap_err();
            assert!(error.what.contains(expected), "{error}");
            assert_eq!(Some(error.line), first.map(|first| first + place + 1));
        }
        for list in ["0,", ",0", "00", "0, 1", "65536", "x"] {
            let text = header(good()).to_text();
            let text = text.replace("\t3,0\n", &format!("\t{list}\n"));
            let error = Header::from_text(&text).unwrap_err();
            assert!(error.what.contains("a whole number"), "{error}");
        }
    }
}
