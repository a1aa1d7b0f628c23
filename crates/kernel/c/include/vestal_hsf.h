/* vestal-hsf: two-level scheduling by servers for a small operating system.
 *
 * Holenderski, Cools, Bril and Lukkien, "Extending an open-source real-time operating system with hierarchical
 * scheduling" (2010). A server has a budget that comes back every period, and tasks. Which task executes is decided
 * here; contexts, stacks and the timer are the host's. docs/porting.md says how one is fitted out.
 *
 * SHEET OF PROMISES
 *
 * Units       All times are ticks, of whatever length the host's are; numbers of servers and tasks begin with 0, in the
 *             order of creation. Priorities are 0 to 255, and a smaller one is more urgent. Equally urgent servers and
 *             tasks go in the order of creation.
 * Limits      HSF_SERVERS servers (6), HSF_TASKS tasks (36), at most 255 each: environment variables when the library is
 *             built. Periods and delays are at most 2^32 - 1 ticks, whatever HSF_TICK_BITS (4, 8, 16 or 32; 16) says:
 *             that is what a time is stored in, and longer ones take more steps.
 * Overruns    A server executes at most its capacity between two replenishments, to the tick; then its tasks wait for
 *             the next, whatever they are doing. A job has no limit of its own, and is never cut off. While it goes on,
 *             further arrivals of its task are counted (up to 2^32 - 1), and each gets its job.
 *             What executes between two ticks is charged to whom the tick finds executing, a whole tick or nothing: a
 *             task that always blocks before the tick is charged nothing.
 *             A timer that is late is settled as if it had been in time; what was executed too long meanwhile is
 *             charged to nobody.
 * Interrupts  Every call is to be made with interrupts masked that make calls as well. hsf_tick, hsf_advance,
 *             hsf_next_event, hsf_release, hsf_ready and all that only ask may be called from an interrupt, and hsf_pick
 *             at the end of the outermost one. hsf_wait_period, hsf_delay, hsf_delay_virtual and hsf_block are the
 *             running task's own. What is called between two hsf_pick is simultaneous, in any order.
 *             A call made during another returns HSF_BUSY and does nothing. That is an error of the host, and the tick
 *             or the job that it was about is lost.
 * Time        hsf_tick is O(1) unless an event is due; hsf_pick is O(servers + tasks of the chosen one), and more for
 *             events that became due while that server did not execute; hsf_budget and hsf_next_event are O(1); others
 *             are O(servers + events of the task's server). Nothing allocates, waits, or calls back.
 * Memory      HSF_RAM(servers, tasks, bits) bytes, all static and zero at the start. A call takes at most HSF_STACK bytes
 *             of the caller's stack: measured on x86-64, and on no other machine.
 * Errors      are negative, and a call that returns one has changed nothing.
 */
#ifndef VESTAL_HSF_H
#define VESTAL_HSF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of static memory: 24 a server, 32 a task, and 8 nodes a server, 4 a task and one more of 12 bytes each, with
 * ticks of 32 bits 16. */
#define HSF_RAM(servers, tasks, bits) \
    (48 + 24 * (servers) + 32 * (tasks) + ((bits) > 16 ? 16 : 12) * (8 * (servers) + 4 * (tasks) + 1))
#define HSF_STACK 1024

/* Errors. */
#define HSF_NO_ROOM (-1)        /* no room for another server or task */
#define HSF_SWITCHED_OFF (-2)   /* the library was built without this kind or order */
#define HSF_PERIOD (-3)         /* a period of 0 */
#define HSF_CAPACITY (-4)       /* a capacity of 0, or above the period */
#define HSF_UNKNOWN_SERVER (-5)
#define HSF_UNKNOWN_TASK (-6)
#define HSF_WRONG_STATE (-7)    /* the task is in another state than this call needs */
#define HSF_BUSY (-8)           /* another call was interrupted by this one */
#define HSF_RANGE (-9)          /* a number that no argument of this kind can have */

/* What becomes of a budget without work. */
#define HSF_POLLING 0u          /* it is discarded */
#define HSF_IDLING_PERIODIC 1u  /* it is used up by idling */
#define HSF_DEFERRABLE 2u       /* it is kept until the next replenishment */

/* The order of the tasks of one server. */
#define HSF_FIXED_PRIORITY 0u
#define HSF_EARLIEST_DEADLINE 1u

/* ---- Integration ----------------------------------------------------------------------------------------------- */

/* Forgets all servers and tasks; it is instant 0 again. At the start of the program that is so already. */
int32_t hsf_init(void);

/* ServerCreate: a server with a full budget of `capacity` ticks, which comes back at multiples of `period` from now on.
 * Returns its number. */
int32_t hsf_create_server(uint32_t period, uint32_t capacity, uint32_t kind, uint32_t order, uint32_t priority);

/* ServerAddTask: a task of a server, which waits for a job. Under HSF_EARLIEST_DEADLINE `deadline` counts, in ticks
 * after an arrival, else `priority`. Returns its number. */
int32_t hsf_add_task(uint32_t server, uint32_t priority, uint32_t deadline);

/* TaskMakePeriodic: jobs arrive every `period` ticks, the first `offset` ticks from now on. 0, or an error. */
int32_t hsf_make_periodic(uint32_t task, uint32_t offset, uint32_t period);

/* ---- First hook: the timer ------------------------------------------------------------------------------------- */

/* A tick has passed. 1 if hsf_pick has to be called before the next, else 0. */
int32_t hsf_tick(void);

/* The same for a one-shot timer: so many ticks have passed since the last call of this or of hsf_tick. To be called when
 * the timer fires, and before any other call. */
int32_t hsf_advance(uint32_t ticks);

/* What a one-shot timer is set to: ticks from now on until hsf_advance is due, at least 1, but 0 from hsf_init
 * until the first call that creates, picks or advances. Any other call may change it. */
int64_t hsf_next_event(void);

/* ---- Second hook: who executes next ---------------------------------------------------------------------------- */

/* The number of a task, HSF_IDLE, or HSF_IDLING + the number of a server: the idle task executes, at the expense of
 * nobody or of that server. */
int32_t hsf_pick(void);

#define HSF_IDLING 0x100
#define HSF_IDLE 0x200

/* ---- Third hook: a task becomes ready or blocked; hsf_pick has to be called after each ------------------------- */

/* A job of a task arrives that is not periodic, as from an interrupt. 0, or an error. */
int32_t hsf_release(uint32_t task);

/* What a task was blocked for has come, or its delay ends early. 0, or an error. */
int32_t hsf_ready(uint32_t task);

/* The running task waits for hsf_ready, as at a semaphore. 0, or an error. */
int32_t hsf_block(uint32_t task);

/* TaskWaitPeriod: the job of the running task has ended. It goes on with the next as soon as there is one. 0, or an
 * error. */
int32_t hsf_wait_period(uint32_t task);

/* DelayFor: the running task waits for so many ticks; 0 is nothing. 0, or an error. */
int32_t hsf_delay(uint32_t task, uint32_t ticks);

/* A virtual timer: the running task waits until its server has consumed so many ticks. 0, or an error. */
int32_t hsf_delay_virtual(uint32_t task, uint32_t ticks);

/* ---- Questions ------------------------------------------------------------------------------------------------- */

/* ServerBudget: what a server may still execute before its next replenishment, in ticks. */
int64_t hsf_budget(uint32_t server);

/* GetTime: ticks since the beginning. */
int64_t hsf_now(void);

/* What a task does, as far as its events are handled: those of a server that does not execute are not. */
int32_t hsf_task_state(uint32_t task);

#define HSF_WAITS 0     /* it has no job */
#define HSF_READY 1
#define HSF_DELAYED 2
#define HSF_BLOCKED 3

/* How many arrivals wait for a task's current job to end, as far as they are handled. */
int64_t hsf_pending(uint32_t task);

/* The stopwatch, from its head on: the number of a server, or HSF_DUMMIES, and how many ticks stand there. The sum up to a
 * server is how long ago that was switched out. HSF_RANGE behind the end. O(position). */
int32_t hsf_stopwatch_who(uint32_t position);
int64_t hsf_stopwatch_ticks(uint32_t position);

#define HSF_DUMMIES 0x100

/* 1 if all invariants hold, for a host that wants to check itself. O(everything). */
int32_t hsf_is_sound(void);

/* Bytes of static memory that this library takes. */
uint32_t hsf_ram(void);

#ifdef __cplusplus
}
#endif

#endif
