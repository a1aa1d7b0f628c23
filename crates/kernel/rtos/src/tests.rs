//! The kernel without a processor: what it tells its scheduler, and when it lets somebody else execute.

use crate::call::Call;
use crate::kernel::{Fault, Kernel, Plan, TASKS, Work, World};
use crate::semaphore::Semaphores;
use crate::stack::{PAINT, unused};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use vestal_hsf::{Change, Error, Hooks, Pick, TaskId};

const fn task(number: u8) -> TaskId {
    TaskId::new(number)
}

#[derive(Clone, Debug, PartialEq)]
enum Told {
    Timer(u32),
    Picked,
    Task(TaskId, Change),
}

/// Writes down what it is told. The lowest task that is ready is picked; at each instant of `events` something is due.
struct Notes {
    told: Rc<RefCell<Vec<Told>>>,
    ready: Vec<TaskId>,
    events: Vec<u32>,
    now: u32,
}

impl Hooks for Notes {
    fn timer(&mut self, ticks: u32) -> bool {
        self.told.borrow_mut().push(Told::Timer(ticks));
        let before = self.now;
        self.now += ticks;
        self.events
            .iter()
            .any(|at| (before + 1..=self.now).contains(at))
    }

    fn next_timer(&self) -> u32 {
        let later = self.events.iter().filter(|&&at| at > self.now);
        later.map(|at| at - self.now).min().unwrap_or(100)
    }

    fn pick(&mut self) -> Pick {
        self.told.borrow_mut().push(Told::Picked);
        let first = self.ready.iter().min_by_key(|task| task.index());
        first.map_or(Pick::Idle, |&task| Pick::Task(task))
    }

    fn task(&mut self, task: TaskId, change: Change) -> Result<(), Error> {
        self.told.borrow_mut().push(Told::Task(task, change));
        let is_ready = self.ready.contains(&task);
        match change {
            Change::Released | Change::Ready if is_ready => return Err(Error::WrongState),
            Change::Released | Change::Ready => self.ready.push(task),
            Change::Blocked | Change::EndOfJob | Change::Delayed(_) | Change::DelayedVirtual(_) => {
                self.ready.retain(|&other| other != task)
            }
        }
        Ok(())
    }
}

struct Device(fn(u32, &mut Kernel), Rc<RefCell<String>>);

impl World for Device {
    fn ran(&mut self, tick: u32, who: Pick) {
        let mut row = self.1.borrow_mut();
        assert_eq!(row.len(), tick as usize);
        row.push(match who {
            Pick::Task(task) => char::from(b'0' + task.index() as u8),
            Pick::Idling(_) | Pick::Idle => '.',
        });
    }

    fn instant(&mut self, now: u32, kernel: &mut Kernel) {
        self.0(now, kernel);
    }
}

/// A kernel on which tasks 0 and 1 have contexts 1000 and 1001, and the idle task 2000.
struct Machine {
    kernel: Kernel,
    work: &'static Work,
    told: Rc<RefCell<Vec<Told>>>,
    row: Rc<RefCell<String>>,
}

impl Machine {
    fn new(events: &[u32], told_when_due: bool, device: fn(u32, &mut Kernel)) -> Self {
        let work: &'static Work = Box::leak(Box::new([const { AtomicU32::new(0) }; TASKS]));
        let mut machine = Self {
            kernel: Kernel::new(work),
            work,
            told: Rc::default(),
            row: Rc::default(),
        };
        let plan = Plan {
            told_when_due,
            ..of_ticks(20)
        };
        machine.begin(events, plan, device);
        machine
    }

    fn begin(&mut self, events: &[u32], plan: Plan, device: fn(u32, &mut Kernel)) {
        let notes = Notes {
            told: Rc::clone(&self.told),
            ready: Vec::new(),
            events: events.to_vec(),
            now: 0,
        };
        let device = Device(device, Rc::clone(&self.row));
        let (notes, device) = (Box::leak(Box::new(notes)), Box::leak(Box::new(device)));
        self.kernel.begin(notes, device, plan);
        self.kernel.set_context(task(0), 1000);
        self.kernel.set_context(task(1), 1001);
    }

    fn call(&mut self, call: Call) -> (u32, bool) {
        let (number, argument) = call.words();
        self.kernel.call(number, argument)
    }

    fn told(&self) -> Vec<Told> {
        std::mem::take(&mut *self.told.borrow_mut())
    }
}

const fn of_ticks(end: u32) -> Plan {
    Plan {
        end,
        told_when_due: false,
        exact: false,
    }
}

fn releases_both(now: u32, kernel: &mut Kernel) {
    if now == 0 {
        kernel.release(task(0));
        kernel.release(task(1));
    }
}

#[test]
fn the_words_of_a_call_are_the_call() {
    let calls = [
        Call::Go,
        Call::Now,
        Call::Work(70_000),
        Call::Change(Change::EndOfJob),
        Call::Change(Change::Blocked),
        Call::Change(Change::Delayed(0)),
        Call::Change(Change::DelayedVirtual(9)),
        Call::Release(task(3)),
        Call::Ready(task(255)),
        Call::Take(7),
        Call::Give(8),
    ];
    for call in calls {
        let (number, argument) = call.words();
        assert_eq!(Call::of(number, argument), Some(call));
    }
    for (number, argument) in [(11, 0), (u32::MAX, 0), (7, 256), (9, 256)] {
        assert_eq!(Call::of(number, argument), None, "{number} {argument}");
    }
}

#[test]
fn a_task_whose_work_ends_with_a_tick_makes_its_next_call_before_somebody_is_picked() {
    let mut machine = Machine::new(&[2], false, releases_both);
    assert!(machine.call(Call::Go).1);
    assert_eq!(machine.kernel.switch(2000), 1000);
    assert_eq!(machine.call(Call::Work(2)), (0, false));
    machine.told();
    assert!(!machine.kernel.tick());
    assert_eq!(machine.told(), [Told::Timer(1)]);
    assert!(!machine.kernel.tick(), "an event was due, and it goes on");
    assert_eq!(machine.work[0].load(Relaxed), 0);
    assert_eq!(machine.call(Call::Now), (2, false));
    assert!(machine.call(Call::Change(Change::EndOfJob)).1);
    assert_eq!(machine.kernel.switch(1010), 1001);
    let end = Told::Task(task(0), Change::EndOfJob);
    assert_eq!(machine.told(), [Told::Timer(1), end, Told::Picked]);
    assert_eq!(*machine.row.borrow(), "00");
}

#[test]
fn a_task_that_makes_no_call_is_preempted_at_the_tick() {
    let mut machine = Machine::new(&[1], false, |now, kernel| {
        if now < 2 {
            kernel.release(task(1 - now as u8));
        }
    });
    assert_eq!(machine.kernel.switch(2000), 1001);
    assert!(machine.kernel.tick());
    assert_eq!(machine.kernel.switch(1011), 1000);
    assert_eq!(machine.call(Call::Work(3)), (0, false));
    // In the middle of its work something is due as well.
    machine.kernel.release(task(2));
    assert!(machine.kernel.tick());
    assert_eq!(machine.kernel.switch(1010), 1010);
    assert!(machine.call(Call::Change(Change::Blocked)).1);
    assert_eq!(machine.kernel.switch(1020), 1011, "where it was left");
    assert_eq!(*machine.row.borrow(), "10");
}

#[test]
fn the_scheduler_can_be_told_when_something_is_due_and_before_any_other_call() {
    let mut machine = Machine::new(&[4, 9], true, releases_both);
    assert_eq!(machine.kernel.switch(2000), 1000);
    machine.told();
    for _ in 0..3 {
        assert!(!machine.kernel.tick());
    }
    assert_eq!(machine.told(), []);
    assert!(machine.kernel.tick());
    assert_eq!(machine.kernel.switch(1010), 1010);
    assert_eq!(machine.told(), [Told::Timer(4), Told::Picked]);
    machine.kernel.tick();
    machine.kernel.tick();
    assert!(machine.call(Call::Change(Change::Delayed(3))).1);
    let delayed = Told::Task(task(0), Change::Delayed(3));
    assert_eq!(machine.told(), [Told::Timer(2), delayed]);
}

#[test]
fn a_semaphore_goes_to_who_has_waited_longest_and_is_counted_if_nobody_has() {
    let mut semaphores = Semaphores::new();
    assert_eq!(semaphores.give(0), Some(None));
    assert_eq!(semaphores.give(0), Some(None));
    assert_eq!(semaphores.take(0, task(5)), Some(true));
    assert_eq!(semaphores.take(0, task(4)), Some(true));
    for waiting in [9, 0, 4] {
        assert_eq!(semaphores.take(0, task(waiting)), Some(false));
    }
    // Another semaphore has another queue.
    assert_eq!(semaphores.take(7, task(1)), Some(false));
    assert_eq!(semaphores.give(0), Some(Some(task(9))));
    assert_eq!(
        semaphores.take(0, task(9)),
        Some(false),
        "behind the others"
    );
    for waiting in [0, 4, 9] {
        assert_eq!(semaphores.give(0), Some(Some(task(waiting))));
    }
    assert_eq!(semaphores.give(0), Some(None));
    assert_eq!(semaphores.give(7), Some(Some(task(1))));
    assert_eq!(semaphores.take(8, task(1)), None);
    assert_eq!(semaphores.give(8), None);
    assert_eq!(semaphores.take(0, task(TASKS as u8)), None);
}

/// Random takes and gives against queues that are lists.
#[test]
fn semaphores_are_queues() {
    let mut semaphores = Semaphores::new();
    let mut slow = vec![(0_u32, Vec::new()); 8];
    let mut waits = [false; TASKS];
    let (mut seed, mut waited) = (1_u32, 0);
    let mut below = |most: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) % most
    };
    for _ in 0..100_000 {
        let semaphore = below(8) as u8;
        let (count, queue) = &mut slow[usize::from(semaphore)];
        let number = below(TASKS as u32) as u8;
        if below(7) < 4 {
            if waits[usize::from(number)] {
                continue;
            }
            let has_it = *count > 0;
            *count -= u32::from(has_it);
            if !has_it {
                queue.push(task(number));
                waits[usize::from(number)] = true;
                waited += 1;
            }
            assert_eq!(semaphores.take(semaphore, task(number)), Some(has_it));
        } else {
            let next = (!queue.is_empty()).then(|| queue.remove(0));
            match next {
                Some(task) => waits[task.index()] = false,
                None => *count += 1,
            }
            assert_eq!(semaphores.give(semaphore), Some(next));
        }
    }
    assert!(waited > 5_000, "{waited} waited");
}

#[test]
fn who_takes_a_semaphore_that_nobody_has_given_blocks_until_an_interrupt_gives_it() {
    let mut machine = Machine::new(&[], false, |now, kernel| {
        releases_both(now, kernel);
        if now == 1 {
            kernel.give(3);
        }
    });
    machine.kernel.switch(2000);
    machine.told();
    assert_eq!(machine.call(Call::Take(3)), (0, true));
    assert_eq!(machine.kernel.switch(1010), 1001);
    assert!(machine.kernel.tick());
    assert_eq!(machine.kernel.switch(1011), 1010);
    let expected = [
        Told::Task(task(0), Change::Blocked),
        Told::Picked,
        Told::Timer(1),
        Told::Task(task(0), Change::Ready),
        Told::Picked,
    ];
    assert_eq!(machine.told(), expected);
    assert_eq!(machine.call(Call::Give(3)), (0, false));
    assert_eq!(machine.call(Call::Take(3)), (0, false));
    assert_eq!(machine.told(), []);
}

#[test]
fn a_run_ends_after_its_last_tick_and_gives_the_idle_task_the_processor() {
    let mut machine = Machine::new(&[], false, releases_both);
    machine.kernel.switch(2000);
    for tick in 1..=20 {
        assert_eq!(machine.kernel.tick(), tick == 20);
    }
    assert_eq!(machine.kernel.switch(1010), 2000);
    assert!(machine.kernel.is_over());
    assert_eq!(machine.kernel.finish(), None);
    assert_eq!(machine.row.borrow().len(), 20);
}

#[test]
fn the_first_fault_ends_the_run() {
    let faulty = |what: fn(&mut Machine), fault| {
        let mut machine = Machine::new(&[], false, releases_both);
        machine.kernel.switch(2000);
        what(&mut machine);
        assert_eq!(machine.kernel.switch(1010), 2000);
        assert!(machine.kernel.tick(), "and nobody is told of it");
        assert_eq!(machine.kernel.finish(), Some(fault));
        assert_eq!(*machine.row.borrow(), "");
    };
    faulty(
        |machine| assert!(machine.call(Call::Take(8)).1),
        Fault::Unknown,
    );
    faulty(
        |machine| assert!(machine.call(Call::Give(8)).1),
        Fault::Unknown,
    );
    faulty(
        |machine| assert!(machine.kernel.call(99, 0).1),
        Fault::Unknown,
    );
    faulty(
        |machine| {
            machine.call(Call::Ready(task(1)));
            machine.call(Call::Take(8));
        },
        Fault::Refused(Error::WrongState),
    );
    faulty(
        |machine| {
            machine.call(Call::Release(task(2)));
            machine.call(Call::Change(Change::EndOfJob));
            assert_eq!(machine.kernel.switch(1010), 1001);
            machine.call(Call::Change(Change::EndOfJob));
        },
        Fault::NoProgram(task(2)),
    );
}

#[test]
fn the_idle_task_makes_no_calls_of_tasks() {
    let mut machine = Machine::new(&[], false, |_, _| {});
    assert_eq!(machine.kernel.switch(2000), 2000);
    assert_eq!(machine.call(Call::Go), (0, false));
    assert!(machine.call(Call::Work(1)).1);
    assert_eq!(machine.kernel.finish(), Some(Fault::NotATask));
}

#[test]
fn a_task_that_goes_on_for_a_tick_after_its_work_is_a_fault_if_somebody_was_to_be_picked() {
    for told_when_due in [false, true] {
        let mut machine = Machine::new(&[2, 10], told_when_due, releases_both);
        machine.kernel.switch(2000);
        machine.call(Call::Work(2));
        assert!(!machine.kernel.tick());
        assert!(!machine.kernel.tick(), "an event was due, and it goes on");
        // No call with which anybody is picked.
        machine.call(Call::Now);
        machine.told();
        assert!(machine.kernel.tick());
        assert_eq!(machine.told(), [], "no time before a pick");
        assert_eq!(machine.kernel.switch(1010), 2000);
        assert_eq!(machine.kernel.finish(), Some(Fault::Overdue(task(0))));
        assert_eq!(*machine.row.borrow(), "000");

        // If nobody was, it may go on; and so it may if it makes a call in time.
        let mut machine = Machine::new(&[3, 10], told_when_due, releases_both);
        machine.kernel.switch(2000);
        machine.call(Call::Work(2));
        assert!(!machine.kernel.tick());
        assert!(!machine.kernel.tick());
        assert!(machine.kernel.tick(), "it is preempted");
        assert_eq!(machine.kernel.switch(1010), 1010);
        machine.call(Call::Work(1));
        machine.kernel.release(task(2));
        assert!(!machine.kernel.tick());
        assert!(machine.call(Call::Work(1)).1);
        assert_eq!(machine.kernel.switch(1011), 1011);
        assert!(!machine.kernel.tick());
        assert_eq!(machine.kernel.finish(), None);
    }
}

#[test]
fn time_comes_before_a_pick() {
    let mut machine = Machine::new(&[9], true, releases_both);
    machine.told();
    // The timer is faster than the idle task.
    assert!(machine.kernel.tick());
    assert_eq!(machine.kernel.switch(2000), 1000);
    assert_eq!(machine.told(), [Told::Timer(1), Told::Picked]);
}

#[test]
fn a_tick_that_ends_in_a_handler_is_late_in_an_exact_run_and_after_a_tick() {
    for (exact, of_tick, late) in [
        (false, false, false),
        (false, true, true),
        (true, false, true),
        (true, true, true),
    ] {
        let mut machine = Machine::new(&[], false, releases_both);
        let plan = Plan {
            exact,
            ..of_ticks(20)
        };
        machine.begin(&[], plan, releases_both);
        machine.kernel.switch(2000);
        assert!(!machine.kernel.is_late(of_tick, false));
        assert_eq!(machine.kernel.is_late(of_tick, true), late);
        assert!(!machine.kernel.is_late(of_tick, true) || !late, "said once");
        assert_eq!(machine.kernel.is_over(), late);
        assert_eq!(machine.kernel.finish(), late.then_some(Fault::Late));
    }
}

#[test]
fn a_run_begins_without_the_work_of_the_one_before() {
    let mut machine = Machine::new(&[], false, releases_both);
    machine.kernel.switch(2000);
    machine.call(Call::Work(7));
    machine.kernel.tick();
    assert_eq!(machine.work[0].load(Relaxed), 6);
    machine.kernel.finish();
    machine.begin(&[], of_ticks(20), releases_both);
    assert_eq!(machine.work[0].load(Relaxed), 0);
}

#[test]
fn who_waits_for_a_semaphore_is_not_readied_but_given_it() {
    let mut machine = Machine::new(&[], false, releases_both);
    machine.kernel.switch(2000);
    machine.call(Call::Take(3));
    assert_eq!(machine.kernel.switch(1010), 1001);
    machine.call(Call::Take(3));
    machine.kernel.switch(1011);
    machine.kernel.give(3);
    machine.told();
    assert_eq!(machine.kernel.switch(2000), 1010);
    // It has it, and is blocked for something else now.
    machine.call(Call::Change(Change::Blocked));
    machine.kernel.ready(task(0));
    assert!(!machine.kernel.is_over());
    machine.told();
    machine.kernel.ready(task(1));
    assert_eq!(machine.told(), [], "it is still in the queue");
    let refused = Fault::Refused(Error::WrongState);
    assert_eq!(machine.kernel.finish(), Some(refused));
}

#[test]
fn what_is_still_painted_was_not_used() {
    let mut stack = [PAINT; 10];
    assert_eq!(unused(&stack), 10);
    stack[7] = 0;
    stack[9] = 1;
    assert_eq!(unused(&stack), 7);
    stack[0] = 0;
    assert_eq!(unused(&stack), 0);
}
