/* Figure 8 of Holenderski et al. (2010): one stopwatch for all servers. C, B and A are created in this order; A executes in
 * [0, 3), B in [3, 7), C in [7, 12), and B again from 16 on. Before and after each switch the stopwatch is printed from
 * its head on, with a dot for dummies. There is no host here but these calls. */
#include "vestal_hsf.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { C, B, A, NOBODY = -1 };

static void must(int32_t result) {
    if (result < 0)
        exit(1);
}

static void show_stopwatch(void) {
    int32_t who;
    for (uint32_t at = 0; (who = hsf_stopwatch_who(at)) >= 0; at++)
        printf(" %c:%lld", who == HSF_DUMMIES ? '.' : "CBA"[who], (long long)hsf_stopwatch_ticks(at));
}

static void switch_at(uint32_t at, int32_t ends, int32_t begins) {
    static uint32_t now;
    must(hsf_advance(at - now));
    now = at;
    printf("%u:", at);
    show_stopwatch();
    if (ends != NOBODY)
        must(hsf_wait_period((uint32_t)ends));
    if (begins != NOBODY)
        must(hsf_release((uint32_t)begins));
    if (hsf_pick() != (begins == NOBODY ? HSF_IDLE : begins))
        exit(1);
    printf(" ->");
    show_stopwatch();
    printf("\n");
}

int main(void) {
    for (uint32_t task = 0; task < 3; task++) {
        must(hsf_create_server(1000, 500, HSF_DEFERRABLE, HSF_FIXED_PRIORITY, 3 - task));
        must(hsf_add_task(task, 0, 1));
    }
    switch_at(0, NOBODY, A);
    switch_at(3, A, B);
    switch_at(7, B, C);
    switch_at(12, C, NOBODY);
    switch_at(16, NOBODY, B);
    return 0;
}
