/* A small operating system on Linux, to show what vestal-hsf takes of one: tasks are contexts of one thread, and a tick
 * passes when somebody has executed for one. So a run is the same every time, to the byte. */
#ifndef HOST_H
#define HOST_H

#include <stdint.h>

/* Has `body` be the program of a task that hsf_add_task named; it never returns. */
void host_program(int32_t task, void (*body)(int32_t task));

/* Executes from instant 0 on for so many ticks, and writes down who did in each: the digit of a task, the letter of a
 * server that idles, or a dot. `interrupt` is called at each instant, with interrupts masked. With `one_shot` the
 * scheduler is called when an event is due, and else at every tick. */
void host_run(uint32_t ticks, void (*interrupt)(uint32_t now), int one_shot, char *row);

/* Calls of the running task. */
void host_work(uint32_t ticks);
void host_wait_period(void);
void host_delay(uint32_t ticks);
void host_delay_virtual(uint32_t ticks);
void host_block(void);
uint32_t host_now(void);

/* Calls of interrupts, and of tasks about others. */
void host_release(int32_t task);
void host_ready(int32_t task);

/* What the scheduler returned, unless that is an error: then the program ends. */
int64_t host_checked(int64_t result);

#endif
