/* Figure 14 of Holenderski et al. (2010): a deferrable server (a) above an idling periodic one (b), each with 10 ticks every
 * 25, and a task of 5 ticks in each. With period 30, as printed, no arrival of task 1 is postponed to 50, which the
 * text says; with period 40 the one at 40 is. */
#include "host.h"
#include "vestal_hsf.h"
#include <stdio.h>

static void body(int32_t task) {
    (void)task;
    for (;;) {
        host_work(5);
        host_wait_period();
    }
}

static void nothing(uint32_t now) { (void)now; }

static void show(uint32_t period, uint32_t ticks) {
    char row[128];
    host_checked(hsf_init());
    uint32_t a = (uint32_t)host_checked(hsf_create_server(25, 10, HSF_DEFERRABLE, HSF_FIXED_PRIORITY, 0));
    uint32_t b = (uint32_t)host_checked(hsf_create_server(25, 10, HSF_IDLING_PERIODIC, HSF_FIXED_PRIORITY, 1));
    int32_t in_a = (int32_t)host_checked(hsf_add_task(a, 0, 30));
    int32_t in_b = (int32_t)host_checked(hsf_add_task(b, 0, period));
    host_checked(hsf_make_periodic((uint32_t)in_a, 5, 30));
    host_checked(hsf_make_periodic((uint32_t)in_b, 0, period));
    host_program(in_a, body);
    host_program(in_b, body);
    host_run(ticks, nothing, 0, row);
    printf("period %u\n%s\n", period, row);
}

int main(void) {
    show(30, 125);
    show(40, 120);
    return 0;
}
