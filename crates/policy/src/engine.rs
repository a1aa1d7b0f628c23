//! A scheduler that decides everything, whichever it is.

use vestal_core::engine::frames::Frames;
use vestal_core::{Hierarchy, Levelled, Scheduler, Uniprocessor};

/// A scheduler that decides everything: an engine of the core, or a program's own. Named by kinds of engines
/// and not of policies, it is distinguished here alone.
pub enum Engine {
    /// One CPU.
    Uniprocessor(Box<Uniprocessor>),
    /// Servers on one CPU.
    Hierarchy(Box<Hierarchy>),
    /// Four levels on several CPUs.
    Levelled(Box<Levelled>),
    /// A frame table on several CPUs.
    Frames(Box<Frames>),
    /// A program's own.
    User(Box<dyn Scheduler + Send>),
}

/// Something that is done with a scheduler whose type is known: once for each engine that is worth it.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<S: Scheduler + Send + ?Sized>(self, scheduler: &mut S) -> Self::Output;
}

impl Engine {
    /// Lets a visitor see the engine behind this one: it branches once, and not at each call.
    pub fn visit<V: Visitor>(&mut self, visitor: V) -> V::Output {
        match self {
            Self::Uniprocessor(engine) => visitor.visit(&mut **engine),
            // Another copy of a world's loop would cost more than it gives.
            Self::Hierarchy(engine) => visitor.visit::<dyn Scheduler + Send>(&mut **engine),
            Self::Levelled(engine) => visitor.visit::<dyn Scheduler + Send>(&mut **engine),
            Self::Frames(engine) => visitor.visit::<dyn Scheduler + Send>(&mut **engine),
            Self::User(engine) => visitor.visit(&mut **engine),
        }
    }

    /// The same without its type.
    #[must_use]
    pub fn boxed(self) -> Box<dyn Scheduler + Send> {
        match self {
            Self::Uniprocessor(engine) => engine,
            Self::Hierarchy(engine) => engine,
            Self::Levelled(engine) => engine,
            Self::Frames(engine) => engine,
            Self::User(engine) => engine,
        }
    }
}
