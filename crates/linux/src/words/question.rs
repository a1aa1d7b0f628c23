//! Whether the CPU is idle: asked by workers and the manager, answered by the idle detector.
//!
//! ```text
//!           ask                    answer                 take_answer
//!   quiet -------> asked ----------------------> answered ------------> quiet
//!                    ^            ask               |
//!                    +------------------------------+                   (over is final)
//! ```
//! Who asks again makes an answer void that nobody has taken yet: it was given before what the asker did, and
//! says nothing about it.

use super::sync::{AtomicU32, Ordering, wait_while, wake_all};

const QUIET: u32 = 0;
const ANSWERED: u32 = 1;
/// Above the two before, so that asking is a maximum.
const ASKED: u32 = 2;
/// Above all, and thus final.
const OVER: u32 = 3;

/// The question and its answer in one word.
#[derive(Debug, Default)]
pub(crate) struct Question(AtomicU32);

impl Question {
    /// Somebody wants to know from here on; wakes the detector. After the end nobody does.
    pub(crate) fn ask(&self) {
        if self.0.fetch_max(ASKED, Ordering::AcqRel) < ASKED {
            wake_all(&self.0);
        }
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Acquire) == ASKED
    }

    /// Whether there is an answer to take.
    pub(crate) fn is_answered(&self) -> bool {
        self.0.load(Ordering::Acquire) == ANSWERED
    }

    /// Yes. By the detector; says whether somebody had asked.
    pub(crate) fn answer(&self) -> bool {
        self.turn(ASKED, ANSWERED)
    }

    /// Takes the answer, if there is one and nobody has asked since. By the manager.
    pub(crate) fn take_answer(&self) -> bool {
        self.turn(ANSWERED, QUIET)
    }

    /// Nobody asks any more, and the detector ends.
    pub(crate) fn end(&self) {
        self.0.swap(OVER, Ordering::AcqRel);
        wake_all(&self.0);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.0.load(Ordering::Acquire) == OVER
    }

    /// Waits until somebody asks, or until the end. May return earlier. By the detector.
    pub(crate) fn wait(&self) {
        let present = self.0.load(Ordering::Acquire);
        if present < ASKED {
            wait_while(&self.0, present, None);
        }
    }

    fn turn(&self, from: u32, to: u32) -> bool {
        let turned = self
            .0
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
        turned.is_ok()
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicBool;
    use loom::thread;

    #[derive(Default)]
    struct Shared {
        question: Question,
        /// The second word that there was before.
        seen: AtomicBool,
        /// A job was released and has completed; its worker asks after that.
        completed: AtomicBool,
        asked: AtomicBool,
    }

    /// The question was asked once. The detector answers while a worker completes a job and asks again, and the
    /// manager takes an answer: not one that was given before the worker asked, if it has asked.
    fn answer_against_completion(
        ask: fn(&Shared),
        answer: fn(&Shared) -> bool,
        take: fn(&Shared) -> bool,
    ) {
        loom::model(move || {
            let shared = Arc::new(Shared::default());
            ask(&shared);
            let worker = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    shared.completed.store(true, Ordering::Relaxed);
                    ask(&shared);
                    shared.asked.store(true, Ordering::Release);
                })
            };
            let detector = {
                let shared = Arc::clone(&shared);
                // Whether it answers, and if so whether it knows of the completion.
                thread::spawn(move || answer(&shared) && shared.completed.load(Ordering::Relaxed))
            };
            let asked = shared.asked.load(Ordering::Acquire);
            let taken = take(&shared);
            worker.join().unwrap();
            let known = detector.join().unwrap();
            assert!(known || !(asked && taken), "overtaken");
        });
    }

    #[test]
    fn an_idle_answer_overtaken_by_a_release_says_nothing() {
        answer_against_completion(
            |shared| shared.question.ask(),
            |shared| shared.question.answer(),
            |shared| shared.question.take_answer(),
        );
    }

    /// Before, the answer was a word beside the question.
    #[test]
    #[should_panic = "overtaken"]
    fn refuted_an_answer_in_a_word_of_its_own() {
        answer_against_completion(
            |shared| shared.question.ask(),
            |shared| {
                let asked = shared.question.turn(ASKED, QUIET);
                shared.seen.fetch_or(asked, Ordering::AcqRel);
                asked
            },
            |shared| shared.seen.swap(false, Ordering::AcqRel),
        );
    }

    /// The end comes while a worker asks: the detector sees the end.
    fn end_against_asking(ask: fn(&Question)) {
        loom::model(move || {
            let question = Arc::new(Question::default());
            let other = Arc::clone(&question);
            let worker = thread::spawn(move || ask(&other));
            question.end();
            worker.join().unwrap();
            assert!(question.is_over(), "the detector waits for ever");
        });
    }

    #[test]
    fn the_end_is_final() {
        end_against_asking(Question::ask);
    }

    /// What asking did before: the detector answered after the end of the run, and waited for the next
    /// question.
    #[test]
    #[should_panic = "the detector waits for ever"]
    fn refuted_asking_by_a_swap() {
        end_against_asking(|question| {
            question.0.swap(ASKED, Ordering::SeqCst);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_given_and_taken_once_and_asking_again_makes_it_void() {
        let question = Question::default();
        assert!(!question.answer() && !question.take_answer());
        question.ask();
        assert!(question.is_asked() && question.answer() && !question.answer());
        assert!(question.is_answered());
        question.ask();
        assert!(!question.take_answer() && question.answer());
        assert!(question.take_answer() && !question.take_answer());
        question.end();
        question.ask();
        assert!(question.is_over() && !question.is_asked() && !question.answer());
        question.wait();
    }
}
