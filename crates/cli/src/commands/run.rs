use crate::args::RunArgs;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
pub(crate) fn run(_args: &RunArgs, _output: &Output) -> Outcome {
    Err(Failure::not_in_this_version("run"))
}
