use crate::args::DemoArgs;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
pub(crate) fn demo(_args: &DemoArgs, _output: &Output) -> Outcome {
    Err(Failure::not_in_this_version("demo"))
}
