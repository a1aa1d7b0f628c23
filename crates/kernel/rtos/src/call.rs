//! What tasks ask of the kernel, as two words: a number and an argument.

use vestal_hsf::{Change, TaskId};

/// A call of the running task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// Nothing, but who executes is picked if something has changed.
    Go,
    /// The ticks since the beginning. Nobody is picked.
    Now,
    /// It will execute for so many ticks. The result is its number.
    Work(u32),
    /// Something happens to the task itself.
    Change(Change),
    /// A job of another task arrives.
    Release(TaskId),
    /// Another task goes on.
    Ready(TaskId),
    /// It takes a semaphore, or waits for it.
    Take(u8),
    /// It gives a semaphore.
    Give(u8),
}

const GO: u32 = 0;
const NOW: u32 = 1;
const WORK: u32 = 2;
const END_OF_JOB: u32 = 3;
const BLOCK: u32 = 4;
const DELAY: u32 = 5;
const DELAY_VIRTUAL: u32 = 6;
const RELEASE: u32 = 7;
const READY: u32 = 8;
const TAKE: u32 = 9;
const GIVE: u32 = 10;

impl Call {
    /// The words of a call; the second is 0 where it says nothing.
    pub(crate) fn words(self) -> (u32, u32) {
        let task = |task: TaskId| u32::try_from(task.index()).unwrap_or(u32::MAX);
        match self {
            Self::Go => (GO, 0),
            Self::Now => (NOW, 0),
            Self::Work(ticks) => (WORK, ticks),
            Self::Change(Change::EndOfJob) => (END_OF_JOB, 0),
            Self::Change(Change::Blocked) => (BLOCK, 0),
            Self::Change(Change::Delayed(ticks)) => (DELAY, ticks),
            Self::Change(Change::DelayedVirtual(ticks)) => (DELAY_VIRTUAL, ticks),
            // A task that executes cannot tell that of itself: no call.
            Self::Change(Change::Released | Change::Ready) => (u32::MAX, 0),
            Self::Release(other) => (RELEASE, task(other)),
            Self::Ready(other) => (READY, task(other)),
            Self::Take(semaphore) => (TAKE, semaphore.into()),
            Self::Give(semaphore) => (GIVE, semaphore.into()),
        }
    }

    /// The call with these words, if there is one.
    pub(crate) fn of(number: u32, argument: u32) -> Option<Self> {
        let byte = u8::try_from(argument);
        let task = byte.map(TaskId::new).ok();
        match number {
            GO => Some(Self::Go),
            NOW => Some(Self::Now),
            WORK => Some(Self::Work(argument)),
            END_OF_JOB => Some(Self::Change(Change::EndOfJob)),
            BLOCK => Some(Self::Change(Change::Blocked)),
            DELAY => Some(Self::Change(Change::Delayed(argument))),
            DELAY_VIRTUAL => Some(Self::Change(Change::DelayedVirtual(argument))),
            RELEASE => task.map(Self::Release),
            READY => task.map(Self::Ready),
            TAKE => byte.ok().map(Self::Take),
            GIVE => byte.ok().map(Self::Give),
            _ => None,
        }
    }
}
