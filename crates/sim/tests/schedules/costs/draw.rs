//! Random small systems with random costs.

use crate::common::Random;
use crate::common::system::is_sliced;
use crate::random_systems;
use crate::reference::{AtLimit, Limits, Lists, System};
use vestal_core::Duration;
use vestal_sim::Costs;
use vestal_sim::costs::Heartbeat;

/// What the twin knows: one priority or deadline for each job, static or adaptive limits, and jobs that stop at them.
pub(crate) fn system(random: &mut Random) -> System {
    let mut system = random_systems::draw(random);
    system.lists = Lists::No;
    if system.limits == Limits::ZeroSlack {
        system.limits = Limits::Adaptive;
    }
    if system.at_limit == AtLimit::GoOn {
        system.at_limit = AtLimit::Background;
    }
    if is_sliced(&system) {
        system.limits = Limits::Static;
    }
    system
}

/// Zero to three ticks each, half of them nothing.
pub(crate) fn costs(random: &mut Random) -> Costs {
    let mut cost = || Duration::from_nanos(random.one_of(&[0, 0, 0, 1, 2, 3]));
    Costs {
        release: cost(),
        job: cost(),
        switch: cost(),
        completion: cost(),
        detection: cost(),
        exhaustion: cost(),
        change: cost(),
        termination: cost(),
        wake: cost(),
        frame: cost(),
        sub_frame: cost(),
        heartbeat: random.once_in(3).then(|| Heartbeat {
            period: Duration::from_nanos(random.between(2, 8)),
            cost: Duration::from_nanos(random.one_of(&[0, 0, 1, 2])),
        }),
    }
}
