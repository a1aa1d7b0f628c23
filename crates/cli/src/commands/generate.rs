//! `vestal generate --recipe R -o DIR`: random task sets as files.

use crate::args::GenerateArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt;
use crate::names;
use crate::output::Output;
use crate::progress::Progress;
use crate::whole::{self, unbroken};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use vestal_result::Format;
use vestal_result::files::Generated;
use vestal_workload::diagnostic::nearest;
use vestal_workload::generate::{ParameterError, Recipe, derived_seed};

pub(crate) fn generate(args: &GenerateArgs, output: &Output) -> Outcome {
    let what = || format!("generate task sets into {}", args.directory.display());
    let recipe = recipe(args)?;
    fs::create_dir_all(&args.directory).map_err(|error| {
        Failure::input(what(), error.to_string())
            .with_help("name a directory that exists or can be created")
    })?;
    let digits = args.count.saturating_sub(1).to_string().len().max(4);
    let progress = Progress::new(output, "generating", args.count);
    let files = Arc::new(Mutex::new(Vec::new()));
    let stop = interrupt::watch()?;
    let written = Written {
        recipe: recipe.name(),
        seed: args.seed,
        count: args.count,
        directory: args.directory.clone(),
        files: Arc::clone(&files),
    };
    let (last, again) = (written.clone(), output.again());
    let bounded = interrupt::bounded(move || last.say(&again()).unwrap_or(Exit::DoesNotHold));
    for index in 0..args.count {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let set = recipe
            .draw(derived_seed(args.seed, &[0, index]))
            .map_err(|error| Failure::input(what(), error.to_string()))?;
        let name = format!("{}-{index:0digits$}.toml", recipe.name());
        let path = args.directory.join(&name);
        unbroken(|| {
            write_new(&path, &set.to_toml())?;
            names_in(&files).push(name);
            Ok(())
        })?;
        progress.at(index + 1);
    }
    drop(progress);
    // What there is to say may be long, and is not cut short.
    drop(bounded);
    written.say(output)
}

/// What was written.
#[derive(Clone)]
struct Written {
    recipe: &'static str,
    seed: u64,
    /// How many files were asked for.
    count: u64,
    directory: PathBuf,
    /// The names of those that are there, and whole.
    files: Arc<Mutex<Vec<String>>>,
}

impl Written {
    fn say(self, output: &Output) -> Outcome {
        let files = std::mem::take(&mut *names_in(&self.files));
        let sets = if files.len() == 1 { "set" } else { "sets" };
        output.human(&format!(
            "{} task {sets} by {} (seed {}) in {}\n",
            files.len(),
            self.recipe,
            self.seed,
            self.directory.display()
        ));
        let missing = self.count - files.len() as u64;
        output.json(&Generated {
            format: Format::V1,
            recipe: self.recipe.to_owned(),
            seed: self.seed,
            directory: self.directory.display().to_string(),
            files,
        })?;
        if missing > 0 {
            output.warning(&format!(
                "interrupted; the files that are there are whole, {missing} more were asked for"
            ));
        }
        Ok(Exit::holds(missing == 0))
    }
}

/// Nothing panics with the lock.
fn names_in(files: &Mutex<Vec<String>>) -> MutexGuard<'_, Vec<String>> {
    files.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The recipe with what the command line sets, its own options first.
fn recipe(args: &GenerateArgs) -> Result<Recipe, Failure> {
    let mut recipe = named(&args.recipe)?;
    let options = [
        ("tasks", &args.tasks),
        ("utilization", &args.utilization),
        ("levels", &args.levels),
        ("criticality_factor", &args.criticality_factor),
    ];
    let what = format!("generate task sets by {}", recipe.name());
    let refused = |error: ParameterError| Failure::input(what.clone(), error.to_string());
    for (name, value) in options {
        if let Some(value) = value {
            recipe.set(name, value).map_err(refused)?;
        }
    }
    set(&mut recipe, &args.options, &what)?;
    Ok(recipe)
}

/// Gives the recipe what `--set` says, each KEY=VALUE.
pub(crate) fn set(recipe: &mut Recipe, options: &[String], what: &str) -> Result<(), Failure> {
    for option in options {
        let Some((name, value)) = option.split_once('=') else {
            let why = format!("--set {option} is not KEY=VALUE");
            return Err(Failure::input(what, why));
        };
        recipe
            .set(name.trim(), value.trim())
            .map_err(|error| help_with_name(Failure::input(what, error.to_string()), &error))?;
    }
    Ok(())
}

/// The recipe of this name with its defaults.
pub(crate) fn named(name: &str) -> Result<Recipe, Failure> {
    Recipe::named(name).ok_or_else(|| {
        let what = format!("use the recipe `{name}`");
        names::unknown(&what, "recipe", name, Recipe::NAMES)
    })
}

fn help_with_name(failure: Failure, error: &ParameterError) -> Failure {
    let ParameterError::Unknown { name, known } = error else {
        return failure;
    };
    match nearest(name, known.iter().copied()) {
        Some(near) => failure.with_help(format!("did you mean `{near}`?")),
        None => failure,
    }
}

/// Writes a file that did not exist: a set that may still be needed is never replaced.
pub(crate) fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    whole::write_new(path, text.as_bytes()).map_err(|error| {
        Failure::written(format!("write {}", path.display()), None, &error)
            .with_help("existing files are not replaced: name a new directory, or remove the file")
    })
}
