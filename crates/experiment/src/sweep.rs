//! Sweeps: all sets of an experiment, in chunks that may be computed anywhere and in any order.
//!
//! The seed of set `index` at point `point` is `derived_seed(seed, &[point, index])`, so a chunk
//! depends on nothing but the experiment. A chunk is a file; what is there has been done. The merged
//! result is read from the chunks in their order. So it is the same, byte by byte, for any number of
//! threads, shards and deaths.

use crate::evaluate::{Evaluator, Question};
use crate::file::{Experiment, Point};
use crate::store::{Store, StoreError};
use crate::summary;
use crate::table::Table;
use rayon::prelude::*;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use vestal_workload::generate::derived_seed;

/// A part of an experiment: shard `number` of `count`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which one, from 1.
    pub number: u64,
    /// Of how many.
    pub count: u64,
}

impl Shard {
    /// The whole experiment.
    pub const ALL: Self = Self {
        number: 1,
        count: 1,
    };

    /// From `3/16`; `None` unless 1 <= number <= count.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (number, count) = text.split_once('/')?;
        let (number, count) = (number.parse().ok()?, count.parse().ok()?);
        (1 <= number && number <= count).then_some(Self { number, count })
    }

    /// Every `count`-th chunk, so that the dear points at the end of an axis are dealt out.
    fn has(self, chunk: usize) -> bool {
        chunk as u64 % self.count == self.number - 1
    }
}

/// How a sweep is run.
pub struct Running<'a> {
    /// The part to compute.
    pub shard: Shard,
    /// How many threads; 0: one for each CPU.
    pub jobs: usize,
    /// Set from outside to stop early.
    pub stop: &'a AtomicBool,
    /// Told after each chunk how many sets are done.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

/// What a sweep came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Sets that were computed by this call.
    pub computed: u64,
    /// Chunks of the whole experiment that are there, and how many there will be.
    pub chunks: (u64, u64),
    /// Whether the results were written: all chunks are there.
    pub complete: bool,
    /// Somebody asked to stop.
    pub stopped: bool,
}

/// Why a sweep failed.
#[derive(Debug)]
pub enum SweepError {
    /// The result directory.
    Store(StoreError),
    /// The recipe gave no set, or one that no test takes.
    Set {
        /// At which point.
        point: usize,
        /// Which set.
        index: u32,
        /// Why.
        why: String,
    },
    /// A bug of ours, or of a library.
    Internal(String),
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Set { point, index, why } => write!(f, "set {index} of point {point}: {why}"),
            Self::Internal(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for SweepError {}

impl From<StoreError> for SweepError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// A chunk: a run of sets of one point.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    point: usize,
    number: u32,
}

impl Chunk {
    fn name(self) -> String {
        Store::chunk_name(self.point, self.number)
    }
}

/// The seed of a set.
#[must_use]
pub fn seed_of(experiment: &Experiment, point: usize, index: u32) -> u64 {
    derived_seed(experiment.seed, &[point as u64, u64::from(index)])
}

/// Computes what is missing of a shard, and writes the results if the experiment is complete then.
///
/// # Errors
/// [`SweepError`]; what was computed before stays.
pub fn sweep(
    experiment: &Experiment,
    questions: &[Question],
    store: &Store,
    running: &Running<'_>,
) -> Result<Report, SweepError> {
    let points = experiment.points();
    let per_point = experiment.chunks_per_point();
    let chunks: Vec<Chunk> = (0..points.len())
        .flat_map(|point| (0..per_point).map(move |number| Chunk { point, number }))
        .collect();
    let is_there = |chunk: &Chunk| store.path(&chunk.name()).exists();
    let missing: Vec<Chunk> = (0..)
        .zip(&chunks)
        .filter(|(at, chunk)| running.shard.has(*at) && !is_there(chunk))
        .map(|(_, chunk)| *chunk)
        .collect();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(running.jobs)
        .build();
    let pool = pool.map_err(|error| SweepError::Internal(error.to_string()))?;
    let done = AtomicU64::new(0);
    pool.install(|| {
        missing
            .par_iter()
            .try_for_each_init(Evaluator::default, |evaluator, chunk| {
                let point = &points[chunk.point];
                let Some(table) = compute(
                    experiment,
                    questions,
                    point,
                    *chunk,
                    evaluator,
                    running.stop,
                )?
                else {
                    return Ok(());
                };
                let bytes = table
                    .to_parquet(&store.manifest.columns, &store.manifest.fingerprint)
                    .map_err(|error| SweepError::Internal(error.to_string()))?;
                store.write(&chunk.name(), &bytes)?;
                let rows = table.rows() as u64;
                (running.progress)(done.fetch_add(rows, Ordering::Relaxed) + rows);
                Ok::<(), SweepError>(())
            })
    })?;
    let there = chunks.iter().filter(|chunk| is_there(chunk)).count();
    let complete = there == chunks.len();
    if complete {
        merge(experiment, &points, &chunks, store)?;
    }
    Ok(Report {
        computed: done.into_inner(),
        chunks: (there as u64, chunks.len() as u64),
        complete,
        stopped: running.stop.load(Ordering::Relaxed),
    })
}

/// The answers for one chunk; `None` if somebody asked to stop.
fn compute(
    experiment: &Experiment,
    questions: &[Question],
    point: &Point,
    chunk: Chunk,
    evaluator: &mut Evaluator,
    stop: &AtomicBool,
) -> Result<Option<Table>, SweepError> {
    let mut table = Table::new(questions.len());
    for index in indices(experiment, chunk) {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let seed = seed_of(experiment, chunk.point, index);
        let failed = |why: String| SweepError::Set {
            point: chunk.point,
            index,
            why,
        };
        let set = point
            .recipe
            .draw(seed)
            .map_err(|error| failed(error.to_string()))?;
        let answers = evaluator.answers(&set, seed, questions).map_err(failed)?;
        let number = u32::try_from(chunk.point).unwrap_or(u32::MAX);
        table.push(number, index, seed, &answers);
    }
    Ok(Some(table))
}

fn indices(experiment: &Experiment, chunk: Chunk) -> std::ops::Range<u32> {
    let first = chunk.number * experiment.chunk;
    first..first.saturating_add(experiment.chunk).min(experiment.sets)
}

/// All chunks as one table, and what follows from it.
fn merge(
    experiment: &Experiment,
    points: &[Point],
    chunks: &[Chunk],
    store: &Store,
) -> Result<(), SweepError> {
    let columns = &store.manifest.columns;
    let mut table = Table::new(columns.len());
    for chunk in chunks {
        let path = store.path(&chunk.name());
        let damaged = |what: String| StoreError::Damaged {
            path: path.clone(),
            what,
        };
        let part = Table::read(&path, columns, &store.manifest.fingerprint).map_err(damaged)?;
        let expected = indices(experiment, *chunk);
        let fits = part.indices.iter().copied().eq(expected)
            && part
                .points
                .iter()
                .all(|&point| point as usize == chunk.point)
            && part
                .seeds
                .iter()
                .zip(&part.indices)
                .all(|(&seed, &index)| seed == seed_of(experiment, chunk.point, index));
        if !fits {
            return Err(damaged("its sets are not those of its name".to_owned()).into());
        }
        table.append(part);
    }
    let bytes = table
        .to_parquet(columns, &store.manifest.fingerprint)
        .map_err(|error| SweepError::Internal(error.to_string()))?;
    let summary = summary::Summary::new(experiment, points, columns, &table);
    store.write("results.parquet", &bytes)?;
    store.write("summary.csv", summary.to_csv().as_bytes())?;
    store.write("pairs.csv", summary.pairs_csv().as_bytes())?;
    if let Some(text) = summary.weighted_csv() {
        store.write("weighted.csv", text.as_bytes())?;
    }
    store.sweep_temporaries()?;
    Ok(())
}

/// The merged table of a complete result.
///
/// # Errors
/// [`StoreError::Damaged`] if it is not what was written.
pub fn results(store: &Store) -> Result<Table, StoreError> {
    let path = store.path("results.parquet");
    Table::read(&path, &store.manifest.columns, &store.manifest.fingerprint)
        .map_err(|what| StoreError::Damaged { path, what })
}
