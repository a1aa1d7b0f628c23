//! `vestal plot RESULT --x KEY`: a chart of a sweep, to be looked at or as a file for a paper.

use crate::args::PlotArgs;
use crate::commands::sweep::store_failure;
use crate::curves;
use crate::failure::{Exit, Failure, Outcome};
use crate::names::VERSION;
use crate::output::Output;
use crate::quantity::count;
use crate::whole;
use std::path::Path;
use vestal_experiment::Store;
use vestal_experiment::plot::Chart;
use vestal_experiment::stored::{self, StoredError};
use vestal_experiment::wanted::{Refused, Vertical, Wanted};
use vestal_result::Format;
use vestal_result::files::{Plotted, PlottedCurve, PlottedFrame, PlottedPoint};
use vestal_workload::diagnostic::did_you_mean;

pub(crate) fn plot(args: &PlotArgs, output: &Output) -> Outcome {
    let what = format!("plot {}", args.result.display());
    let named = args.files.iter();
    let named = named.map(|file| written(file, &what).map(|how| (file.as_path(), how)));
    let files: Vec<(&Path, Written)> = named.collect::<Result<_, _>>()?;
    let store = Store::existing(&args.result, VERSION).map_err(store_failure)?;
    let (experiment, summary) = stored::read(&store).map_err(|error| unreadable(error, &what))?;
    let wanted = wanted(args, &what)?;
    let chart = wanted.chart(&summary);
    let chart =
        chart.map_err(|Refused { why, help }| Failure::input(&what, why).with_help(help))?;
    let usual = match wanted.fixed.is_empty() {
        true => experiment.name.clone(),
        false => format!("{}: {}", experiment.name, args.fixed.join(", ")),
    };
    let chart = dressed(chart, args, usual, &what)?;
    for (file, written) in files {
        write(file, &written(&chart))?;
    }
    if args.files.is_empty() {
        let title = chart
            .title
            .as_ref()
            .map_or_else(String::new, |title| format!("{title}\n\n"));
        output.human(&format!("{title}{}", curves::page(&chart, output)));
    } else {
        let curves = count(chart.curves.len(), "curve");
        let files: Vec<String> = args
            .files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        output.human(&format!("{curves} in {}\n", files.join(", ")));
    }
    output.json(&document(args, experiment.name, &chart))?;
    Ok(Exit::Holds)
}

fn unreadable(error: StoredError, what: &str) -> Failure {
    match error {
        StoredError::Store(error) => store_failure(error),
        StoredError::Experiment(found) => Failure::diagnosed(what, found),
        StoredError::Unfinished => Failure::input(what, StoredError::Unfinished.to_string())
            .with_help("the same `vestal sweep` with --resume goes on with it"),
    }
}

/// The two sides of `KEY=VALUE`.
fn sides(option: &str, text: &str, what: &str) -> Result<(String, String), Failure> {
    let sides = text.split_once('=');
    let sides = sides.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()));
    sides.ok_or_else(|| Failure::input(what, format!("{option} {text} is not KEY=VALUE")))
}

fn wanted(args: &PlotArgs, what: &str) -> Result<Wanted, Failure> {
    let fixed = args.fixed.iter().map(|text| sides("--where", text, what));
    Ok(Wanted {
        x: args.x.clone(),
        y: match args.y.as_deref() {
            None => Vertical::Usual,
            Some("fraction") => Vertical::Fraction,
            Some("weighted") => Vertical::Weighted,
            Some(name) => Vertical::Measure(name.to_owned()),
        },
        questions: args.tests.clone(),
        level: args.level.clone(),
        fixed: fixed.collect::<Result<_, _>>()?,
    })
}

/// The chart with the names, ranges and title that somebody gives it.
fn dressed(mut chart: Chart, args: &PlotArgs, usual: String, what: &str) -> Result<Chart, Failure> {
    rename(&mut chart, &args.names, what)?;
    chart.x_range = range("--range", args.range.as_deref(), what)?;
    chart.y_range = range("--y-range", args.y_range.as_deref(), what)?;
    chart.title = match (args.no_title, &args.title) {
        (true, _) => None,
        (false, Some(title)) => Some(title.clone()),
        (false, None) => Some(usual),
    };
    if let Some(label) = &args.x_label {
        chart.x_label.clone_from(label);
    }
    if let Some(label) = &args.y_label {
        chart.y_label.clone_from(label);
    }
    Ok(chart)
}

/// Gives curves other names, each by the name that it has without that.
fn rename(chart: &mut Chart, names: &[String], what: &str) -> Result<(), Failure> {
    let known: Vec<String> = chart
        .curves
        .iter()
        .map(|curve| curve.name.clone())
        .collect();
    let mut renamed: Vec<usize> = Vec::new();
    for text in names {
        let (first, _) = sides("--names", text, what)?;
        // The name of a curve may have an equals sign itself.
        let mut places = text.match_indices('=').map(|(at, _)| text.split_at(at));
        let found = places.find_map(|(name, other)| {
            let place = known.iter().position(|known| known == name.trim())?;
            Some((place, other.strip_prefix('=')?.trim()))
        });
        let Some((place, other)) = found else {
            let usual = format!("the curves are {}", known.join(", "));
            let help = did_you_mean(&first, known.iter().map(String::as_str), &usual);
            let why = format!("--names: no curve is called `{first}`");
            return Err(Failure::input(what, why).with_help(help));
        };
        if renamed.contains(&place) {
            let why = format!("--names gives `{}` two names", known[place]);
            return Err(Failure::input(what, why));
        }
        renamed.push(place);
        if let Some(curve) = chart.curves.get_mut(place) {
            other.clone_into(&mut curve.name);
        }
    }
    let mut names = chart.curves.iter().enumerate();
    let twice =
        names.find(|(at, curve)| chart.curves[..*at].iter().any(|one| one.name == curve.name));
    match twice {
        Some((_, curve)) if !renamed.is_empty() => {
            let why = format!("--names: two curves would be called `{}`", curve.name);
            Err(Failure::input(what, why))
        }
        Some(_) | None => Ok(()),
    }
}

/// Two ends of an axis.
fn range(option: &str, text: Option<&str>, what: &str) -> Result<Option<(f64, f64)>, Failure> {
    let Some(text) = text else {
        return Ok(None);
    };
    let number = |text: &str| {
        text.trim()
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
    };
    let ends = text.split_once(':');
    let ends = ends.and_then(|(low, high)| Some((number(low)?, number(high)?)));
    match ends.filter(|(low, high)| low < high) {
        Some(ends) => Ok(Some(ends)),
        None => {
            let why = format!("{option} {text} is not LOW:HIGH with LOW below HIGH");
            Err(Failure::input(what, why).with_help(format!("write for instance {option} 0:1")))
        }
    }
}

/// A chart in a format.
type Written = fn(&Chart) -> String;

/// How the file of this name is written.
fn written(file: &Path, what: &str) -> Result<Written, Failure> {
    let extension = file.extension().unwrap_or_default().to_string_lossy();
    match extension.to_lowercase().as_str() {
        "svg" => Ok(Chart::to_svg),
        "pgf" => Ok(Chart::to_pgf),
        _ => {
            let why = format!("{} ends neither in .svg nor in .pgf", file.display());
            let help =
                "this version writes these two; browsers and vector programs make PDF of SVG";
            Err(Failure::input(what, why).with_help(help))
        }
    }
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    whole::write(file, text.as_bytes()).map_err(|error| {
        let help = "name a file in a directory that exists and can be written";
        Failure::written(format!("write {}", file.display()), None, &error).with_help(help)
    })
}

fn document(args: &PlotArgs, experiment: String, chart: &Chart) -> Plotted {
    let frame = chart.frame();
    let finite = |end: f64| end.is_finite().then_some(end);
    let curves = chart.curves.iter().map(|curve| {
        let points = curve.points.iter().map(|point| PlottedPoint {
            x: point.x,
            value: point.value,
            low: finite(point.low),
            high: finite(point.high),
        });
        PlottedCurve {
            name: curve.name.clone(),
            points: points.collect(),
        }
    });
    Plotted {
        format: Format::V1,
        experiment,
        directory: args.result.display().to_string(),
        x: chart.x_label.clone(),
        y: chart.y_label.clone(),
        curves: curves.collect(),
        frame: PlottedFrame {
            across: frame.across.into(),
            up: frame.up.into(),
            x: frame.x.into(),
            y: frame.y.into(),
        },
        files: args
            .files
            .iter()
            .map(|file| file.display().to_string())
            .collect(),
    }
}
