//! How policies read the servers of a file.

/// How a policy reads the servers of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerRules {
    /// Which servers there may be.
    pub kinds: ServerKinds,
    /// What becomes of tasks in no server.
    pub loose: LooseTasks,
    /// What runs the bottom halves of a PIBS.
    pub bottom_halves: BottomHalves,
    /// In which order servers go where the file gives them no priorities.
    pub order: ServerOrder,
}

/// In which order servers go where the file gives them no priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerOrder {
    /// By their periods.
    RateMonotonic,
    /// In the one that a test finds; by their periods if it finds none.
    Found,
}

/// Which servers there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerKinds {
    /// Those of every kind, of any level.
    Every,
    /// Sporadic servers and PIBS, in a form in which the mode can rise by itself: each of the level of its tasks, with a
    /// budget at every level up to that for them and for the devices that they wait for, and no more above it.
    Adaptive,
}

/// What becomes of tasks in no server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LooseTasks {
    /// A file that has servers and such tasks is refused; in a file without any server each task gets a deferrable one.
    Refused,
    /// Each gets a sporadic server (C(l), T) of its own, behind those of the file.
    OwnSporadic,
}

/// What runs the bottom halves of a PIBS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BottomHalves {
    /// The PIBS.
    Pibs,
    /// A sporadic server in its place, of the period T of the most urgent server on whose behalf the PIBS would run, with U T; it
    /// comes right behind that one.
    Sporadic,
}

impl ServerRules {
    /// Every kind; what is in no server is refused.
    pub const EVERY_KIND: Self = Self {
        kinds: ServerKinds::Every,
        loose: LooseTasks::Refused,
        bottom_halves: BottomHalves::Pibs,
        order: ServerOrder::RateMonotonic,
    };

    /// Sporadic servers and PIBS under modes that rise by themselves (Missimer, Missimer and West 2016).
    pub const ADAPTIVE: Self = Self {
        kinds: ServerKinds::Adaptive,
        loose: LooseTasks::OwnSporadic,
        bottom_halves: BottomHalves::Pibs,
        order: ServerOrder::Found,
    };
}

impl Default for ServerRules {
    fn default() -> Self {
        Self::EVERY_KIND
    }
}
