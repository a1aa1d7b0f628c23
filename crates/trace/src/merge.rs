//! One stream from several: the records of each thread's ring, by their instants.

use crate::record::{DomainId, Record, What};
use alloc::vec::Vec;
use core::iter::Peekable;
use vestal_core::Instant;

/// Merges streams that are each in the order of time. Records of one instant come in the order of the
/// streams; inside a stream nothing changes places. Each stream says by itself whose records it has; in the merged
/// one the domain is said where it changes. O(number of streams) for each record, constant memory.
pub fn merge<I>(streams: impl IntoIterator<Item = I>) -> Merge<I::IntoIter>
where
    I: IntoIterator<Item = Record>,
{
    let stream = |stream: I| Stream {
        records: stream.into_iter().peekable(),
        domain: DomainId::FIRST,
    };
    Merge {
        streams: streams.into_iter().map(stream).collect(),
        present: DomainId::FIRST,
    }
}

/// What [`merge`] returns.
#[derive(Clone, Debug)]
pub struct Merge<I: Iterator<Item = Record>> {
    streams: Vec<Stream<I>>,
    /// The domain that has the word in what was given out.
    present: DomainId,
}

#[derive(Clone, Debug)]
struct Stream<I: Iterator<Item = Record>> {
    records: Peekable<I>,
    /// The domain that has the word in this stream.
    domain: DomainId,
}

impl<I: Iterator<Item = Record>> Stream<I> {
    /// The instant of the next record, once the domain it belongs to is known.
    fn next_at(&mut self) -> Option<Instant> {
        while let What::Domain { domain } = self.records.peek()?.what {
            self.domain = domain;
            self.records.next();
        }
        self.records.peek().map(|record| record.at)
    }
}

impl<I: Iterator<Item = Record>> Iterator for Merge<I> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        let mut earliest = None;
        for (index, stream) in self.streams.iter_mut().enumerate() {
            if let Some(at) = stream.next_at()
                && earliest.is_none_or(|(before, _)| at < before)
            {
                earliest = Some((at, index));
            }
        }
        let (at, index) = earliest?;
        let stream = self.streams.get_mut(index)?;
        if stream.domain != self.present {
            self.present = stream.domain;
            let domain = self.present;
            let what = What::Domain { domain };
            return Some(Record { at, what });
        }
        stream.records.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::What;
    use alloc::vec;
    use vestal_core::Instant;

    fn lost(at: u64, count: u64) -> Record {
        let at = Instant::from_nanos(at);
        let what = What::Lost { count };
        Record { at, what }
    }

    #[test]
    fn records_of_one_instant_keep_the_order_of_the_streams() {
        let first = vec![lost(1, 1), lost(5, 2), lost(5, 3)];
        let second = vec![lost(0, 4), lost(5, 5), lost(9, 6)];
        let merged: Vec<_> = merge([first, second]).collect();
        let expected = [(0, 4), (1, 1), (5, 2), (5, 3), (5, 5), (9, 6)];
        assert_eq!(merged, expected.map(|(at, count)| lost(at, count)));
    }
    fn domain(at: u64, domain: u16) -> Record {
        let domain = DomainId(domain);
        let what = What::Domain { domain };
        let at = Instant::from_nanos(at);
        Record { at, what }
    }

    #[test]
    fn each_record_stays_in_its_domain() {
        let first = vec![lost(1, 1), domain(5, 2), lost(5, 2), lost(7, 3)];
        let second = vec![domain(2, 1), lost(2, 4), lost(3, 5), lost(6, 6)];
        let merged: Vec<_> = merge([first, second]).collect();
        let expected = [
            lost(1, 1),
            domain(2, 1),
            lost(2, 4),
            lost(3, 5),
            domain(5, 2),
            lost(5, 2),
            domain(6, 1),
            lost(6, 6),
            domain(7, 2),
            lost(7, 3),
        ];
        assert_eq!(merged, expected);
    }
}
