/* Figure 2 of Holenderski et al. (2010): a periodic task that delays itself (a), and one that waits for its period (b). Task 1
 * executes 3 ticks, and one more until it makes its call: in (a) it has read the time before that. Task 0 is more urgent and
 * takes 2 ticks from it, once in a while just then. Printed is who executes, and by how much each job of task 1
 * begins later than its period says. */
#include "host.h"
#include "vestal_hsf.h"
#include <stdio.h>

#define OFFSET 2u
#define PERIOD 10u
#define TICKS 100u

static uint32_t jobs, late[TICKS];

static void urgent(int32_t task) {
    (void)task;
    for (;;) {
        host_work(2);
        host_wait_period();
    }
}

static void note(void) {
    late[jobs] = host_now() - (OFFSET + jobs * PERIOD);
    jobs++;
}

static void form_a(int32_t task) {
    (void)task;
    uint32_t now = host_now();
    host_delay(OFFSET - now);
    for (;;) {
        note();
        host_work(3);
        now = host_now();
        host_work(1);
        uint32_t next = OFFSET + jobs * PERIOD;
        host_delay(next > now ? next - now : 0);
    }
}

static void form_b(int32_t task) {
    (void)task;
    for (;;) {
        note();
        host_work(4);
        host_wait_period();
    }
}

static void nothing(uint32_t now) { (void)now; }

static void show(char form) {
    char row[TICKS + 1];
    host_checked(hsf_init());
    uint32_t server = (uint32_t)host_checked(hsf_create_server(100, 100, HSF_DEFERRABLE, HSF_FIXED_PRIORITY, 0));
    int32_t one = (int32_t)host_checked(hsf_add_task(server, 0, 29));
    int32_t other = (int32_t)host_checked(hsf_add_task(server, 1, PERIOD));
    host_checked(hsf_make_periodic((uint32_t)one, 16, 29));
    host_program(one, urgent);
    host_program(other, form == 'a' ? form_a : form_b);
    if (form == 'a')
        host_checked(hsf_release((uint32_t)other));
    else
        host_checked(hsf_make_periodic((uint32_t)other, OFFSET, PERIOD));
    jobs = 0;
    host_run(TICKS, nothing, 0, row);
    printf("form %c\n%s\nlate", form, row);
    for (uint32_t job = 0; job < jobs; job++)
        printf(" %u", late[job]);
    printf("\n");
}

int main(void) {
    show('a');
    show('b');
    return 0;
}
