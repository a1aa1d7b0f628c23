//! `vestal bench barriers`: what it takes two CPUs to meet, by the barriers that frame tables have.

use super::{claims, table};
use crate::failure::{Exit, Outcome};
use crate::output::Output;
use crate::quantity::{apart, short};
use crate::real;
use std::fmt::Write as _;
use vestal_result::bench::Barriers;

pub(super) fn barriers(output: &Output) -> Outcome {
    let barriers = real::barriers(output)?;
    output.human(&page(&barriers, output));
    output.json(&barriers)?;
    Ok(Exit::Holds)
}

fn page(found: &Barriers, output: &Output) -> String {
    let cpus: Vec<String> = found.cpus.iter().map(ToString::to_string).collect();
    let mut text = format!(
        "CPUs {} meet, and come at most {} apart\n",
        cpus.join(" and "),
        short(found.within_ns)
    );
    if let Some(skew) = &found.clock_skew {
        let _ = writeln!(text, "{}", apart(skew));
    }
    for barrier in &found.barriers {
        let _ = write!(
            text,
            "\n{}: {} meetings do not count, to which they came further apart\n{}",
            barrier.name,
            barrier.apart,
            table("from when the last one came", &barrier.costs, output)
        );
    }
    text + &claims(&found.claims)
}
