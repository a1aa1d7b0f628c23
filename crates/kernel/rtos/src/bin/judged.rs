//! Runs the systems of a file, and prints who executed: a row for each. The file's name is the argument, behind a word for
//! whoever started the image; what stands in it says `examples/hsf-c/judged.c`. So the same judge does for both hosts.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use vestal_hsf::{Bounded, Everything, Hsf, Kind, LocalOrder, Pick, ServerSpec, TaskId, nodes};
use vestal_kernel::{Fault, Kernel, Run, World, console, run, task};

vestal_kernel::image!(main);

const TASKS: usize = 8;
const MOST: usize = 3072;
const TICKS: usize = 512;

type System = Hsf<Everything<Bounded<u8, 15>>, 4, TASKS, { nodes(4, TASKS) }>;

/// A list in [`NUMBERS`]: from where on, how many, and how many are taken already.
struct List {
    from: AtomicU32,
    count: AtomicU32,
    taken: AtomicU32,
}

impl List {
    const fn new() -> Self {
        Self {
            from: AtomicU32::new(0),
            count: AtomicU32::new(0),
            taken: AtomicU32::new(0),
        }
    }

    fn get(&self, place: u32) -> Option<u32> {
        let place = Some(place).filter(|&place| place < self.count.load(Relaxed));
        let place = place.map(|place| self.from.load(Relaxed).saturating_add(place));
        let number = NUMBERS.get(usize::try_from(place?).ok()?)?;
        Some(number.load(Relaxed))
    }

    fn take(&self) -> Option<u32> {
        let taken = self.taken.load(Relaxed);
        self.taken.store(taken.saturating_add(1), Relaxed);
        self.get(taken)
    }
}

struct Program {
    waits: AtomicU32,
    parts: List,
    pauses: List,
    wakes_at: AtomicU32,
}

static NUMBERS: [AtomicU32; MOST] = [const { AtomicU32::new(0) }; MOST];
static PROGRAMS: [Program; TASKS] = [const {
    Program {
        waits: AtomicU32::new(0),
        parts: List::new(),
        pauses: List::new(),
        wakes_at: AtomicU32::new(0),
    }
}; TASKS];
static ARRIVALS: List = List::new();

/// Decimal numbers, with anything else between them.
struct Reader {
    file: console::File,
    buffer: [u8; 256],
    from: usize,
    to: usize,
    /// How many of [`NUMBERS`] are in use.
    used: u32,
}

impl Reader {
    fn byte(&mut self) -> Option<u8> {
        if self.from == self.to {
            self.from = 0;
            self.to = self.file.read(&mut self.buffer).len();
        }
        let byte = *self.buffer.get(..self.to)?.get(self.from)?;
        self.from = self.from.saturating_add(1);
        Some(byte)
    }

    fn number(&mut self) -> Option<u32> {
        let mut number: Option<u32> = None;
        loop {
            let digit = self.byte().map(|byte| match byte {
                b'0'..=b'9' => Some(byte.saturating_sub(b'0')),
                _ => None,
            });
            match (digit, number) {
                (Some(Some(digit)), _) => {
                    let before = number.unwrap_or(0).checked_mul(10)?;
                    number = Some(before.checked_add(digit.into())?);
                }
                (Some(None), None) => {}
                (Some(None) | None, _) => return number,
            }
        }
    }

    /// A list is its length and its items, of so many numbers each.
    fn list(&mut self, list: &List, numbers_each: u32) -> Option<()> {
        let count = self.number()?.checked_mul(numbers_each)?;
        list.from.store(self.used, Relaxed);
        list.count.store(count, Relaxed);
        list.taken.store(0, Relaxed);
        for _ in 0..count {
            let number = self.number()?;
            NUMBERS
                .get(usize::try_from(self.used).ok()?)?
                .store(number, Relaxed);
            self.used = self.used.checked_add(1)?;
        }
        Some(())
    }
}

fn body(me: TaskId) {
    let Some(program) = PROGRAMS.get(me.index()) else {
        return;
    };
    loop {
        for part in 0..program.parts.count.load(Relaxed) {
            if part > 0 {
                pause(program);
            }
            task::work(program.parts.get(part).unwrap_or(0));
        }
        task::wait_period();
    }
}

fn pause(program: &Program) {
    let ticks = program.pauses.take().unwrap_or(0);
    match program.waits.load(Relaxed) {
        0 => task::delay(ticks),
        2 => task::delay_virtual(ticks),
        _ if ticks > 0 => {
            program
                .wakes_at
                .store(task::now().saturating_add(ticks), Relaxed);
            task::block();
        }
        _ => {}
    }
}

struct Outside {
    row: [u8; TICKS],
}

impl World for Outside {
    fn ran(&mut self, tick: u32, who: Pick) {
        let index = |index: usize| u8::try_from(index).unwrap_or(u8::MAX);
        let sign = match who {
            Pick::Task(task) => b'0'.saturating_add(index(task.index())),
            Pick::Idling(server) => b'a'.saturating_add(index(server.index())),
            Pick::Idle => b'.',
        };
        let place = usize::try_from(tick).ok();
        if let Some(place) = place.and_then(|tick| self.row.get_mut(tick)) {
            *place = sign;
        }
    }

    fn instant(&mut self, now: u32, kernel: &mut Kernel) {
        for (number, program) in (0..u8::MAX).zip(&PROGRAMS) {
            if now > 0 && program.wakes_at.load(Relaxed) == now {
                program.wakes_at.store(0, Relaxed);
                kernel.ready(TaskId::new(number));
            }
        }
        while ARRIVALS.get(ARRIVALS.taken.load(Relaxed)) == Some(now) {
            ARRIVALS.take();
            let task = ARRIVALS.take().and_then(|task| u8::try_from(task).ok());
            kernel.release(TaskId::new(task.unwrap_or(u8::MAX)));
        }
    }
}

fn server(reader: &mut Reader) -> Option<ServerSpec> {
    let (period, capacity) = (reader.number()?, reader.number()?);
    let kind = match reader.number()? {
        0 => Kind::Polling,
        1 => Kind::Idling,
        2 => Kind::Deferrable,
        _ => return None,
    };
    let order = match reader.number()? {
        0 => LocalOrder::FixedPriority,
        1 => LocalOrder::EarliestDeadline,
        _ => return None,
    };
    Some(ServerSpec {
        kind,
        priority: u8::try_from(reader.number()?).ok()?,
        order,
        period,
        capacity,
    })
}

fn one_task(reader: &mut Reader, hsf: &mut System, program: &Program) -> Option<()> {
    let server = vestal_hsf::ServerId::new(u8::try_from(reader.number()?).ok()?);
    let (priority, deadline) = (u8::try_from(reader.number()?).ok()?, reader.number()?);
    let (offset, period) = (reader.number()?, reader.number()?);
    let task = hsf.add_task(server, priority, deadline).ok()?;
    if period > 0 {
        hsf.make_periodic(task, offset, period).ok()?;
    }
    program.waits.store(reader.number()?, Relaxed);
    program.wakes_at.store(0, Relaxed);
    reader.list(&program.parts, 1)?;
    reader.list(&program.pauses, 1)
}

fn one_system(reader: &mut Reader, hsf: &mut System, servers: u32) -> Option<()> {
    let tasks = usize::try_from(reader.number()?).ok()?;
    let (ticks, one_shot) = (reader.number()?, reader.number()?);
    hsf.clear();
    for _ in 0..servers {
        hsf.create_server(&server(reader)?).ok()?;
    }
    reader.used = 0;
    for program in PROGRAMS.get(..tasks)? {
        one_task(reader, hsf, program)?;
    }
    reader.list(&ARRIVALS, 2)?;
    let mut world = Outside { row: [0; TICKS] };
    let programs: [fn(TaskId); TASKS] = [body; TASKS];
    let what = Run {
        ticks,
        micros: 2000,
        told_when_due: one_shot != 0,
        exact: true,
        programs: programs.get(..tasks)?,
    };
    if let Err(fault) = run(hsf, &mut world, &what) {
        console::write(match fault {
            Fault::Refused(_) => "a call was refused\n",
            Fault::Unknown | Fault::NotATask => "a call is not known\n",
            Fault::NoProgram(_) => "a task has no program\n",
            Fault::Stack(_) => "a stack is used up\n",
            Fault::Late | Fault::Overdue(_) => "a tick was too short\n",
            Fault::Runs => "there is a run\n",
        });
        return None;
    }
    let row = world.row.get(..usize::try_from(ticks).ok()?)?;
    console::write(core::str::from_utf8(row).ok()?);
    console::write("\n");
    hsf.check_invariants().then_some(())
}

fn main() -> u32 {
    let mut arguments = [0; 256];
    let name = console::arguments(&mut arguments);
    let name = name.split(|&byte| byte == b' ').nth(1);
    let Some(file) = name.and_then(console::File::open) else {
        return 2;
    };
    let mut reader = Reader {
        file,
        buffer: [0; 256],
        from: 0,
        to: 0,
        used: 0,
    };
    let mut hsf = System::new();
    while let Some(servers) = reader.number() {
        if one_system(&mut reader, &mut hsf, servers).is_none() {
            return 1;
        }
    }
    0
}
