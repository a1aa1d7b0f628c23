/* Tries what the sheet of promises at the head of vestal_hsf.h says: errors, limits, memory, stack, interrupted calls. With
 * the argument `bare` the library was built without anything that can be left out. The last line is the number of checks. */
#include "vestal_hsf.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

static int checks, failures;

static void check(const char *what, int64_t is, int64_t expected) {
    checks++;
    if (is != expected) {
        failures++;
        printf("%s: %lld, and not %lld\n", what, (long long)is, (long long)expected);
    }
}

#define IS(call, expected) check(#call, call, expected)

static int32_t idling(void) { return hsf_create_server(100, 10, HSF_IDLING_PERIODIC, HSF_FIXED_PRIORITY, 0); }

/* ---- Errors and limits, with room for six servers and 36 tasks ---- */

static void try_errors(void) {
    IS(hsf_create_server(0, 0, HSF_POLLING, HSF_FIXED_PRIORITY, 0), HSF_PERIOD);
    IS(hsf_create_server(5, 6, HSF_POLLING, HSF_FIXED_PRIORITY, 0), HSF_CAPACITY);
    IS(hsf_create_server(5, 0, HSF_POLLING, HSF_FIXED_PRIORITY, 0), HSF_CAPACITY);
    IS(hsf_create_server(5, 5, 3, HSF_FIXED_PRIORITY, 0), HSF_RANGE);
    IS(hsf_create_server(5, 5, HSF_POLLING, 2, 0), HSF_RANGE);
    IS(hsf_create_server(5, 5, HSF_POLLING, HSF_FIXED_PRIORITY, 256), HSF_RANGE);
    IS(hsf_add_task(0, 0, 1), HSF_UNKNOWN_SERVER);
    IS(hsf_add_task(256, 0, 1), HSF_UNKNOWN_SERVER);
    IS(hsf_budget(0), HSF_UNKNOWN_SERVER);
    IS(idling(), 0);
    IS(hsf_add_task(0, 256, 1), HSF_RANGE);
    IS(hsf_release(0), HSF_UNKNOWN_TASK);
    IS(hsf_task_state(0), HSF_UNKNOWN_TASK);
    IS(hsf_pending(256), HSF_UNKNOWN_TASK);
    IS(hsf_add_task(0, 0, 1), 0);
    IS(hsf_make_periodic(0, 1, 0), HSF_PERIOD);
    IS(hsf_make_periodic(1, 1, 1), HSF_UNKNOWN_TASK);
    IS(hsf_wait_period(0), HSF_WRONG_STATE);
    IS(hsf_ready(0), HSF_WRONG_STATE);
    IS(hsf_delay(0, 1), HSF_WRONG_STATE);
    IS(hsf_delay_virtual(0, 1), HSF_WRONG_STATE);
    IS(hsf_block(0), HSF_WRONG_STATE);
    for (int32_t server = 1; server < 6; server++)
        IS(idling(), server);
    IS(idling(), HSF_NO_ROOM);
    for (int32_t task = 1; task < 36; task++)
        IS(hsf_add_task(5, 255, UINT32_MAX), task);
    IS(hsf_add_task(5, 0, 1), HSF_NO_ROOM);
    IS(hsf_is_sound(), 1);
}

/* A job of task 1, in the middle of server 1's budget, and all that can be asked about it. */
static void try_answers(void) {
    IS(hsf_init(), 0);
    IS(hsf_pick(), HSF_IDLE);
    IS(hsf_create_server(100, 10, HSF_POLLING, HSF_EARLIEST_DEADLINE, 9), 0);
    IS(hsf_create_server(50, 20, HSF_IDLING_PERIODIC, HSF_FIXED_PRIORITY, 3), 1);
    IS(hsf_add_task(0, 0, 7), 0);
    IS(hsf_add_task(1, 0, 7), 1);
    IS(hsf_pick(), HSF_IDLING + 1);
    IS(hsf_release(1), 0);
    IS(hsf_release(1), 0);
    IS(hsf_pick(), 1);
    IS(hsf_next_event(), 20);
    IS(hsf_tick(), 0);
    IS(hsf_advance(4), 0);
    IS(hsf_budget(1), 15);
    IS(hsf_budget(0), 0);
    IS(hsf_now(), 5);
    IS(hsf_pending(1), 1);
    IS(hsf_wait_period(1), 0);
    IS(hsf_task_state(1), HSF_READY);
    IS(hsf_delay(1, 3), 0);
    IS(hsf_task_state(1), HSF_DELAYED);
    IS(hsf_pick(), HSF_IDLING + 1);
    IS(hsf_advance(3), 1);
    IS(hsf_pick(), 1);
    IS(hsf_block(1), 0);
    IS(hsf_task_state(1), HSF_BLOCKED);
    IS(hsf_ready(1), 0);
    IS(hsf_delay_virtual(1, UINT32_MAX), 0);
    IS(hsf_ready(1), 0);
    IS(hsf_wait_period(1), 0);
    IS(hsf_task_state(1), HSF_WAITS);
    IS(hsf_advance(12), 1);
    IS(hsf_pick(), HSF_IDLE);
    IS(hsf_stopwatch_who(0), 1);
    IS(hsf_stopwatch_ticks(0), 0);
    IS(hsf_stopwatch_who(1), HSF_DUMMIES);
    IS(hsf_stopwatch_ticks(1), 20);
    IS(hsf_stopwatch_who(2), 0);
    IS(hsf_stopwatch_who(3), HSF_RANGE);
    IS(hsf_stopwatch_ticks(3), HSF_RANGE);
    IS(hsf_is_sound(), 1);
}

static void try_without(void) {
    IS(hsf_create_server(5, 5, HSF_POLLING, HSF_FIXED_PRIORITY, 0), HSF_SWITCHED_OFF);
    IS(hsf_create_server(5, 5, HSF_DEFERRABLE, HSF_FIXED_PRIORITY, 0), HSF_SWITCHED_OFF);
    IS(hsf_create_server(5, 5, HSF_IDLING_PERIODIC, HSF_EARLIEST_DEADLINE, 0), HSF_SWITCHED_OFF);
    IS(idling(), 0);
}

/* ---- Stack: calls of all kinds in a context whose stack was painted ---- */

#define STACK_BYTES (64 * 1024)
#define PAINT 0xa5

static unsigned char stack[STACK_BYTES];
static ucontext_t back, painted;
static uint64_t seed = 1;

static uint32_t below(uint32_t bound) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % bound;
}

static void some_call(void) {
    uint32_t task = below(36);
    switch (below(12)) {
        case 0: hsf_release(task); break;
        case 1: hsf_ready(task); break;
        case 2: hsf_block(task); break;
        case 3: hsf_wait_period(task); break;
        case 4: hsf_delay(task, below(300)); break;
        case 5: hsf_delay_virtual(task, below(100000)); break;
        case 6: hsf_make_periodic(task, below(200000), 1 + below(300)); break;
        case 7: hsf_advance(below(500)); break;
        case 8: hsf_stopwatch_who(below(8)); break;
        case 9: hsf_is_sound(); break;
        default: hsf_tick(); break;
    }
    hsf_pick();
}

static void create_all(void) {
    hsf_init();
    for (uint32_t server = 0; server < 6; server++) {
        uint32_t period = 50 + below(100);
        hsf_create_server(period, 1 + below(period / 3), server % 3, server % 2, below(4));
        for (uint32_t task = 0; task < 6; task++)
            hsf_add_task(server, task, below(200));
    }
}

static void no_calls(void) { below(1); }

static void many_calls(void) {
    for (int system = 0; system < 20; system++) {
        create_all();
        for (int calls = 0; calls < 2000; calls++)
            some_call();
        IS(hsf_is_sound(), 1);
    }
}

static long stack_used(void (*by)(void)) {
    long untouched = 0;
    memset(stack, PAINT, sizeof stack);
    getcontext(&painted);
    painted.uc_stack.ss_sp = stack;
    painted.uc_stack.ss_size = sizeof stack;
    painted.uc_link = &back;
    makecontext(&painted, by, 0);
    swapcontext(&back, &painted);
    while (untouched < STACK_BYTES && stack[untouched] == PAINT)
        untouched++;
    return STACK_BYTES - untouched;
}

/* ---- A call from a signal, in the middle of another ---- */

static volatile sig_atomic_t refused, done;

static void on_signal(int number) {
    (void)number;
    int32_t state = hsf_task_state(0);
    if (state == HSF_BUSY)
        refused++;
    else
        done++;
}

/* Until calls were interrupted both inside and outside of others; a second of processor time is thousands of signals. */
static void try_interrupts(void) {
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_signal};
    create_all();
    sigaction(SIGVTALRM, &action, NULL);
    setitimer(ITIMER_VIRTUAL, &often, NULL);
    for (long calls = 0; calls < 200000000 && (refused < 3 || done < 3); calls++)
        some_call();
    setitimer(ITIMER_VIRTUAL, &never, NULL);
    check("calls were refused in the middle of others", refused >= 3, 1);
    check("calls between others were not", done >= 3, 1);
    IS(hsf_is_sound(), 1);
}

int main(int count, char **arguments) {
    if (count > 1 && strcmp(arguments[1], "bare") == 0) {
        try_without();
    } else {
        try_errors();
        try_answers();
        check("static memory fits HSF_RAM", hsf_ram() <= HSF_RAM(6, 36, HSF_BITS), 1);
        check("HSF_RAM is not much more", hsf_ram() + 48 >= HSF_RAM(6, 36, HSF_BITS), 1);
        long own = stack_used(no_calls), all = stack_used(many_calls);
        printf("static memory %u bytes, stack of a call %ld bytes\n", hsf_ram(), all - own);
        check("stack fits HSF_STACK", all - own <= HSF_STACK, 1);
        try_interrupts();
    }
    printf("%d of %d checks\n", checks - failures, checks);
    return failures == 0 ? 0 : 1;
}
