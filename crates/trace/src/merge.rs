//! One stream from several: the records of each thread's ring, by their instants.

use crate::record::Record;
use alloc::vec::Vec;
use core::iter::Peekable;

/// Merges streams that are each in the order of time. Records of one instant come in the order of the
/// streams; inside a stream nothing changes places. O(number of streams) for each record, constant
/// memory.
pub fn merge<I>(streams: impl IntoIterator<Item = I>) -> Merge<I::IntoIter>
where
    I: IntoIterator<Item = Record>,
{
    Merge {
        streams: streams
            .into_iter()
            .map(|stream| stream.into_iter().peekable())
            .collect(),
    }
}

/// What [`merge`] returns.
#[derive(Clone, Debug)]
pub struct Merge<I: Iterator<Item = Record>> {
    streams: Vec<Peekable<I>>,
}

impl<I: Iterator<Item = Record>> Iterator for Merge<I> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        let mut earliest = None;
        for (index, stream) in self.streams.iter_mut().enumerate() {
            if let Some(record) = stream.peek()
                && earliest.is_none_or(|(at, _)| record.at < at)
            {
                earliest = Some((record.at, index));
            }
        }
        let (_, index) = earliest?;
        self.streams.get_mut(index)?.next()
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
}
