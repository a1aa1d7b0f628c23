//! Values of parameters without their types, and the types that parameters have.

use super::Ratio;
use super::parts::{DispatchTable, FrameBarriers, FrameMap, ServerParameters};
use vestal_core::{CpuId, Duration, SliceCount, Task};

/// The values of a parameter without its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// For [`super::Shape::EachTask`] with whole numbers.
    Numbers(Vec<u64>),
    /// For [`super::Shape::EachTask`] and [`super::Shape::EachLevel`] with times.
    Times(Vec<Duration>),
    /// For [`super::Shape::ListEachTask`].
    Lists(Vec<Vec<u64>>),
    /// For [`super::Shape::Single`].
    Fraction(Ratio),
    /// For [`super::Shape::SomeTasks`] with CPUs.
    Cpus(Vec<Option<CpuId>>),
    /// For [`super::Shape::SomeTasks`] with times.
    SomeTimes(Vec<Option<Duration>>),
    /// For [`super::Shape::EachCpu`].
    Tables(Vec<DispatchTable>),
    /// For [`super::Shape::EachFrame`]: what runs in each.
    Frames(FrameMap),
    /// For [`super::Shape::EachFrame`]: how long each part of it takes.
    Barriers(FrameBarriers),
    /// For [`super::Shape::EachServer`].
    Servers(Vec<ServerParameters>),
}

/// A type that values of a parameter have.
pub(super) trait Column: Clone {
    fn values(&self) -> Values;
    fn of(values: Values, tasks: &[Task]) -> Option<Self>;
}

impl Column for Vec<u32> {
    fn values(&self) -> Values {
        Values::Numbers(self.iter().copied().map(u64::from).collect())
    }
    fn of(values: Values, _: &[Task]) -> Option<Self> {
        numbers(values)?
            .into_iter()
            .map(|value| u32::try_from(value).ok())
            .collect()
    }
}

impl Column for Vec<SliceCount> {
    fn values(&self) -> Values {
        Values::Numbers(self.iter().map(|count| u64::from(count.get())).collect())
    }
    fn of(values: Values, tasks: &[Task]) -> Option<Self> {
        let given = numbers(values)?;
        let pairs = tasks
            .iter()
            .zip(&given)
            .filter(|_| tasks.len() == given.len());
        let counts = pairs.map(|(task, count)| SliceCount::new(u32::try_from(*count).ok()?, task));
        counts.collect()
    }
}

impl<T: Copy + Into<u64> + TryFrom<u64>> Column for Vec<Vec<T>> {
    fn values(&self) -> Values {
        let lists = self
            .iter()
            .map(|list| list.iter().copied().map(T::into).collect());
        Values::Lists(lists.collect())
    }
    fn of(values: Values, _: &[Task]) -> Option<Self> {
        let Values::Lists(lists) = values else {
            return None;
        };
        let list = |list: Vec<u64>| {
            list.into_iter()
                .map(|value| T::try_from(value).ok())
                .collect()
        };
        lists.into_iter().map(list).collect()
    }
}

fn numbers(values: Values) -> Option<Vec<u64>> {
    if let Values::Numbers(numbers) = values {
        Some(numbers)
    } else {
        None
    }
}

/// Types that stand among the values as they are.
macro_rules! columns {
    ($($type:ty: $variant:ident,)*) => {
        $(impl Column for $type {
            fn values(&self) -> Values {
                Values::$variant(self.clone())
            }
            fn of(values: Values, _: &[Task]) -> Option<Self> {
                if let Values::$variant(found) = values {
                    Some(found)
                } else {
                    None
                }
            }
        })*
    };
}

columns! {
    Vec<Duration>: Times,
    Ratio: Fraction,
    Vec<Option<CpuId>>: Cpus,
    Vec<Option<Duration>>: SomeTimes,
    Vec<DispatchTable>: Tables,
    FrameMap: Frames,
    FrameBarriers: Barriers,
    Vec<ServerParameters>: Servers,
}
