//! Sweeps: all sets of an experiment, in chunks that may be computed anywhere and in any order.
//!
//! The seed of set `index` at point `point` is `derived_seed(seed, &[point, index])`, so a chunk
//! depends on nothing but the experiment. A chunk is a file; what is there and whole has been done, and
//! one that was damaged is computed again. The merged result is read from the chunks in their order. So it
//! is the same, byte by byte, for any number of threads, shards, deaths and damages.

use crate::charts;
use crate::evaluate::{Evaluator, Question, asks_about_tasks};
use crate::file::{Experiment, Point};
use crate::measure::Asked;
use crate::store::{Damage, Rows, Store, StoreError};
use crate::summary::Summary;
use crate::table::{Layout, Table, Width};
use rayon::prelude::*;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use vestal_workload::generate::{DrawError, derived_seed};

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
    /// Held for reading while a file of the result is written. Who ends the process in the middle of a sweep takes it for
    /// writing before: then none is being written, and none will be.
    pub writing: &'a RwLock<()>,
    /// What there is to say at any time.
    pub seen: &'a Seen,
    /// Called after each chunk how many sets are done.
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
    /// A stop was requested.
    pub stopped: bool,
    /// Files that were damaged and were written again.
    pub mended: Vec<Damage>,
    /// Chunks that are damaged still: they belong to other shards, or a stop was requested.
    pub damaged: Vec<Damage>,
}

/// What a sweep did and came upon until now, for who speaks of it before it has ended.
#[derive(Debug, Default)]
pub struct Seen {
    /// Sets that were computed.
    computed: AtomicU64,
    /// Chunks that were found whole, or written since.
    whole: AtomicU64,
    /// Files that were damaged and were written again.
    mended: Mutex<Vec<Damage>>,
}

impl Seen {
    /// A report of a sweep that is ended where it is, of an experiment of so many chunks. What other shards wrote meanwhile it
    /// does not have.
    #[must_use]
    pub fn report(&self, chunks_total: u64) -> Report {
        Report {
            computed: self.computed.load(Ordering::SeqCst),
            chunks: (self.whole.load(Ordering::SeqCst), chunks_total),
            complete: false,
            stopped: true,
            mended: self.mended().clone(),
            damaged: Vec::new(),
        }
    }

    /// Nothing panics with the lock.
    fn mended(&self) -> MutexGuard<'_, Vec<Damage>> {
        self.mended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A chunk of so many sets was written; says how many sets that makes.
    fn wrote(&self, sets: u64, instead_of: Option<Damage>) -> u64 {
        self.mended().extend(instead_of);
        self.whole.fetch_add(1, Ordering::SeqCst);
        self.computed.fetch_add(sets, Ordering::SeqCst) + sets
    }
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
    /// A bug of Vestal, or of a library.
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
    /// The name of its file.
    fn name(self) -> String {
        format!("chunks/{:05}-{:05}.parquet", self.point, self.number)
    }
}

/// The seed of a set.
#[must_use]
pub fn seed_of(experiment: &Experiment, point: usize, index: u32) -> u64 {
    derived_seed(experiment.seed, &[point as u64, u64::from(index)])
}

/// Computes what is missing or damaged of a shard, and writes the results if the experiment is complete
/// then.
///
/// # Errors
/// [`SweepError`]; what was computed before stays.
pub fn sweep(
    experiment: &Experiment,
    questions: &[Question<'_>],
    store: &Store,
    running: &Running<'_>,
) -> Result<Report, SweepError> {
    let points = experiment.points();
    let asked: Vec<Asked> = questions.iter().map(Question::asked).collect();
    let work = Work {
        experiment,
        questions,
        store,
        layout: Layout::new(experiment, &points, &store.manifest.fingerprint, &asked),
        asked: &asked,
        points: &points,
        about_tasks: asks_about_tasks(questions),
    };
    let per_point = experiment.chunks_per_point();
    let chunks: Vec<Chunk> = (0..points.len())
        .flat_map(|point| (0..per_point).map(move |number| Chunk { point, number }))
        .collect();
    let shard = (0..).zip(&chunks).filter(|(at, _)| running.shard.has(*at));
    let shard: Vec<Chunk> = shard.map(|(_, chunk)| *chunk).collect();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(running.jobs)
        .build();
    let pool = pool.map_err(|error| SweepError::Internal(error.to_string()))?;
    let seen = running.seen;
    seen.mended().extend(store.mended.iter().cloned());
    let missing = pool.install(|| work.missing(&shard, running))?;
    pool.install(|| {
        missing.into_par_iter().try_for_each_init(
            Evaluator::default,
            |evaluator, (chunk, damage)| {
                if running.stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                if let Some(done) = work.compute((chunk, damage), evaluator, running)? {
                    (running.progress)(done);
                }
                Ok::<(), SweepError>(())
            },
        )
    })?;
    let (tables, damaged) = pool.install(|| work.load_all(&chunks))?;
    let there = tables.len();
    let complete = there == chunks.len();
    if complete {
        work.write_results(tables, running)?;
    }
    let mut mended = seen.mended().clone();
    // Threads come upon damaged chunks in any order.
    mended.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(Report {
        computed: seen.computed.load(Ordering::SeqCst),
        chunks: (there as u64, chunks.len() as u64),
        complete,
        stopped: running.stop.load(Ordering::Relaxed),
        mended,
        damaged,
    })
}

/// An experiment and where its result goes.
struct Work<'a> {
    experiment: &'a Experiment,
    points: &'a [Point],
    questions: &'a [Question<'a>],
    asked: &'a [Asked],
    store: &'a Store,
    layout: Layout,
    /// Nothing of a set but its tasks is asked about.
    about_tasks: bool,
}

impl Work<'_> {
    /// Those chunks that have to be computed, each with what is wrong with it if it is there; fewer if a stop was requested.
    fn missing(
        &self,
        chunks: &[Chunk],
        running: &Running<'_>,
    ) -> Result<Vec<(Chunk, Option<Damage>)>, StoreError> {
        let look = |chunk: &Chunk| -> Result<Option<(Chunk, Option<Damage>)>, StoreError> {
            if running.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            Ok(match load(self.experiment, self.store, *chunk)? {
                Rows::Whole(_) => {
                    running.seen.whole.fetch_add(1, Ordering::SeqCst);
                    None
                }
                Rows::Damaged(damage) => Some((*chunk, Some(damage))),
                Rows::Absent => Some((*chunk, None)),
            })
        };
        let found = chunks.par_iter();
        let found = found.filter_map(|chunk| look(chunk).transpose());
        found.collect()
    }

    /// The chunks that are whole, in their order, and what is wrong with those that are not.
    fn load_all(&self, chunks: &[Chunk]) -> Result<(Vec<Table>, Vec<Damage>), StoreError> {
        let found = chunks.par_iter();
        let found = found.map(|chunk| load(self.experiment, self.store, *chunk));
        let found: Vec<Rows> = found.collect::<Result<_, _>>()?;
        let (mut tables, mut damaged) = (Vec::new(), Vec::new());
        for rows in found {
            match rows {
                Rows::Whole(table) => tables.push(table),
                Rows::Damaged(damage) => damaged.push(damage),
                Rows::Absent => (),
            }
        }
        Ok((tables, damaged))
    }

    /// Computes and writes a chunk, which is missing or damaged; how many sets were computed in all, or `None` if a stop was
    /// requested.
    fn compute(
        &self,
        (chunk, damage): (Chunk, Option<Damage>),
        evaluator: &mut Evaluator,
        running: &Running<'_>,
    ) -> Result<Option<u64>, SweepError> {
        let recipe = &self.points[chunk.point].recipe;
        let mut table = Table::new(Width::of(self.asked));
        for index in indices(self.experiment, chunk) {
            if running.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let seed = seed_of(self.experiment, chunk.point, index);
            let failed = |why: String| SweepError::Set {
                point: chunk.point,
                index,
                why,
            };
            // Names and maps of a set take several times as long as a test.
            let tasks = match self.about_tasks {
                true => recipe.draw_tasks(seed),
                false => None,
            };
            let drawn = |error: DrawError| failed(error.to_string());
            let found = match tasks {
                Some(tasks) => evaluator.answers_about_tasks(tasks.map_err(drawn)?, self.questions),
                None => {
                    let set = recipe.draw(seed).map_err(drawn)?;
                    evaluator.answers(&set, (chunk.point, seed), self.questions)
                }
            };
            let number = u32::try_from(chunk.point).unwrap_or(u32::MAX);
            table.push(number, index, seed, &found.map_err(failed)?);
        }
        let bytes = self.bytes(&table)?;
        let _writing = running.writing.read();
        self.store.write(&chunk.name(), &bytes)?;
        // Not without the file.
        Ok(Some(running.seen.wrote(table.rows() as u64, damage)))
    }

    fn bytes(&self, table: &Table) -> Result<Vec<u8>, SweepError> {
        let bytes = table.to_parquet(&self.layout);
        bytes.map_err(|error| SweepError::Internal(error.to_string()))
    }

    /// Writes all chunks as one table, and what follows from it.
    fn write_results(&self, chunks: Vec<Table>, running: &Running<'_>) -> Result<(), SweepError> {
        let mut table = Table::new(Width::of(self.asked));
        chunks.into_iter().for_each(|chunk| table.append(chunk));
        let summary = Summary::new(self.experiment, self.points, self.asked, &table);
        let mut files = vec![
            ("results.parquet".to_owned(), self.bytes(&table)?),
            ("summary.csv".to_owned(), summary.to_csv().into_bytes()),
            ("pairs.csv".to_owned(), summary.pairs_csv().into_bytes()),
        ];
        let more = [
            ("weighted.csv", summary.weighted_csv()),
            ("measures.csv", summary.measures_csv()),
        ];
        for (name, text) in more {
            files.extend(text.map(|text| (name.to_owned(), text.into_bytes())));
        }
        if let Some(x) = &self.experiment.plot {
            let charts = charts::of_sweep(&self.experiment.name, x, &summary).into_iter();
            files.extend(charts.map(|(name, chart)| (name, chart.to_svg().into_bytes())));
        }
        for (name, bytes) in files {
            let what = "it is not what the chunks give";
            let _writing = running.writing.read();
            let damaged = self.store.renew(&name, &bytes, what)?;
            running.seen.mended().extend(damaged);
        }
        self.store.sweep_temporaries()?;
        Ok(())
    }
}

/// A chunk, if it is there, whole and has the sets of its name.
fn load(experiment: &Experiment, store: &Store, chunk: Chunk) -> Result<Rows, StoreError> {
    let name = chunk.name();
    let rows = store.rows(&name)?;
    let Rows::Whole(table) = &rows else {
        return Ok(rows);
    };
    let expected = indices(experiment, chunk);
    let seeds = expected
        .clone()
        .map(|index| seed_of(experiment, chunk.point, index));
    let fits = table.indices.iter().copied().eq(expected)
        && table
            .points
            .iter()
            .all(|&point| point as usize == chunk.point)
        && table.seeds.iter().copied().eq(seeds);
    Ok(match fits {
        true => rows,
        false => Rows::Damaged(Damage {
            path: store.path(&name),
            what: "its sets are not those of its name".to_owned(),
        }),
    })
}

fn indices(experiment: &Experiment, chunk: Chunk) -> std::ops::Range<u32> {
    let first = chunk.number * experiment.chunk;
    first..first.saturating_add(experiment.chunk).min(experiment.sets)
}

/// The merged table of a complete result.
///
/// # Errors
/// [`StoreError::Damaged`] if it is not what was written.
pub fn results(store: &Store) -> Result<Table, StoreError> {
    let name = "results.parquet";
    match store.rows(name)? {
        Rows::Whole(table) => Ok(table),
        Rows::Damaged(damage) => Err(StoreError::Damaged(damage)),
        Rows::Absent => Err(StoreError::Damaged(Damage {
            path: store.path(name),
            what: "it is missing".to_owned(),
        })),
    }
}

/// The seed of a set of a result. The chunk that has it, if it was computed already, has to be whole and
/// of the same experiment: what comes back is the set that was examined.
///
/// # Errors
/// [`StoreError`] if it is not.
pub fn examined_seed(
    experiment: &Experiment,
    store: &Store,
    point: usize,
    index: u32,
) -> Result<u64, StoreError> {
    let number = index / experiment.chunk;
    match load(experiment, store, Chunk { point, number })? {
        Rows::Whole(_) | Rows::Absent => Ok(seed_of(experiment, point, index)),
        Rows::Damaged(damage) => Err(StoreError::Damaged(damage)),
    }
}
