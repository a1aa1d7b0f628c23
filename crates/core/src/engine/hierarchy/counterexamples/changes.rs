//! Mode changes: what becomes of lists, bursts and hosts, in examples in which one rule less exceeds a published bound.
//!
//! Equations are those of Missimer, Missimer and West (2016), with the corrections that [`crate::server::Pibs`] names.

use super::*;

/// A server of criticality 1.
fn high(kind: ServerKind, priority: u32) -> ServerConfiguration {
    ServerConfiguration {
        criticality: Level(1),
        ..server(kind, priority)
    }
}

fn request() -> Fact {
    let level = Level(1);
    Fact::ModeRequested { level }
}

fn woken(task: u16, server: Option<u16>) -> Fact {
    Fact::Woken {
        task: TaskId(task),
        on_behalf_of: server.map(ServerId),
    }
}

/// Lets ticks pass until `end`; `facts` says what happens at an instant.
fn run(
    world: &mut World<'static>,
    end: u64,
    mut facts: impl FnMut(&mut World<'static>) -> Vec<Fact>,
) {
    while world.now < end {
        let facts = facts(world);
        world.step(&facts);
    }
}

/// All of criticality 1: T = 20, C = 4 or 8, whose first job blocks from 2 to 7 and so leaves a gap in its list;
/// T = D = 23, C = 12; T = 100, C = 1 or 2, which has used up its 1 at 23, when the job of the second arrives.
fn response_after_a_gap() -> usize {
    let servers = [
        high(by_mode(4, 8, 20), 3),
        high(by_mode(12, 12, 23), 2),
        high(by_mode(1, 2, 100), 1),
    ];
    let tasks = [task(0, 1, 20), task(1, 1, 23), task(2, 1, 100)];
    let mut world = world(
        &configuration(&servers, &tasks, &[]),
        vec![vec![2, 2], vec![12], vec![2]],
    );
    run(&mut world, 60, |world| match world.now {
        0 => vec![world.release(0)],
        7 => vec![woken(0, None)],
        20 | 40 => {
            world.set_program(0, vec![8]);
            vec![world.release(0)]
        }
        22 => vec![world.release(2)],
        23 => vec![request(), world.release(1)],
        _ => Vec::new(),
    });
    assert_eq!(world.rows[0][..23], *"00.....00...........002");
    end_of(&world.rows[0], '1', 60) - 23
}

#[test]
fn more_budget_counts_from_now_on_if_the_last_use_is_over() {
    // Equation 14: 12 + 8 is its least fixed point.
    assert_eq!(response_after_a_gap(), 20);
    assert_eq!(without(Rule::Grow, response_after_a_gap), 24);
}
