use crate::args::SimulateArgs;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
pub(crate) fn simulate(_args: &SimulateArgs, _output: &Output) -> Outcome {
    Err(Failure::not_in_this_version("simulate"))
}
