//! What the manager of a CPU works with.

mod record;

pub(crate) use record::ManagerRecord;
