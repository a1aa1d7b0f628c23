//! A decider of which everything is recorded.

use crate::recording::Tracer;
use vestal_trace::Recorder;

/// A decider with the trace of its manager.
pub(crate) type Traced<S> = Recorder<S, Tracer>;
