/* The whole of the small operating system. Lines of code are counted by scripts/check-hsf-c.sh. */
#include "host.h"
#include "vestal_hsf.h"
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define TASKS 255
#define STACK_BYTES (64 * 1024)

static struct {
    ucontext_t context;
    void (*body)(int32_t task);
    char *stack;
} tasks[TASKS];

static ucontext_t idle;
/* Who executes, as hsf_pick said it, and whether that has to be asked again. */
static int32_t running;
static int changed;
/* The present instant, the last one, and how many ticks the scheduler has not been told of. */
static uint32_t now, end, owed;
static int one_shot;
static void (*interrupt)(uint32_t now);
static char *row;

int64_t host_checked(int64_t result) {
    if (result < 0) {
        fprintf(stderr, "vestal-hsf refused a call at %u: %lld\n", now, (long long)result);
        exit(1);
    }
    return result;
}

/* ---- First hook: the timer. Before any other call, too, if it does not fire at every tick. ---- */

static void tell_time(void) {
    if (owed > 0) {
        changed |= (int)host_checked(hsf_advance(owed));
        owed = 0;
    }
}

static char sign(int32_t who) {
    if (who == HSF_IDLE)
        return '.';
    return (char)(who >= HSF_IDLING ? 'a' + (who - HSF_IDLING) : '0' + who);
}

static ucontext_t *context_of(int32_t who) {
    return who < HSF_IDLING ? &tasks[who].context : &idle;
}

/* Somebody has executed for a tick. */
static void tick(void) {
    row[now++] = sign(running);
    if (now == end) {
        /* The run is over, and nobody comes back to this context. */
        if (context_of(running) != &idle)
            setcontext(&idle);
        return;
    }
    owed++;
    if (!one_shot || owed == host_checked(hsf_next_event()))
        tell_time();
    interrupt(now);
}

/* ---- Second hook: who executes next. Returns when it is the caller's turn again. ---- */

static void dispatch(void) {
    ucontext_t *before = context_of(running);
    if (!changed)
        return;
    changed = 0;
    running = (int32_t)host_checked(hsf_pick());
    if (context_of(running) != before)
        swapcontext(before, context_of(running));
}

/* Who executes last in a tick comes back before somebody else is picked: its job ends at that very instant, or it goes on
 * here. */
void host_work(uint32_t ticks) {
    for (; ticks > 0; ticks--) {
        dispatch();
        tick();
    }
}

/* ---- Third hook: a task becomes ready or blocked. ---- */

#define TELL(call)          \
    do {                    \
        tell_time();        \
        host_checked(call); \
        changed = 1;        \
    } while (0)

void host_wait_period(void) {
    TELL(hsf_wait_period((uint32_t)running));
    dispatch();
}

void host_delay(uint32_t ticks) {
    TELL(hsf_delay((uint32_t)running, ticks));
    dispatch();
}

void host_delay_virtual(uint32_t ticks) {
    TELL(hsf_delay_virtual((uint32_t)running, ticks));
    dispatch();
}

void host_block(void) {
    TELL(hsf_block((uint32_t)running));
    dispatch();
}

void host_release(int32_t task) { TELL(hsf_release((uint32_t)task)); }

void host_ready(int32_t task) { TELL(hsf_ready((uint32_t)task)); }

uint32_t host_now(void) { return now; }

/* ---- Contexts. ---- */

static void begin(void) { tasks[running].body(running); }

void host_program(int32_t task, void (*body)(int32_t task)) {
    tasks[task].body = body;
    if (tasks[task].stack == NULL)
        tasks[task].stack = malloc(STACK_BYTES);
    if (tasks[task].stack == NULL || getcontext(&tasks[task].context) != 0)
        exit(1);
    tasks[task].context.uc_stack.ss_sp = tasks[task].stack;
    tasks[task].context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&tasks[task].context, begin, 0);
}

void host_run(uint32_t ticks, void (*on_tick)(uint32_t now), int timer_fires_once, char *line) {
    now = owed = 0;
    end = ticks;
    interrupt = on_tick;
    one_shot = timer_fires_once;
    row = line;
    running = HSF_IDLE;
    changed = 1;
    interrupt(0);
    /* The idle task. */
    while (now < end) {
        dispatch();
        if (now < end)
            tick();
    }
    row[end] = '\0';
}
