//! What a system is made with.

use super::{ServerId, State};
use crate::relteq::Tick;
use core::fmt;
use core::marker::PhantomData;

/// What a system has. All of it is known when it is compiled: what is `false` leaves no code.
pub trait Features: fmt::Debug {
    /// What times in queues are stored in.
    type Tick: Tick;
    /// Polling servers.
    const POLLING: bool = true;
    /// Deferrable servers.
    const DEFERRABLE: bool = true;
    /// Earliest deadline first inside servers that ask for it.
    const EDF: bool = true;
    /// A deferrable server without work has its queue rest, and a wake-up in the system queue. If not, the
    /// queues of all deferrable servers count down always: switching in is cheaper, and every tick costs more.
    const WAKE_UPS: bool = true;

    /// A server's state has changed, as drawn at the head of [the module](super). Does nothing unless overridden.
    fn on_transition(server: ServerId, from: State, to: State) {
        let _ = (server, from, to);
    }

    /// A timed event is handled, when it expires or when its server is switched in; or the active server has no work any more, and waits or discards its budget; or
    /// a waiting server's wake-up is taken back or inserted anew, or a polling server's budget has come and it is asked for work: what bounds on a tick and on a pick
    /// are linear in. Does nothing unless overridden.
    fn on_event() {}
}

/// All kinds of servers, both local orders, wake-ups; times in `T`.
#[derive(Debug)]
pub struct Everything<T>(PhantomData<T>);

impl<T: Tick> Features for Everything<T> {
    type Tick = T;
}
