/* Runs the systems that stand on stdin, and prints who executed: a row for each. What arrives from outside, and how long
 * jobs wait, is told as well, so that somebody else can judge the rows. A system is a list of numbers:
 *
 *     servers tasks ticks one-shot
 *     for each server: period capacity kind order priority
 *     for each task:   server priority deadline offset period (0: from outside) waits (0: delays, 1: blocks, 2: virtual delays)
 *                      number of parts, what each executes, number of waits, how long each is
 *     number of arrivals from outside, for each: instant task
 */
#include "host.h"
#include "vestal_hsf.h"
#include <stdio.h>
#include <stdlib.h>

#define MOST 65536u

struct list {
    uint32_t count, next;
    uint32_t *items;
};

static struct {
    uint32_t waits;
    struct list parts, pauses;
    uint32_t wakes_at;
} programs[16];

static uint32_t task_count;
static struct list arrivals;

static uint32_t number(void) {
    unsigned long value;
    if (scanf("%lu", &value) != 1 || value > UINT32_MAX)
        exit(2);
    return (uint32_t)value;
}

static struct list list(uint32_t items_each) {
    struct list list = {.count = number(), .next = 0};
    if (list.count > MOST)
        exit(2);
    list.count *= items_each;
    list.items = malloc((list.count + 1) * sizeof *list.items);
    if (list.items == NULL)
        exit(2);
    for (uint32_t at = 0; at < list.count; at++)
        list.items[at] = number();
    return list;
}

static uint32_t take(struct list *list) {
    if (list->next == list->count)
        exit(2);
    return list->items[list->next++];
}

static void pause_for(int32_t task, uint32_t ticks) {
    if (programs[task].waits == 0) {
        host_delay(ticks);
    } else if (programs[task].waits == 2) {
        host_delay_virtual(ticks);
    } else if (ticks > 0) {
        programs[task].wakes_at = host_now() + ticks;
        host_block();
    }
}

static void body(int32_t task) {
    for (;;) {
        for (uint32_t part = 0; part < programs[task].parts.count; part++) {
            if (part > 0)
                pause_for(task, take(&programs[task].pauses));
            host_work(programs[task].parts.items[part]);
        }
        host_wait_period();
    }
}

static void interrupt(uint32_t now) {
    for (uint32_t task = 0; task < task_count; task++) {
        if (programs[task].wakes_at == now && now > 0) {
            programs[task].wakes_at = 0;
            host_ready((int32_t)task);
        }
    }
    while (arrivals.next < arrivals.count && arrivals.items[arrivals.next] == now) {
        arrivals.next++;
        host_release((int32_t)take(&arrivals));
    }
}

static void read_tasks(void) {
    for (uint32_t task = 0; task < task_count; task++) {
        uint32_t server = number(), priority = number(), deadline = number();
        uint32_t offset = number(), period = number();
        host_checked(hsf_add_task(server, priority, deadline));
        if (period > 0)
            host_checked(hsf_make_periodic(task, offset, period));
        programs[task].waits = number();
        programs[task].parts = list(1);
        programs[task].pauses = list(1);
        programs[task].wakes_at = 0;
        host_program((int32_t)task, body);
    }
}

static void run_system(uint32_t servers) {
    task_count = number();
    uint32_t ticks = number(), one_shot = number();
    if (task_count > 16 || ticks > MOST)
        exit(2);
    char *row = malloc(ticks + 1);
    if (row == NULL)
        exit(2);
    host_checked(hsf_init());
    for (; servers > 0; servers--) {
        uint32_t period = number(), capacity = number(), kind = number(), order = number();
        host_checked(hsf_create_server(period, capacity, kind, order, number()));
    }
    read_tasks();
    arrivals = list(2);
    host_run(ticks, interrupt, (int)one_shot, row);
    if (hsf_is_sound() != 1)
        exit(1);
    puts(row);
    for (uint32_t task = 0; task < task_count; task++) {
        free(programs[task].parts.items);
        free(programs[task].pauses.items);
    }
    free(arrivals.items);
    free(row);
}

int main(void) {
    unsigned long servers;
    while (scanf("%lu", &servers) == 1)
        run_system((uint32_t)servers);
    return 0;
}
