//! Several scheduling domains in one recording: who writes in which domain, and with which numbers.
//!
//! ```text
//!   recorder of domain 0 --> InDomain (numbers of cluster 0) --+
//!   what the world saw   --> InDomain                        --+--> Domains --> one sink
//!   recorder of domain 1 --> InDomain (numbers of cluster 1) --+    puts `domain` where it changes
//! ```
//! A recorder and a world know one cluster, whose tasks and CPUs are counted from 0. An [`InDomain`] gives their
//! records the numbers of the task set, and a [`Domains`] says in the stream where another domain has the word. Both
//! are sinks: a recording of one domain is written without them, and costs what it did.
//!
//! Numbers are translated both ways, and none is lost: a task that a scheduler does not know has a number in the file
//! as well, from which the same unknown number comes back.

use crate::header::Header;
use crate::record::{DomainId, Record, What, renumbered_fact};
use crate::recorder::{Recorder, Sink};
use alloc::vec::Vec;
use core::cell::RefCell;
use vestal_core::{CpuId, Fact, Scheduler, TaskId};

/// A domain of a recording, and what its cluster's tasks and CPUs are called in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    domain: DomainId,
    tasks: Numbers,
    cpus: Numbers,
    permits: usize,
}

impl Scope {
    /// The domain of this number, in a cluster with these tasks and these CPUs: a number inside of the cluster is the
    /// place in the list.
    #[must_use]
    pub fn new(domain: DomainId, tasks: &[TaskId], cpus: &[CpuId]) -> Self {
        Self {
            domain,
            tasks: Numbers::new(tasks.iter().map(|task| task.0)),
            cpus: Numbers::new(cpus.iter().map(|cpu| cpu.0)),
            permits: tasks.len(),
        }
    }

    /// The scope of a domain that is a cluster by itself; of the only domain, if the header names none. `None` if there
    /// is no such domain, or there are others in its cluster.
    #[must_use]
    pub fn of(header: &Header, domain: DomainId) -> Option<Self> {
        if header.domains.is_empty() {
            let whole = || Self {
                permits: header.tasks.len(),
                ..Self::new(domain, &[], &[])
            };
            return (domain == DomainId::FIRST).then(whole);
        }
        let own = header.domains.get(domain.index())?;
        let mut same = header.domains.iter();
        let alone = same.all(|other| other == own || other.cluster != own.cluster);
        alone.then(|| Self::new(domain, &own.tasks, &own.cpus))
    }

    /// The domain.
    #[must_use]
    pub const fn domain(&self) -> DomainId {
        self.domain
    }

    /// How many tasks the cluster has.
    #[must_use]
    pub const fn tasks(&self) -> usize {
        self.permits
    }

    /// The record with the numbers of the file. O(1) for each number that the cluster knows.
    #[must_use]
    pub fn to_file(&self, record: Record) -> Record {
        record.renumbered(
            |task| TaskId(self.tasks.outside(task.0)),
            |cpu| CpuId(self.cpus.outside(cpu.0)),
        )
    }

    /// The record with the numbers of the cluster: the inverse of [`Self::to_file`]. O(log tasks).
    #[must_use]
    pub fn to_cluster(&self, record: Record) -> Record {
        record.renumbered(self.task_inside(), self.cpu_inside())
    }

    /// The same of a fact alone: what the domain's scheduler was told.
    #[must_use]
    pub fn fact_to_cluster(&self, fact: Fact) -> Fact {
        renumbered_fact(fact, self.task_inside(), self.cpu_inside())
    }

    fn task_inside(&self) -> impl Fn(TaskId) -> TaskId {
        |task| TaskId(self.tasks.inside(task.0))
    }

    fn cpu_inside(&self) -> impl Fn(CpuId) -> CpuId {
        |cpu| CpuId(self.cpus.inside(cpu.0))
    }
}

/// A permutation of all numbers: those inside of a cluster go to the listed ones, the others to the rest, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Numbers {
    /// The number in the file for each number inside.
    outside: Vec<u16>,
    /// The same by the number in the file, with that inside.
    sorted: Vec<(u16, u16)>,
}

impl Numbers {
    fn new(outside: impl Iterator<Item = u16>) -> Self {
        let outside: Vec<u16> = outside.collect();
        let mut sorted: Vec<(u16, u16)> = outside.iter().copied().zip(0..=u16::MAX).collect();
        sorted.sort_unstable();
        Self { outside, sorted }
    }

    #[inline]
    fn outside(&self, inside: u16) -> u16 {
        match self.outside.get(usize::from(inside)) {
            Some(number) => *number,
            None => self.rest(inside),
        }
    }

    /// The number for one that the cluster does not know: as many as lie behind its own are passed over in the file.
    #[cold]
    fn rest(&self, inside: u16) -> u16 {
        let own = u16::try_from(self.outside.len()).unwrap_or(u16::MAX);
        let mut number = inside.saturating_sub(own);
        for (taken, _) in &self.sorted {
            if *taken <= number {
                number = number.saturating_add(1);
            }
        }
        number
    }

    fn inside(&self, outside: u16) -> u16 {
        let found = self.sorted.binary_search_by_key(&outside, |entry| entry.0);
        match found {
            Ok(place) => self.sorted.get(place).map_or(outside, |entry| entry.1),
            Err(lower) => {
                let above = self.sorted.len().saturating_sub(lower);
                let above = u16::try_from(above).unwrap_or(u16::MAX);
                outside.saturating_add(above)
            }
        }
    }
}

/// Where the records of several domains go.
pub trait DomainSink {
    /// Takes a record of this domain, with the numbers of the file.
    fn put_in(&mut self, domain: DomainId, record: Record);

    /// Whether the records are wanted. If not, none are made.
    fn is_open(&self) -> bool {
        true
    }
}

impl<D: DomainSink + ?Sized> DomainSink for &mut D {
    fn put_in(&mut self, domain: DomainId, record: Record) {
        (**self).put_in(domain, record);
    }
    fn is_open(&self) -> bool {
        (**self).is_open()
    }
}

/// Several domains take turns, as with [`Sink`].
impl<D: DomainSink + ?Sized> DomainSink for &RefCell<D> {
    fn put_in(&mut self, domain: DomainId, record: Record) {
        if let Ok(mut sink) = self.try_borrow_mut() {
            sink.put_in(domain, record);
        }
    }
    fn is_open(&self) -> bool {
        self.try_borrow().is_ok_and(|sink| sink.is_open())
    }
}

/// A sink that several domains share: says in the stream which of them has the word, where that changes.
#[derive(Clone, Debug, Default)]
pub struct Domains<K> {
    sink: K,
    present: DomainId,
}

impl<K: Sink> Domains<K> {
    /// In front of a sink that is empty.
    pub const fn new(sink: K) -> Self {
        let present = DomainId::FIRST;
        Self { sink, present }
    }

    /// The sink behind it.
    pub fn into_inner(self) -> K {
        self.sink
    }

    /// The same, to look at. What is put there by hand belongs to the domain that had the word last.
    pub const fn sink_mut(&mut self) -> &mut K {
        &mut self.sink
    }
}

impl<K: Sink> DomainSink for Domains<K> {
    #[inline]
    fn put_in(&mut self, domain: DomainId, record: Record) {
        if domain != self.present {
            let at = record.at;
            let what = What::Domain { domain };
            // If there is no room for this one, the record it is for would stand in another domain: that is lost, and
            // the sink has counted it.
            if !self.sink.try_put(Record { at, what }) {
                return;
            }
            self.present = domain;
        }
        self.sink.put(record);
    }
    fn is_open(&self) -> bool {
        self.sink.is_open()
    }
}

/// A sink for one domain, whose records have the numbers of its cluster.
#[derive(Clone, Copy, Debug)]
pub struct InDomain<'a, D> {
    sink: D,
    scope: &'a Scope,
}

impl<'a, D: DomainSink> InDomain<'a, D> {
    /// What a recorder or a world of this scope writes to.
    pub const fn new(sink: D, scope: &'a Scope) -> Self {
        Self { sink, scope }
    }
}

impl<D: DomainSink> Sink for InDomain<'_, D> {
    fn put(&mut self, record: Record) {
        let record = self.scope.to_file(record);
        self.sink.put_in(self.scope.domain, record);
    }
    fn is_open(&self) -> bool {
        self.sink.is_open()
    }
}

impl<'a, S: Scheduler, D: DomainSink> Recorder<S, InDomain<'a, D>> {
    /// Records one of several domains: [`Recorder::new`] in front of an [`InDomain`].
    pub const fn of_domain(inner: S, sink: D, scope: &'a Scope) -> Self {
        Self::new(inner, InDomain::new(sink, scope))
    }

    /// The same, with the permits of the cluster's tasks.
    pub fn of_domain_with_permits(inner: S, sink: D, scope: &'a Scope) -> Self {
        Self::with_permits(inner, InDomain::new(sink, scope), scope.tasks())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::channel;
    use alloc::vec;
    use alloc::vec::Vec;
    use vestal_core::{Instant, JobId};

    #[test]
    fn every_number_comes_back_and_those_of_the_cluster_are_the_listed_ones() {
        for list in [
            &[][..],
            &[0],
            &[7],
            &[3, 0, 65_535],
            &[1, 2, 0],
            &[5, 4, 9, 65_534],
        ] {
            let numbers = Numbers::new(list.iter().copied());
            let mut seen = vec![false; 1 << 16];
            for inside in 0..=u16::MAX {
                let outside = numbers.outside(inside);
                assert_eq!(numbers.inside(outside), inside, "{list:?}");
                assert!(!std::mem::replace(&mut seen[usize::from(outside)], true));
                if let Some(listed) = list.get(usize::from(inside)) {
                    assert_eq!(outside, *listed);
                }
            }
        }
    }

    fn release(task: u16) -> Record {
        let (task, sequence) = (TaskId(task), 0);
        let job = JobId { task, sequence };
        Record::fact(Instant::from_nanos(4), Fact::Released { job })
    }

    fn domain(domain: u16) -> Record {
        let domain = DomainId(domain);
        let what = What::Domain { domain };
        let at = Instant::from_nanos(4);
        Record { at, what }
    }

    #[test]
    fn the_stream_says_where_another_domain_has_the_word() {
        let shared = RefCell::new(Domains::new(Vec::new()));
        let scopes = [0, 1].map(|number| {
            let tasks = [TaskId(number), TaskId(number + 2)];
            Scope::new(DomainId(number), &tasks, &[CpuId(number)])
        });
        let [mut first, mut second] = scopes.each_ref().map(|scope| InDomain::new(&shared, scope));
        first.put(release(0));
        first.put(release(1));
        second.put(release(1));
        second.put(release(0));
        first.put(release(0));
        let records = shared.into_inner().into_inner();
        let expected = [
            release(0),
            release(2),
            domain(1),
            release(3),
            release(1),
            domain(0),
            release(0),
        ];
        assert_eq!(records, expected);
    }

    /// What is lost never makes the rest stand in another domain.
    #[test]
    fn a_full_ring_does_not_mix_domains_up() {
        let (producer, mut consumer) = channel(2);
        let mut domains = Domains::new(producer);
        domains.put_in(DomainId(0), release(0));
        domains.put_in(DomainId(0), release(0));
        domains.put_in(DomainId(1), release(1));
        assert_eq!(consumer.lost(), 1);
        assert_eq!([consumer.pop(), consumer.pop()], [Some(release(0)); 2]);
        domains.put_in(DomainId(1), release(1));
        assert_eq!(consumer.pop(), Some(domain(1)));
        assert_eq!(consumer.pop(), Some(release(1)));
    }
}
