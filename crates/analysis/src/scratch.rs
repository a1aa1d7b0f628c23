//! Memory of the fast paths.

use crate::change_instants::ChangeTables;
use crate::demand::Demand;
use crate::interference::InterferenceTables;
use crate::job_order::JobTables;
use crate::slack::SlackTables;
use crate::slices::SlicedTables;
use crate::tables::Tables;
use vestal_core::model::LEVELS_MAX;

/// Memory that the fast path of a test uses again and again instead of allocating. One for each
/// thread; what it contains between two calls has no meaning.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Tables of tasks.
    pub(crate) tables: Tables,
    /// Jobs counted, one collection for each level.
    pub(crate) demands: [Demand; LEVELS_MAX],
    /// What the search over change instants counts.
    pub(crate) changes: ChangeTables,
    /// What zero-slack instants are found with.
    pub(crate) slack: SlackTables,
    /// What the search of AMC-IA counts.
    pub(crate) interference: InterferenceTables,
    /// Tasks in slices.
    pub(crate) sliced: SlicedTables,
    /// What the tests of fixed job priorities count.
    pub(crate) jobs: JobTables,
}
